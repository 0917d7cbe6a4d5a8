/** `relapi check`: reports what would fail with these settings, one line per error. */
import { createServer } from "node:net";
import { RelApiError, type PluginContext } from "../../core/index.ts";
import { eventsService, scheduledEventsService } from "../../plugins/services/api.ts";
import { buildDemoNotice, checkPolicies, checkNamedFunctions } from "../server/checks.ts";
import {
  listKnownVariables,
  readEnvironment,
  type Environment,
  type EnvironmentSettings,
} from "../server/environment.ts";
import { findUnknownVariables } from "../server/unknown-variables.ts";
import type { ServerSettings } from "../server/server-settings.ts";
import { withApi } from "./open-api.ts";
import { write, type Terminal } from "./terminal.ts";
import { formatCount } from "../../plugins/shared/plural.ts";

interface CheckResult {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly summary: string;
  /** The notice that the checked database is the demo. */
  readonly notice?: string | undefined;
}

/**
 * Returns whether a warning about metadata, exposed schemas or stored settings means failing requests. Warnings about
 * unsupported metadata do not count, because relapi ignores such metadata by design.
 */
const countsAsError = (warning: string): boolean =>
  /^ANON_ROLE is |^metadata: (?!.*is not supported; ignored)|is exposed but does not exist$|^invalid (?:token )?settings|^ignoring tokens: /.test(
    warning,
  );

/** Checks whether the port is free. The process that uses it may be this server. @rule C-CHK-3 */
const checkPort = ({ host, port, unixSocket }: ServerSettings): Promise<readonly string[]> =>
  new Promise((resolve) => {
    if (unixSocket !== undefined || port === 0) return resolve([]);
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "EADDRINUSE" ? [`port ${port} is in use`] : [`port ${port}: ${error.message}`]),
    );
    probe.listen(port, host, () => probe.close(() => resolve([])));
  });

/** Checks that the queue of event triggers and schedules can run. @rule C-CHK-1b */
const checkQueue = async ({ use }: PluginContext): Promise<readonly string[]> => {
  try {
    await use(eventsService)?.checkQueue();
    await use(scheduledEventsService)?.checkQueue();
    return [];
  } catch (error) {
    if (!(error instanceof RelApiError)) throw error;
    return [error.message];
  }
};

const checkDatabase = (settings: EnvironmentSettings): Promise<CheckResult> =>
  withApi(settings, async ({ context, model, warnings, options }) => {
    const policies = await checkPolicies(context);
    const callers =
      options.anonRole === undefined &&
      options.jwtSecret === undefined &&
      options.adminSecret === undefined &&
      options.authHook === undefined
        ? ["no caller has access: set ANON_ROLE, JWT_SECRET, AUTH_HOOK or ADMIN_SECRET"]
        : [];
    return {
      errors: [
        ...(await checkNamedFunctions(context)),
        ...(await checkQueue(context)),
        ...warnings.filter(countsAsError),
        ...policies.filter(({ isError }) => isError).map(({ text }) => text),
      ],
      warnings: [
        ...callers,
        ...(await checkPort(settings.server)),
        ...warnings.filter((warning) => !countsAsError(warning)),
        ...policies.filter(({ isError }) => !isError).map(({ text }) => text),
      ],
      summary: `${formatCount(model.relations.size, "relation")}, ${formatCount(model.routines.size, "function")}`,
    };
  });

/** Checks the settings. `complete` returns the environment with the values of a settings file. @rule C-CHK-1 */
export const checkSettings = async (
  variables: Environment,
  complete: () => Promise<Environment>,
): Promise<CheckResult> => {
  let environment = variables;
  const findUnknown = () => findUnknownVariables(environment, listKnownVariables());
  try {
    environment = await complete();
    const settings = readEnvironment(environment);
    const notice = buildDemoNotice(settings, environment, findUnknown());
    const { errors, warnings, summary } = await checkDatabase(settings);
    return { errors, warnings: [...findUnknown().map(({ message }) => message), ...warnings], summary, notice };
  } catch (error) {
    if (!(error instanceof RelApiError)) throw error;
    return { errors: error.message.split("\n"), warnings: findUnknown().map(({ message }) => message), summary: "" };
  }
};

/** Prints the result of the checks. @returns the exit code */
export const printCheck = async (
  { stdout, stderr }: Terminal,
  { errors, warnings, summary, notice }: CheckResult,
  isStrict: boolean,
): Promise<number> => {
  const lines = [
    ...(notice === undefined ? [] : [`relapi: ${notice}\n`]),
    ...errors.map((error) => `error: ${error}\n`),
    ...warnings.map((warning) => `warning: ${warning}\n`),
  ];
  await write(stderr, lines.join(""));
  if (errors.length > 0 || (isStrict && warnings.length > 0)) return 1;
  await write(stdout, `fine: ${summary}\n`);
  return 0;
};
