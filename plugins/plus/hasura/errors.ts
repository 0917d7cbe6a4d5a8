/** Errors of the metadata API. */
import { RelApiError, writeJson, type Json } from "../../../core/index.ts";

/** An error of the metadata API. */
export class MetadataApiError extends RelApiError {}

/** Creates an error. `internal` contains details for administrators beside the message. */
export const metadataError = (
  code: string,
  message: string,
  path: string,
  internal?: Json,
  status = 400,
): RelApiError =>
  new MetadataApiError({ code, status, message, path, ...(internal === undefined ? {} : { facts: { internal } }) });

export const keyMissing = (key: string, path: string): RelApiError =>
  metadataError("parse-failed", `key "${key}" not found`, path);

export const kindUnexpected = (key: string, kind: string, path: string): RelApiError =>
  metadataError("parse-failed", `expected ${kind}`, `${path}.${key}`);

/** Returns the error for a caller that is not an administrator. @rule P-HAS-2 */
export const adminRequired = (): RelApiError =>
  metadataError("access-denied", "restricted access : admin only", "$.args");

/** Returns the error for a change of metadata that is read-only. @rule P-HAS-5 */
export const metadataReadOnly = (reason: string): RelApiError =>
  metadataError("not-supported", `the metadata cannot be changed here: ${reason}`, "$");

/** Returns the error for a change that is based on another version of the metadata. @rule P-HAS-3 */
export const versionOutdated = (sentVersion: number, current: number): RelApiError =>
  metadataError(
    "conflict",
    `metadata resource version referenced (${sentVersion}) did not match current version`,
    "$",
    { current_resource_version: current },
    409,
  );

/** Returns the body of an error in the format of the GraphQL surface. */
export const encodeMetadataError = ({ code, message, path = "$", facts }: RelApiError): string => {
  const { internal } = facts;
  return writeJson({ path, error: message, code, ...(internal === undefined ? {} : { internal }) });
};
