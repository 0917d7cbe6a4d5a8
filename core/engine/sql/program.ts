/** What a plan is compiled to. */
import type { Slot, Sql } from "./fragment.ts";

/** One SQL statement of a program. */
export interface ProgramStatement {
  readonly text: string;
  readonly slots: readonly Slot[];
  /** Names of its result columns, in order. */
  readonly columns: readonly string[];
  /** It answers several rows of one column: they are joined by line feeds (EXPLAIN). */
  readonly isMultiRow?: boolean;
  /** Place in the request, for errors the database raises in it. */
  readonly path?: string;
  /** What the text was made of, so that statements over many subscribers can be made of it too (`multiplex`). */
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
}

export interface Program {
  /** Run in order in one transaction. The answer is the row of `main`, with the columns of the others merged in under
   *  their names. */
  readonly statements: readonly ProgramStatement[];
  readonly main: number;
  /** Non-empty: the executor looks at the rows before it commits. */
  readonly checks: readonly ProgramCheck[];
  /** `schema.name` of every relation it reads or writes. */
  readonly relations: ReadonlySet<string>;
  /** It calls functions, so that the relations are not all. */
  readonly isOpenEnded: boolean;
  /** It runs no code of users; and where it only reads, its answer is the same for all who act as the same database
   *  role, but for the values in its slots. Absent: nobody knows. @rule R-TX-10 G-SUB-10 */
  readonly isProven?: boolean;
}
