/** The faults in the order of the table. */
import type { Fault } from "./fault.ts";
import { diskFull, metadataBroken } from "./files.ts";
import { connectionsTaken, packetsSwallowed, processStopped } from "./network.ts";
import { machineLost, processKilled, rollingRestart } from "./processes.ts";
import { leaderKilled, natsRestarted, poolerRestarted, redisRestarted } from "./programs.ts";
import { keysRotated, passwordRotated, passwordWrong } from "./secrets.ts";
import { databaseCrashed, databaseRestarted, sessionsKilled } from "./sessions.ts";
import { primaryLost, replicaBehind, replicaLost, replicaUnreachable } from "./standbys.ts";

export const faults: readonly Fault[] = [
  sessionsKilled,
  databaseRestarted,
  databaseCrashed,
  primaryLost,
  replicaLost,
  replicaBehind,
  replicaUnreachable,
  connectionsTaken,
  packetsSwallowed,
  poolerRestarted,
  passwordWrong,
  passwordRotated,
  keysRotated,
  metadataBroken,
  ...(diskFull === undefined ? [] : [diskFull]),
  processStopped,
  rollingRestart,
  processKilled,
  machineLost,
  leaderKilled,
  natsRestarted,
  redisRestarted,
];
