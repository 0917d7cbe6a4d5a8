/** `Accept: text/csv, application/json;q=0.5`: chooses the media type of the response
 *  (docs/reference/rest/media-types.md). */
import type { Envelope } from "../../../core/index.ts";
import { chooseMediaHook, type ChosenMedia, type MediaNegotiation, type MediaType } from "../api.ts";
import { mediaTypeUnavailable } from "../errors.ts";
import type { MediaChoice } from "../request.ts";
import { ANY_MEDIA_TYPE, ARRAY, OBJECT, parseAccept, parseMediaType, STRIPPED_SUFFIX } from "../syntax/media-type.ts";
import type { PlanInput } from "./planning.ts";

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

/** Returns the `Content-Type` of a response with this media type. */
const buildContentType = (type: MediaType): string =>
  WITH_CHARSET.has(type.name) || type.name.startsWith("application/vnd.pgrst.")
    ? `${type.text}; charset=utf-8`
    : type.text;

/** The facts that the choice of a media type depends on. */
interface MediaRequest extends Pick<MediaNegotiation, "relation" | "routine" | "isWholeRow"> {
  /** True if the response is the schema description. */
  readonly isRoot?: boolean;
}

/**
 * Returns the envelope of a response without a body. A wrapper's result, such as an execution plan, is still returned.
 * @rule R-MED-3
 */
export const buildHeadEnvelope = ({ envelope }: MediaChoice): Envelope => ({ wrapper: envelope.wrapper });

type MediaPlanning = Pick<PlanInput, "rest" | "model" | "accept" | "maySeePlans">;

/** Picks the first accepted type that is available. @throws RelApiError `media-type-unavailable` @rule R-MED-1 R-MED-3
 *  R-MED-5 R-OAS-1 */
export const chooseMedia = (planInput: MediaPlanning, mediaRequest: MediaRequest): MediaChoice => {
  const acceptedTypes = parseAccept(planInput.accept);
  const choose = mediaRequest.isRoot === true ? chooseRootMedia : createMediaChooser(planInput, mediaRequest);
  for (const type of acceptedTypes) {
    const chosenMedia = choose(type);
    if (chosenMedia !== undefined)
      return { contentType: buildContentType(type), isSingular: false, isBinary: false, ...chosenMedia };
  }
  throw mediaTypeUnavailable(acceptedTypes.map((type) => type.text));
};

const DESCRIPTION = parseMediaType("application/openapi+json");

const chooseRootMedia = (type: MediaType): ChosenMedia | undefined =>
  [DESCRIPTION.name, "application/json", ANY_MEDIA_TYPE].includes(type.name)
    ? { envelope: {}, contentType: buildContentType(DESCRIPTION) }
    : undefined;

const createMediaChooser = (planInput: MediaPlanning, mediaRequest: MediaRequest): MediaNegotiation["chooseFor"] => {
  const { hooks, context: pluginContext } = planInput.rest;
  const chooseMediaTaps = pluginContext.use(chooseMediaHook);
  const chooseBuiltIn = (type: MediaType, media: string): ChosenMedia | undefined => {
    // Names without a slash are internal, so clients cannot request them.
    if (!media.includes("/") || hooks.compileMedia.get(media) === undefined) return undefined;
    if (type.name === ANY_MEDIA_TYPE) return { envelope: { media }, contentType: "application/json; charset=utf-8" };
    return { envelope: { media }, isSingular: type.name === OBJECT };
  };
  const choose = (type: MediaType): ChosenMedia | undefined => {
    if (type.name === OBJECT || type.name === ARRAY)
      return chooseBuiltIn(type, type.isStripped ? type.name + STRIPPED_SUFFIX : type.name);
    return (
      chooseMediaTaps.call(type, context) ??
      chooseBuiltIn(type, type.name === ANY_MEDIA_TYPE ? "application/json" : type.name)
    );
  };
  const context: MediaNegotiation = {
    ...mediaRequest,
    model: planInput.model,
    get maySeePlans() {
      return planInput.maySeePlans;
    },
    chooseFor: choose,
  };
  return choose;
};
