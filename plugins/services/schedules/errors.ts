/** Errors of schedules. */
import { presetError, RelApiError } from "../../../core/index.ts";

/** Returns the error for an option `schedules` that is not valid. @rule X-SCH-1 */
export const scheduleInvalid = (location: string, reason: string): RelApiError =>
  presetError(`schedules: ${location} ${reason}`);

/** Returns the error for a database without the tables of schedules. @rule X-SCH-4 */
export const schedulesNotInstalled = (): RelApiError =>
  presetError('schedules are not installed: run "relapi --preset plus events install"');

/** Returns the error for a scheduled event that is not valid. @rule X-SCH-12 */
export const eventInvalid = (reason: string): RelApiError =>
  new RelApiError({ code: "validation-failed", status: 400, message: reason });
