/** `Accept: text/csv, application/json;q=0.5`: which media type an answer has (section 17 of the contract). */
import {
  baseTypeOf,
  sameName,
  utf8Text,
  type Envelope,
  type Json,
  type MediaHandler,
  type Model,
  type Relation,
  type Routine,
} from "../../core/index.ts";
import { mediaTypeUnavailable } from "./negotiation-errors.ts";
import type { Planning } from "./planning.ts";

/** One entry of an `Accept` header, or a `Content-Type`. */
export interface MediaType {
  /** Canonical `type/subtype` in lower case; the aliases of the vendored types resolved. */
  readonly name: string;
  /** `;nulls=stripped` of the vendored array and object types. */
  readonly isStripped: boolean;
  /** Parts of the plan type. */
  readonly plan?: { readonly format: "text" | "json"; readonly of: MediaType; readonly options: readonly string[] };
  /** As messages show it. */
  readonly text: string;
}

export const ARRAY = "application/vnd.pgrst.array+json";
export const OBJECT = "application/vnd.pgrst.object+json";
const PLAN = "application/vnd.pgrst.plan";
/** Suffix of the names under which the stripped variants are compiled. */
const STRIPPED = ";nulls=stripped";
/** Names under which custom handlers are compiled, whatever their media type. */
const CUSTOM_AGGREGATE = "custom-aggregate";
const CUSTOM_VALUE = "custom-value";

/** Types whose unknown parameters are dropped, in requests and in messages. */
const KNOWN = new Set([
  "*/*",
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

const WITH_CHARSET = new Set([
  "application/json",
  "application/geo+json",
  "text/csv",
  "text/plain",
  "text/xml",
  "application/xml",
  "application/x-www-form-urlencoded",
  "application/openapi+json",
]);

const EXPLAIN_OPTIONS = ["analyze", "verbose", "settings", "buffers", "wal"];

/** Splits at `separator` outside double quotes. */
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

const parameters = (parts: readonly string[]): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  for (const part of parts) {
    const at = part.indexOf("=");
    if (at < 1) continue;
    const given = part.slice(at + 1).trim();
    found.set(
      part.slice(0, at).trim().toLowerCase(),
      given.startsWith('"') && given.endsWith('"') && given.length > 1 ? given.slice(1, -1) : given,
    );
  }
  return found;
};

/** Reads one media type. Names of types and parameters in any letter case. @rule R-MED-1 R-BODY-1 */
export const parseMediaType = (sent: string): MediaType => {
  const parts = splitUnquoted(sent, ";");
  const name = (parts[0] ?? "").trim().toLowerCase();
  if (name === "application/vnd.pgrst.array" || name === ARRAY) {
    const isStripped = parameters(parts.slice(1)).get("nulls") === "stripped";
    return isStripped
      ? { name: ARRAY, isStripped, text: ARRAY + STRIPPED }
      : { name: "application/json", isStripped, text: "application/json" };
  }
  if (name === "application/vnd.pgrst.object" || name === OBJECT) {
    const isStripped = parameters(parts.slice(1)).get("nulls") === "stripped";
    return { name: OBJECT, isStripped, text: isStripped ? OBJECT + STRIPPED : OBJECT };
  }
  if (name === PLAN || name === `${PLAN}+text` || name === `${PLAN}+json`)
    return parsePlanType(name, parameters(parts.slice(1)));
  if (KNOWN.has(name)) return { name, isStripped: false, text: name };
  return { name, isStripped: false, text: sent };
};

/** @rule R-MED-7 */
const parsePlanType = (name: string, given: ReadonlyMap<string, string>): MediaType => {
  const format = name.endsWith("+json") ? "json" : "text";
  const of = parseMediaType(given.get("for") ?? "application/json");
  const asked = (given.get("options") ?? "").toLowerCase().split("|");
  const options = EXPLAIN_OPTIONS.filter((option) => asked.includes(option));
  const suffix = options.length === 0 ? "" : `; options=${options.join("|")}`;
  return {
    name: PLAN,
    isStripped: false,
    plan: { format, of, options },
    text: `${PLAN}+${format}; for="${of.text}"${suffix}`,
  };
};

interface Weighted {
  readonly type: MediaType;
  readonly quality: number;
  readonly specificity: number;
}

const weigh = (item: string): Weighted => {
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

const ANY: readonly MediaType[] = [parseMediaType("*/*")];

/** What the client takes, best first. `header`: the first `Accept`; undefined without one. @rule R-MED-1 */
const parseAccept = (header: string | undefined): readonly MediaType[] => {
  if (header === undefined || header === "*/*") return ANY;
  return splitUnquoted(utf8Text(header).replace(/ /g, ""), ",")
    .map(weigh)
    .sort((a, b) => b.quality - a.quality || b.specificity - a.specificity) // stable: equal ones stay in the order sent
    .map((weighted) => weighted.type);
};

/** `Content-Type` of an answer of that type. */
const contentTypeOf = (type: MediaType): string =>
  WITH_CHARSET.has(type.name) || type.name.startsWith("application/vnd.pgrst.")
    ? `${type.text}; charset=utf-8`
    : type.text;

/** What the media type of an answer is chosen for. */
export interface MediaWanted {
  /** Whose rows are answered. */
  readonly relation?: Relation;
  /** Whose value or rows are answered. */
  readonly routine?: Routine;
  /** `select` is exactly the default `*` (R-MED-5). */
  readonly isWholeRow: boolean;
  /** The schema description. */
  readonly isRoot?: boolean;
}

/** The media type of an answer. */
export interface MediaChoice {
  /** Parts of the envelope when a body is made. */
  readonly envelope: Pick<Envelope, "media" | "mediaOptions" | "takesRowType" | "explain">;
  /** Value of `Content-Type`. */
  readonly contentType: string;
  /** Exactly one row is required (PGRST116). */
  readonly isSingular: boolean;
  /** The body column is base64 of the bytes to send (R-MED-4). */
  readonly isBinary: boolean;
}

/** The envelope where no body is made; of a plan it is still the plan that is asked for. @rule R-MED-3 */
export const headOf = ({ envelope }: MediaChoice): Envelope => ({ explain: envelope.explain });

/** Where a type is looked up. */
interface Lookup {
  readonly planning: Pick<Planning, "rest" | "model" | "maySeePlans">;
  readonly wanted: MediaWanted;
}

/** Picks the first accepted type that can be answered. @throws RelApiError `media-type-unavailable` @rule R-MED-1
 *  R-MED-3 R-MED-5 R-OAS-1 */
export const chooseMedia = (
  planning: Pick<Planning, "rest" | "model" | "header" | "maySeePlans">,
  wanted: MediaWanted,
): MediaChoice => {
  const accepted = parseAccept(planning.header("accept"));
  const lookup: Lookup = { planning, wanted };
  for (const type of accepted) {
    const choice = wanted.isRoot === true ? rootChoice(type) : choiceFor(type, lookup);
    if (choice !== undefined) return choice;
  }
  throw mediaTypeUnavailable(accepted.map((type) => type.text));
};

const DESCRIPTION = parseMediaType("application/openapi+json");

const rootChoice = (type: MediaType): MediaChoice | undefined =>
  [DESCRIPTION.name, "application/json", "*/*"].includes(type.name)
    ? { envelope: {}, contentType: contentTypeOf(DESCRIPTION), isSingular: false, isBinary: false }
    : undefined;

const choiceFor = (type: MediaType, lookup: Lookup): MediaChoice | undefined => {
  if (type.plan !== undefined) return planChoice(type, type.plan, lookup);
  if (type.name === OBJECT || type.name === ARRAY)
    return builtIn(type, type.isStripped ? type.name + STRIPPED : type.name, lookup);
  return customChoice(type, lookup) ?? builtIn(type, type.name === "*/*" ? "application/json" : type.name, lookup);
};

const builtIn = (type: MediaType, media: string, { planning: { rest } }: Lookup): MediaChoice | undefined => {
  // names without a slash are those of handlers that no client can ask for
  if (!media.includes("/") || rest.hooks.compileMedia.get(media) === undefined) return undefined;
  const contentType = type.name === "*/*" ? "application/json; charset=utf-8" : contentTypeOf(type);
  return { envelope: { media }, contentType, isSingular: type.name === OBJECT, isBinary: false };
};

const planChoice = (type: MediaType, plan: NonNullable<MediaType["plan"]>, lookup: Lookup): MediaChoice | undefined => {
  const { options, registry } = lookup.planning.rest.context;
  if (
    !options.dbPlanEnabled ||
    !registry.has("explain-media") ||
    plan.of.plan !== undefined ||
    !lookup.planning.maySeePlans
  )
    return undefined;
  const inner = choiceFor(plan.of, lookup);
  if (inner === undefined) return undefined;
  return {
    envelope: { ...inner.envelope, explain: { format: plan.format, options: plan.options } },
    contentType: contentTypeOf(type),
    isSingular: false,
    isBinary: false,
  };
};

/** Handlers that the database declares by domains. @rule R-MED-4 R-MED-5 R-MED-6 */
const customChoice = (type: MediaType, { planning: { rest, model }, wanted }: Lookup): MediaChoice | undefined => {
  if (!rest.context.registry.has("custom-media")) return undefined;
  const { relation, routine } = wanted;
  if (wanted.isWholeRow) {
    const served = routine === undefined ? undefined : valueHandler(model, routine);
    for (const name of type.name === "*/*" ? ["*/*"] : ["*/*", type.name]) {
      if (served?.mediaType === name)
        return custom(type, name, CUSTOM_VALUE, { isBytea: served.isBytea }, served.isBytea);
      const own =
        relation &&
        model.mediaHandlers.find(
          (handler) =>
            handler.mediaType === name && handler.relation !== undefined && sameName(handler.relation, relation),
        );
      if (own !== undefined) return aggregateChoice(type, name, own);
    }
  }
  const general = model.mediaHandlers.find(
    (handler) => handler.relation === undefined && handler.mediaType === type.name,
  );
  return general === undefined ? undefined : aggregateChoice(type, type.name, general);
};

const aggregateChoice = (
  type: MediaType,
  name: string,
  { aggregate, relation, isBytea }: MediaHandler,
): MediaChoice => {
  const choice = custom(
    type,
    name,
    CUSTOM_AGGREGATE,
    { schema: aggregate.schema, name: aggregate.name, isBytea },
    isBytea,
  );
  return relation === undefined ? choice : { ...choice, envelope: { ...choice.envelope, takesRowType: true } };
};

/** An answer of a handler for any type says nothing of its type. */
const custom = (
  type: MediaType,
  handled: string,
  media: string,
  mediaOptions: Json,
  isBinary: boolean,
): MediaChoice => ({
  envelope: { media, mediaOptions },
  contentType: handled === "*/*" ? "application/octet-stream" : contentTypeOf(type),
  isSingular: false,
  isBinary,
});

/** `text/html`, `application/vnd.x-y+json`, `*` + `/*`: what a domain is called to be a media type. */
const MEDIA_NAME = /^(?:[A-Za-z0-9.+-]+\/[A-Za-z0-9.+-]+|\*\/\*)$/;

/** The media type that a function's result is, by the name of its domain. */
const valueHandler = (
  model: Model,
  routine: Routine,
): { readonly mediaType: string; readonly isBytea: boolean } | undefined => {
  if (routine.returns.isSet || routine.returns.kind !== "scalar") return undefined;
  const type = model.types.get(routine.returns.type);
  if (type?.kind !== "domain" || !MEDIA_NAME.test(type.name)) return undefined;
  return { mediaType: type.name.toLowerCase(), isBytea: baseTypeOf(model, type.oid)?.name === "bytea" };
};
