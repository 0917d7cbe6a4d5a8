/** Programs that surround relApi in production, started as processes. Tests skip those that are not installed. */
import { spawn, type ChildProcess } from "node:child_process";
import { accessSync, constants, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { atFileEnd } from "../support/file-end.ts";
import { freePort } from "../support/ports.ts";
import { serverFolder, serverUser } from "../support/postgres-programs.ts";
import { until } from "../support/until.ts";

export { freePort };

/** The timeout of a test that starts many processes. Each condition that it waits for has a deadline of its own. */
export const LONG_MS = 600_000;

/** The folders that are searched, because Debian installs servers outside of users' paths. */
const FOLDERS = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];

const find = (program: string): string | undefined =>
  FOLDERS.map((folder) => join(folder, program)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });

export const has = (program: string): boolean => find(program) !== undefined;

/** Returns the path of a program. @throws Error if the program is not installed */
export const getProgramPath = (program: string): string => {
  const path = find(program);
  if (path === undefined) throw new Error(`${program} is not installed`);
  return path;
};

/** A new folder that the programs may write to, removed after the test file. */
export const folderFor = (topic: string): string => {
  const folder = serverFolder(topic);
  atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export interface Program {
  readonly process: ChildProcess;
  /** The output so far. */
  readonly output: () => string;
  /** Stops the program, and resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Resolves when the port accepts connections. The program stops at the latest after the test file. @throws Error
 * with the output if the program ends earlier
 */
export const startProgram = async (
  program: string,
  args: readonly string[],
  { port }: { readonly port: number },
): Promise<Program> => {
  const path = getProgramPath(program);
  const child = spawn(path, args, serverUser ?? {});
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  const exit = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let hasEnded = false;
  void exit.then(() => {
    hasEnded = true;
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    if (!hasEnded) child.kill(signal);
    const patience = setTimeout(() => child.kill("SIGKILL"), 5000);
    await exit;
    clearTimeout(patience);
  };
  atFileEnd(() => stop("SIGINT"));
  try {
    await until(async () => hasEnded || (await isOpen(port)), `${program} listens on port ${port}`);
  } catch (error) {
    await stop("SIGKILL");
    throw new Error(`${String(error)}: ${output}`);
  }
  if (hasEnded) throw new Error(`${program} ended: ${output}`);
  return { process: child, output: () => output, stop };
};

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
