/** The standalone server as a separate process, with its admin listener. */
import { spawn } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { atFileEnd } from "../support/file-end.ts";
import { until } from "../support/until.ts";
import { freePort } from "./support.ts";

/** The path relative to this file, which may be the compiled one. */
const candidates = ["../../dist/presets/standalone.js", "../../presets/standalone.js"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
export const program = candidates.find((path) => existsSync(path)) ?? "";

export type Environment = Readonly<Record<string, string | undefined>>;

interface StartStandalone {
  readonly port?: number;
  readonly adminPort?: number;
  readonly waits?: boolean;
  /** The file for stdout. `output` then stays empty. */
  readonly logFile?: string | undefined;
}

export interface Standalone {
  readonly url: string;
  readonly port: number;
  readonly adminPort: number;
  readonly pid: number;
  /** The log so far, from both streams. */
  readonly output: () => string;
  /** The status and text of `/ready`. The status is 0 if there is no response. */
  ready(): Promise<readonly [status: number, text: string]>;
  /** The value of a metric. Undefined if no metric has that name and labels. */
  metric(name: string): Promise<number | undefined>;
  /** The exit code once the process has ended, null if a signal ended it. */
  readonly exitCode: Promise<number | null>;
  /** Stops the process, and resolves as `exitCode` does. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Resolves once the server is ready, unless the caller does not wait for that. By default the ports are free ones. A
 * restarted server needs its previous ports, and no log contains the port of the admin listener.
 */
export const startStandalone = async (
  environment: Environment,
  { port, adminPort, waits = true, logFile }: StartStandalone = {},
): Promise<Standalone> => {
  const [listenPort, listenAdminPort] = [port ?? (await freePort()), adminPort ?? (await freePort())];
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env["PATH"],
      HOST: "127.0.0.1",
      PORT: String(listenPort),
      ADMIN_PORT: String(listenAdminPort),
      LOG_LEVEL: "warn",
      ...environment,
    },
    stdio: logFile === undefined ? ["ignore", "pipe", "pipe"] : ["ignore", openSync(logFile, "a"), "ignore"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
  let isOver = false;
  const exitCode = new Promise<number | null>((resolve) =>
    child.once("close", (code) => {
      isOver = true;
      resolve(code);
    }),
  );
  atFileEnd(async () => {
    if (!isOver) child.kill("SIGKILL");
    await exitCode;
  });
  const ready: Standalone["ready"] = async () => {
    try {
      const response = await fetch(`http://127.0.0.1:${listenAdminPort}/ready`);
      return [response.status, await response.text()];
    } catch {
      return [0, ""];
    }
  };
  if (waits)
    await until(async () => {
      if (isOver) throw new Error(`it ended: ${output}`);
      return (await ready())[0] === 200;
    }, "the standalone server is ready");
  return {
    url: `http://127.0.0.1:${listenPort}`,
    port: listenPort,
    adminPort: listenAdminPort,
    pid: child.pid ?? 0,
    output: () => output,
    ready,
    exitCode,
    metric: async (name) => {
      const text = await (await fetch(`http://127.0.0.1:${listenAdminPort}/metrics`)).text();
      const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.slice(name.length + 1));
    },
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      return exitCode;
    },
  };
};
