/** Functions that plans of this surface apply to values, in addition to those of the type families. */
import { sql, type PlanFunction } from "../../../core/index.ts";

/** The function `upper`, which the naming convention applies to enum values. @rule G-NAM-8 */
export const gqlPlanFunctions: readonly PlanFunction[] = [
  { name: "upper", compile: (argument) => sql`pg_catalog.upper(${argument})` },
];
