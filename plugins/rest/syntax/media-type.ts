/** `text/csv`, `application/vnd.pgrst.plan+json; for="text/csv"`: parses media types of `Accept` and `Content-Type`. */
import { decodeUtf8Header } from "../../../core/index.ts";
import type { MediaType } from "../api.ts";

export const ARRAY = "application/vnd.pgrst.array+json";
export const OBJECT = "application/vnd.pgrst.object+json";
const PLAN = "application/vnd.pgrst.plan";
export const ANY_MEDIA_TYPE = "*/*";
/** The suffix of the names under which the stripped variants are compiled. */
export const STRIPPED_SUFFIX = ";nulls=stripped";

/** Types whose unknown parameters are dropped, in requests and in messages. */
const KNOWN_TYPES = new Set([
  ANY_MEDIA_TYPE,
  "application/json",
  "text/csv",
  "application/geo+json",
  "text/plain",
  "text/xml",
  "application/xml",
  "application/openapi+json",
  "application/x-www-form-urlencoded",
  "application/octet-stream",
]);

/** The options of the media type for plans, which are keywords of EXPLAIN. */
export const EXPLAIN_OPTIONS: readonly string[] = ["analyze", "verbose", "settings", "buffers", "wal"];

/** Splits at `separator` outside of double quotes. */
const splitUnquoted = (text: string, separator: string): string[] => {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') isQuoted = !isQuoted;
    else if (text[i] === separator && !isQuoted) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
};

const parseParameters = (parts: readonly string[]): ReadonlyMap<string, string> => {
  const parameters = new Map<string, string>();
  for (const part of parts) {
    const at = part.indexOf("=");
    if (at < 1) continue;
    const rawValue = part.slice(at + 1).trim();
    parameters.set(
      part.slice(0, at).trim().toLowerCase(),
      rawValue.startsWith('"') && rawValue.endsWith('"') && rawValue.length > 1 ? rawValue.slice(1, -1) : rawValue,
    );
  }
  return parameters;
};

/** Parses a media type. Names of types and parameters are case-insensitive. @rule R-MED-1 R-BODY-1 */
export const parseMediaType = (text: string): MediaType => {
  const parts = splitUnquoted(text, ";");
  const name = (parts[0] ?? "").trim().toLowerCase();
  if (name === "application/vnd.pgrst.array" || name === ARRAY) {
    const isStripped = parseParameters(parts.slice(1)).get("nulls") === "stripped";
    return isStripped
      ? { name: ARRAY, isStripped, text: ARRAY + STRIPPED_SUFFIX }
      : { name: "application/json", isStripped, text: "application/json" };
  }
  if (name === "application/vnd.pgrst.object" || name === OBJECT) {
    const isStripped = parseParameters(parts.slice(1)).get("nulls") === "stripped";
    return { name: OBJECT, isStripped, text: isStripped ? OBJECT + STRIPPED_SUFFIX : OBJECT };
  }
  if (name === PLAN || name === `${PLAN}+text` || name === `${PLAN}+json`)
    return parsePlanType(name, parseParameters(parts.slice(1)));
  if (KNOWN_TYPES.has(name)) return { name, isStripped: false, text: name };
  return { name, isStripped: false, text };
};

/** Parses the media type of an execution plan with its parameters. @rule R-MED-7 */
const parsePlanType = (name: string, parameters: ReadonlyMap<string, string>): MediaType => {
  const format = name.endsWith("+json") ? "json" : "text";
  const mediaType = parseMediaType(parameters.get("for") ?? "application/json");
  const requestedOptions = (parameters.get("options") ?? "").toLowerCase().split("|");
  const options = EXPLAIN_OPTIONS.filter((option) => requestedOptions.includes(option));
  const suffix = options.length === 0 ? "" : `; options=${options.join("|")}`;
  return {
    name: PLAN,
    isStripped: false,
    plan: { format, mediaType, options },
    text: `${PLAN}+${format}; for="${mediaType.text}"${suffix}`,
  };
};

interface WeightedType {
  readonly type: MediaType;
  readonly quality: number;
  readonly specificity: number;
}

const parseWeightedType = (item: string): WeightedType => {
  const at = item.indexOf(";q=");
  const text = at === -1 ? item : item.slice(0, at);
  const quality = at === -1 ? 1 : Number(item.slice(at + 3).split(";", 1)[0]);
  const count = (character: string): number => text.split(character).length - 1;
  return {
    type: parseMediaType(text),
    quality: Number.isFinite(quality) ? quality : 1,
    specificity: count(";") - count("*"),
  };
};

const ANY_TYPE: readonly MediaType[] = [parseMediaType(ANY_MEDIA_TYPE)];

/**
 * Parses the first `Accept` header, the best type first. `header` is undefined if there is no such header.
 * @rule R-MED-1
 */
export const parseAccept = (header: string | undefined): readonly MediaType[] => {
  if (header === undefined || header === ANY_MEDIA_TYPE) return ANY_TYPE;
  return splitUnquoted(decodeUtf8Header(header).replace(/ /g, ""), ",")
    .map(parseWeightedType)
    .sort((a, b) => b.quality - a.quality || b.specificity - a.specificity) // keeps the order of equal types
    .map((weightedType) => weightedType.type);
};
