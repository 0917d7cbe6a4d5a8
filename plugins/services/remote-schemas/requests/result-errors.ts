/** Reads the errors in results of remote schemas. @rule X-RMT-7 */
import { GraphQLError, type ExecutionResult } from "graphql";
import { isJsonObject, RelApiError, type Json, type JsonObject } from "../../../../core/index.ts";
import { remoteAnswerInvalid, remoteRejected, selectionRejected } from "../errors.ts";

/** Finds the error that a function threw on purpose. */
export const findOwnError = ({ originalError }: Pick<GraphQLError, "originalError">): RelApiError | undefined => {
  let error: unknown = originalError;
  for (let depth = 0; depth < 10 && error !== undefined; depth++) {
    if (error instanceof RelApiError) return error;
    error = (error as { readonly originalError?: unknown }).originalError;
  }
  return undefined;
};

/** Encodes an error of the remote. The locations of its document mean nothing to the client. @rule X-RMT-7 */
export const encodeError = (
  { message, path, extensions }: Pick<GraphQLError, "message" | "path" | "extensions">,
  prefix: readonly string[],
): Json => ({
  message,
  ...(path !== undefined && { path: [...prefix, ...path] }),
  ...(Object.keys(extensions).length > 0 && { extensions: extensions as Json & object }),
});

/** An error that a server sent. */
class SentError extends GraphQLError {}

const isPath = (path: Json | undefined): path is (string | number)[] =>
  Array.isArray(path) && path.every((key: Json) => typeof key === "string" || Number.isInteger(key));

/** Returns whether the data is null at the end of the path, or above it. */
const leadsToNull = (path: readonly (string | number)[], data: Json): boolean => {
  let value = data;
  for (const key of path) {
    if (value === null) return true;
    if (typeof value !== "object" || !Object.hasOwn(value, key)) return false;
    value = (value as JsonObject)[key] ?? null;
  }
  return value === null;
};

/** Reads a result of a server. An error that belongs to no null in the data concerns all fields, whose data is left
 *  out. */
export const readResult = ({ data = null, errors = null }: JsonObject) => {
  if (!Array.isArray(errors) || errors.length === 0) return { data };
  let isComplete = true;
  const read = errors.map((error: Json) => {
    const { message, path, extensions } = isJsonObject(error) ? error : {};
    const isPlaced = isPath(path) && leadsToNull(path, data);
    isComplete &&= isPlaced;
    return new SentError(typeof message === "string" ? message : "an error without a message", {
      ...(isPlaced && { path }),
      ...(isJsonObject(extensions) && { extensions }),
    });
  });
  return { data: isComplete ? data : null, errors: read };
};

const isGraphQLError = (error: unknown): error is GraphQLError => error instanceof GraphQLError;

/** Returns the errors one by one. The package joins those of a field without a value. */
const listErrors = (errors: readonly GraphQLError[]): readonly GraphQLError[] =>
  errors.flatMap((error) => {
    const { originalError } = error;
    const joinedErrors: readonly unknown[] = originalError instanceof AggregateError ? originalError.errors : [];
    return joinedErrors.length > 0 && joinedErrors.every(isGraphQLError) ? listErrors(joinedErrors) : [error];
  });

/** Returns whether an error of the server is the cause. Other errors come from data that its schema does not allow. */
const isSent = (error: unknown): boolean =>
  error instanceof SentError || (isGraphQLError(error) && isSent(error.originalError));

/** Returns the function that finds the error for a result of a remote schema. It returns undefined for a result without
 *  errors. @rule X-RMT-7 X-RMT-8 */
export const createErrorSearch =
  (name: string, isServer: boolean) =>
  ({ data, errors = [] }: ExecutionResult, prefix: readonly string[]): RelApiError | undefined => {
    const errorList = listErrors(errors);
    const [first] = errorList;
    if (first === undefined) return undefined;
    const ownError = errorList.map(findOwnError).find((error) => error !== undefined);
    if (ownError !== undefined) return ownError;
    if (data === undefined) return selectionRejected(first.message, "$.variables");
    const sentErrors = isServer ? errorList.filter(isSent) : errorList;
    if (sentErrors.length === 0) return remoteAnswerInvalid(name, first.message);
    return remoteRejected(
      sentErrors.map((error) => encodeError(error, prefix)),
      first.message,
    );
  };
