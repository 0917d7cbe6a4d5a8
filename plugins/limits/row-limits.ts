/** Limits the rows of each list by role: `ROW_LIMITS=anonymous=100`. */
import { definePlugin, mapPlan } from "../../core/index.ts";
import { createRoleLimits, mayHaveLimits } from "./role-limits.ts";
import { apiLimitSettings, rowLimitSettings } from "./settings.ts";

/** Limits lists of every level, on both surfaces. Other rows are omitted, as with `DB_MAX_ROWS`. Lists of written
 *  rows are not limited, and aggregates count all rows. @rule R-LIM-7 G-LIM-10 */
export const rowLimits = definePlugin({
  name: "row-limits",
  settings: [...rowLimitSettings, ...apiLimitSettings],
  apply: (hooks, context) => {
    if (!mayHaveLimits(context.options)) return;
    const limits = createRoleLimits(context, "row-limits");
    hooks.transformPlan.tap({ name: "row-limits", keepsRows: true }, (plan, { model, session }) => {
      const rows = limits.findLimit(session, "row_limit");
      if (rows === undefined) return plan;
      return mapPlan(plan, model, {
        read: (read, { isOne }) => {
          if ("written" in read.from) return read;
          const output = read.output.map((item) =>
            item.kind === "nodes" ? { ...item, cap: Math.min(item.cap ?? rows, rows) } : item,
          );
          return read.shape === "aggregate" || isOne === true
            ? { ...read, output }
            : { ...read, output, cap: Math.min(read.cap ?? rows, rows) };
        },
      });
    });
  },
});
