/** The data folder of an embedded database, and its lock. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { getErrorMessage, presetError } from "../../../core/index.ts";

interface DataFolder {
  /** The path of the cluster. */
  readonly clusterPath: string;
  /** True if the folder had no cluster, or an unfinished cluster that was removed. */
  readonly isFresh: boolean;
  /** Marks the cluster as complete. An interrupted start before this is repeated from scratch. */
  markComplete(): void;
  /** Releases the folder, and removes an unfinished cluster. */
  release(): void;
}

interface Lock {
  readonly pid: number;
  /** The start time of the process, because systems reuse pids, and containers often do. */
  readonly startedAt: string;
  readonly isFilled: boolean;
}

/** Locks the folder for this process, and creates it if necessary. @throws RelApiError `preset` if another process has
 *  locked it, or it cannot be created */
export function lockDataFolder(path: string): DataFolder {
  const folder = resolve(path);
  const lockPath = join(folder, "relapi.lock");
  // A cluster directly in the folder, as PGlite itself creates it, is used unchanged.
  const clusterPath = existsSync(join(folder, "PG_VERSION")) ? folder : join(folder, "cluster");
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw presetError(`cannot create the data folder: ${getErrorMessage(error)}`);
  }

  const previous = readLock(lockPath);
  if (previous !== undefined && previous.startedAt === readProcessStart(previous.pid)) {
    throw presetError(
      `${folder} is in use by process ${previous.pid}: an embedded database belongs to one process (if that is wrong, remove ${lockPath})`,
    );
  }
  if (previous?.isFilled === false) rmSync(join(folder, "cluster"), { recursive: true, force: true });

  const isFresh = !existsSync(join(clusterPath, "PG_VERSION"));
  const write = (isComplete: boolean, flag: string): void => {
    const lock: Lock = { pid: process.pid, startedAt: readProcessStart(process.pid), isFilled: isComplete };
    writeFileSync(lockPath, JSON.stringify(lock), { flag });
  };
  if (previous !== undefined) rmSync(lockPath, { force: true });
  write(!isFresh, "wx"); // fails in one of two concurrent processes

  let isFilled = !isFresh;
  return {
    clusterPath,
    isFresh,
    markComplete() {
      isFilled = true;
      write(true, "w");
    },
    release() {
      if (!isFilled) rmSync(clusterPath, { recursive: true, force: true });
      rmSync(lockPath, { force: true });
    },
  };
}

function readLock(path: string): Lock | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Lock;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    return { pid: 0, startedAt: "unreadable", isFilled: true };
  }
}

/** Returns a text that differs between two processes with the same pid. The text is empty if the process does not
 *  exist. */
function readProcessStart(pid: number): string {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return "";
  }
  try {
    // The time is field 22, counted after the name, which may contain spaces and brackets: `4711 (node) S 1 ...`.
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ")[19] ?? "running";
  } catch {
    return "running"; // without /proc, only the pid is available
  }
}
