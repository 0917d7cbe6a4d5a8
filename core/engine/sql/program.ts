/** Programs: the statements that plans compile to. */
import type { Plan, Planned } from "../plan/plan.ts";
import type { BoundValue, Slot, Sql, TextRow } from "./fragment.ts";

/** One SQL statement of a program. */
export interface ProgramStatement {
  readonly text: string;
  readonly slots: readonly Slot[];
  /** The names of its result columns, in order. */
  readonly columns: readonly string[];
  /** The statement returns several rows of one column, which are joined by line feeds. */
  readonly isMultiRow?: boolean;
  /** Returns the result columns of a statement without rows, from the number of rows that it has written. @rule
   *  R-SQL-16 */
  readonly rowOf?: (count: string) => readonly string[];
  /** The position in the request, for errors that the database raises in the statement. */
  readonly path?: string;
  /** The fragment of the text, for plugins that build other statements around it. */
  readonly fragment?: Sql;
}

/** A check that reads a column of the program's row. It fails if the column is "false" or "0". */
export interface ProgramCheck {
  readonly statement: number;
  readonly column: string;
  /** A `refusal` reads no column and always fails. */
  readonly kind: "permission" | "step" | "refusal";
  readonly message: string;
  /** By default, the path of the program. */
  readonly path?: string;
  /** With `paths`, the column is the number of the path that fails, from 1 on. It is null if the check holds. */
  readonly paths?: readonly string[];
}

export interface RowSource {
  /** The index of the JSON text among the plan's values. */
  readonly list: number;
  /** Compiles a FROM item, `… as alias (columns)`, whose columns have the names of the relation's columns. `value`
   *  creates a parameter. */
  readonly compile: (alias: Sql, value: (i: number, type: string) => Sql) => Sql;
  /** Returns the parameters, which PostgreSQL must read as the same rows and without an error. Undefined if these rows
   *  go as JSON. */
  readonly values: (rows: readonly TextRow[]) => readonly BoundValue[] | undefined;
}

export interface ProgramWithRows extends Pick<RowSource, "list" | "values"> {
  readonly program: Program;
  /** The number of values before those of the rows. */
  readonly first: number;
}

/** The statements that a plan compiles to. */
export interface Program {
  /** The statements run in order in one transaction. The result is the row of `main`, merged with the columns of the
   *  other statements. */
  readonly statements: readonly ProgramStatement[];
  readonly main: number;
  /** If there are checks, the executor inspects the rows before it commits. */
  readonly checks: readonly ProgramCheck[];
  /** `schema.name` of every relation that the program reads or writes. */
  readonly relations: ReadonlySet<string>;
  /** The program calls functions, which may use further relations. */
  readonly isOpenEnded: boolean;
  /** A plan that PostgreSQL makes without the values may be far worse than one for them. */
  readonly plansEachTime?: true;
  /** The program runs no user code. If it only reads, its result is also the same for all callers with the same
   *  database role, except for the values in its slots. Undefined if this is unknown. @rule R-TX-10 G-SUB-10 */
  readonly isProven?: boolean;
  /** The program with another source of its rows, if that accepts them. @rule X-INS-1 */
  readonly withRows?: ProgramWithRows;
  /** The plan of a program that only reads, after `transformPlan`. */
  readonly plan?: Plan;
  /** The plan and envelope before `transformPlan`. Undefined for a program that a plugin has written. */
  readonly planned?: Planned;
}

/** Returns a program of these statements. Its result is the row of the last one, and its relations are unknown, unless
 *  `facts` says otherwise. */
export const createProgram = (statements: readonly ProgramStatement[], facts: Partial<Program> = {}): Program => ({
  statements,
  main: statements.length - 1,
  checks: [],
  relations: new Set(),
  isOpenEnded: true,
  ...facts,
});

/** Matches a statement that is itself an EXPLAIN. Its options may include `analyze`, which would run the explained
 *  statement. */
const EXPLAIN = /^explain \([^)]*\) /;

/** Returns a program that explains each statement with the same values. `options` are the options of EXPLAIN. Checks,
 *  counts and row sources concern results, so the program has none. */
export const explainProgram = (
  { statements, main, relations, isOpenEnded }: Program,
  options: string,
  columnOf: (statement: number) => string = () => "plan",
): Program =>
  createProgram(
    statements.map(({ text, slots, path }, at) => ({
      text: `explain (${options}) ${text.replace(EXPLAIN, "")}`,
      slots,
      columns: [columnOf(at)],
      isMultiRow: true,
      path,
    })),
    { main, relations, isOpenEnded },
  );
