/** Errors of negotiation. */
import { RelApiError } from "../../core/index.ts";

/** @rule R-MED-1 PGRST107 */
export const mediaTypeUnavailable = (types: readonly string[]): RelApiError =>
  new RelApiError({
    code: "media-type-unavailable",
    status: 406,
    message: `None of these media types are available: ${types.join(", ")}`,
  });
