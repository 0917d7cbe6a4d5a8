/** Runs `relapi`: commands in the process of the test, and the built program in a separate process. */
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { main } from "../../presets/cli/main.ts";
import { atFileEnd } from "../support/file-end.ts";

export const program = fileURLToPath(new URL("../../dist/presets/standalone.js", import.meta.url));

export interface ProcessResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const buildEnvironment = (environment: Environment): Environment => ({
  PATH: process.env["PATH"],
  LOG_FORMAT: "text",
  ...environment,
});

/** Collects the text that is written to it. */
class TextCollector extends Writable {
  text = "";
  override _write(chunk: unknown, _encoding: string, callback: () => void): void {
    this.text += String(chunk);
    callback();
  }
}

/** Runs a command that ends by itself, in this process. A server logs to its process, so `start` runs it separately. */
export const relapi = async (
  words: readonly string[],
  environment: Environment = {},
  stdin = "",
): Promise<ProcessResult> => {
  const [stdout, stderr] = [new TextCollector(), new TextCollector()];
  const code = await main(words, { env: buildEnvironment(environment), stdin: Readable.from([stdin]), stdout, stderr });
  return { code, stdout: stdout.text, stderr: stderr.text };
};

export interface RunningProgram {
  /** The output so far, on both streams. */
  output(): string;
  /** Resolves once the program has printed the text. @throws Error with the output if the program ends earlier */
  untilPrinted(pattern: RegExp): Promise<RegExpExecArray>;
  /** Writes the whole standard input of the program. */
  write(text: string): void;
  /** Closes the readers of the program's output. */
  hangUp(): void;
  readonly pid: number;
  /** Resolves once the program has ended by itself. @throws Error if the program had to be killed */
  end(): Promise<ProcessResult>;
  stop(signal?: NodeJS.Signals): Promise<ProcessResult>;
}

/** The time after which a program that hangs is killed. A server runs until its test or its test file ends. */
const DEADLINE_MS = 120_000;

/** Starts the program in a separate process. */
export const start = (words: readonly string[], environment: Environment = {}): RunningProgram => {
  const child = spawn(process.execPath, [program, ...words], {
    env: buildEnvironment(environment),
  });
  child.stdin.on("error", () => undefined); // the program may have ended
  let stdout = "";
  let stderr = "";
  let isOver = false;
  const looks = new Set<() => void>();
  const lookAll = (): void => {
    for (const look of looks) look();
  };
  child.stdout.on("data", (chunk) => {
    stdout += String(chunk);
    lookAll();
  });
  child.stderr.on("data", (chunk) => {
    stderr += String(chunk);
    lookAll();
  });
  const exit = new Promise<ProcessResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      isOver = true;
      resolve({ code, stdout, stderr });
      lookAll();
    });
  });
  atFileEnd(async () => void child.kill("SIGKILL"));
  return {
    output: () => stdout + stderr,
    untilPrinted: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(stdout + stderr);
          if (match === null && !isOver) return;
          looks.delete(look);
          if (match === null) reject(new Error(`it never said ${pattern.source}: ${stdout}${stderr}`));
          else resolve(match);
        };
        looks.add(look);
        look();
      }),
    write: (text) => void child.stdin.end(text),
    hangUp: () => void child.stdout.destroy(),
    pid: child.pid ?? 0,
    end: async () => {
      let isKilled = false;
      const deadline = setTimeout(() => {
        isKilled = child.kill("SIGKILL");
      }, DEADLINE_MS);
      const result = await exit;
      clearTimeout(deadline);
      if (isKilled)
        throw new Error(`killed after ${DEADLINE_MS / 1000} s: relapi ${words.join(" ")}: ${stdout}${stderr}`);
      return result;
    },
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return exit;
    },
  };
};

/** A server that is stopped once it has printed the text. */
export const startUntil = async (
  pattern: RegExp,
  words: readonly string[],
  environment: Environment = {},
): Promise<ProcessResult> => {
  const running = start(words, environment);
  await running.untilPrinted(pattern);
  return running.stop();
};
