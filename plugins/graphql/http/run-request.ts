/** Runs the operation of an HTTP request up to the text of `data`, in the same way at every address. */
import type { Exchange, PluginContext, ResolvedOptions } from "../../../core/index.ts";
import { mutationByGetUnsupported, httpSubscriptionUnsupported } from "../errors.ts";
import type { GqlEngine, GqlRequest, GqlRequestOptions, GqlRunOptions } from "../operations.ts";

const TX_PREFERENCE = /(?:^|[\s,])tx=(commit|rollback)(?:$|[\s,])/;

/** Chooses how the transaction of a request ends, which the request may determine. @rule G-TX-6 */
const chooseTransactionEnd = (exchange: Exchange, dbTxEnd: ResolvedOptions["dbTxEnd"]): "commit" | "rollback" => {
  const requestedEnd = dbTxEnd.endsWith("-allow-override")
    ? TX_PREFERENCE.exec(exchange.header("prefer") ?? "")?.[1]
    : undefined;
  return (requestedEnd ?? dbTxEnd).startsWith("rollback") ? "rollback" : "commit";
};

/** Returns the settings that a request applies to its transaction, and how the transaction ends. @rule G-SES-10
 *  G-TX-6 */
const buildRunOptions = <LongResult>(
  exchange: Exchange,
  { options, requestSettings }: PluginContext,
  { access, longBody }: GqlRequestOptions<LongResult>,
): GqlRunOptions<LongResult> => ({
  requestSettings: () => requestSettings(exchange.request, exchange.path),
  exchange,
  onDisconnect: (listener) => exchange.onDisconnect(listener),
  end: options.dbTxEnd === "commit" ? "commit" : chooseTransactionEnd(exchange, options.dbTxEnd),
  access,
  longBody,
});

/** Rejects a mutation if `access` is read only, as for GET. @throws RelApiError `unexpected-payload` @rule G-HTTP-9
 *  G-GET-2 */
export const runRequest = async <LongResult = never>(
  engine: Pick<GqlEngine, "prepare" | "run">,
  context: PluginContext,
  exchange: Exchange,
  request: GqlRequest,
  options: GqlRequestOptions<LongResult> = {},
): Promise<string | LongResult> => {
  const { session } = exchange;
  const { sender = exchange, path, access } = options;
  const preparation = engine.prepare(request, session, sender);
  const document = preparation instanceof Promise ? await preparation : preparation;
  exchange.operation = path === undefined ? document.namedOperation : { ...document.namedOperation, path };
  if (document.operation === "mutation" && access === "read only") throw mutationByGetUnsupported();
  const operation = document.bind();
  if (operation.kind === "subscription") throw httpSubscriptionUnsupported();
  exchange.plans = operation.plans;
  exchange.endPhase("plan");
  const data = await engine.run(operation, session, buildRunOptions(exchange, context, options));
  exchange.endPhase("transaction");
  return data;
};
