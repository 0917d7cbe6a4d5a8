/** `relapi serve`: the standalone server of this process, or of several. */
import cluster from "node:cluster";
import { VERSION } from "../../core/index.ts";
import { buildBanner } from "../banner.ts";
import { demoNotice } from "../demo-rules.ts";
import { knownVariables, readEnvironment, type EnvironmentSettings } from "../environment.ts";
import { strayVariables } from "../misspelt.ts";
import { serve, type Served } from "../serve.ts";
import { runWorkers, WORKER_INDEX } from "../workers.ts";
import { surviveLostLog } from "../lost-log.ts";
import { endWithReader, giveUp } from "./faults.ts";

/** Exit code: requests did not end in the grace period. */
const CUT_OFF = 3;

/** @rule R-ADM-4 R-SC-3 */
const handleSignals = (served: Served): void => {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) process.exit(1); // second signal
    isStopping = true;
    served.stop().then(() => process.exit(served.cutOff() === 0 ? 0 : CUT_OFF), giveUp);
  };
  // a terminal sends SIGINT to every process of the group; workers wait for the primary to stop them
  process.on("SIGTERM", stop).on("SIGINT", cluster.isWorker ? () => undefined : stop);
  const reload = (): void => {
    served.api.reloadAll().catch(() => undefined); // it was logged
  };
  process.on("SIGUSR1", reload).on("SIGUSR2", reload);
};

const start = async (settings: EnvironmentSettings): Promise<void> => {
  const isFirst = (process.env[WORKER_INDEX] ?? "1") === "1";
  const served = await serve(settings, isFirst);
  handleSignals(served);
  try {
    await served.api.ready;
  } catch (error) {
    if (served.options.logLevel === "silent") giveUp(error);
    process.exit(1); // it was logged
  }
  if (!isFirst || served.options.logLevel === "silent") return;
  // who has asked for objects wants nothing else between them
  if (served.logger.request !== undefined)
    served.logger.info("listening", { address: served.address, version: VERSION });
  else
    process.stdout.write(
      `${buildBanner(served.address, served.options, served.api.model(), settings.server.dataDir)}\n`,
    );
};

/** @rule C-SET-1 C-SET-4 */
const sayWhatIsOdd = (settings: EnvironmentSettings): void => {
  const strays = strayVariables(process.env, knownVariables());
  const notice = demoNotice(settings, process.env, strays);
  if (settings.options.logLevel === "silent") return;
  for (const { text } of strays) process.stderr.write(`relapi: ${text}\n`);
  if (notice !== undefined) process.stderr.write(`relapi: ${notice}\n`);
};

/** All settings come from the environment. */
export const runWithoutWords = async (): Promise<void> => {
  try {
    await runServer(readEnvironment(process.env));
  } catch (error) {
    giveUp(error);
  }
};

export const runServer = async (settings: EnvironmentSettings): Promise<void> => {
  process.stdout.off("error", endWithReader);
  surviveLostLog();
  if (cluster.isPrimary) sayWhatIsOdd(settings);
  if (settings.server.workers > 1 && cluster.isPrimary) runWorkers(settings.server.workers);
  else await start(settings);
};
