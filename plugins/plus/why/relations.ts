/** Reports the rows that a finished transaction read: one report for each position of its plans. */
import { getBoundValue } from "../../../core/index.ts";
import type { Execution, Model, Plan, PluginContext, Read, ResultRow, Session } from "../../../core/index.ts";
import { findRowSecurity, type RunStatement } from "./policies.ts";
import { reportRelations, type ReportContext, type RelationReport } from "./rows.ts";

/** The context of a report. */
export interface ReportParts extends Pick<ReportContext, "includesHidden" | "counts"> {
  readonly prepare: PluginContext["prepare"];
  readonly model: Model;
  readonly run: RunStatement;
  readonly surface: string;
}

type ProgramRun = Execution["programs"][number];

/** A single read or write, and the column that counts its rows. */
interface CountedPart {
  readonly plan: Plan;
  readonly column: string;
}

/** Splits a plan into parts that are reported separately. */
const splitPlan = (plan: Plan): readonly CountedPart[] => {
  if (plan.kind === "bundle")
    return plan.fields.flatMap((field) =>
      "read" in field ? [{ plan: field.read, column: "" }] : "bundle" in field ? splitPlan(field.bundle) : [],
    );
  if (plan.kind !== "sequence") return [{ plan, column: "page_total" }];
  return [
    ...plan.steps.map(({ write }, i) => ({ plan: write, column: `count_${i}` })),
    { plan: plan.result, column: "" },
  ];
};

/** Reads a count from the row of the program. */
const readCount = (rows: readonly ResultRow[] | undefined, at: number, column: string): number | undefined => {
  const countText = rows?.[at]?.[column];
  return countText === undefined || countText === null ? undefined : Number(countText);
};

const createRowCounter =
  ({ prepare, run, surface }: ReportParts, execution: Execution, { values }: ProgramRun) =>
  async (read: Read, session: Session): Promise<number> => {
    const program = prepare({ plan: read, envelope: {} }, session, surface);
    const { check: _, onDisconnect: __, exchange: ___, ...detachedExecution } = execution;
    const [row] = await run({ ...detachedExecution, session, programs: [{ program, values }] });
    return Number(row?.["page_total"] ?? 0);
  };

/** Reports the relations of a plan. `rows` is the result of its programs, or undefined if the transaction failed. @rule
 *  C-EXP-3 P-WHY-2 P-WHY-3 */
export const reportExecution = async (
  parts: ReportParts,
  execution: Execution,
  rows: readonly ResultRow[] | undefined,
): Promise<readonly RelationReport[]> => {
  const { model, run, counts, includesHidden } = parts;
  const reports: RelationReport[] = [];
  for (const [i, programRun] of execution.programs.entries()) {
    const { planned: plannedProgram } = programRun.program;
    if (plannedProgram === undefined) continue;
    for (const { plan, column } of splitPlan(plannedProgram.plan))
      reports.push(
        ...(await reportRelations(
          plan,
          {
            model,
            execution,
            values: programRun.values.map(getBoundValue),
            counts,
            includesHidden,
            countRows: createRowCounter(parts, execution, programRun),
            security: async (table, command) =>
              includesHidden ? findRowSecurity(run, execution, table, command, counts) : undefined,
          },
          readCount(rows, i, column),
        )),
      );
  }
  return reports;
};
