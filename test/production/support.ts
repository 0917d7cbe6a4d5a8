/** Programs that stand around relApi in production, started for real. Tests skip what is not installed. */
import { spawn, type ChildProcess } from "node:child_process";
import { accessSync, constants, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { atFileEnd } from "../support/file-end.ts";
import { freePort } from "../support/ports.ts";
import { serverFolder, serverUser } from "../support/postgres-programs.ts";

export { freePort };

/** Debian puts servers where ordinary users do not look. */
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

/** @throws Error when it is not installed */
export const pathOf = (program: string): string => {
  const path = find(program);
  if (path === undefined) throw new Error(`${program} is not installed`);
  return path;
};

/** A new folder that the programs may write to, removed with the file. */
export const folderFor = (topic: string): string => {
  const folder = serverFolder(topic);
  atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export interface Program {
  readonly process: ChildProcess;
  /** What it has written so far. */
  readonly output: () => string;
  /** Ends it, and waits for that. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Resolves when the port takes connections. Stopped with the file at the latest. @throws Error with what it wrote if
 *  it ends before */
export const startProgram = async (
  program: string,
  args: readonly string[],
  { port, patienceMs = 15_000 }: { readonly port: number; readonly patienceMs?: number },
): Promise<Program> => {
  const path = pathOf(program);
  const child = spawn(path, args, serverUser ?? {});
  let written = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      written += chunk.toString();
    });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    if (!hasEnded) child.kill(signal);
    const patience = setTimeout(() => child.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(patience);
  };
  atFileEnd(() => stop("SIGINT"));
  const deadlineMs = Date.now() + patienceMs;
  while (!(await isOpen(port))) {
    if (hasEnded || Date.now() > deadlineMs) {
      await stop("SIGKILL");
      throw new Error(`${program} does not listen on port ${port}: ${written}`);
    }
    await sleep(50);
  }
  return { process: child, output: () => written, stop };
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

/** Asks again and again. @throws Error when it is still not so after `withinMs` */
export const eventually = async (
  isSo: () => boolean | Promise<boolean>,
  withinMs: number,
  what = "it",
): Promise<number> => {
  const startedAtMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedAtMs > withinMs) throw new Error(`${what} did not happen within ${withinMs} ms`);
    await sleep(50);
  }
  return performance.now() - startedAtMs;
};
