/** `relapi doctor`: reports what slows or endangers the database, with SQL that repairs it. */
import type { PluginContext } from "../../../core/index.ts";
import type { EnvironmentSettings } from "../../server/environment.ts";
import { withApi } from "../open-api.ts";
import type { Finding } from "./finding.ts";
import { duplicateIndexes, missingIndexes } from "./indexes.ts";
import { callsForEachRow, idlePolicies, openHistories } from "./policies.ts";
import { keysOnlyInLog } from "./replica-identity.ts";
import { anonymousWrites, openFunctions, ownersViews, inaccessibleSequences } from "./rights.ts";

const EXAMINATIONS: readonly ((context: PluginContext) => Promise<readonly Finding[]>)[] = [
  ownersViews,
  openFunctions,
  anonymousWrites,
  idlePolicies,
  openHistories,
  inaccessibleSequences,
  callsForEachRow,
  missingIndexes,
  duplicateIndexes,
  keysOnlyInLog,
];

/** The levels, the worst one first. */
const LEVELS: readonly Finding["level"][] = ["danger", "broken", "slow", "note"];

export const diagnose = (settings: EnvironmentSettings): Promise<readonly Finding[]> =>
  withApi(settings, async ({ context }) => {
    const found: Finding[] = [];
    for (const examine of EXAMINATIONS) found.push(...(await examine(context)));
    return LEVELS.flatMap((level) => found.filter((finding) => finding.level === level));
  });

export const findingText = ({ level, what, why, mend }: Finding): string =>
  `${level}: ${what}\n  why:  ${why}\n  mend: ${mend};\n`;
