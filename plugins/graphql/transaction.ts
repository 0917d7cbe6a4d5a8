/** What a GraphQL request sets for its transaction, and how that ends. @rule G-SES-10 G-TX-6 */
import type { Exchange, PluginContext, ResolvedOptions } from "../../core/index.ts";
import type { GqlRunOptions } from "./operations.ts";

const endOf = (exchange: Exchange, { dbTxEnd }: ResolvedOptions): "commit" | "rollback" => {
  const wanted = dbTxEnd.endsWith("-allow-override")
    ? /(?:^|[\s,])tx=(commit|rollback)(?:$|[\s,])/.exec(exchange.header("prefer") ?? "")?.[1]
    : undefined;
  return (wanted ?? dbTxEnd).startsWith("rollback") ? "rollback" : "commit";
};

export const runOptionsOf = (exchange: Exchange, { options, requestSettings }: PluginContext): GqlRunOptions => ({
  settings: requestSettings(exchange.request, exchange.path),
  onGone: (listener) => exchange.onGone(listener),
  end: endOf(exchange, options),
});
