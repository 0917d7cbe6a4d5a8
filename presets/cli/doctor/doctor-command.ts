/** `relapi doctor`: reports what slows or endangers the database, with SQL that repairs it. */
import type { PluginContext } from "../../../core/index.ts";
import type { EnvironmentSettings } from "../../server/environment.ts";
import { withApi } from "../open-api.ts";
import type { Finding } from "./finding.ts";
import { findDuplicateIndexes, findMissingIndexes } from "./indexes.ts";
import { findCallsForEachRow, findIdlePolicies, findOpenHistories } from "./policies.ts";
import { findMissingLogKeys } from "./replica-identity.ts";
import { findAnonymousWrites, findOpenFunctions, findOwnersViews, findInaccessibleSequences } from "./rights.ts";

const EXAMINATIONS: readonly ((context: PluginContext) => Promise<readonly Finding[]>)[] = [
  findOwnersViews,
  findOpenFunctions,
  findAnonymousWrites,
  findIdlePolicies,
  findOpenHistories,
  findInaccessibleSequences,
  findCallsForEachRow,
  findMissingIndexes,
  findDuplicateIndexes,
  findMissingLogKeys,
];

/** The levels, the worst one first. */
const LEVELS: readonly Finding["level"][] = ["danger", "broken", "slow", "note"];

/** Returns the findings of all checks. */
export const diagnose = (settings: EnvironmentSettings): Promise<readonly Finding[]> =>
  withApi(settings, async ({ context }) => {
    const findings: Finding[] = [];
    for (const examine of EXAMINATIONS) findings.push(...(await examine(context)));
    return LEVELS.flatMap((level) => findings.filter((finding) => finding.level === level));
  });

export const formatFinding = ({ level, finding, reason, fix }: Finding): string =>
  `${level}: ${finding}\n  reason:  ${reason}\n  fix:     ${fix};\n`;
