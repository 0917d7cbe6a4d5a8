/** `insert_artist(objects: [{ name: "A", albums: { data: [{ title: "x" }] } }])`: plans one statement per row, and a
 *  row with a key runs before the rows that use it. @rule G-NST-1 … G-NST-12 */
import type { StepTemplate } from "./function-field.ts";
import {
  getQualifiedName,
  findColumn,
  type Cell,
  type OnConflict,
  type Rejection,
  type Relation,
  type SequenceStep,
  type StepRequirement,
} from "../../../core/index.ts";
import { appendKey, appendIndex } from "../values/request-paths.ts";
import { hasNested, type InputRelated, type InputRow } from "./insert-input.ts";
import { buildInsert, isFixed, buildPayloadRows, encodeRows } from "./insert-rows.ts";
import { bind, buildColumnRef, type Planner } from "./planner.ts";
import { planSequenceStep, type WriteResult } from "./writes.ts";

/** An earlier row whose key another row takes over. */
interface Parent {
  readonly relation: Relation;
  readonly step: number;
  /** The requirement that the earlier row exists. @rule G-NST-6 */
  readonly requires: readonly StepRequirement[];
}

type FoundRelated = Omit<InputRelated, "name" | "isBefore">;

export interface InsertBuild {
  readonly planner: Planner;
  readonly steps: SequenceStep[];
  /** The requirements of each open level whose own step is not added yet. */
  readonly pendingRequirements: (readonly StepRequirement[])[];
}

/** Ends the planning of a field, because no later row is reached. It is caught in this file. @rule G-NST-11 */
class RejectedInsert {
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    this.rejection = rejection;
  }
}

const rejectInsert = (build: InsertBuild, message: string, path: string): never => {
  throw new RejectedInsert({ message, path, requires: build.pendingRequirements.flat() });
};

/** Plans an insert with nested data. `path` is the path of the argument. */
export const planNestedInsert = (
  planner: Planner,
  relation: Relation,
  rows: readonly InputRow[],
  conflict: OnConflict | undefined,
  result: WriteResult,
  path: string,
): StepTemplate => {
  const build: InsertBuild = { planner, steps: [], pendingRequirements: [] };
  const { result: rootSteps, rejection } = catchRejected(() =>
    rows.map((row, i) => insertRow(build, relation, row, conflict, [], undefined, appendIndex(path, i))),
  );
  return planSequenceStep(planner, getQualifiedName(relation), build.steps, rootSteps ?? [], result, path, rejection);
};

/** Returns the result of `make`, or the rejection that ended it. @rule G-NST-11 */
export const catchRejected = <Result>(
  make: () => Result,
): { readonly result?: Result; readonly rejection?: Rejection } => {
  try {
    return { result: make() };
  } catch (error) {
    if (!(error instanceof RejectedInsert)) throw error;
    return { rejection: error.rejection };
  }
};

/** Inserts the only row that precedes the rows to which it belongs, and returns its step. `path` is the path of the
 *  row. */
export const insertFirst = (build: InsertBuild, { target, rows, conflict }: FoundRelated, path: string): number =>
  insertRow(build, target, rows[0] as InputRow, conflict, [], undefined, path); // to-one data is one row

const formatColumns = (columns: readonly string[]): string => columns.map((column) => `"${column}"`).join(", ");

/** Inserts a row and its related rows, and returns the row's step. `determinedCells` has the cells that an earlier row
 *  provides. */
const insertRow = (
  build: InsertBuild,
  relation: Relation,
  row: InputRow,
  conflict: OnConflict | undefined,
  determinedCells: readonly Cell[],
  parent: Parent | undefined,
  path: string,
): number => {
  const requires: StepRequirement[] = [...(parent?.requires ?? [])];
  build.pendingRequirements.push(requires);
  const earlierRelated = row.relatedInserts.filter((relatedInsert) => relatedInsert.isBefore);
  rejectDeterminedColumns(build, relation, row, determinedCells, path);
  rejectDuplicateColumns(build, relation, row, earlierRelated, determinedCells, path);
  const cells = new Map<string, Cell>();
  for (const relatedInsert of earlierRelated) {
    const at = appendKey(path, relatedInsert.name);
    const step = insertFirst(build, relatedInsert, `${at}.data`);
    // If two parents share a column, the later value wins, and the foreign keys check that it fits both (G-NST-12).
    for (const [column, targetColumn] of relatedInsert.relationship.columns)
      cells.set(column, buildStepCell(column, step, relatedInsert.target, targetColumn));
    const message = `cannot proceed to insert object relation "${relatedInsert.name}" since insert to table "${relatedInsert.target.name}" affects zero rows`;
    requires.push({ step, message, path: at });
  }
  for (const cell of row.cells) {
    const param = bind(build.planner, cell.source);
    cells.set(cell.column.name, { column: cell.column.name, value: buildColumnRef(cell.value, param) });
  }
  for (const cell of determinedCells) cells.set(cell.column, cell);
  build.pendingRequirements.pop();
  const orderedCells = relation.columns.flatMap((column) => cells.get(column.name) ?? []);
  const rowStep =
    build.steps.push({
      write: buildInsert(relation, { cells: orderedCells }, conflict),
      path,
      ...(requires.length > 0 && { requires }),
    }) - 1;
  insertAfter(build, row, { relation, step: rowStep, requires: [requireRow(relation, rowStep, path)] }, path);
  return rowStep;
};

/** Inserts array relationships first, then object relationships whose columns are on the other side. */
const insertAfter = (build: InsertBuild, row: InputRow, parent: Parent, path: string): void => {
  const laterRelated = row.relatedInserts.filter((relatedInsert) => !relatedInsert.isBefore);
  for (const relatedInsert of [
    ...laterRelated.filter(({ relationship }) => !relationship.isToOne),
    ...laterRelated.filter(({ relationship }) => relationship.isToOne),
  ]) {
    insertRelated(build, relatedInsert, parent, `${appendKey(path, relatedInsert.name)}.data`);
  }
};

/** Inserts the related rows after their parent. `path` is the path of the rows. */
export const insertRelated = (build: InsertBuild, relatedInsert: FoundRelated, parent: Parent, path: string): void => {
  const { target, rows, conflict } = relatedInsert;
  const determinedCells = relatedInsert.relationship.columns.map(([column, targetColumn]) =>
    buildStepCell(targetColumn, parent.step, parent.relation, column),
  );
  if (hasNested(rows)) {
    rows.forEach((row, i) => insertRow(build, target, row, conflict, determinedCells, parent, appendIndex(path, i)));
    return;
  }
  const { requires } = parent;
  build.pendingRequirements.push(requires);
  rows.forEach((row, i) => rejectDeterminedColumns(build, target, row, determinedCells, appendIndex(path, i)));
  build.pendingRequirements.pop();
  const { planner } = build;
  const param = bind(
    planner,
    isFixed(rows)
      ? { fixed: encodeRows(rows, planner.variables.boundValues) }
      : { make: (variables) => encodeRows(rows, variables) },
  );
  const write = {
    ...buildInsert(target, buildPayloadRows(target, rows, { param }, "array"), conflict),
    set: determinedCells,
  };
  build.steps.push({ write, path, ...(requires.length > 0 && { requires }) });
};

const buildStepCell = (column: string, step: number, relation: Relation, from: string): Cell => ({
  column,
  value: { step, column: from, type: findColumn(relation, from)?.sqlType ?? "text" },
});

/** Returns the requirement that a step has written a row. @rule G-NST-6 */
const requireRow = ({ name }: Relation, step: number, path: string): StepRequirement => ({
  step,
  message: `cannot proceed to insert array relations since insert to table "${name}" affects zero rows`,
  path,
});

/** Rejects cells that the earlier row provides. @rule G-NST-4 */
const rejectDeterminedColumns = (
  build: InsertBuild,
  relation: Relation,
  row: InputRow,
  determinedCells: readonly Cell[],
  path: string,
): void => {
  const conflictingColumns = determinedCells
    .map((cell) => cell.column)
    .filter((column) => row.cells.some((cell) => cell.column.name === column));
  if (conflictingColumns.length === 0) return;
  const names = conflictingColumns.map((column) => build.planner.schema.columnName(relation, column));
  rejectInsert(
    build,
    `cannot insert ${formatColumns(names)} columns as their values are already being determined by parent insert`,
    path,
  );
};

/** Rejects a column that two inputs provide. @rule G-NST-5 */
const rejectDuplicateColumns = (
  build: InsertBuild,
  relation: Relation,
  row: InputRow,
  before: readonly InputRelated[],
  determinedCells: readonly Cell[],
  path: string,
): void => {
  if (before.length === 0) return;
  const assignedColumns = new Set([
    ...row.cells.map((cell) => cell.column.name),
    ...determinedCells.map((cell) => cell.column),
  ]);
  for (const { name, relationship } of before) {
    const duplicates = relationship.columns.map(([column]) => column).filter((column) => assignedColumns.has(column));
    if (duplicates.length === 0) continue;
    const names = duplicates.map((column) => build.planner.schema.columnName(relation, column));
    rejectInsert(
      build,
      `cannot insert object relationship "${name}" as ${formatColumns(names)} column values are already determined`,
      appendKey(path, name),
    );
  }
};
