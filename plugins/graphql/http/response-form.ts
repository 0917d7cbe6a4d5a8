/** Chooses media types and statuses with `GRAPHQL_OVER_HTTP`, by the specification GraphQL over HTTP. @rule G-OVH-1 …
 *  G-OVH-4 */
import { isJsonObject, RelApiError, type Exchange, type Json } from "../../../core/index.ts";
import type { EncodedErrors } from "../encode-error.ts";
import { bodyTypeMissing, bodyTypeRejected, parseFailed, responseTypeRejected } from "../errors.ts";
import { nameJsonKind } from "../values/leaf.ts";

const JSON_TYPE = "application/json";
const RESPONSE_TYPE = "application/graphql-response+json";

export interface ResponseForm {
  readonly type: typeof JSON_TYPE | typeof RESPONSE_TYPE;
  /** True if `GRAPHQL_OVER_HTTP` is on. */
  readonly isStrict: boolean;
}

/** The format of the dialect. */
export const DIALECT_FORM: ResponseForm = { type: JSON_TYPE, isStrict: false };

const PLAIN_FORM: ResponseForm = { type: JSON_TYPE, isStrict: true };
const RESPONSE_FORM: ResponseForm = { type: RESPONSE_TYPE, isStrict: true };

/** Returns the `q` of a media type from the most specific range that matches: `application/json;q=0.9` before
 *  `application/*`. */
const findQuality = (type: string, ranges: ReadonlyMap<string, number>): number =>
  ranges.get(type) ?? ranges.get("application/*") ?? ranges.get("*/*") ?? 0;

const parseAccept = (accept: string): ReadonlyMap<string, number> =>
  new Map(
    accept.split(",").map((part) => {
      const [type = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
      return [type, quality === undefined ? 1 : Number(quality) || 0];
    }),
  );

/** Chooses the format. A client that names no type, or accepts any type, gets plain JSON. @throws RelApiError 406 */
const chooseForm = (accept: string | undefined): ResponseForm => {
  if (accept === undefined || accept.trim() === "") return PLAIN_FORM;
  const ranges = parseAccept(accept);
  const [plain, response] = [findQuality(JSON_TYPE, ranges), findQuality(RESPONSE_TYPE, ranges)];
  if (response > plain || (response > 0 && response === plain && ranges.has(RESPONSE_TYPE))) return RESPONSE_FORM;
  if (plain > 0) return PLAIN_FORM;
  throw responseTypeRejected([RESPONSE_TYPE, JSON_TYPE]);
};

type HeaderSource = Pick<Exchange, "header">;

/** Returns the format of the response. @throws RelApiError 406 */
export const negotiateForm = (exchange: HeaderSource, isStrict: boolean): ResponseForm =>
  isStrict ? chooseForm(exchange.header("accept")) : DIALECT_FORM;

/** Returns the format of errors, which are sent even if the client accepts neither type. */
export const negotiateErrorForm = (exchange: HeaderSource, isStrict: boolean): ResponseForm => {
  try {
    return negotiateForm(exchange, isStrict);
  } catch {
    return PLAIN_FORM;
  }
};

const JSON_BODY = /^application\/json[ \t]*(?:;|$)/i;
const OTHER_CHARSET = /;[ \t]*charset[ \t]*=[ \t]*(?!"?utf-?8"?[ \t]*(?:;|$))/i;

/** Rejects a body that is not JSON in UTF-8. @throws RelApiError 415 */
export const rejectOtherBody = (exchange: HeaderSource): void => {
  const type = exchange.header("content-type");
  if (type === undefined || type === "") throw bodyTypeMissing(JSON_TYPE);
  if (!JSON_BODY.test(type) || OTHER_CHARSET.test(type)) throw bodyTypeRejected(JSON_TYPE, type);
};

/** Rejects extensions that are not an object. @throws RelApiError `parse-failed` */
export const rejectInvalidExtensions = (extensions: Json | undefined): void => {
  if (extensions !== undefined && extensions !== null && !isJsonObject(extensions))
    throw parseFailed(
      `parsing HashMap failed, expected Object, but encountered ${nameJsonKind(extensions)}`,
      "$.extensions",
    );
};

/** Returns whether the request itself could not be read, so the error does not depend on the document. */
export const isMalformed = (error: unknown): boolean =>
  error instanceof RelApiError &&
  (error.code === "invalid-json" || error.code === "parse-failed" || error.status === 406 || error.status === 415);

/** Returns the status of an error. `dialectStatus` is its status without GraphQL over HTTP. */
export const applyForm = (
  { type, isStrict }: ResponseForm,
  { status }: EncodedErrors,
  dialectStatus: number,
  isRequestError: boolean,
): number => {
  if (!isStrict || (type === JSON_TYPE && !isRequestError)) return dialectStatus;
  return status < 400 ? 400 : status;
};
