/** The errors of the metadata plugins. */
import { RelApiError } from "../../core/index.ts";

/** Returns the error for metadata that cannot be read. @rule G-MET-6 */
export const metadataUnreadable = (location: string, reason: string): RelApiError =>
  new RelApiError({ code: "preset", status: 500, message: `metadata ${location} cannot be read: ${reason}` });

/** Returns the error for metadata of an unsupported version. @rule G-MET-3 */
export const metadataVersionUnknown = (version: string): RelApiError =>
  new RelApiError({
    code: "preset",
    status: 500,
    message: `metadata has version ${version}: versions 2 and 3 are read`,
  });

/** Returns the error for a missing right, with the message of PostgreSQL, so that both surfaces respond as for a
 *  missing grant. @rule G-PRM-5 */
export const permissionDenied = (kind: "table" | "function", name: string): RelApiError =>
  new RelApiError({ code: "42501", status: 403, message: `permission denied for ${kind} ${name}` });

/** Returns the error for a caller whose role the metadata no longer contains. */
export const roleMissing = (role: string): RelApiError =>
  new RelApiError({ code: "42501", status: 403, message: `permission denied for role "${role}"` });
