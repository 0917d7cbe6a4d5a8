/** Errors of event triggers. */
import { presetError, type RelApiError } from "../../../core/index.ts";

/** @rule X-EVT-2 */
export const handlersInvalid = (location: string, reason: string): RelApiError =>
  presetError(`eventHandlers: ${location} ${reason}`);

/** @rule X-EVT-4 */
export const queueMissing = (): RelApiError =>
  presetError("events need the package graphile-worker, which is missing: npm install graphile-worker@0.16");

/** @rule X-EVT-4 */
export const databaseEmbedded = (): RelApiError =>
  presetError("events need a database server (DATABASE_URL): the embedded database has no queue");

/** @rule X-EVT-4 */
export const installRefused = (reason: string): RelApiError =>
  presetError(
    `the login role may not install event triggers (${reason}): run "relapi events install" with a role that may, or grant it the rights`,
  );

/** @rule X-EVT-3 */
export const notInstalled = (triggers: Iterable<string>): RelApiError =>
  presetError(`event triggers are not installed: ${[...triggers].join(", ")}: run "relapi events install"`);
