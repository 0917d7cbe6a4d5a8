/** `Prefer: count=…`: the total of a read, from what its statement answered. */
import type { ResultRow } from "../../../core/index.ts";
import type { Preferences } from "../request.ts";

/** Undefined when no count was asked for. `cap`: `dbMaxRows`. @rule R-CNT-1 R-CNT-2 R-CNT-3 */
export const readTotal = (row: ResultRow, count: Preferences["count"], cap: number | undefined): bigint | undefined => {
  switch (count) {
    case undefined:
      return undefined;
    case "exact":
      return BigInt(row.total ?? row.page_total ?? 0);
    case "planned":
      return readPlannedRows(row.count_plan);
    case "estimated": {
      // counted to one more than the cap
      const counted = BigInt(row.total ?? 0);
      if (cap !== undefined && counted <= BigInt(cap)) return counted;
      const planned = readPlannedRows(row.count_plan);
      return planned > counted ? planned : counted;
    }
  }
};

/** The planner's estimate: `[{"Plan": {"Plan Rows": 15, …}}]`. */
const readPlannedRows = (plan: string | null | undefined): bigint => {
  const explained = JSON.parse(plan ?? "[]") as readonly { readonly Plan?: { readonly "Plan Rows"?: number } }[]; // PostgreSQL wrote it
  return BigInt(Math.round(explained[0]?.Plan?.["Plan Rows"] ?? 0));
};
