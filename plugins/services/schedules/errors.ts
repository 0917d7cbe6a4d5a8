/** Errors of schedules. */
import { presetError, RelApiError } from "../../../core/index.ts";

/** @rule X-SCH-1 */
export const scheduleInvalid = (location: string, reason: string): RelApiError =>
  presetError(`schedules: ${location} ${reason}`);

/** @rule X-SCH-4 */
export const schedulesNotInstalled = (): RelApiError =>
  presetError('schedules are not installed: run "relapi --preset plus events install"');

/** @rule X-SCH-12 */
export const eventInvalid = (reason: string): RelApiError =>
  new RelApiError({ code: "validation-failed", status: 400, message: reason });
