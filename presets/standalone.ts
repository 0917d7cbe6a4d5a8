#!/usr/bin/env node
/** `relapi`: the standalone server, configured by environment variables (docs/reference/settings.md). */
import cluster from "node:cluster";
import { isRelApiError } from "../core/index.ts";
import { buildBanner } from "./banner.ts";
import { readEnvironment, type EnvironmentSettings } from "./environment.ts";
import { buildLiveTriggers } from "./live-triggers.ts";
import { serve, type Served } from "./serve.ts";
import { runWorkers, WORKER_INDEX } from "./workers.ts";

/** Wrong settings print only their message; anything else prints a stack trace. */
const giveUp = (error: unknown): never => {
  const text = isRelApiError(error)
    ? error.message
    : error instanceof Error
      ? isPlain(error)
        ? error.message
        : (error.stack ?? error.message)
      : String(error);
  process.stderr.write(
    `${text
      .split("\n")
      .map((line) => `relapi: ${line}`)
      .join("\n")}\n`,
  );
  process.exit(1);
};

/** Errors of the system (a port in use, a folder that may not be read) speak for themselves. */
const isPlain = (error: Error): boolean => typeof (error as NodeJS.ErrnoException).code === "string";

/** @rule R-ADM-4 R-SC-3 */
const handleSignals = (served: Served): void => {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) process.exit(1); // second signal
    isStopping = true;
    served.stop().then(() => process.exit(0), giveUp);
  };
  // a terminal sends SIGINT to every process of the group; workers wait for the primary to stop them
  process.on("SIGTERM", stop).on("SIGINT", cluster.isWorker ? () => undefined : stop);
  const reload = (): void => {
    served.api.reload().catch(() => undefined); // it was logged
  };
  process.on("SIGUSR1", reload).on("SIGUSR2", reload);
};

const start = async (settings: EnvironmentSettings): Promise<void> => {
  const isFirst = (process.env[WORKER_INDEX] ?? "1") === "1";
  const served = await serve(settings, isFirst);
  handleSignals(served);
  await served.api.ready;
  if (isFirst && served.options.logLevel !== "silent")
    process.stdout.write(
      `${buildBanner(served.address, served.options, served.api.model(), settings.server.dataDir)}\n`,
    );
};

try {
  const settings = readEnvironment(process.env);
  if (process.argv[2] === "live-triggers") process.stdout.write(await buildLiveTriggers(settings.options));
  else if (settings.server.workers > 1 && cluster.isPrimary) runWorkers(settings.server.workers);
  else await start(settings);
} catch (error) {
  giveUp(error);
}
