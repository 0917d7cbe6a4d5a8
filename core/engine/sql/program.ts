/** What a plan is compiled to. */
import type { Plan, Planned } from "../plan/plan.ts";
import type { BoundValue, Slot, Sql, TextRow } from "./fragment.ts";

/** One SQL statement of a program. */
export interface ProgramStatement {
  readonly text: string;
  readonly slots: readonly Slot[];
  /** Names of its result columns, in order. */
  readonly columns: readonly string[];
  /** It returns several rows of one column, which are joined by line feeds. */
  readonly isMultiRow?: boolean;
  /** It returns no rows: its columns are made of the number of rows that it has written. @rule R-SQL-16 */
  readonly rowOf?: (count: string) => readonly string[];
  /** Place in the request, for errors the database raises in it. */
  readonly path?: string;
  /** The fragment behind the text, for plugins that build other statements around it. */
  readonly fragment?: Sql;
}

/** Failing checks a program's row can report: the column is "false" or "0". */
export interface ProgramCheck {
  readonly statement: number;
  readonly column: string;
  /** `refusal`: of no column, it always fails. */
  readonly kind: "permission" | "step" | "refusal";
  readonly message: string;
  /** Absent: that of the program. */
  readonly path?: string;
  /** The column is the number of the path that it fails at, from 1 on; null: it holds. */
  readonly paths?: readonly string[];
}

export interface RowSource {
  /** Index of the JSON text among the values of the plan. */
  readonly list: number;
  /** A FROM item, `… as alias (columns)`, whose columns have the names of the relation's. `value`: a parameter. */
  readonly compile: (alias: Sql, value: (i: number, type: string) => Sql) => Sql;
  /** The parameters, which PostgreSQL reads as the same rows, and without a fault; undefined: these go as JSON. */
  readonly values: (rows: readonly TextRow[]) => readonly BoundValue[] | undefined;
}

export interface ProgramWithRows extends Pick<RowSource, "list" | "values"> {
  readonly program: Program;
  /** How many values there are before those of the rows. */
  readonly first: number;
}

/** The statements that a plan compiles to. */
export interface Program {
  /** Run in order in one transaction. The result is the row of `main`, with the columns of the others merged in by
   *  name. */
  readonly statements: readonly ProgramStatement[];
  readonly main: number;
  /** Non-empty: the executor looks at the rows before it commits. */
  readonly checks: readonly ProgramCheck[];
  /** `schema.name` of every relation it reads or writes. */
  readonly relations: ReadonlySet<string>;
  /** It calls functions, so that the relations are not all. */
  readonly isOpenEnded: boolean;
  /** A plan that PostgreSQL has made without the values may be far worse than one for them. */
  readonly plansEachTime?: true;
  /** It runs no user code; and if it only reads, its result is the same for all callers with the same database role,
   *  except for the values in its slots. Absent: unknown. @rule R-TX-10 G-SUB-10 */
  readonly isProven?: boolean;
  /** The same with the rows of its list from another source, where that takes them. @rule X-INS-1 */
  readonly withRows?: ProgramWithRows;
  /** What a program that only reads was compiled from, after `transformPlan`. */
  readonly plan?: Plan;
  /** What it was prepared from, before `transformPlan`. Undefined for a program that a plugin has written. */
  readonly planned?: Planned;
}

/** Of a statement that asks for a plan itself. Its options may be `analyze`, which would run what it asks about. */
const EXPLAIN = /^explain \([^)]*\) /;

/** Asks for the execution plan of each statement, with the same values. `options`: as EXPLAIN takes them. Checks, counts
 *  and other sources of rows are about results: the program has none. */
export const explainProgram = (
  { statements, main, relations, isOpenEnded }: Program,
  options: string,
  columnOf: (statement: number) => string = () => "plan",
): Program => ({
  statements: statements.map(({ text, slots, path }, at) => ({
    text: `explain (${options}) ${text.replace(EXPLAIN, "")}`,
    slots,
    columns: [columnOf(at)],
    isMultiRow: true,
    ...(path === undefined ? {} : { path }),
  })),
  main,
  checks: [],
  relations,
  isOpenEnded,
});
