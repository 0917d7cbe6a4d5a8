/** What limits say to other plugins: types only. */
import type { RelApiError, Session, Token } from "../../core/index.ts";

/** @rule G-LIM-8 */
export interface ApiLimits {
  /** How long an operation of the caller may take; undefined: as long as anybody's. */
  secondsOf(session: Session): number | undefined;
  timeExceeded(seconds: number): RelApiError;
}

/** `current`: those in force since the last load of the schema; undefined: there are none. */
export type ApiLimitsService = Token<"api-limits", { current(): ApiLimits | undefined }>;
