/** Headers of answers, and the answer put together. */
import { VERSION, type Answer, type Headers, type ResultRow } from "../../../core/index.ts";
import type { AppliedPreferences, ParsedQuery, Preferences, ResolvedRead, RestRequest } from "../request.ts";
import { headerText } from "./header-text.ts";
import { overrideHeaders, readResponseSettings, warnOfHeader } from "./response-settings.ts";

export interface AnswerParts {
  readonly status: number;
  /** Absent: there is no `Content-Type`. */
  readonly contentType?: string;
  /** `""`: empty, with `Content-Length: 0`; absent: neither. Never sent on HEAD. */
  readonly body?: string | Uint8Array;
  /** `Content-Range`, `Content-Location`, `Location`, `Preference-Applied`, … */
  readonly headers?: Headers;
  /** The statement's row, for what SQL set (R-GUC). */
  readonly row?: ResultRow;
}

/** A success answer, with the headers that every one has. @throws RelApiError as `readResponseSettings` @rule R-HDR-1
 *  R-HDR-5 R-HDR-8 R-HDR-10 R-GUC-1 R-GUC-3 */
export const buildAnswer = (request: RestRequest, parts: AnswerParts): Answer => {
  const { exchange, schema } = request;
  const { options } = request.rest.context;
  const set = readResponseSettings(parts.row);
  const own: (readonly [string, string])[] = [];
  if (parts.contentType !== undefined) {
    own.push(["Content-Type", parts.contentType]);
    if (request.isProfileNamed) own.push(["Content-Profile", headerText(schema)]);
  }
  if (parts.headers !== undefined) own.push(...parts.headers);
  own.push(["Vary", "Accept, Prefer, Range"]);
  exchange.mark("response");
  if (options.serverTimingEnabled) own.push(["Server-Timing", encodeTimings(exchange.timings)]);
  return {
    status: set.status ?? parts.status,
    headers: overrideHeaders(own, set.headers, warnOfHeader(request.rest.context.logger)),
    body: request.method === "HEAD" ? undefined : parts.body,
  };
};

const PHASES = ["jwt", "parse", "plan", "transaction", "response"] as const;

/** @rule R-HDR-10 */
const encodeTimings = (timings: ReadonlyMap<string, number>): string =>
  PHASES.map((phase) => `${phase};dur=${(timings.get(phase) ?? 0).toFixed(1)}`).join(", ");

/** Percent-encodes all but `A-Za-z0-9-_.~`. Decoded text is well-formed, so that this cannot throw. */
export const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** Where the rows of a read are. @rule R-URL-4 R-HDR-4 R-PATH-9 */
export const encodeContentLocation = (name: string, pairs: ParsedQuery["pairs"]): string => {
  const values = new Map<string, string>();
  for (const [parameter, value = ""] of [...pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
    const before = values.get(parameter);
    values.set(parameter, before === undefined ? encode(value) : `${before},${encode(value)}`);
  }
  const query = [...values].map(([parameter, value]) => `${encode(parameter)}=${value}`).join("&");
  return headerText(`/${name}${query === "" ? "" : `?${query}`}`);
};

/** @rule R-HDR-9 R-EMB-7 */
export const encodeLegacyWarning = (names: ResolvedRead["legacyNames"]): string => {
  const list = names.map(({ name, alias }) => `\`${name}\` to \`${alias}\``).join(", ");
  const text = `Embedded resource was referenced by relation name even though it has an alias. This is deprecated and will stop working in a future release. Update ${list} in query string filters, orders or limits.`;
  return headerText(`299 PostgRESTv${VERSION} "${text}"`);
};

const ORDER = ["resolution", "missing", "return", "count", "tx", "handling", "timezone", "max-affected"] as const;

/** Value of `Preference-Applied`; undefined when nothing was honoured. `applied`: what this request honours beside
 *  `count`, `handling` and `timezone`, which always count. @rule R-PRF-3 */
export const buildPreferenceApplied = (
  preferences: Preferences,
  applied: AppliedPreferences = {},
): string | undefined => {
  const honoured: AppliedPreferences = { count: true, handling: true, timezone: true, ...applied };
  const items: string[] = [];
  for (const name of ORDER) {
    const sent = name === "max-affected" ? preferences.maxAffected : preferences[name];
    if (sent !== undefined && honoured[name] === true) items.push(`${name}=${sent}`);
  }
  return items.length === 0 ? undefined : headerText(items.join(", "));
};
