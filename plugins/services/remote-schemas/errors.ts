/** Errors of remote schemas. Messages contain no URL, because it may contain secrets. */
import { presetError, RelApiError, type Json } from "../../../core/index.ts";

/** The reason why a remote schema, or one of its permissions or relationships, cannot be served. */
export class RemoteSchemaProblem extends Error {}

/** Leaves a remote schema out for a reason. @throws RemoteSchemaProblem */
export const rejectDefinition = (reason: string): never => {
  throw new RemoteSchemaProblem(reason);
};

/** Returns the error for a schema that another copy of the package graphql has created. @rule X-RMT-3 */
export const graphqlPackageDuplicated = (where: string): RelApiError =>
  presetError(
    `${where} uses another copy of the package graphql than relapi: npm ls graphql lists the copies, and npm dedupe removes the second one`,
  );

/** Returns the error for a request that a remote schema did not answer. @rule X-RMT-8 */
export const remoteFailed = (name: string, reason: string): RelApiError =>
  new RelApiError({ code: "remote-schema-error", status: 502, message: `the remote schema ${name} failed: ${reason}` });

/** Returns the error for an answer that is nested too deeply. @rule X-RMT-8 */
export const remoteAnswerTooDeep = (name: string, depth: number): RelApiError =>
  remoteFailed(name, `its answer is nested deeper than ${depth} levels`);

/** Returns the error for data that the schema of the remote does not allow. @rule X-RMT-8 */
export const remoteAnswerInvalid = (name: string, reason: string): RelApiError =>
  remoteFailed(name, `its answer does not fit its schema: ${reason}`);

/** Returns the error for the name of a remote schema that does not exist. @rule X-RMT-11 */
export const remoteUnknown = (name: string): RelApiError =>
  new RelApiError({ code: "not-exists", status: 400, message: `remote schema with name "${name}" does not exist` });

/** Returns the errors of the remote schema, with their messages and paths. @rule X-RMT-7 */
export const remoteRejected = (errors: readonly Json[], message: string): RelApiError =>
  new RelApiError({ code: "remote-schema-error", status: 400, message, facts: { graphqlErrors: errors } });

/** Returns the error for a document that does not fit the remote schema. @rule X-RMT-6 */
export const selectionRejected = (message: string, path: string): RelApiError =>
  new RelApiError({ code: "validation-failed", status: 400, message, path });

/** Returns the error for a value of a column that is not a value of the argument's type. @rule X-RMT-13c */
export const valueRejected = (argument: string, reason: string): RelApiError =>
  new RelApiError({
    code: "data-exception",
    status: 400,
    message: `the row has no value for the argument "${argument}" of the remote field: ${reason}`,
  });

/** Returns the error for a preset whose session variable is missing. @rule X-RMT-10 */
export const variableMissing = (name: string): RelApiError =>
  new RelApiError({ code: "not-found", status: 400, message: `missing session variable: "${name}"` });

/** Returns the error for a session variable that does not have the type of its argument. @rule X-RMT-10 */
export const variableInvalid = (name: string, type: string): RelApiError =>
  new RelApiError({
    code: "data-exception",
    status: 400,
    message: `the session variable "${name}" is not a value of the type ${type}`,
  });
