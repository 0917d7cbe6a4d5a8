/** Errors of paths, headers, query strings and reads. Those of bodies and negotiation stand beside their parsers. */
import { limitExceeded, RelApiError, type Json, type Limit, type Limits } from "../../core/index.ts";

// --- paths, methods, profiles ---------------------------------------------------------------------------------------

/** @rule R-PATH-6 PGRST125 */
export const pathInvalid = (): RelApiError =>
  new RelApiError({ code: "path-invalid", status: 404, message: "Invalid path specified in request URL" });

/** @rule R-PATH-8 PGRST126 */
export const rootDisabled = (): RelApiError =>
  new RelApiError({ code: "root-disabled", status: 404, message: "Root endpoint metadata is disabled" });

/** @rule R-PATH-7 PGRST117 */
export const methodUnsupported = (method: string): RelApiError =>
  new RelApiError({ code: "method-unsupported", status: 405, message: `Unsupported HTTP method: ${method}` });

/** @rule R-PATH-7 PGRST101 */
export const methodUnsupportedByRoutine = (method: string): RelApiError =>
  new RelApiError({
    code: "method-unsupported-by-routine",
    status: 405,
    message: `Cannot use the ${method} method on RPC`,
  });

/** @rule R-PROF-2 PGRST106 */
export const schemaNotExposed = (name: string, exposed: readonly string[]): RelApiError =>
  new RelApiError({
    code: "schema-not-exposed",
    status: 406,
    message: `Invalid schema: ${name}`,
    hint: `Only the following schemas are exposed: ${exposed.join(", ")}`,
  });

/** `suggestion`: a similar relation of the schema. @rule R-PATH-10 PGRST205 */
export const relationNotFound = (schema: string, name: string, suggestion: string | undefined): RelApiError =>
  new RelApiError({
    code: "relation-not-found",
    status: 404,
    message: `Could not find the table '${schema}.${name}' in the schema cache`,
    hint: suggestion === undefined ? null : `Perhaps you meant the table '${schema}.${suggestion}'`,
    facts: suggestion === undefined ? {} : { schema, suggestion },
  });

// --- query strings --------------------------------------------------------------------------------------------------

/** `what` and `raw`: which part of the query failed, and its text. @rule R-LEX-10 R-LEX-11 PGRST100 */
export const parseError = (what: string, raw: string, line: number, column: number, details: string): RelApiError =>
  new RelApiError({
    code: "parse-error",
    status: 400,
    message: `"failed to parse ${what} (${raw})" (line ${line}, column ${column})`,
    details,
  });

/** @rule R-LIM-1 PGRST100 */
export const tooMany = (limits: Limits, limit: Limit, what: string): RelApiError =>
  limitExceeded(limit, { code: "parse-error", message: `The request has more than ${limits[limit]} ${what}` });

/** @rule R-LIM-1 PGRST100 */
export const nestedTooDeep = (limits: Limits, limit: Limit, what: string): RelApiError =>
  limitExceeded(limit, {
    code: "parse-error",
    message: `The request has ${what} nested deeper than ${limits[limit]} levels`,
  });

/** @rule R-RNG-2 R-RNG-4 R-RNG-8 PGRST103 */
const rangeNotSatisfiable = (details: string): RelApiError =>
  new RelApiError({ code: "range-not-satisfiable", status: 416, message: "Requested range not satisfiable", details });

export const limitNegative = (): RelApiError => rangeNotSatisfiable("Limit should be greater than or equal to zero.");

export const rangeReversed = (): RelApiError =>
  rangeNotSatisfiable("The lower boundary must be lower than or equal to the upper boundary in the Range header.");

export const offsetBeyondRows = (offset: bigint, rows: bigint): RelApiError =>
  rangeNotSatisfiable(`An offset of ${offset} was requested, but there are only ${rows} rows.`);

/** @rule R-PUT-2 PGRST114 */
export const limitOnPut = (): RelApiError =>
  new RelApiError({
    code: "limit-on-put",
    status: 400,
    message: "limit/offset querystring parameters are not allowed for PUT",
  });

/** @rule R-PRF-2 PGRST122 */
export const preferencesInvalid = (invalid: readonly string[]): RelApiError =>
  new RelApiError({
    code: "preferences-invalid",
    status: 400,
    message: "Invalid preferences given with handling=strict",
    details: `Invalid preferences: ${invalid.join(", ")}`,
  });

// --- embedding ------------------------------------------------------------------------------------------------------

/** @rule R-EMB-8 PGRST108 */
export const notEmbedded = (name: string): RelApiError =>
  new RelApiError({
    code: "not-embedded",
    status: 400,
    message: `'${name}' is not an embedded resource in this request`,
    hint: `Verify that '${name}' is included in the 'select' query parameter.`,
  });

/** @rule R-EMB-7 PGRST108 */
export const addressedPastAlias = (name: string, alias: string): RelApiError =>
  new RelApiError({
    code: "not-embedded",
    status: 400,
    message: `'${name}' is not an embedded resource in this request`,
    details: "Target names are not allowed in filters if they have an alias",
    hint: `Change '${name}' to '${alias}' in filters, orders or limits.`,
  });

/** `suggestion`: a similar relation, and which of the two names it may stand for. @rule R-EMB-2 R-EMB-19 PGRST200 */
export const relationshipNotFound = (
  source: string,
  target: string,
  usedHint: string | undefined,
  schema: string,
  suggestion: Instead | undefined,
): RelApiError =>
  new RelApiError({
    code: "relationship-not-found",
    status: 400,
    message: `Could not find a relationship between '${source}' and '${target}' in the schema cache`,
    details:
      `Searched for a foreign key relationship between '${source}' and '${target}'` +
      `${usedHint === undefined ? "" : ` using the hint '${usedHint}'`} in the schema '${schema}', but no matches were found.`,
    hint:
      suggestion === undefined ? null : `Perhaps you meant '${suggestion.name}' instead of '${suggestion.instead}'.`,
    facts: suggestion === undefined ? {} : { schema, suggestion: suggestion.name },
  });

/** A name, and the one that it may have been meant by. */
export interface Instead {
  readonly name: string;
  readonly instead: string;
}

/** One of several relationships that an embed may mean. */
export type Way = {
  readonly details: Json;
  /** `ports!voyages_origin_id_fkey` */
  readonly hint: string;
  /** Schema, relation and column of all that it tells. */
  readonly columns: readonly (readonly [schema: string, relation: string, column: string])[];
};

/** @rule R-EMB-5 PGRST201 */
export const relationshipAmbiguous = (source: string, target: string, ways: readonly Way[]): RelApiError =>
  new RelApiError({
    code: "relationship-ambiguous",
    status: 300,
    message: `Could not embed because more than one relationship was found for '${source}' and '${target}'`,
    details: ways.map(({ details }) => details),
    hint:
      ways.length === 0
        ? null
        : `Try changing '${target}' to one of the following: ${ways.map(({ hint }) => `'${hint}'`).join(", ")}. Find the desired relationship in the 'details' key.`,
    facts: { source, target, ways },
  });

/** @rule R-ORD-3 PGRST118 */
export const relatedOrderImpossible = (source: string, embed: string): RelApiError =>
  new RelApiError({
    code: "related-order-impossible",
    status: 400,
    message: `A related order on '${embed}' is not possible`,
    details: `'${source}' and '${embed}' do not form a many-to-one or one-to-one relationship`,
  });

/** Two embeds of one level that answer to one name: what the database says of it. @rule R-EMB-12 */
export const embedTwice = (name: string): RelApiError =>
  new RelApiError({ code: "42712", status: 400, message: `table name "${name}" specified more than once` });

/** @rule R-AGG-1 PGRST123 */
export const aggregatesDisabled = (): RelApiError =>
  new RelApiError({ code: "aggregates-disabled", status: 400, message: "Use of aggregate functions is not allowed" });

/** @rule R-SPR-7 PGRST127 */
export const aggregateInSpread = (): RelApiError =>
  new RelApiError({
    code: "not-implemented",
    status: 400,
    message: "Feature not implemented",
    details: "Aggregates are not implemented for one-to-many or many-to-many spreads.",
  });

// --- results --------------------------------------------------------------------------------------------------------

/** The singular media type found another number of rows. @rule R-MED-1 PGRST116 */
export const notSingular = (rows: number): RelApiError =>
  new RelApiError({
    code: "not-singular",
    status: 406,
    message: "Cannot coerce the result to a single JSON object",
    details: `The result contains ${rows} rows`,
  });

/** @rule R-GUC-2 PGRST111 */
export const responseHeadersInvalid = (): RelApiError =>
  new RelApiError({
    code: "response-headers-invalid",
    status: 500,
    message: "response.headers guc must be a JSON array composed of objects with a single key and a string value",
  });

/** @rule R-GUC-3 PGRST112 */
export const responseStatusInvalid = (): RelApiError =>
  new RelApiError({
    code: "response-status-invalid",
    status: 500,
    message: "response.status guc must be a valid status code",
  });
