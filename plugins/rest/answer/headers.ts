/** Builds response headers, and the finished response. */
import { VERSION, type Answer, type Headers, type Logger, type ResultRow } from "../../../core/index.ts";
import { finishAnswerHook } from "../api.ts";
import type { AppliedPreferences, ParsedQuery, ResolvedRead, RestRequest } from "../request.ts";

/**
 * Encodes text for a header: as UTF-8 bytes, with control characters percent-encoded, so that no value can start
 * another header.
 */
export const encodeHeaderText = (text: string): string => {
  if (/^[ -~]*$/.test(text)) return text;
  const bytes = Buffer.from(text, "utf8").toString("latin1");
  return bytes.replace(
    /[^ -~\u0080-\u00ff]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
};

export interface AnswerParts {
  readonly status: number;
  /** The media type of the body. Without a media type, no `Content-Type` is sent. */
  readonly contentType?: string;
  /**
   * The body. `""` is sent as an empty body with `Content-Length: 0`. Without a value, neither body nor length is sent.
   * HEAD responses have no body.
   */
  readonly body?: string | Uint8Array;
  /** Headers such as `Content-Range` and `Location`. */
  readonly headers?: Headers;
}

/** The parts of a response that depend on its transaction. */
interface TransactionResult {
  /** The row of the statement, for taps of `finishAnswer`. */
  readonly row: ResultRow;
  /** The header `Content-Location`. */
  readonly headers?: Headers;
  /** The preferences that the plan honours. */
  readonly appliedPreferences?: AppliedPreferences;
  readonly legacyNames?: ResolvedRead["legacyNames"];
}

/** Returns a successful response, with the headers that all responses have. @throws RelApiError of taps of
 *  `finishAnswer` @rule R-HDR-1 R-HDR-5 R-HDR-8 R-HDR-10 X-RES-2 */
export const buildAnswer = (
  request: RestRequest,
  parts: AnswerParts,
  transactionResult?: TransactionResult,
): Answer => {
  const { exchange, schema, rest } = request;
  const { options } = rest.context;
  const { contentType, headers, body } = parts;
  const responseHeaders: (readonly [string, string])[] = [];
  if (contentType !== undefined) {
    responseHeaders.push(["Content-Type", contentType]);
    if (request.isProfileNamed) responseHeaders.push(["Content-Profile", encodeHeaderText(schema)]);
  }
  if (headers !== undefined) responseHeaders.push(...headers);
  if (transactionResult !== undefined) addTransactionResult(responseHeaders, request, transactionResult);
  responseHeaders.push(["Vary", "Accept, Prefer, Range"]);
  exchange.endPhase("response");
  if (options.serverTimingEnabled) responseHeaders.push(["Server-Timing", encodeTimings(exchange.timings)]);
  const answer = { status: parts.status, headers: responseHeaders, body: request.method === "HEAD" ? undefined : body };
  return transactionResult === undefined
    ? answer
    : rest.context.use(finishAnswerHook).call(answer, transactionResult.row);
};

const addTransactionResult = (
  responseHeaders: (readonly [string, string])[],
  request: RestRequest,
  result: TransactionResult,
): void => {
  const { headers, appliedPreferences = {}, legacyNames = [] } = result;
  if (headers !== undefined) responseHeaders.push(...headers);
  if (legacyNames.length > 0) responseHeaders.push(["Warning", encodeLegacyWarning(legacyNames)]);
  const preferenceText =
    request.preferences.acceptedValues.size === 0 ? undefined : buildPreferenceApplied(request, appliedPreferences);
  if (preferenceText !== undefined) responseHeaders.push(["Preference-Applied", preferenceText]);
};

const PHASES = ["jwt", "parse", "plan", "transaction", "response"] as const;

/** Encodes the header `Server-Timing`. @rule R-HDR-10 */
const encodeTimings = (timings: ReadonlyMap<string, number>): string =>
  PHASES.map((phase) => `${phase};dur=${(timings.get(phase) ?? 0).toFixed(1)}`).join(", ");

/** Percent-encodes everything except `A-Za-z0-9-_.~`. Decoded text is well-formed, so this cannot throw. */
export const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns the URL of the rows that a read returned. @rule R-URL-4 R-HDR-4 R-PATH-9 */
export const encodeContentLocation = (name: string, pairs: ParsedQuery["pairs"]): string => {
  const values = new Map<string, string>();
  for (const [parameter, value = ""] of [...pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
    const before = values.get(parameter);
    values.set(parameter, before === undefined ? percentEncode(value) : `${before},${percentEncode(value)}`);
  }
  const query = [...values].map(([parameter, value]) => `${percentEncode(parameter)}=${value}`).join("&");
  return encodeHeaderText(`/${name}${query === "" ? "" : `?${query}`}`);
};

/** Encodes the header `Warning`, which lists embeds that the query names by relation despite an alias. @rule R-HDR-9
 *  R-EMB-7 */
const encodeLegacyWarning = (names: ResolvedRead["legacyNames"]): string => {
  const list = names.map(({ name, alias }) => `\`${name}\` to \`${alias}\``).join(", ");
  const text = `Embedded resource was referenced by relation name even though it has an alias. This is deprecated and will stop working in a future release. Update ${list} in query string filters, orders or limits.`;
  return encodeHeaderText(`299 PostgRESTv${VERSION} "${text}"`);
};

/** The order of preferences in PostgREST. */
const ORDER: readonly string[] = [
  "resolution",
  "missing",
  "return",
  "count",
  "tx",
  "handling",
  "timezone",
  "max-affected",
];

/**
 * Returns the value of `Preference-Applied`, or undefined if no preference was honoured. `appliedPreferences` contains the
 * preferences that the plan honours. `count`, `handling`, `tx` and preferences that set something need no entry in * `appliedPreferences`. @rule R-PRF-3 R-PRF-7
 */
const buildPreferenceApplied = (
  { preferences, rest, end }: RestRequest,
  appliedPreferences: AppliedPreferences,
): string | undefined => {
  const { acceptedValues } = preferences;
  const honouredNames: AppliedPreferences = {
    count: true,
    handling: true,
    tx: end.isChosenByClient,
    ...appliedPreferences,
  };
  const items: string[] = [];
  for (const name of [...ORDER, ...[...acceptedValues.keys()].filter((preference) => !ORDER.includes(preference))]) {
    const preferenceValue = name === "max-affected" ? preferences.maxAffected : acceptedValues.get(name);
    const isHonoured = honouredNames[name] === true || rest.grammar.preferences.get(name)?.settings !== undefined;
    if (preferenceValue !== undefined && isHonoured) items.push(`${name}=${preferenceValue}`);
  }
  return items.length === 0 ? undefined : encodeHeaderText(items.join(", "));
};

/**
 * Headers that concern only the connection to the next hop. If SQL could change the framing, part of the body could be
 * parsed as another response.
 */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Replaces response headers by the headers that SQL has set. `onIgnored` is called for each header that SQL may not
 * set. @rule R-GUC-1 R-GUC-5 R-ERR-5
 */
export const overrideHeaders = (
  responseHeaders: Headers,
  sqlHeaders: Headers,
  onIgnored: (name: string) => void,
): Headers => {
  if (sqlHeaders.length === 0) return responseHeaders;
  const names = new Set<string>();
  const acceptedHeaders = sqlHeaders.filter(([name]) => {
    const lower = name.toLowerCase();
    if (CONNECTION_HEADERS.has(lower)) {
      onIgnored(lower);
      return false;
    }
    names.add(lower);
    return true;
  });
  return [...responseHeaders.filter(([name]) => !names.has(name.toLowerCase())), ...acceptedHeaders];
};

/** Creates a function that logs an ignored header. @rule R-GUC-5 */
export const createHeaderWarning =
  (logger: Logger) =>
  (name: string): void =>
    logger.warn("ignored a connection header set by SQL: only the server sets those", { header: name });
