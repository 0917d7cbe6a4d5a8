/** Finds the execution plan of each statement of a request by EXPLAIN, with the request's values. */
import { getBoundValue, explainProgram, fillSlots, RelApiError, type Execution } from "../../../core/index.ts";
import type { Recording } from "./recording.ts";

export interface ExplainedStatement {
  readonly sql: string;
  /** The values of `$1`, `$2`, … */
  readonly values: readonly (string | null)[];
  readonly plan: string;
}

const formatBoundValue = (boundValue: string | null | Uint8Array): string | null =>
  boundValue === null || typeof boundValue === "string" ? boundValue : `\\x${Buffer.from(boundValue).toString("hex")}`;

const namePlanColumn = (at: number): string => `plan_${at}`;

/**
 * Explains the statements in the transaction that the request would have. With `isAnalyzed`, each statement is
 * executed.
 */
export const explainStatements = async (
  execution: Execution,
  isAnalyzed: boolean,
  { run }: Recording,
): Promise<readonly ExplainedStatement[]> => {
  const { check: _, onDisconnect: __, ...plainExecution } = execution;
  const options = isAnalyzed ? "analyze, buffers" : "costs";
  const programs = execution.programs.map((programRun) => ({
    ...programRun,
    program: explainProgram(programRun.program, options, namePlanColumn),
  }));
  let findPlan: (program: number, statement: number) => string;
  try {
    const rows = await run({ ...plainExecution, programs });
    findPlan = (program, statement) => rows[program]?.[namePlanColumn(statement)] ?? "";
  } catch (error) {
    if (!(error instanceof RelApiError)) throw error;
    findPlan = () => `no plan: ${error.message}`;
  }
  return execution.programs.flatMap(({ program, values }, i) =>
    program.statements.map((statement, at) => ({
      sql: statement.text,
      values: fillSlots(statement.slots, values, execution.session).map((sentValue) =>
        formatBoundValue(getBoundValue(sentValue)),
      ),
      plan: findPlan(i, at),
    })),
  );
};
