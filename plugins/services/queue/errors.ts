/** Errors of the job queue. */
import { presetError, type RelApiError } from "../../../core/index.ts";

/** Returns the error for the embedded database, which cannot run the queue. @rule X-EVT-4 X-SCH-4 */
export const databaseEmbedded = (): RelApiError =>
  presetError("event triggers and schedules need a database server (DATABASE_URL): the embedded database has no queue");

/** Returns the error for a database that rejects the installation, for example because of missing rights. @rule
 *  X-EVT-4 X-SCH-4 */
export const installationRejected = (reason: string): RelApiError =>
  presetError(
    `the login role may not install event triggers and schedules (${reason}): run "relapi --preset plus events install" as a role that has the rights, or grant them to the login role`,
  );
