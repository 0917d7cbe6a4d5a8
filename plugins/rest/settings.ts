/** How a request's transaction is set up and how it ends. */
import { requestSettings, type Execution, type ResolvedOptions } from "../../core/index.ts";
import type { Preferences, RestRequest } from "./request.ts";

/** Settings of the request's transaction, in order. `hoisted`: those of the function that is called. @rule R-TX-6
 *  R-PRF-4 R-RPC-16 */
export const buildRequestSettings = (
  request: RestRequest,
  hoisted: readonly (readonly [name: string, value: string])[] = [],
): NonNullable<Execution["settings"]> => {
  const { exchange, path, preferences } = request;
  const settings = [...requestSettings(exchange.request, path)];
  if (preferences.timezone !== undefined) settings.push(["timezone", preferences.timezone]);
  settings.push(...hoisted);
  return settings;
};

/** Isolation of the request's transaction by its role; what a function asks for goes before it. @rule R-TX-3 */
export const isolationOf = (request: RestRequest): string | undefined => {
  const role = request.exchange.session.databaseRole;
  return role === undefined ? undefined : request.model.roles.get(role)?.isolation;
};

export interface TransactionEnd {
  readonly end: "commit" | "rollback";
  /** The client's `tx` is honoured, and echoed. */
  readonly isChosen: boolean;
}

/** @rule R-TX-5 R-PRF-6 */
export const resolveEnd = (options: ResolvedOptions, preferences: Preferences): TransactionEnd => {
  const { dbTxEnd } = options;
  if (preferences.tx !== undefined && dbTxEnd.endsWith("-allow-override"))
    return { end: preferences.tx, isChosen: true };
  return { end: dbTxEnd.startsWith("rollback") ? "rollback" : "commit", isChosen: false };
};
