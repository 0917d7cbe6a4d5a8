/** `Accept: text/csv, application/json;q=0.5`: which media type the response has (section 17 of the contract). */
import {
  baseTypeOf,
  sameName,
  type Envelope,
  type Json,
  type MediaHandler,
  type Model,
  type Relation,
  type Routine,
} from "../../../core/index.ts";
import { mediaTypeUnavailable } from "../errors.ts";
import type { MediaChoice } from "../request.ts";
import { ARRAY, OBJECT, parseAccept, parseMediaType, STRIPPED, type MediaType } from "../syntax/media-type.ts";
import type { Planning } from "./planning.ts";

/** Names under which custom handlers are compiled, whatever their media type. */
const CUSTOM_AGGREGATE = "custom-aggregate";
const CUSTOM_VALUE = "custom-value";

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

/** `Content-Type` of an answer of that type. */
const contentTypeOf = (type: MediaType): string =>
  WITH_CHARSET.has(type.name) || type.name.startsWith("application/vnd.pgrst.")
    ? `${type.text}; charset=utf-8`
    : type.text;

/** What the choice of the media type depends on. */
export interface MediaWanted {
  /** The relation whose rows are returned. */
  readonly relation?: Relation;
  /** The function whose value or rows are returned. */
  readonly routine?: Routine;
  /** `select` is exactly the default `*` (R-MED-5). */
  readonly isWholeRow: boolean;
  /** The schema description. */
  readonly isRoot?: boolean;
}

/** The envelope of a response without a body; a requested execution plan is still one. @rule R-MED-3 */
export const headOf = ({ envelope }: MediaChoice): Envelope => ({ explain: envelope.explain });

/** Where a type is looked up. */
interface Lookup {
  readonly planning: Pick<Planning, "rest" | "model" | "maySeePlans">;
  readonly wanted: MediaWanted;
}

/** Picks the first accepted type that is available. @throws RelApiError `media-type-unavailable` @rule R-MED-1 R-MED-3
 *  R-MED-5 R-OAS-1 */
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
  // names without a slash belong to handlers that clients cannot request
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
  if (rest.hooks.compileMedia.get(CUSTOM_VALUE) === undefined) return undefined; // no plugin makes such bodies
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
