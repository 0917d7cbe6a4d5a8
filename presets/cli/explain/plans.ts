/** The execution plan of each statement of a request, by EXPLAIN with the values of the request. */
import {
  boundOf,
  fillSlots,
  isRelApiError,
  type Execution,
  type Program,
  type ProgramStatement,
} from "../../../core/index.ts";
import type { Recording } from "./recording.ts";

export interface ExplainedStatement {
  readonly sql: string;
  /** `$1`, `$2`, … */
  readonly values: readonly (string | null)[];
  readonly plan: string;
}

const textOfValue = (bound: string | null | Uint8Array): string | null =>
  bound === null || typeof bound === "string" ? bound : `\\x${Buffer.from(bound).toString("hex")}`;

const columnOf = (at: number): string => `plan_${at}`;

const explained = (program: Program, isAnalyzed: boolean): Program => ({
  ...program,
  statements: program.statements.map((statement, at): ProgramStatement => ({
    ...statement,
    // one that already is an EXPLAIN (planned counts) stays as it is
    text: statement.text.startsWith("explain ")
      ? statement.text
      : `explain (${isAnalyzed ? "analyze, buffers" : "costs"}) ${statement.text}`,
    columns: [columnOf(at)],
    isMultiRow: true,
  })),
  checks: [],
  isProven: false,
});

/** In the transaction that the request would have. With `isAnalyzed` each statement runs for it. */
export const explainStatements = async (
  execution: Execution,
  isAnalyzed: boolean,
  { run }: Recording,
): Promise<readonly ExplainedStatement[]> => {
  const { check: _, onGone: __, ...rest } = execution;
  const programs = execution.programs.map((one) => ({ ...one, program: explained(one.program, isAnalyzed) }));
  let planOf: (program: number, statement: number) => string;
  try {
    const rows = await run({ ...rest, programs });
    planOf = (program, statement) => rows[program]?.[columnOf(statement)] ?? "";
  } catch (error) {
    if (!isRelApiError(error)) throw error;
    planOf = () => `no plan: ${error.message}`;
  }
  return execution.programs.flatMap(({ program, values }, i) =>
    program.statements.map((statement, at) => ({
      sql: statement.text,
      values: fillSlots(statement.slots, values, execution.session).map((sent) => textOfValue(boundOf(sent))),
      plan: planOf(i, at),
    })),
  );
};
