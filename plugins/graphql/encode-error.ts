/** Errors in the format of this surface: `{"errors":[{"message":"…","extensions":{"path":"…","code":"…"}}]}`.
 *  @rule G-ERR-1 G-ERR-2 G-ERR-7 G-HTTP-3 G-HTTP-4 */
import { isRelApiError, type Json, type Session } from "../../core/index.ts";
import { errorWords } from "./errors.ts";

export interface EncodedErrors {
  readonly body: string;
  /** For `/v1alpha1/graphql`; the other endpoints return 200. */
  readonly status: number;
}

/** What administrators see of a database error: its message, never the statement. @rule G-ERR-7 */
const internalOf = (error: unknown): Json | undefined => {
  if (!isRelApiError(error)) return undefined;
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

/** One error, as an element of `errors`. */
export const encodeError = (
  error: unknown,
  session: Session | undefined,
): { readonly text: string; readonly status: number } => {
  const { code, message, status, isDatabase } = errorWords(error);
  const path = (isRelApiError(error) ? error.path : undefined) ?? "$";
  const internal = isDatabase && session?.isAdmin === true ? internalOf(error) : undefined;
  return {
    text: JSON.stringify({ message, extensions: { path, code, ...(internal === undefined ? {} : { internal }) } }),
    status,
  };
};

export const encodeErrors = (error: unknown, session: Session | undefined): EncodedErrors => {
  const { text, status } = encodeError(error, session);
  return { body: `{"errors":[${text}]}`, status };
};
