/** Errors of the job queue. */
import { presetError, type RelApiError } from "../../../core/index.ts";

/** @rule X-EVT-4 X-SCH-4 */
export const databaseEmbedded = (): RelApiError =>
  presetError("event triggers and schedules need a database server (DATABASE_URL): the embedded database has no queue");

/** @rule X-EVT-4 X-SCH-4 */
export const installRefused = (reason: string): RelApiError =>
  presetError(
    `the login role may not install event triggers and schedules (${reason}): run "relapi events install" with a role that may, or grant it the rights`,
  );
