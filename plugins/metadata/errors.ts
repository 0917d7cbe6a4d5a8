/** Errors of the metadata plugins. */
import { RelApiError } from "../../core/index.ts";

/** @rule G-MET-6 */
export const metadataUnreadable = (location: string, reason: string): RelApiError =>
  new RelApiError({ code: "preset", status: 500, message: `metadata ${location} cannot be read: ${reason}` });

/** @rule G-MET-3 */
export const metadataVersionUnknown = (version: string): RelApiError =>
  new RelApiError({
    code: "preset",
    status: 500,
    message: `metadata has version ${version}: versions 2 and 3 are read`,
  });

/** A missing right with the message of PostgreSQL, so that both surfaces respond as for a missing grant. @rule
 *  G-PRM-5 */
export const permissionDenied = (what: "table" | "function", name: string): RelApiError =>
  new RelApiError({ code: "42501", status: 403, message: `permission denied for ${what} ${name}` });

/** The metadata no longer contains the role that gave the caller its rights. */
export const roleGone = (role: string): RelApiError =>
  new RelApiError({ code: "42501", status: 403, message: `permission denied for role "${role}"` });
