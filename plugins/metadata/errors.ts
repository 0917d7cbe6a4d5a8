/** Errors of the metadata plugins. */
import { RelApiError } from "../../core/index.ts";

/** @rule G-MET-6 */
export const metadataUnreadable = (place: string, reason: string): RelApiError =>
  new RelApiError({ code: "preset", status: 500, message: `metadata ${place} cannot be read: ${reason}` });

/** @rule G-MET-3 */
export const metadataVersionUnknown = (version: string): RelApiError =>
  new RelApiError({ code: "preset", status: 500, message: `metadata has version ${version}: versions 2 and 3 are read` });
