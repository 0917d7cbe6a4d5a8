/** Rejects a request if the planner's estimated cost exceeds the limit of the role: `COST_LIMITS=anonymous=10000`. */
import {
  createProgram,
  definePlugin,
  explainProgram,
  RelApiError,
  type Execution,
  type PluginContext,
  type Program,
  type ProgramStatement,
} from "../../core/index.ts";
import { costLimitsService, type CostLimits } from "./api.ts";
import { costLimitExceeded } from "./errors.ts";
import { createRoleLimits, mayHaveLimits, type LimitsByRole } from "./role-limits.ts";
import { parseEstimate, type Estimate } from "./plan-cost.ts";
import { apiLimitSettings, costLimitSettings } from "./settings.ts";
import { formatCount } from "../shared/plural.ts";

const checkEstimate = ({ cost, rows }: Estimate, maxCost = Infinity, maxRows = Infinity): void => {
  if (cost > maxCost)
    throw costLimitExceeded(
      "costLimits",
      `the request has an estimated cost of ${Math.ceil(cost)}, more than ${maxCost}`,
    );
  if (rows > maxRows)
    throw costLimitExceeded(
      "estimatedRowLimits",
      `the request reads an estimated ${formatCount(rows, "row")}, more than ${maxRows}`,
    );
};

/** Returns whether PostgreSQL raised the error. Its code is then a SQLSTATE. */
const hasSqlState = (error: unknown): boolean => error instanceof RelApiError && /^[0-9A-Z]{5}$/.test(error.code);

/** Builds one program for each statement, except statements of live queries for many subscribers, which have no single
 *  caller. With `isFirstOnly`, the statements after the first one are omitted. */
const selectPrograms = ({ programs }: Execution, isFirstOnly: boolean): Execution["programs"] =>
  programs.flatMap(({ program, values, path }) =>
    (isFirstOnly ? program.statements.slice(0, 1) : program.statements).flatMap((statement) =>
      statement.fragment === undefined && statement.isMultiRow !== true
        ? []
        : [{ program: buildExplainProgram(statement), values, ...(path === undefined ? {} : { path }) }],
    ),
  );

const buildExplainProgram = (statement: ProgramStatement): Program =>
  explainProgram(createProgram([statement], { isOpenEnded: false }), "format json");

/** Rejects requests whose cost, as PostgreSQL's planner estimates it, exceeds the limit of the role. @rule R-LIM-8
 *  G-LIM-11 */
export const costLimits = definePlugin({
  name: "cost-limits",
  settings: [...costLimitSettings, ...apiLimitSettings],
  apply: (_hooks, context) => {
    if (!mayHaveLimits(context.options)) return;
    const limits = createRoleLimits(context, "cost-limits");
    let check: CostLimits["check"] | undefined;
    context.wrap({
      execute: (next) => {
        const checkCosts = createCheck(next, limits);
        context.onModel(() => {
          check = limits.isUsed ? checkCosts : undefined;
        });
        return (execution) => {
          const pendingCheck = check?.(execution);
          return pendingCheck === undefined ? next(execution) : pendingCheck.then(() => next(execution));
        };
      },
    });
    context.offer(costLimitsService, { current: () => (check === undefined ? undefined : { check }) });
  },
});

/** Creates the check of a request's estimates. It caches nothing, because an estimate depends on the caller, policies,
 *  values and statistics, and all of these change. */
const createCheck = (execute: PluginContext["execute"], limits: LimitsByRole): CostLimits["check"] => {
  const estimate = async (execution: Execution, programs: Execution["programs"]): Promise<Estimate> => {
    const executePrograms = (
      programs: Execution["programs"],
    ): Promise<readonly Readonly<Record<string, string | null>>[]> =>
      // The rollback undoes the effects of the pre-request function, which runs because it affects the plan.
      execute({ ...execution, programs, end: "rollback", check: undefined });
    // If later steps depend on rows that earlier steps write, only the first step can be estimated. A statement that
    // cannot be planned at all fails with its own error when it runs.
    const rows = await executePrograms(programs)
      .catch((error: unknown) =>
        hasSqlState(error) ? executePrograms(selectPrograms(execution, true)) : Promise.reject(error),
      )
      .catch((error: unknown) => (hasSqlState(error) ? [] : Promise.reject(error)));
    const estimates = rows.map(({ plan }) => parseEstimate(plan ?? "[]"));
    return estimates.reduce(
      (sum, programEstimate) => ({ cost: sum.cost + programEstimate.cost, rows: sum.rows + programEstimate.rows }),
      {
        cost: 0,
        rows: 0,
      },
    );
  };

  return (execution) => {
    const maxCost = limits.findLimit(execution.session, "cost_limit");
    const maxRows = limits.findLimit(execution.session, "estimated_row_limit");
    if (maxCost === undefined && maxRows === undefined) return undefined;
    const programs = selectPrograms(execution, false);
    return programs.length === 0
      ? undefined
      : estimate(execution, programs).then((costEstimate) => checkEstimate(costEstimate, maxCost, maxRows));
  };
};
