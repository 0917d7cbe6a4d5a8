/** Defines programs: the statements that plans compile to. */
import type { Plan, PlanWithEnvelope } from "../plan/plan.ts";
import { sql, trustedSql, type BoundValue, type Slot, type Sql, type TextRow } from "./fragment.ts";

/** One SQL statement of a program. @experimental */
export interface ProgramStatement {
  readonly text: string;
  readonly slots: readonly Slot[];
  /** The names of the statement's result columns, in order. */
  readonly columns: readonly string[];
  /** True if the statement returns several rows of one column, which line feeds join to one text. */
  readonly isMultiRow?: boolean;
  /** Returns the result columns of a statement without rows, from the number of written rows. @rule R-SQL-16 */
  readonly buildRow?: (count: string) => readonly string[];
  /** The position in the request, for errors that the database raises in the statement. */
  readonly path?: string;
  /** The fragment of the text, for plugins that build other statements around it. */
  readonly fragment?: Sql;
}

/** A check that reads a column of the program's row. The check fails if the column is "false" or "0". */
export interface ProgramCheck {
  readonly statement: number;
  readonly column: string;
  /** A `rejection` reads no column and always fails. */
  readonly kind: "permission" | "step" | "rejection";
  readonly message: string;
  /** The position in the request that the error names. By default, the path of the program's main statement. */
  readonly path?: string;
  /** The paths among which the column selects the failing one, by a number from 1 on. The column is null if the check
   *  holds. */
  readonly paths?: readonly string[];
}

/** The rows of an insert in the form that a plugin has prepared for them. @experimental */
export interface RowSource {
  /** The index of the JSON text among the plan's values. */
  readonly list: number;
  /** Compiles a FROM item, `… as alias (columns)`, whose columns have the names of the relation's columns. `value`
   *  creates a parameter. */
  readonly compile: (alias: Sql, value: (i: number, type: string) => Sql) => Sql;
  /** Returns parameters that PostgreSQL reads as the same rows, without an error. Returns undefined if these rows must
   *  be sent as JSON. */
  readonly values: (rows: readonly TextRow[]) => readonly BoundValue[] | undefined;
}

interface ProgramWithRows extends Pick<RowSource, "list" | "values"> {
  readonly program: Program;
  /** The number of values that precede the values of the rows. */
  readonly first: number;
}

/** The statements that a plan compiles to. @experimental */
export interface Program {
  /** The statements run in order in one transaction. The result is the row of `main`, merged with the columns of the
   *  other statements. */
  readonly statements: readonly ProgramStatement[];
  readonly main: number;
  /** The checks that the executor runs on the rows before it commits. */
  readonly checks: readonly ProgramCheck[];
  /** `schema.name` of every relation that the program reads or writes. */
  readonly relations: ReadonlySet<string>;
  /** True if the program calls functions, which may use other relations. */
  readonly isOpenEnded: boolean;
  /** True if PostgreSQL should plan the statement for each set of values, because a generic plan may be far worse. */
  readonly plansEachTime?: true;
  /** True if the program runs no user-defined code. The result of a proven read is the same for all callers with one
   *  database role and equal slot values. Undefined if unknown. @rule R-TX-10 G-SUB-10 */
  readonly isProven?: boolean;
  /** The same program with another row source. The source may reject the rows. @rule X-INS-1 */
  readonly withRows?: ProgramWithRows;
  /** The plan of a program that only reads, after `transformPlan`. */
  readonly plan?: Plan;
  /** The plan and envelope before `transformPlan`. Undefined for a program that a plugin has written. */
  readonly planned?: PlanWithEnvelope;
}

/** Returns a program of these statements. Unless `properties` overrides it, the result is the row of the last
 *  statement, and the relations are unknown. */
export const createProgram = (statements: readonly ProgramStatement[], properties: Partial<Program> = {}): Program => ({
  statements,
  main: statements.length - 1,
  checks: [],
  relations: new Set(),
  isOpenEnded: true,
  ...properties,
});

const buildExplainPrefix = (options: string): string => `explain (${options}) `;

/** Matches the prefix. Its options may include `analyze`, which would run the explained statement. */
const EXPLAIN_PREFIX = /^explain \([^)]*\) /;

/** Compiles an EXPLAIN of the statement. `options` are the options of EXPLAIN. */
export const explainStatement = (statement: Sql, options: string): Sql =>
  sql`${trustedSql(buildExplainPrefix(options))}${statement}`;

/** Returns a program that explains each statement with the same values. `options` are the options of EXPLAIN. The
 *  program has no checks, counts and row sources, because those concern results. @experimental */
export const explainProgram = (
  { statements, main, relations, isOpenEnded }: Program,
  options: string,
  nameColumn: (statement: number) => string = () => "plan",
): Program =>
  createProgram(
    statements.map(({ text, slots, path }, index) => ({
      text: buildExplainPrefix(options) + text.replace(EXPLAIN_PREFIX, ""),
      slots,
      columns: [nameColumn(index)],
      isMultiRow: true,
      path,
    })),
    { main, relations, isOpenEnded },
  );
