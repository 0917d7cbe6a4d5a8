/** Every error that this surface raises on purpose, in the order in which requests meet them. */
import {
  columnUnknown,
  limitExceeded,
  RelApiError,
  type Json,
  type Limit,
  type RequestLimits,
  type QualifiedName,
} from "../../core/index.ts";
import type { NameSuggestion } from "./api.ts";
import type { CallShape, Field } from "./request.ts";

const PATH_INVALID = "Invalid path specified in request URL";

const describeRelatedOrder = (embed: string): string => `A related order on '${embed}' is not possible`;

/** The messages of this surface for errors of core, by their code. @rule R-ERR-1 */
export const CORE_MESSAGES: Readonly<Record<string, (facts: RelApiError["facts"]) => string>> = {
  "connection-failed": () => "Database connection error.",
  "connection-lost": () => "Database client error. Retrying the connection.",
  "model-not-loaded": () => "Could not query the database for the schema cache. Retrying.",
  "pool-timeout": () => "Timed out acquiring connection from connection pool.",
  "path-not-found": () => PATH_INVALID,
  "anonymous-refused": () => "Anonymous access is disabled",
  "embed-order-impossible": ({ embed }) => describeRelatedOrder(String(embed)),
  "missing-session-variable": ({ variable }) => `missing session variable: "${String(variable)}"`,
  "permission-check-failed": () => "check constraint of an insert/update permission has failed",
};

/** Returns the error for a path that is not valid. @rule R-PATH-6 PGRST125 */
export const pathInvalid = (): RelApiError =>
  new RelApiError({ code: "path-invalid", status: 404, message: PATH_INVALID });

/** Returns the error for a path that no surface serves. `meant` is a similar path that is served. @rule R-PATH-12
 *  PGRST125 */
export const pathNotServed = (
  prefixes: readonly string[],
  graphql: string | undefined,
  similarPath: string | undefined,
): RelApiError =>
  new RelApiError({
    code: "path-not-found",
    status: 404,
    message: PATH_INVALID,
    hint: [
      `The REST API is below ${prefixes.join(" and ")}`,
      ...(graphql === undefined ? [] : [`GraphQL is at ${graphql}`]),
      ...(similarPath === undefined ? [] : [`perhaps you meant ${similarPath}`]),
    ].join("; "),
  });

/** Returns the error for a request to the root while it is disabled. @rule R-PATH-8 PGRST126 */
export const rootDisabled = (): RelApiError =>
  new RelApiError({ code: "root-disabled", status: 404, message: "Root endpoint metadata is disabled" });

/** Returns the error for a method that a relation does not support. @rule R-PATH-7 PGRST117 */
export const methodUnsupported = (method: string): RelApiError =>
  new RelApiError({ code: "method-unsupported", status: 405, message: `Unsupported HTTP method: ${method}` });

/** Returns the error for a method that a function does not support. @rule R-PATH-7 PGRST101 */
export const methodUnsupportedByRoutine = (method: string): RelApiError =>
  new RelApiError({
    code: "method-unsupported-by-routine",
    status: 405,
    message: `Cannot use the ${method} method on RPC`,
  });

/** Returns the error for a schema that is not exposed. @rule R-PROF-2 PGRST106 */
export const schemaNotExposed = (name: string, exposedSchemas: readonly string[]): RelApiError =>
  new RelApiError({
    code: "schema-not-exposed",
    status: 406,
    message: `Invalid schema: ${name}`,
    hint: `Only the following schemas are exposed: ${exposedSchemas.join(", ")}`,
  });

/** Returns the error for an unknown relation. `suggestion` is a similar relation of the schema. @rule R-PATH-10
 *  PGRST205 */
export const relationNotFound = (schema: string, name: string, suggestion: string | undefined): RelApiError =>
  new RelApiError({
    code: "relation-not-found",
    status: 404,
    message: `Could not find the table '${schema}.${name}' in the schema cache`,
    hint: suggestion === undefined ? null : `Perhaps you meant the table '${schema}.${suggestion}'`,
    facts: suggestion === undefined ? {} : { schema, suggestion },
  });

/** Returns the error for a part of the query. `part` is its name, and `raw` is its text. @rule R-LEX-10 R-LEX-11
 *  PGRST100 */
export const queryPartInvalid = (
  part: string,
  raw: string,
  line: number,
  column: number,
  details: string,
  facts: Readonly<Record<string, Json>> = {},
): RelApiError =>
  new RelApiError({
    code: "parse-error",
    status: 400,
    message: `"failed to parse ${part} (${raw})" (line ${line}, column ${column})`,
    details,
    facts,
  });

/** Returns the error for a request that exceeds the limit of a number. @rule R-LIM-1 PGRST100 */
export const restLimitExceeded = (limits: RequestLimits, limit: Limit, items: string): RelApiError =>
  limitExceeded(limit, { code: "parse-error", message: `The request has more than ${limits[limit]} ${items}` });

/** Returns the error for a query string that is not UTF-8. @rule R-URL-1 PGRST100 */
export const queryNotUtf8 = (): RelApiError =>
  new RelApiError({
    code: "parse-error",
    status: 400,
    message: "The query string is not UTF-8",
    hint: "Write a percent sign as %25",
  });

/** Checks the number of keys in a JSON path. @throws RelApiError `parse-error` @rule R-LIM-1 PGRST100 */
export const checkPathLength = (limits: RequestLimits, { path }: Field): void => {
  if (path.length > limits.maxPathKeys) throw restLimitExceeded(limits, "maxPathKeys", "keys in a JSON path");
};

/** Checks the depth of a logic tree. @throws RelApiError `parse-error` @rule R-LIM-1 PGRST100 */
export const checkDepth = (limits: RequestLimits, depth: number): void => {
  if (depth >= limits.maxLogicDepth) throw nestingTooDeep(limits, "maxLogicDepth", "logic trees");
};

/** Returns the error for a key that PostgreSQL would truncate. @rule R-SEL-11 */
export const nameTooLong = (name: string): RelApiError =>
  new RelApiError({
    code: "42622",
    status: 400,
    message: `The name "${name.slice(0, 20)}…" is longer than 63 bytes`,
    hint: "Give it an alias of at most 63 bytes: alias:name",
  });

/** Returns the error for a request that is nested too deeply. @rule R-LIM-1 PGRST100 */
export const nestingTooDeep = (limits: RequestLimits, limit: Limit, items: string): RelApiError =>
  limitExceeded(limit, {
    code: "parse-error",
    message: `The request has ${items} nested deeper than ${limits[limit]} levels`,
  });

/** Returns the error for a window that is not valid, or is beyond the rows. @rule R-RNG-2 R-RNG-4 R-RNG-8 PGRST103 */
const rangeNotSatisfiable = (details: string): RelApiError =>
  new RelApiError({ code: "range-not-satisfiable", status: 416, message: "Requested range not satisfiable", details });

export const limitNegative = (): RelApiError => rangeNotSatisfiable("Limit should be greater than or equal to zero.");

export const rangeReversed = (): RelApiError =>
  rangeNotSatisfiable("The lower boundary must be lower than or equal to the upper boundary in the Range header.");

export const offsetBeyondRows = (offset: bigint, rows: bigint): RelApiError =>
  rangeNotSatisfiable(`An offset of ${offset} was requested, but there are only ${rows} rows.`);

/** Returns the error for rows that do not have the tag of `If-Match`. @rule R-ETG-3 PGRSTX03 */
export const preconditionFailed = (): RelApiError =>
  new RelApiError({
    code: "precondition-failed",
    status: 412,
    message: "The rows have changed since they were read",
    hint: "Read them again, and send the new ETag in If-Match",
  });

/** Returns the error for rows that `If-None-Match` excludes. @rule R-ETG-4 PGRSTX03 */
export const rowsExcluded = (): RelApiError =>
  new RelApiError({
    code: "precondition-failed",
    status: 412,
    message: "There are rows that If-None-Match excludes",
    hint: "To change them, send their ETag in If-Match",
  });

/** Returns the error for a PUT with a limit. @rule R-PUT-2 PGRST114 */
export const limitOnPutUnsupported = (): RelApiError =>
  new RelApiError({
    code: "limit-on-put",
    status: 400,
    message: "limit/offset querystring parameters are not allowed for PUT",
  });

/** Returns the error for preferences that are not valid, with `handling=strict`. @rule R-PRF-2 PGRST122 */
export const preferencesInvalid = (invalid: readonly string[]): RelApiError =>
  new RelApiError({
    code: "preferences-invalid",
    status: 400,
    message: "Invalid preferences given with handling=strict",
    details: `Invalid preferences: ${invalid.join(", ")}`,
    facts: { invalid },
  });

/** Returns the error for a time zone that is too long. @rule R-PRF-4a PGRST129 */
export const timeZoneInvalid = (maxBytes: number): RelApiError =>
  new RelApiError({
    code: "time-zone-invalid",
    status: 400,
    message: `The time zone has an abbreviation of more than ${maxBytes} bytes`,
  });

/** Returns the error for a parameter of an embed that `select` lacks. @rule R-EMB-8 PGRST108 */
export const targetNotEmbedded = (name: string): RelApiError =>
  new RelApiError({
    code: "not-embedded",
    status: 400,
    message: `'${name}' is not an embedded resource in this request`,
    hint: `Verify that '${name}' is included in the 'select' query parameter.`,
  });

/** Returns the error for a parameter that has to name the embed by its alias. @rule R-EMB-7 PGRST108 */
export const aliasRequired = (name: string, alias: string): RelApiError =>
  new RelApiError({
    code: "not-embedded",
    status: 400,
    message: `'${name}' is not an embedded resource in this request`,
    details: "Target names are not allowed in filters if they have an alias",
    hint: `Change '${name}' to '${alias}' in filters, orders or limits.`,
  });

/** Returns the error for an unknown relationship. `suggestion` has a similar relation, and the name that it would
 *  replace. @rule R-EMB-2 R-EMB-19 PGRST200 */
export const relationshipNotFound = (
  source: string,
  target: string,
  usedHint: string | undefined,
  schema: string,
  suggestion: NameSuggestion | undefined,
): RelApiError =>
  new RelApiError({
    code: "relationship-not-found",
    status: 400,
    message: `Could not find a relationship between '${source}' and '${target}' in the schema cache`,
    details:
      `Searched for a foreign key relationship between '${source}' and '${target}'` +
      `${usedHint === undefined ? "" : ` using the hint '${usedHint}'`} in the schema '${schema}', but no matches were found.`,
    hint:
      suggestion === undefined
        ? null
        : `Perhaps you meant '${suggestion.suggestion}' instead of '${suggestion.misspelt}'.`,
    facts: suggestion === undefined ? {} : { schema, suggestion: suggestion.suggestion },
  });

/** One of several relationships that an embed may mean. */
export type RelationshipCandidate = {
  readonly details: Json;
  /** The hint: `ports!voyages_origin_id_fkey`. Undefined if no hint identifies this relationship. */
  readonly hint?: string;
  /** The schema, relation and column of everything that the relationship names. */
  readonly columns: readonly (readonly [schema: string, relation: string, column: string])[];
};

/** Returns the error for an embed to which several relationships fit. @rule R-EMB-5 PGRST201 */
export const relationshipAmbiguous = (
  source: string,
  target: string,
  candidates: readonly RelationshipCandidate[],
): RelApiError => {
  const hints = candidates.flatMap(({ hint }) => (hint === undefined ? [] : [`'${hint}'`]));
  return new RelApiError({
    code: "relationship-ambiguous",
    status: 300,
    message: `Could not embed because more than one relationship was found for '${source}' and '${target}'`,
    details: candidates.map(({ details }) => details),
    hint:
      hints.length === 0
        ? null
        : `Try changing '${target}' to one of the following: ${hints.join(", ")}. Find the desired relationship in the 'details' key.`,
    facts: { source, target, candidates },
  });
};

/** Returns the error for an order by an embed that has several rows. @rule R-ORD-3 PGRST118 */
export const relatedOrderImpossible = (source: string, embed: string): RelApiError =>
  new RelApiError({
    code: "related-order-impossible",
    status: 400,
    message: describeRelatedOrder(embed),
    details: `'${source}' and '${embed}' do not form a many-to-one or one-to-one relationship`,
  });

/** Returns the error for two embeds of one level with the same name. The message is that of the database. @rule
 *  R-EMB-12 */
export const embedRepeated = (name: string): RelApiError =>
  new RelApiError({ code: "42712", status: 400, message: `table name "${name}" specified more than once` });

/** Returns the error for an aggregate function while they are disabled. @rule R-AGG-1 PGRST123 */
export const aggregatesDisabled = (): RelApiError =>
  new RelApiError({ code: "aggregates-disabled", status: 400, message: "Use of aggregate functions is not allowed" });

/** Returns the error for an aggregate function in a to-many spread. @rule R-SPR-7 PGRST127 */
export const spreadAggregateUnsupported = (): RelApiError =>
  new RelApiError({
    code: "not-implemented",
    status: 400,
    message: "Feature not implemented",
    details: "Aggregates are not implemented for one-to-many or many-to-many spreads.",
  });

const bodyInvalid = (message: string, details: string | null = null): RelApiError =>
  new RelApiError({ code: "bad-body", status: 400, message, details });

/** Returns the error for a body that is not JSON. `where` is the location of the syntax error. @rule R-BODY-2 R-HNT-5
 *  PGRST102 */
export const bodyJsonInvalid = (where?: string): RelApiError => bodyInvalid("Empty or invalid json", where);
/** Returns the error for objects with different keys. @rule R-BODY-2 PGRST102 */
export const bodyKeysDifferent = (): RelApiError => bodyInvalid("All object keys must match");
/** Returns the error for CSV lines with different numbers of fields. @rule R-BODY-6 PGRST102 */
export const csvFieldCountDifferent = (): RelApiError => bodyInvalid("All lines must have same number of fields");
/** Returns the error for a CSV body. `text` is the message of the reader. @rule R-BODY-8 PGRST102 */
export const csvInvalid = (text: string): RelApiError => bodyInvalid(text);
/** Returns the error for a body that is not UTF-8. @rule R-BODY-7 R-BODY-8 PGRST102 */
export const bodyNotUtf8 = (): RelApiError => bodyInvalid("The body is not UTF-8");
/** Returns the error for a body of an unsupported media type. @rule R-BODY-1 PGRST102 */
export const contentTypeUnsupported = (type: string): RelApiError =>
  bodyInvalid(`Content-Type not acceptable: ${type}`);

/** Returns the error for a body that is nested too deeply. @rule R-LIM-2 PGRST102 */
export const restBodyTooDeep = ({ maxJsonDepth }: RequestLimits): RelApiError =>
  limitExceeded("maxJsonDepth", { code: "bad-body", message: `The body is nested deeper than ${maxJsonDepth} levels` });
/** Returns the error for a body with too many columns. @rule R-LIM-3 PGRST102 */
export const columnCountExceeded = ({ maxColumns }: RequestLimits): RelApiError =>
  limitExceeded("maxColumns", { code: "bad-body", message: `The body names more than ${maxColumns} columns` });

/** Returns the error for a key of the payload, or a listed column, that the relation lacks. @rule R-BODY-5 PGRST204 */
export const columnNotFound = (column: string, { schema, name }: QualifiedName): RelApiError =>
  new RelApiError({
    code: "column-not-found",
    status: 400,
    message: `Could not find the '${column}' column of '${name}' in the schema cache`,
    facts: { column, schema, table: name },
  });

/** Returns the error for filters of a PUT that are not those of a primary key. @rule R-PUT-1 PGRST105 */
export const putFiltersInvalid = (): RelApiError =>
  new RelApiError({
    code: "put-filters-invalid",
    status: 405,
    message: "Filters must include all and only primary key columns with 'eq' operators",
  });

/** Returns the error for a PUT whose body has another key than its URL. @rule R-PUT-3 PGRST115 */
export const putKeyMismatched = (): RelApiError =>
  new RelApiError({
    code: "put-key-mismatch",
    status: 400,
    message: "Payload values do not match URL in primary key column(s)",
  });

/** Returns the error for the payload of a PUT that lacks a key column. The message is that of the database, which reads
 *  the payload as a row. @rule R-PUT-3 */
export const putKeyMissing = (column: string): RelApiError => columnUnknown("pgrst_body", column);

/** Returns the error for a write of more rows than `max-affected` allows. @rule R-PRF-5 PGRST124 */
export const maxAffectedExceeded = (rows: number): RelApiError =>
  new RelApiError({
    code: "max-affected-exceeded",
    status: 400,
    message: "Query result exceeds max-affected preference constraint",
    details: `The query affects ${rows} rows`,
  });

/** Returns the error for a call that may mean several functions. `signatures` are the signatures of these functions.
 *  @rule R-RPC-8 PGRST203 */
export const routineAmbiguous = (signatures: readonly string[]): RelApiError =>
  new RelApiError({
    code: "ambiguous-routine",
    status: 300,
    message: `Could not choose the best candidate function between: ${signatures.join(", ")}`,
    hint: "Try renaming the parameters or the function itself in the database so function overloading can be resolved",
  });

const RAW_NAMES = { json: "json/jsonb", text: "text", xml: "xml", bytea: "bytea" } as const;

/** Describes the function that the call asked for, as the details show it. @rule R-RPC-9 */
const describeCall = ({ names, bodyType }: CallShape): string => {
  if (bodyType !== undefined && bodyType !== "json") return ` with a single unnamed ${RAW_NAMES[bodyType]} parameter`;
  const parameterText =
    names.length === 0
      ? " without parameters"
      : names.length === 1
        ? ` with parameter ${names[0]}`
        : ` with parameters ${names.join(", ")}`;
  return bodyType === "json" ? `${parameterText} or with a single unnamed ${RAW_NAMES.json} parameter` : parameterText;
};

/** Returns the error for an unknown function. `suggestion` is `f`, or `f(a, b)` for another overload. @rule R-RPC-9
 *  R-RPC-10 PGRST202 */
export const routineNotFound = (
  schema: string,
  name: string,
  call: CallShape,
  suggestion: string | undefined,
  hint = suggestion === undefined ? null : `Perhaps you meant to call the function ${schema}.${suggestion}`,
): RelApiError => {
  const isRaw = call.bodyType !== undefined && call.bodyType !== "json";
  const parameterText = isRaw ? "" : call.names.length === 0 ? " without parameters" : `(${call.names.join(", ")})`;
  return new RelApiError({
    code: "routine-not-found",
    status: 404,
    message: `Could not find the function ${schema}.${name}${parameterText} in the schema cache`,
    details: `Searched for the function ${schema}.${name}${describeCall(call)}, but no matches were found in the schema cache.`,
    hint,
    facts:
      suggestion === undefined ? {} : { schema, suggestion: suggestion.startsWith(`${name}(`) ? name : suggestion },
  });
};

/** Returns the error for `max-affected` with a function that returns a single row. @rule R-PRF-5 PGRST128 */
export const maxAffectedUnsupported = (): RelApiError =>
  new RelApiError({
    code: "max-affected-on-single",
    status: 400,
    message: "Function must return SETOF or TABLE when max-affected preference is used with handling=strict",
  });

/** Returns the error for a singular media type with another number of rows. @rule R-MED-1 PGRST116 */
export const resultNotSingular = (rows: number): RelApiError =>
  new RelApiError({
    code: "not-singular",
    status: 406,
    message: "Cannot coerce the result to a single JSON object",
    details: `The result contains ${rows} rows`,
  });

/** Returns the error for response headers that the database has not set as JSON. @rule R-GUC-2 PGRST111 */
export const responseHeadersInvalid = (): RelApiError =>
  new RelApiError({
    code: "response-headers-invalid",
    status: 500,
    message: "response.headers guc must be a JSON array composed of objects with a single key and a string value",
  });

/** Returns the error for a response status that the database has not set as a number. @rule R-GUC-3 PGRST112 */
export const responseStatusInvalid = (): RelApiError =>
  new RelApiError({
    code: "response-status-invalid",
    status: 500,
    message: "response.status guc must be a valid status code",
  });

/** Returns the error for a `RAISE SQLSTATE 'PGRST'` whose message or details cannot be read. @rule R-ERR-5 PGRST121 */
export const raisedErrorInvalid = (details: string, hint: string): RelApiError =>
  new RelApiError({
    code: "raised-error-invalid",
    status: 500,
    message: `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`,
    details,
    hint,
  });

/** Returns the error for media types that the target does not have. @rule R-MED-1 PGRST107 */
export const mediaTypeUnavailable = (types: readonly string[]): RelApiError =>
  new RelApiError({
    code: "media-type-unavailable",
    status: 406,
    message: `None of these media types are available: ${types.join(", ")}`,
  });

/** Returns the error for GeoJSON without PostGIS. @rule R-MED-1 PGRST107 */
export const postgisMissing = (): RelApiError =>
  new RelApiError({
    code: "media-type-unavailable",
    status: 406,
    message: "None of these media types are available: application/geo+json",
    details: "The database has no PostGIS extension",
  });
