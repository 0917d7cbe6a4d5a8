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

/** Runs to its end; `until`: it is ended once it has printed that. */
export const relapi = (
  words: readonly string[],
  environment: Environment = {},
  until?: string | RegExp,
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...words], {
      env: { PATH: process.env["PATH"], ...environment },
    });
    const isSaid = (text: string): boolean =>
      until !== undefined && (typeof until === "string" ? text.includes(until) : until.test(text));
    let stdout = "";
    let stderr = "";
    const look = (): void => {
      if (isSaid(stdout + stderr)) child.kill("SIGTERM");
    };
    child.stdout.on("data", (chunk) => {
      stdout += String(chunk);
      look();
    });
    child.stderr.on("data", (chunk) => {
      stderr += String(chunk);
      look();
    });
    const tooLong = setTimeout(() => child.kill("SIGKILL"), 25_000);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(tooLong);
      resolve({ code, stdout, stderr });
    });
  });
