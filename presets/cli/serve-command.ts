/** `relapi serve`: runs the standalone server in one process or several. */
import cluster from "node:cluster";
import { VERSION } from "../../core/index.ts";
import { buildBanner } from "../server/banner.ts";
import { buildDemoNotice } from "../server/checks.ts";
import { listKnownVariables, readEnvironment, type EnvironmentSettings } from "../server/environment.ts";
import { ignoreLogErrors } from "../server/log-errors.ts";
import { findUnknownVariables } from "../server/unknown-variables.ts";
import { serve, type StandaloneServer } from "../server/serve.ts";
import { runWorkers, WORKER_INDEX } from "../server/workers.ts";
import type { Outputs } from "./terminal.ts";

/** The exit code if requests did not end in the grace period. */
const CUT_OFF_EXIT_CODE = 3;

/** Waits for a signal. @returns the exit code once a signal has stopped the server @rule R-ADM-4 R-SC-3 */
const waitForStop = (standaloneServer: StandaloneServer): Promise<number> =>
  new Promise((resolve, reject) => {
    let isStopping = false;
    const stop = (): void => {
      if (isStopping) {
        standaloneServer.logger.warn("a second signal ends the server at once: requests in progress get no response", {
          count: standaloneServer.countRunning(),
        });
        return resolve(1);
      }
      isStopping = true;
      standaloneServer.stop().then(() => resolve(standaloneServer.countCutOff() === 0 ? 0 : CUT_OFF_EXIT_CODE), reject);
    };
    // A terminal sends SIGINT to the whole process group, but the primary stops the workers.
    process.on("SIGTERM", stop).on("SIGINT", cluster.isWorker ? () => undefined : stop);
    const reload = (): void => {
      standaloneServer.api.reloadAll().catch(() => undefined); // the error was logged
    };
    process.on("SIGUSR1", reload).on("SIGUSR2", reload);
  });

const startServer = async (settings: EnvironmentSettings, { env, stdout }: Outputs): Promise<number> => {
  const isFirst = (env[WORKER_INDEX] ?? "1") === "1";
  const standaloneServer = await serve(settings, isFirst);
  const { logLevel } = standaloneServer.options;
  const logAddress = (): void => {
    if (!isFirst || logLevel === "silent") return;
    // With a request log of objects, the output must contain nothing else.
    if (standaloneServer.logger.request !== undefined)
      standaloneServer.logger.info("listening", { address: standaloneServer.address, version: VERSION });
    else
      stdout.write(
        `${buildBanner(standaloneServer.address, standaloneServer.options, standaloneServer.api.model(), settings.server.dataDir)}\n`,
      );
  };
  const stopPromise = waitForStop(standaloneServer);
  const startPromise = standaloneServer.api.ready.then(logAddress).then(
    () => stopPromise,
    (error: unknown) => {
      if (logLevel === "silent") throw error;
      return 1; // the error was logged
    },
  );
  return Promise.race([stopPromise, startPromise]);
};

/** Logs unknown variables and the notice of the demo. @throws RelApiError `preset` if the demo must not start @rule
 *  C-SET-1 C-SET-4 */
const reportSettings = (settings: EnvironmentSettings, { env, stderr }: Outputs): void => {
  const unknownVariables = findUnknownVariables(env, listKnownVariables());
  const notice = buildDemoNotice(settings, env, unknownVariables);
  if (settings.options.logLevel === "silent") return;
  for (const { message } of unknownVariables) stderr.write(`relapi: ${message}\n`);
  if (notice !== undefined) stderr.write(`relapi: ${notice}\n`);
};

/**
 * Runs the server with settings from the environment. @returns the exit code once the server has stopped
 */
export const runServer = async (outputs: Outputs): Promise<number> => {
  const settings = readEnvironment(outputs.env);
  ignoreLogErrors([outputs.stdout, outputs.stderr]);
  if (cluster.isPrimary) reportSettings(settings, outputs);
  const { workers } = settings.server;
  return workers > 1 && cluster.isPrimary ? runWorkers(workers, outputs) : startServer(settings, outputs);
};
