/** `relapi serve`: the standalone server of this process, or of several. */
import cluster from "node:cluster";
import { buildBanner } from "../banner.ts";
import type { EnvironmentSettings } from "../environment.ts";
import { serve, type Served } from "../serve.ts";
import { runWorkers, WORKER_INDEX } from "../workers.ts";
import { giveUp } from "./faults.ts";

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

export const runServer = async (settings: EnvironmentSettings): Promise<void> => {
  if (settings.server.workers > 1 && cluster.isPrimary) runWorkers(settings.server.workers);
  else await start(settings);
};
