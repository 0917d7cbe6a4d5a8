/** Limits on what one request may ask for; each is an option. They are checked while a request is read, so that a
 *  request beyond them costs no more than reading it. @rule R-LIM-1 G-LIM-1 */
import type { Counters } from "./counters.ts";
import { isRelApiError, RelApiError, type RelApiErrorFields } from "./errors.ts";

/** The options, in the order of the settings page. */
export const LIMITS = [
  "maxJsonDepth",
  "maxColumns",
  "maxParameters",
  "maxSelectFields",
  "maxEmbeds",
  "maxRelationDepth",
  "maxFilters",
  "maxLogicDepth",
  "maxOrderTerms",
  "maxDocumentBytes",
  "maxDocumentDepth",
  "maxDocumentFields",
  "maxAliases",
  "maxRootFields",
  "maxRelatedConditions",
  "maxIntrospectionDepth",
  "maxVariablesBytes",
  "maxListItems",
  "maxInsertValues",
  "maxBatchEntries",
  "maxBatchBytes",
] as const;

/** The option that sets a request limit. */
export type Limit = (typeof LIMITS)[number];

/** The request limits in effect. */
export type Limits = Readonly<Record<Limit, number>>;

/** An error that names the limit that was exceeded. @rule R-LIM-1 G-LIM-1 */
export const limitExceeded = (
  limit: Limit,
  fields: Pick<RelApiErrorFields, "code" | "message" | "path"> & Partial<Pick<RelApiErrorFields, "status">>,
): RelApiError =>
  new RelApiError({ status: 400, ...fields, hint: `The limit is the setting ${limit}.`, facts: { limit } });

const counterOf = (limit: Limit): string => `refused-${limit}`;

/** Two surfaces may encode the same error. */
const counted = new WeakSet<RelApiError>();

/** Counts requests that a limit refused; called where errors become responses. @rule R-ADM-2 */
export const countRefusal = (counters: Counters, error: unknown): void => {
  if (!isRelApiError(error) || counted.has(error)) return;
  const limit = LIMITS.find((one) => one === error.facts["limit"]);
  if (limit === undefined) return;
  counted.add(error);
  counters.add(counterOf(limit));
};

/** Label and counter of each limit, for `/metrics`. */
export const REFUSAL_SAMPLES: readonly (readonly [labels: string, counter: string])[] = LIMITS.map((limit) => [
  `{limit="${limit}"}`,
  counterOf(limit),
]);
