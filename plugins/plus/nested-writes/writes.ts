/** What `_related` asks for, as steps around the update. @rule P-NST-2 P-NST-3 P-NST-4 P-NST-6 P-NST-7 */
import {
  columnOf,
  nameKey,
  RelApiError,
  type Assignment,
  type ColumnPair,
  type Predicate,
  type QualifiedName,
  type Relation,
  type StepRequirement,
  type ValueRef,
} from "../../../core/index.ts";
import type { GqlBuild, GqlUpdateAdditions, GqlInput, GqlInputField, GqlTable, GqlWriting } from "../../graphql/api.ts";
import { keysOf, writableRelationshipOf, type WritableRelationship } from "./writable-relationships.ts";

/** The requested writes along one relationship. */
interface RelatedWrites {
  readonly way: WritableRelationship;
  readonly table: GqlTable;
  readonly of: Readonly<Partial<Record<string, GqlInput>>>;
}

const rejectWrite = (message: string, path: string): never => {
  throw new RelApiError({ code: "validation-failed", status: 400, message, path });
};

const nameOf = ({ schema, name }: Relation): QualifiedName => ({ schema, name });

/** `object relation "artist"`, as nested inserts call it. */
const displayName = ({ field: { name, relationship } }: WritableRelationship): string =>
  `${relationship.isToOne ? "object" : "array"} relation "${name}"`;

const readRelatedWrites = (build: GqlBuild, table: GqlTable, input: GqlInput): readonly RelatedWrites[] =>
  input.fields().flatMap((field): readonly RelatedWrites[] => {
    const found = table.relationships.find(({ name }) => name === field.name);
    const way = found && writableRelationshipOf(table.relation, found);
    const target = found && build.table(found.target);
    if (way === undefined || target === undefined || field.isNull) return [];
    const of: Record<string, GqlInput> = {};
    for (const each of field.fields()) if (!isNothing(each, way)) of[each.name] = each;
    rejectContradictions(way, of, field.path);
    return Object.keys(of).length === 0 ? [] : [{ way, table: target, of }];
  });

/** Nothing is asked for by null, by an empty list, and by `false`. @rule P-NST-7 */
const isNothing = (input: GqlInputField, { field }: WritableRelationship): boolean => {
  if (input.isNull) return true;
  const { isToOne } = field.relationship;
  if (input.name === "delete" || input.name === "disconnect") return isToOne && !input.isTrue();
  return !isToOne && (input.name === "update" || input.name === "connect") && input.items().length === 0;
};

/** A write of the related row contradicts another write that replaces it. @rule P-NST-7 */
const rejectContradictions = (way: WritableRelationship, of: RelatedWrites["of"], path: string): void => {
  if (!way.field.relationship.isToOne) return;
  const [first, second] = ["insert", "connect", "update"].filter((name) => of[name] !== undefined);
  const both = (one: string, other: string): never =>
    rejectWrite(`cannot ${one} and ${other} ${displayName(way)} at the same time`, path);
  if (first !== undefined && second !== undefined) both(first, second);
  if (of["delete"] !== undefined && of["disconnect"] !== undefined) both("delete", "disconnect");
  for (const name of ["delete", "disconnect"])
    if (of["update"] !== undefined && of[name] !== undefined) both("update", name);
};

// --- rows of the table itself ---------------------------------------------------------------------------------------

const set = (column: string, operand: Assignment["operand"]): Assignment => ({ column, operator: "set", operand });

const clearColumns = (relation: Relation, columns: readonly string[]): readonly Assignment[] =>
  columns.map((column) => set(column, { constant: null, type: columnOf(relation, column)?.sqlType ?? "text" }));

/** The key of a row that a step leaves. */
const copyKey = (columns: readonly ColumnPair[], step: number, from: Relation): readonly Assignment[] =>
  columns.map(([own, other]) => set(own, { step, column: other, type: columnOf(from, other)?.sqlType ?? "text" }));

const reversed = (columns: readonly ColumnPair[]): readonly ColumnPair[] =>
  columns.map(([own, other]) => [other, own] as const);

const allOf = (...parts: readonly (Predicate | undefined)[]): Predicate => {
  const given = parts.filter((part) => part !== undefined);
  return given.length === 1 ? (given[0] as Predicate) : { kind: "and", of: given };
};

/** Columns of one key, with their values. @rule P-NST-6 */
const keyOf = (build: GqlBuild, { table }: RelatedWrites, input: GqlInput, writing: GqlWriting): Key => {
  const given = input.fields().flatMap((field) => (field.part?.kind === "column" ? [{ field, part: field.part }] : []));
  const names = given.map(({ part }) => part.column.name);
  const keys = keysOf(build, table);
  if (!keys.some((key) => key.length === names.length && key.every((name) => names.includes(name)))) {
    const shown = keys.map((key) =>
      key.map((name) => `"${writing.schema.columnName(table.relation, name)}"`).join(", "),
    );
    rejectWrite(`expected the columns of one key: ${shown.join("; or ")}`, input.path);
  }
  return new Map(given.map(({ field, part }) => [part.column.name, writing.value(field, part.value)] as const));
};

const isKey = (key: Key): Predicate =>
  allOf(
    ...[...key].map(([name, operand]): Predicate => ({
      kind: "compare",
      left: { kind: "column", name },
      operator: "eq",
      operand,
    })),
  );

type Key = ReadonlyMap<string, ValueRef>;

const rowExists = (step: number, { way, table }: RelatedWrites, path: string): StepRequirement => ({
  step,
  message: `cannot proceed to connect ${displayName(way)} since table "${table.relation.name}" has no such row`,
  path,
});

// --- in front of the update -----------------------------------------------------------------------------------------

/** The row that the updated ones lead to from then on. @rule P-NST-3 P-NST-6 */
const newTarget = (build: GqlBuild, one: RelatedWrites, writing: GqlWriting): readonly Assignment[] => {
  const { way, table, of } = one;
  const { relation } = table;
  if (of["insert"] !== undefined) {
    const step = writing.insert(of["insert"], way.field.relationship);
    return step === undefined ? [] : copyKey(way.columns, step, relation);
  }
  const key = of["connect"];
  if (key === undefined) return of["disconnect"] === undefined ? [] : clearColumns(writing.relation, way.nullable);
  const where = isKey(keyOf(build, one, key, writing));
  const step = writing.step((own) => ({
    write: { kind: "read", from: { relation: nameOf(relation) }, shape: "rows", output: [], where },
    path: key.path,
    requires: [rowExists(own, one, key.path)],
  }));
  return copyKey(way.columns, step, relation);
};

/** @rule P-NST-4 */
const requirementsOf = (
  { way, of }: RelatedWrites,
  { relation: { name } }: GqlWriting,
): readonly Omit<StepRequirement, "step">[] =>
  (["insert", "connect"] as const).flatMap((verb) => {
    const input = of[verb];
    if (input === undefined) return [];
    const cannot = `cannot proceed to ${verb} ${displayName(way)} since update of table "${name}" affects`;
    const none = { message: `${cannot} zero rows`, path: input.path };
    // rows that hold the key belong to one row
    return way.isOwn ? [none] : [none, { atMost: 1, message: `${cannot} more than one row`, path: input.path }];
  });

// --- behind it ------------------------------------------------------------------------------------------------------

/** Those that refer to another come behind it. */
const sortByReference = (all: readonly RelatedWrites[]): readonly RelatedWrites[] => {
  const ordered: RelatedWrites[] = [];
  const seen = new Set<RelatedWrites>();
  const visit = (one: RelatedWrites): void => {
    if (seen.has(one)) return;
    seen.add(one);
    const targets = new Set(one.table.relation.foreignKeys.map((key) => nameKey(key.target)));
    for (const other of all) if (targets.has(nameKey(other.table.relation))) visit(other);
    ordered.push(one);
  };
  all.forEach(visit);
  return ordered;
};

/** Rows that refer to others are deleted first and inserted last. A write that frees a unique value comes before one that
 *  takes it. @rule P-NST-3 */
const writeBehind = (
  build: GqlBuild,
  all: readonly RelatedWrites[],
  replaced: ReadonlyMap<RelatedWrites, readonly Assignment[]>,
  writing: GqlWriting,
  step: number,
  path: string,
): void => {
  const { relation } = writing;
  const own = all.filter(({ way }) => way.isOwn);
  const others = sortByReference(all.filter(({ way }) => !way.isOwn));
  const related = ({ way }: RelatedWrites): Predicate => ({ kind: "written", step, columns: reversed(way.columns) });
  const narrowed = (one: RelatedWrites, condition: GqlInput): Predicate =>
    allOf(related(one), one.way.field.relationship.isToOne ? undefined : writing.where(condition));
  const remove = (one: RelatedWrites): void => {
    const condition = one.of["delete"];
    if (condition === undefined) return;
    const from = nameOf(one.table.relation);
    const where = narrowed(one, condition);
    writing.step(() => ({ write: { kind: "delete", from, where }, path: condition.path }));
  };
  const updateRows = (one: RelatedWrites): void => {
    const given = one.of["update"];
    const items = given === undefined ? [] : one.way.field.relationship.isToOne ? [given] : given.items();
    for (const item of items) writing.update(item, one.table.relation, related(one));
  };

  if (replaced.size > 0) {
    const again = [...replaced.values()].flat();
    const columns = relation.primaryKey.map((name) => [name, name] as const);
    const assignments = [...new Map(again.map((each) => [each.column, each])).values()];
    const where: Predicate = { kind: "written", step, columns };
    const message = `cannot proceed to delete object relations since the first update of table "${relation.name}" hides rows from the second`;
    writing.step((repeated) => ({
      write: { kind: "update", relation: nameOf(relation), where, assignments },
      path,
      requires: [{ step: repeated, asManyAs: step, message, path }],
      again: step,
    }));
  }
  [...others].reverse().forEach(remove);
  own.forEach(remove);
  own.forEach(updateRows);
  for (const one of others) {
    const condition = one.of["disconnect"];
    if (condition === undefined) continue;
    const target = one.table.relation;
    const assignments = clearColumns(target, one.way.nullable);
    const where = narrowed(one, condition);
    writing.step(() => ({
      write: { kind: "update", relation: nameOf(target), where, assignments },
      path: condition.path,
    }));
  }
  others.forEach(updateRows);
  for (const one of others) {
    const given = one.of["connect"];
    if (given !== undefined) connect(build, one, given, writing, step);
  }
  for (const { way, of } of others)
    if (of["insert"] !== undefined) writing.insert(of["insert"], way.field.relationship, step);
};

/** A statement can bind 65,535 values. */
const MAX_BOUND = 20_000;

/** Keys of the same columns, as many as one statement takes. */
const inGroups = (keys: readonly GivenKey[]): readonly (readonly GivenKey[])[] => {
  const groups: GivenKey[][] = [];
  const open = new Map<string, GivenKey[]>();
  for (const given of keys) {
    const columns = nameList(given);
    const group = open.get(columns.join());
    if (group !== undefined && (group.length + 1) * columns.length <= MAX_BOUND) group.push(given);
    else {
      const next = [given];
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

const nameList = ({ key }: GivenKey): readonly string[] => [...key.keys()].toSorted();

/** One statement for all keys of the same columns. @rule P-NST-6 */
const connect = (build: GqlBuild, one: RelatedWrites, input: GqlInput, writing: GqlWriting, parent: number): void => {
  const inputs = one.way.field.relationship.isToOne ? [input] : input.items();
  const relation = nameOf(one.table.relation);
  const assignments = copyKey(reversed(one.way.columns), parent, writing.relation);
  const given = inputs.map((each): GivenKey => ({ key: keyOf(build, one, each, writing), path: each.path }));
  for (const group of inGroups(given)) {
    const [first] = group;
    if (first === undefined) continue;
    const { path } = first;
    if (group.length === 1) {
      writing.step((own) => ({
        write: { kind: "update", relation, where: isKey(first.key), assignments },
        path,
        requires: [rowExists(own, one, path)],
      }));
      continue;
    }
    const columns = nameList(first);
    const keys = { columns, values: group.map(({ key }) => columns.flatMap((name) => key.get(name) ?? [])) };
    const each = { ...keys, paths: group.map((item) => item.path) };
    writing.step((own) => ({
      write: { kind: "update", relation, where: { kind: "keys", ...keys }, assignments },
      path: input.path,
      requires: [{ ...rowExists(own, one, path), each }],
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
  const all = input.isNull ? [] : readRelatedWrites(build, table, input);
  if (all.length === 0) return undefined;
  const assignments: Assignment[] = [];
  const replaced = new Map<RelatedWrites, readonly Assignment[]>();
  for (const one of all) {
    const { way, of } = one;
    if (!way.isOwn) continue;
    const next = newTarget(build, one, writing);
    if (of["delete"] === undefined) assignments.push(...next);
    else {
      // the rows still have to refer to the deleted row, so that the delete finds it
      if (next.length === 0 && way.nullable.length === 0)
        rejectWrite(`cannot delete ${displayName(way)}: "${way.held.join(", ")}" cannot be null`, of["delete"].path);
      replaced.set(one, next.length > 0 ? next : clearColumns(table.relation, way.nullable));
    }
  }
  return {
    assignments,
    requires: all.flatMap((one) => requirementsOf(one, writing)),
    after: (step) => writeBehind(build, all, replaced, writing, step, input.path),
  };
};
