/** `relapi check`: what would go wrong with these settings, one line per fault. */
import { isRelApiError } from "../../core/index.ts";
import { demoNotice } from "../demo-rules.ts";
import { knownVariables, type EnvironmentSettings } from "../environment.ts";
import { policyFindings, settingFindings } from "../findings.ts";
import { strayVariables } from "../misspelt.ts";
import { withApi } from "./open-api.ts";

export interface Checked {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly summary: string;
}

/** Of the metadata and of exposed schemas: requests would fail. */
const isFault = (warning: string): boolean => /^metadata: |is exposed but does not exist$/.test(warning);

const inspect = (settings: EnvironmentSettings): Promise<Checked> =>
  withApi(settings, async ({ context, model, warnings, options }) => {
    const policies = await policyFindings(context);
    const callers =
      options.anonRole === undefined && options.jwtSecret === undefined && options.adminSecret === undefined
        ? ["nobody can call: set ANON_ROLE, JWT_SECRET or ADMIN_SECRET"]
        : [];
    return {
      errors: [
        ...(await settingFindings(context)),
        ...warnings.filter(isFault),
        ...policies.filter(({ isError }) => isError).map(({ text }) => text),
      ],
      warnings: [
        ...callers,
        ...warnings.filter((warning) => !isFault(warning)),
        ...policies.filter(({ isError }) => !isError).map(({ text }) => text),
      ],
      summary: `${model.relations.size} relations, ${model.routines.size} functions`,
    };
  });

/** The settings themselves are read by then. @rule C-CHK-1 */
export const check = async (read: () => EnvironmentSettings): Promise<Checked> => {
  const strays = strayVariables(process.env, knownVariables());
  const odd = strays.map(({ text }) => text);
  try {
    const settings = read();
    demoNotice(settings, process.env, strays);
    const { errors, warnings, summary } = await inspect(settings);
    return { errors, warnings: [...odd, ...warnings], summary };
  } catch (error) {
    if (!isRelApiError(error)) throw error;
    return { errors: error.message.split("\n"), warnings: odd, summary: "" };
  }
};

/** @returns the exit code */
export const printCheck = ({ errors, warnings, summary }: Checked, isStrict: boolean): number => {
  for (const error of errors) process.stderr.write(`error: ${error}\n`);
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  const isGood = errors.length === 0 && (!isStrict || warnings.length === 0);
  if (isGood) process.stdout.write(`fine: ${summary}\n`);
  return isGood ? 0 : 1;
};
