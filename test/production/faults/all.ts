/** In the order of the table. */
import type { Fault } from "./fault.ts";
import { diskFull, metadataBroken } from "./files.ts";
import { connectionsTaken, packetsSwallowed, processStopped } from "./network.ts";
import { processKilled, rollingRestart } from "./processes.ts";
import { keysRotated, passwordRotated, passwordWrong } from "./secrets.ts";
import { databaseCrashed, databaseRestarted, sessionsKilled } from "./sessions.ts";

export const faults: readonly Fault[] = [
  sessionsKilled,
  databaseRestarted,
  databaseCrashed,
  connectionsTaken,
  packetsSwallowed,
  passwordWrong,
  passwordRotated,
  keysRotated,
  metadataBroken,
  ...(diskFull === undefined ? [] : [diskFull]),
  processStopped,
  rollingRestart,
  processKilled,
];
