/** Starts apis for tests of webhooks, functions and events. */
import { onTestFinished } from "vitest";
import { plus } from "../../presets/index.ts";
import { forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { collectLines } from "../support/logger.ts";

/** Starts an api that may call servers of this machine. */
export const startWithWebhooks = (options: StartOptions = {}): Promise<TestApi> =>
  startApi(forGraphql({ preset: plus, webhookAllowedHosts: ["127.0.0.1"], ...options }));

export interface LoggedApi extends TestApi {
  /** The errors, warnings and information so far, each with its fields as JSON. */
  readonly log: readonly string[];
}

/** Starts an api that is closed at the end of the test. */
export const startLogged = async (options: StartOptions): Promise<LoggedApi> => {
  const { logger, lines: log } = collectLines("error", "warn", "info");
  const api = await startWithWebhooks({ logger, ...options });
  onTestFinished(api.close);
  return { ...api, log };
};
