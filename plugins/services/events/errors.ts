/** Errors of event triggers. */
import { presetError, type RelApiError } from "../../../core/index.ts";

/** Returns the error for an option `eventHandlers` that is not valid. @rule X-EVT-2 */
export const handlersInvalid = (location: string, reason: string): RelApiError =>
  presetError(`eventHandlers: ${location} ${reason}`);

/** Returns the error for event triggers that the database does not have. @rule X-EVT-3 */
export const eventTriggersNotInstalled = (triggers: Iterable<string>): RelApiError =>
  presetError(
    `event triggers are not installed: ${[...triggers].join(", ")}: run "relapi --preset plus events install"`,
  );
