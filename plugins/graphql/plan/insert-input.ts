/** Reads the objects of an insert once: cells with coerced values, and inserts along relationships. @rule G-INS-1
 *  G-INS-2 G-NST-1 G-NST-7 */
import { type Column, type OnConflict, type Relation, type Relationship } from "../../../core/index.ts";
import { coerceColumn } from "../values/columns.ts";
import { graphqlLimitExceeded, validationFailed } from "../errors.ts";
import type { ValueSource } from "../document/variables.ts";
import { planConflict } from "./conflict.ts";
import { isNull, readLeaf, openVariable, visitInputItems, visitInputFields, type LocatedInput } from "./input.ts";
import { coerceLeaf, countWrites, isJsonValue, rejectStringLiteral, type Planner } from "./planner.ts";
import { getFieldPart } from "../plan-parts.ts";
import type { GqlValueType } from "../value-types.ts";

export interface InputCell {
  readonly column: Column;
  readonly value: GqlValueType;
  readonly source: ValueSource;
}

export interface InputRelated {
  /** The name of the field in the request. */
  readonly name: string;
  readonly relationship: Relationship;
  readonly target: Relation;
  /** True if the related row is inserted first, and this row takes over its key. @rule G-NST-2 G-NST-9 */
  readonly isBefore: boolean;
  readonly rows: readonly InputRow[];
  readonly conflict: OnConflict | undefined;
}

export interface InputRow {
  readonly cells: readonly InputCell[];
  /** The related inserts, sorted by name. */
  readonly relatedInserts: readonly InputRelated[];
}

export const hasNested = (rows: readonly InputRow[]): boolean => rows.some((row) => row.relatedInserts.length > 0);

/** Counts the statements of an insert against the limit. Nested data needs one statement per row. @rule G-NST-2 */
export const countInserts = (planner: Planner, rows: readonly InputRow[]): void => {
  if (rows.length > 0) countWrites(planner, hasNested(rows) ? rows.length : 1);
};

/** Reads a list of rows, and counts its values. */
export const readRows = (planner: Planner, locatedInput: LocatedInput): readonly InputRow[] =>
  visitInputItems(planner, locatedInput, (count) => checkValues(planner, count)).map((item) => readRow(planner, item));

/** Returns the error for an insert with too many values. @rule G-LIM-4 */
export const insertTooLarge = ({ schema: { options } }: Planner): Error =>
  graphqlLimitExceeded(options, "maxInsertValues", "values to insert");

export const checkValues = (planner: Planner, count: number): void => {
  if (count > planner.budget.insertValues) throw insertTooLarge(planner);
};

export const countValue = (planner: Planner): void => {
  checkValues(planner, 1);
  planner.budget.insertValues--;
};

/** Reads one row with its nested rows. */
export const readRow = (planner: Planner, locatedInput: LocatedInput): InputRow => {
  const cells: InputCell[] = [];
  const relatedInserts: InputRelated[] = [];
  countValue(planner);
  visitInputFields(planner, locatedInput, (member) => {
    countValue(planner);
    const part = getFieldPart(member.field);
    if (part?.kind === "column") cells.push(readCell(planner, member, part.column, part.value));
    else if (part?.kind === "placeholder") throw validationFailed("erroneous column name", member.path);
    else if (part?.kind === "relationship") {
      // Nested data that is null counts as omitted. @rule G-NST-7
      if (isNull(openVariable(planner, member))) return;
      const { relationship, target } = part;
      const isBefore =
        relationship.isToOne && (relationship.isManual === true ? part.isAfter !== true : relationship.isOwnKey);
      const relatedInput = readRelated(planner, member, relationship.isToOne);
      if (relatedInput.rows.length > 0)
        relatedInserts.push({ name: member.field.name, relationship, target, isBefore, ...relatedInput });
    }
  });
  return { cells, relatedInserts };
};

const readCell = (planner: Planner, locatedInput: LocatedInput, column: Column, value: GqlValueType): InputCell => {
  const { path } = locatedInput;
  rejectStringLiteral(value, locatedInput);
  const leaf = readLeaf(planner, locatedInput, isJsonValue(value));
  const { source } = coerceLeaf(planner, leaf, (json) => coerceColumn(value, json, path));
  return { column, value, source };
};

/** Reads the nested rows of a relationship, and their `on_conflict`. */
export const readRelated = (
  planner: Planner,
  locatedInput: LocatedInput,
  isToOne: boolean,
): Pick<InputRelated, "rows" | "conflict"> => {
  let rows: readonly InputRow[] = [];
  let conflict: OnConflict | undefined;
  visitInputFields(planner, locatedInput, (argument) => {
    const part = getFieldPart(argument.field);
    if (part?.kind !== "argument") return;
    if (part.name === "on_conflict") conflict = planConflict(planner, argument);
    else if (isToOne) rows = [readRow(planner, argument)];
    else rows = readRows(planner, argument);
  });
  countInserts(planner, rows);
  return { rows, conflict };
};
