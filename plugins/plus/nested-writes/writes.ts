/** Plans the writes of `_related` as steps before and after the update. @rule P-NST-2 P-NST-3 P-NST-4 P-NST-6
 *  P-NST-7 */
import {
  getQualifiedName,
  findColumn,
  buildNameKey,
  RelApiError,
  type Assignment,
  type ColumnPair,
  type Predicate,
  type Relation,
  type StepRequirement,
  type ValueRef,
} from "../../../core/index.ts";
import type { GqlBuild, GqlUpdateAdditions, GqlInput, GqlInputField, GqlTable, GqlWriting } from "../../graphql/api.ts";
import { listReadableKeys, findWritableRelationship, type WritableRelationship } from "./writable-relationships.ts";

/** The requested writes along one relationship. */
interface RelatedWrites {
  readonly relationship: WritableRelationship;
  readonly table: GqlTable;
  readonly inputs: Readonly<Partial<Record<string, GqlInput>>>;
}

const rejectWrite = (message: string, path: string): never => {
  throw new RelApiError({ code: "validation-failed", status: 400, message, path });
};

/** Returns text such as `object relation "artist"`, which messages of nested inserts contain too. */
const formatRelationship = ({ field: { name, relationship } }: WritableRelationship): string =>
  `${relationship.isToOne ? "object" : "array"} relation "${name}"`;

const readRelatedWrites = (build: GqlBuild, table: GqlTable, input: GqlInput): readonly RelatedWrites[] =>
  input.fields().flatMap((field): readonly RelatedWrites[] => {
    const tableRelationship = table.relationships.find(({ name }) => name === field.name);
    const relationship = tableRelationship && findWritableRelationship(table.relation, tableRelationship);
    const target = tableRelationship && build.table(tableRelationship.target);
    if (relationship === undefined || target === undefined || field.isNull) return [];
    const inputs: Record<string, GqlInput> = {};
    for (const inputField of field.fields())
      if (!requestsNothing(inputField, relationship)) inputs[inputField.name] = inputField;
    rejectContradictions(relationship, inputs, field.path);
    return Object.keys(inputs).length === 0 ? [] : [{ relationship, table: target, inputs }];
  });

/** Returns whether the input requests no write: it is null, an empty list, or `false`. @rule P-NST-7 */
const requestsNothing = (input: GqlInputField, { field }: WritableRelationship): boolean => {
  if (input.isNull) return true;
  const { isToOne } = field.relationship;
  if (input.name === "delete" || input.name === "disconnect") return isToOne && !input.isTrue();
  return !isToOne && (input.name === "update" || input.name === "connect") && input.items().length === 0;
};

/** Rejects two writes of one related row if one of them replaces or removes the row. @rule P-NST-7 */
const rejectContradictions = (
  relationship: WritableRelationship,
  inputs: RelatedWrites["inputs"],
  path: string,
): void => {
  if (!relationship.field.relationship.isToOne) return;
  const [first, second] = ["insert", "connect", "update"].filter((name) => inputs[name] !== undefined);
  const rejectBoth = (operation: string, otherOperation: string): never =>
    rejectWrite(`cannot ${operation} and ${otherOperation} ${formatRelationship(relationship)} at the same time`, path);
  if (first !== undefined && second !== undefined) rejectBoth(first, second);
  if (inputs["delete"] !== undefined && inputs["disconnect"] !== undefined) rejectBoth("delete", "disconnect");
  for (const name of ["delete", "disconnect"])
    if (inputs["update"] !== undefined && inputs[name] !== undefined) rejectBoth("update", name);
};

const buildAssignment = (column: string, operand: Assignment["operand"]): Assignment => ({
  column,
  operator: "set",
  operand,
});

const clearColumns = (relation: Relation, columns: readonly string[]): readonly Assignment[] =>
  columns.map((column) =>
    buildAssignment(column, { constant: null, type: findColumn(relation, column)?.sqlType ?? "text" }),
  );

/** Assigns the key of the row that a step wrote or read. */
const copyKey = (columns: readonly ColumnPair[], step: number, from: Relation): readonly Assignment[] =>
  columns.map(([column, relatedColumn]) =>
    buildAssignment(column, { step, column: relatedColumn, type: findColumn(from, relatedColumn)?.sqlType ?? "text" }),
  );

const reversePairs = (columns: readonly ColumnPair[]): readonly ColumnPair[] =>
  columns.map(([column, relatedColumn]) => [relatedColumn, column] as const);

const joinPredicates = (...parts: readonly (Predicate | undefined)[]): Predicate => {
  const predicates = parts.filter((part) => part !== undefined);
  return predicates.length === 1 ? (predicates[0] as Predicate) : { kind: "and", predicates };
};

/** Reads the columns of one key with their values. @throws RelApiError @rule P-NST-6 */
const readKey = (build: GqlBuild, { table }: RelatedWrites, input: GqlInput, writing: GqlWriting): Key => {
  const columnInputs = input
    .fields()
    .flatMap((field) => (field.part?.kind === "column" ? [{ field, part: field.part }] : []));
  const names = columnInputs.map(({ part }) => part.column.name);
  const keys = listReadableKeys(build, table);
  if (!keys.some((key) => key.length === names.length && key.every((name) => names.includes(name)))) {
    const keyTexts = keys.map((key) =>
      key.map((name) => `"${writing.schema.columnName(table.relation, name)}"`).join(", "),
    );
    rejectWrite(`expected the columns of one key: ${keyTexts.join("; or ")}`, input.path);
  }
  return new Map(
    columnInputs.map(({ field, part }) => [part.column.name, writing.bindValue(field, part.value)] as const),
  );
};

const buildKeyPredicate = (key: Key): Predicate =>
  joinPredicates(
    ...[...key].map(([name, operand]): Predicate => ({
      kind: "compare",
      left: { kind: "column", name },
      operator: "eq",
      operand,
    })),
  );

type Key = ReadonlyMap<string, ValueRef>;

const requireRow = (step: number, { relationship, table }: RelatedWrites, path: string): StepRequirement => ({
  step,
  message: `cannot proceed to connect ${formatRelationship(relationship)} since table "${table.relation.name}" has no such row`,
  path,
});

/** Makes the updated rows refer to another row, or to none. @rule P-NST-3 P-NST-6 */
const planNewTarget = (build: GqlBuild, relatedWrite: RelatedWrites, writing: GqlWriting): readonly Assignment[] => {
  const { relationship, table, inputs } = relatedWrite;
  const { relation } = table;
  if (inputs["insert"] !== undefined) {
    const step = writing.insert(inputs["insert"], relationship.field.relationship);
    return step === undefined ? [] : copyKey(relationship.columns, step, relation);
  }
  const key = inputs["connect"];
  if (key === undefined)
    return inputs["disconnect"] === undefined ? [] : clearColumns(writing.relation, relationship.nullableKeyColumns);
  const where = buildKeyPredicate(readKey(build, relatedWrite, key, writing));
  const step = writing.addStep((stepNumber) => ({
    write: { kind: "read", from: { relation: getQualifiedName(relation) }, shape: "rows", output: [], where },
    path: key.path,
    requires: [requireRow(stepNumber, relatedWrite, key.path)],
  }));
  return copyKey(relationship.columns, step, relation);
};

/** Returns the requirements for the number of updated rows that related writes have. @rule P-NST-4 */
const buildRequirements = (
  { relationship, inputs }: RelatedWrites,
  { relation: { name } }: GqlWriting,
): readonly Omit<StepRequirement, "step">[] =>
  (["insert", "connect"] as const).flatMap((operation) => {
    const input = inputs[operation];
    if (input === undefined) return [];
    const messageStart = `cannot proceed to ${operation} ${formatRelationship(relationship)} since update of table "${name}" affects`;
    const missingRow = { message: `${messageStart} zero rows`, path: input.path };
    // A related row has the key, which can refer to only one updated row.
    return relationship.isOwnKey
      ? [missingRow]
      : [missingRow, { atMost: 1, message: `${messageStart} more than one row`, path: input.path }];
  });

/** Sorts the writes so that each table comes after the tables that it refers to. */
const sortByReference = (writes: readonly RelatedWrites[]): readonly RelatedWrites[] => {
  const sortedWrites: RelatedWrites[] = [];
  const visitedWrites = new Set<RelatedWrites>();
  const visit = (relatedWrite: RelatedWrites): void => {
    if (visitedWrites.has(relatedWrite)) return;
    visitedWrites.add(relatedWrite);
    const targets = new Set(relatedWrite.table.relation.foreignKeys.map((key) => buildNameKey(key.target)));
    for (const candidate of writes) if (targets.has(buildNameKey(candidate.table.relation))) visit(candidate);
    sortedWrites.push(relatedWrite);
  };
  writes.forEach(visit);
  return sortedWrites;
};

/** Plans the writes after the update. Rows that refer to others are deleted first and inserted last. A write that
 *  frees a unique value precedes a write that takes it. @rule P-NST-3 */
const planFollowingWrites = (
  build: GqlBuild,
  relatedWrites: readonly RelatedWrites[],
  deferredAssignments: ReadonlyMap<RelatedWrites, readonly Assignment[]>,
  writing: GqlWriting,
  step: number,
  path: string,
): void => {
  const { relation } = writing;
  const ownKeyWrites = relatedWrites.filter(({ relationship }) => relationship.isOwnKey);
  const otherWrites = sortByReference(relatedWrites.filter(({ relationship }) => !relationship.isOwnKey));
  const buildRelatedPredicate = ({ relationship }: RelatedWrites): Predicate => ({
    kind: "written",
    step,
    columns: reversePairs(relationship.columns),
  });
  const buildNarrowedPredicate = (relatedWrite: RelatedWrites, condition: GqlInput): Predicate =>
    joinPredicates(
      buildRelatedPredicate(relatedWrite),
      relatedWrite.relationship.field.relationship.isToOne ? undefined : writing.planCondition(condition),
    );
  const planDelete = (relatedWrite: RelatedWrites): void => {
    const condition = relatedWrite.inputs["delete"];
    if (condition === undefined) return;
    const from = getQualifiedName(relatedWrite.table.relation);
    const where = buildNarrowedPredicate(relatedWrite, condition);
    writing.addStep(() => ({ write: { kind: "delete", from, where }, path: condition.path }));
  };
  const planUpdates = (relatedWrite: RelatedWrites): void => {
    const updateInput = relatedWrite.inputs["update"];
    const items =
      updateInput === undefined
        ? []
        : relatedWrite.relationship.field.relationship.isToOne
          ? [updateInput]
          : updateInput.items();
    for (const item of items) writing.update(item, relatedWrite.table.relation, buildRelatedPredicate(relatedWrite));
  };

  if (deferredAssignments.size > 0) {
    const rewrittenItems = [...deferredAssignments.values()].flat();
    const columns = relation.primaryKey.map((name) => [name, name] as const);
    const assignments = [...new Map(rewrittenItems.map((assignment) => [assignment.column, assignment])).values()];
    const where: Predicate = { kind: "written", step, columns };
    const message = `cannot proceed to delete object relations since the first update of table "${relation.name}" hides rows from the second`;
    writing.addStep((addedStep) => ({
      write: { kind: "update", relation: getQualifiedName(relation), where, assignments },
      path,
      requires: [{ step: addedStep, sameCountAs: step, message, path }],
      rewrittenStep: step,
    }));
  }
  [...otherWrites].reverse().forEach(planDelete);
  ownKeyWrites.forEach(planDelete);
  ownKeyWrites.forEach(planUpdates);
  for (const relatedWrite of otherWrites) {
    const condition = relatedWrite.inputs["disconnect"];
    if (condition === undefined) continue;
    const target = relatedWrite.table.relation;
    const assignments = clearColumns(target, relatedWrite.relationship.nullableKeyColumns);
    const where = buildNarrowedPredicate(relatedWrite, condition);
    writing.addStep(() => ({
      write: { kind: "update", relation: getQualifiedName(target), where, assignments },
      path: condition.path,
    }));
  }
  otherWrites.forEach(planUpdates);
  for (const relatedWrite of otherWrites) {
    const connectInput = relatedWrite.inputs["connect"];
    if (connectInput !== undefined) planConnect(build, relatedWrite, connectInput, writing, step);
  }
  for (const { relationship, inputs } of otherWrites)
    if (inputs["insert"] !== undefined) writing.insert(inputs["insert"], relationship.field.relationship, step);
};

/** The most values that the keys of one statement bind. PostgreSQL allows 65,535 in all. */
const MAX_BOUND = 20_000;

/** Groups the keys of the same columns, up to the limit of a statement. */
const groupKeys = (keys: readonly GivenKey[]): readonly (readonly GivenKey[])[] => {
  const groups: GivenKey[][] = [];
  const open = new Map<string, GivenKey[]>();
  for (const inputKey of keys) {
    const columns = listKeyColumns(inputKey);
    const group = open.get(columns.join());
    if (group !== undefined && (group.length + 1) * columns.length <= MAX_BOUND) group.push(inputKey);
    else {
      const next = [inputKey];
      open.set(columns.join(), next);
      groups.push(next);
    }
  }
  return groups;
};

interface GivenKey {
  readonly key: Key;
  readonly path: string;
}

const listKeyColumns = ({ key }: GivenKey): readonly string[] => [...key.keys()].toSorted();

/** Plans one statement for all keys of the same columns. @rule P-NST-6 */
const planConnect = (
  build: GqlBuild,
  relatedWrite: RelatedWrites,
  input: GqlInput,
  writing: GqlWriting,
  parent: number,
): void => {
  const inputs = relatedWrite.relationship.field.relationship.isToOne ? [input] : input.items();
  const relation = getQualifiedName(relatedWrite.table.relation);
  const assignments = copyKey(reversePairs(relatedWrite.relationship.columns), parent, writing.relation);
  const inputKeys = inputs.map((keyInput): GivenKey => ({
    key: readKey(build, relatedWrite, keyInput, writing),
    path: keyInput.path,
  }));
  for (const group of groupKeys(inputKeys)) {
    const [first] = group;
    if (first === undefined) continue;
    const { path } = first;
    if (group.length === 1) {
      writing.addStep((stepNumber) => ({
        write: { kind: "update", relation, where: buildKeyPredicate(first.key), assignments },
        path,
        requires: [requireRow(stepNumber, relatedWrite, path)],
      }));
      continue;
    }
    const columns = listKeyColumns(first);
    const keys = { columns, values: group.map(({ key }) => columns.flatMap((name) => key.get(name) ?? [])) };
    const sharedFields = { ...keys, paths: group.map((item) => item.path) };
    writing.addStep((stepNumber) => ({
      write: { kind: "update", relation, where: { kind: "keys", ...keys }, assignments },
      path: input.path,
      requires: [{ ...requireRow(stepNumber, relatedWrite, path), keys: sharedFields }],
    }));
  }
};

/** Returns undefined if the input requests no write. */
export const planRelated = (
  build: GqlBuild,
  table: GqlTable,
  input: GqlInput,
  writing: GqlWriting,
): GqlUpdateAdditions | undefined => {
  const relatedWrites = input.isNull ? [] : readRelatedWrites(build, table, input);
  if (relatedWrites.length === 0) return undefined;
  const assignments: Assignment[] = [];
  const deferredAssignments = new Map<RelatedWrites, readonly Assignment[]>();
  for (const relatedWrite of relatedWrites) {
    const { relationship, inputs } = relatedWrite;
    if (!relationship.isOwnKey) continue;
    const next = planNewTarget(build, relatedWrite, writing);
    if (inputs["delete"] === undefined) assignments.push(...next);
    else {
      // The rows still have to refer to the deleted row, so that the delete finds it.
      if (next.length === 0 && relationship.nullableKeyColumns.length === 0)
        rejectWrite(
          `cannot delete ${formatRelationship(relationship)}: "${relationship.keyColumns.join(", ")}" cannot be null`,
          inputs["delete"].path,
        );
      deferredAssignments.set(
        relatedWrite,
        next.length > 0 ? next : clearColumns(table.relation, relationship.nullableKeyColumns),
      );
    }
  }
  return {
    assignments,
    requires: relatedWrites.flatMap((relatedWrite) => buildRequirements(relatedWrite, writing)),
    addLaterSteps: (step) => planFollowingWrites(build, relatedWrites, deferredAssignments, writing, step, input.path),
  };
};
