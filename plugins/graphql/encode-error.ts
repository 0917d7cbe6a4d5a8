/** Encodes errors in the format of this surface: `{"errors":[{"message":"…","extensions":{"path":"…","code":"…"}}]}`.
 *  @rule G-ERR-1 G-ERR-2 G-ERR-7 G-HTTP-3 G-HTTP-4 */
import {
  isJsonObject,
  RelApiError,
  BODY_STATUSES,
  type Headers,
  type Json,
  type JsonObject,
  type Session,
} from "../../core/index.ts";
import { translateError } from "./translate-error.ts";

export interface EncodedErrors {
  readonly body: string;
  readonly code: string;
  /** The status of the response on `/v1alpha1/graphql`. The other endpoints return 200, unless `keepsStatus` is
   *  true. */
  readonly status: number;
  /** True for errors of incomplete bodies and for a plugin's own errors, whose status is sent everywhere. @rule
   *  G-HTTP-15 G-ERR-9 */
  readonly keepsStatus: boolean;
  /** The headers that accompany a status that is kept. */
  readonly headers: Headers;
}

const NO_HEADERS: Headers = [];

/** Builds the message of a database error, which only administrators see. The statement is never shown. @rule
 *  G-ERR-7 */
const buildInternalMessage = (error: unknown): Json | undefined => {
  if (!(error instanceof RelApiError)) return undefined;
  const description = typeof error.details === "string" ? error.details : null;
  return {
    error: {
      message: error.message,
      description,
      hint: error.hint,
      status_code: error.code,
      exec_status: "FatalError",
    },
  };
};

/** Returns the extensions that a plugin's function gives its error, in place of the path and the code. @rule X-GQL-4 */
const findOwnExtensions = (error: unknown): JsonObject | undefined => {
  const extensions =
    error instanceof RelApiError && error.code === "function-refused" ? error.facts["extensions"] : undefined;
  return isJsonObject(extensions) ? extensions : undefined;
};

/** Encodes an error as a body. `hints` has additional members of `extensions`. */
export const encodeErrors = (error: unknown, session: Session | undefined, hints: object = {}): EncodedErrors => {
  const { code, message, status, isDatabase, isForeign = false } = translateError(error);
  const path = (error instanceof RelApiError ? error.path : undefined) ?? "$";
  const internal = isDatabase && session?.isAdmin === true ? buildInternalMessage(error) : undefined;
  const extensions = findOwnExtensions(error) ?? {
    path,
    code,
    ...hints,
    ...(internal === undefined ? {} : { internal }),
  };
  const keepsStatus = isForeign || BODY_STATUSES.has(status);
  // Errors of another GraphQL schema keep their form. @rule X-GQL-12c
  const foreign = error instanceof RelApiError ? error.facts["graphqlErrors"] : undefined;
  return {
    body: JSON.stringify({ errors: Array.isArray(foreign) ? foreign : [{ message, extensions }] }),
    code,
    status,
    keepsStatus,
    headers: keepsStatus && error instanceof RelApiError ? error.headers : NO_HEADERS,
  };
};
