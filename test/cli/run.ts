/** `relapi` as a terminal starts it: the built program, in a process of its own. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atFileEnd } from "../support/file-end.ts";

export const program = fileURLToPath(new URL("../../dist/presets/standalone.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A folder that goes with the test file. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-cli-"));
  atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** A file in a folder of its own. */
export const temporaryFile = (name: string, text: string): string => {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
};

const PATIENCE_MS = 25_000;

export interface Running {
  /** What it has printed so far, on both streams. */
  output(): string;
  /** Resolves once it has printed that. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  write(text: string): void;
  /** Closes what it prints to. */
  hangUp(): void;
  readonly pid: number;
  readonly ended: Promise<Ended>;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

export const start = (words: readonly string[], environment: Environment = {}): Running => {
  const child = spawn(process.execPath, [program, ...words], {
    env: { PATH: process.env["PATH"], LOG_FORMAT: "text", ...environment },
  });
  let stdout = "";
  let stderr = "";
  let look: () => void = () => undefined;
  child.stdout.on("data", (chunk) => {
    stdout += String(chunk);
    look();
  });
  child.stderr.on("data", (chunk) => {
    stderr += String(chunk);
    look();
  });
  child.stdin.on("error", () => undefined); // it may have ended
  const ended = new Promise<Ended>((resolve, reject) => {
    const tooLong = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(tooLong);
      resolve({ code, stdout, stderr });
      look();
    });
  });
  let isOver = false;
  void ended.then(() => {
    isOver = true;
    look();
  });
  return {
    output: () => stdout + stderr,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        look = () => {
          const match = pattern.exec(stdout + stderr);
          if (match !== null) resolve(match);
          else if (isOver) reject(new Error(`it never said ${pattern.source}: ${stdout}${stderr}`));
        };
        look();
      }),
    write: (text) => void child.stdin.end(text),
    hangUp: () => void child.stdout.destroy(),
    pid: child.pid ?? 0,
    ended,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
  };
};

const asPattern = (text: string | RegExp): RegExp =>
  typeof text === "string" ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")) : text;

/** Runs to its end; `until`: it is ended once it has printed that. */
export const relapi = async (
  words: readonly string[],
  environment: Environment = {},
  until?: string | RegExp,
): Promise<Ended> => {
  const running = start(words, environment);
  running.write("");
  if (until === undefined) return running.ended;
  await running.said(asPattern(until)).catch(() => undefined); // what it printed is looked at
  return running.stop();
};
