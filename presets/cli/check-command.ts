/** `relapi check`: reports what would fail with these settings, one line per fault. */
import { createServer } from "node:net";
import { isRelApiError } from "../../core/index.ts";
import { demoNotice, policyFindings, settingFindings } from "../server/checks.ts";
import { knownVariables, readEnvironment, type Environment, type EnvironmentSettings } from "../server/environment.ts";
import { unknownVariables } from "../server/unknown-variables.ts";
import type { ServerSettings } from "../server/server-settings.ts";
import { withApi } from "./open-api.ts";
import { write, type Terminal } from "./terminal.ts";

export interface Checked {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly summary: string;
}

/**
 * Whether a warning about metadata or exposed schemas means failing requests. Metadata beyond tables and permissions is
 * left out by design.
 */
const isFault = (warning: string): boolean =>
  /^metadata: .*(?<!is not supported; ignored)$|is exposed but does not exist$/.test(warning);

/** Checks whether the port is free. The process that uses it may be this server. @rule C-CHK-3 */
const portFindings = ({ host, port, unixSocket }: ServerSettings): Promise<readonly string[]> =>
  new Promise((resolve) => {
    if (unixSocket !== undefined || port === 0) return resolve([]);
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "EADDRINUSE" ? [`port ${port} is in use`] : [`port ${port}: ${error.message}`]),
    );
    probe.listen(port, host, () => probe.close(() => resolve([])));
  });

const inspect = (settings: EnvironmentSettings): Promise<Checked> =>
  withApi(settings, async ({ context, model, warnings, options }) => {
    const policies = await policyFindings(context);
    const callers =
      options.anonRole === undefined && options.jwtSecret === undefined && options.adminSecret === undefined
        ? ["no caller has access: set ANON_ROLE, JWT_SECRET or ADMIN_SECRET"]
        : [];
    return {
      errors: [
        ...(await settingFindings(context)),
        ...warnings.filter(isFault),
        ...policies.filter(({ isError }) => isError).map(({ text }) => text),
      ],
      warnings: [
        ...callers,
        ...(await portFindings(settings.server)),
        ...warnings.filter((warning) => !isFault(warning)),
        ...policies.filter(({ isError }) => !isError).map(({ text }) => text),
      ],
      summary: `${model.relations.size} relations, ${model.routines.size} functions`,
    };
  });

/** Checks the settings. `complete` returns the environment with the values of a settings file. @rule C-CHK-1 */
export const check = async (given: Environment, complete: () => Promise<Environment>): Promise<Checked> => {
  let environment = given;
  const strays = () => unknownVariables(environment, knownVariables());
  try {
    environment = await complete();
    const settings = readEnvironment(environment);
    demoNotice(settings, environment, strays());
    const { errors, warnings, summary } = await inspect(settings);
    return { errors, warnings: [...strays().map(({ text }) => text), ...warnings], summary };
  } catch (error) {
    if (!isRelApiError(error)) throw error;
    return { errors: error.message.split("\n"), warnings: strays().map(({ text }) => text), summary: "" };
  }
};

/** @returns the exit code */
export const printCheck = async (
  { stdout, stderr }: Terminal,
  { errors, warnings, summary }: Checked,
  isStrict: boolean,
): Promise<number> => {
  const lines = [...errors.map((error) => `error: ${error}\n`), ...warnings.map((warning) => `warning: ${warning}\n`)];
  await write(stderr, lines.join(""));
  if (errors.length > 0 || (isStrict && warnings.length > 0)) return 1;
  await write(stdout, `fine: ${summary}\n`);
  return 0;
};
