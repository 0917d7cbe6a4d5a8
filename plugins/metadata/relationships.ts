/** Matches relationships of the metadata with the foreign keys of the model. @rule G-MET-9 G-MET-12 G-NST-9 */
import {
  findColumn,
  findRelation,
  isSameName,
  type ColumnPair,
  type Model,
  type QualifiedName,
  type Relation,
  type Relationship,
} from "../../core/index.ts";
import { readQualifiedName, type RawValue, type RawObject } from "./raw-values.ts";
import { readObjectOrEmpty, readText } from "../shared/json-values.ts";

interface MatchedRelationship {
  readonly relationship: Relationship;
  readonly isNew: boolean;
  readonly isWrittenAfterParent: boolean;
}

/** The reason why no relationship matches. */
interface Mismatch {
  readonly reason: string;
  /** The reason in the wording of the dialect, if the dialect has one. */
  readonly detail?: string;
}

const NO_KEY = "no foreign constraint exists on the given column(s)";
const SEVERAL_KEYS = "more than one foreign key constraint exists on the given column(s)";

const haveSameItems = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item) => b.includes(item));

const isGiven = (rawValue: RawValue | undefined): rawValue is RawValue => rawValue !== undefined && rawValue !== null;

/** Reads `author_id` or `[author_id]`. Returns undefined for other values. */
const readColumnNames = (rawValue: RawValue | undefined): readonly string[] | undefined => {
  // `Array.isArray` does not narrow readonly lists.
  const names = (Array.isArray(rawValue) ? (rawValue as readonly RawValue[]) : [rawValue]).map((name) =>
    readText(name),
  );
  return names.length > 0 && names.every((name) => name !== undefined) ? (names as readonly string[]) : undefined;
};

const quoteNames = (columns: readonly string[]): string => columns.map((column) => `"${column}"`).join(", ");

export const matchRelationship = (
  model: Model,
  relation: Relation,
  using: RawObject,
  isObjectRelationship: boolean,
  name: string,
): MatchedRelationship | Mismatch => {
  const key = using["foreign_key_constraint_on"];
  const manual = using["manual_configuration"];
  if (!isGiven(key))
    return buildManualRelationship(model, relation, readObjectOrEmpty(manual), isObjectRelationship, name);
  if (isGiven(manual)) return { reason: "it has both foreign_key_constraint_on and manual_configuration" };
  if (typeof key === "string" || Array.isArray(key))
    return isObjectRelationship ? matchOwnKey(relation, readColumnNames(key)) : NO_TABLE_NAMED;
  return matchOtherKey(model, relation, readObjectOrEmpty(key), isObjectRelationship, name);
};

const NO_COLUMNS_NAMED: Mismatch = { reason: "it names no columns" };
const NO_TABLE_NAMED: Mismatch = { reason: "it names no table" };

const matchOwnKey = (relation: Relation, columns: readonly string[] | undefined): MatchedRelationship | Mismatch => {
  if (columns === undefined) return NO_COLUMNS_NAMED;
  const missingColumn = columns.find((column) => findColumn(relation, column) === undefined);
  if (missingColumn !== undefined) return { reason: `column "${missingColumn}" does not exist`, detail: NO_KEY };
  const matches = relation.relationships.filter(
    (candidate) =>
      candidate.isOwnKey &&
      candidate.isToOne &&
      haveSameItems(
        candidate.columns.map(([source]) => source),
        columns,
      ),
  );
  const relationship = chooseOnlyKey(matches, ({ constraint, target }) =>
    relation.foreignKeys.some((key) => key.name === constraint && isSameName(key.target, target)),
  );
  if (typeof relationship === "string")
    return { reason: `${relationship} exactly the columns ${quoteNames(columns)}`, detail: findDetail(relationship) };
  return { relationship, isNew: false, isWrittenAfterParent: false };
};

const matchOtherKey = (
  model: Model,
  relation: Relation,
  key: RawObject,
  isObjectRelationship: boolean,
  name: string,
): MatchedRelationship | Mismatch => {
  const target = readQualifiedName(key["table"]);
  if (target === undefined) return NO_TABLE_NAMED;
  const targetRelation = findRelation(model, target);
  if (targetRelation === undefined) return buildMissingTable(target);
  const columns = readColumnNames(key["columns"] ?? key["column"]);
  if (columns === undefined) return NO_COLUMNS_NAMED;
  const missingColumn = columns.find((column) => findColumn(targetRelation, column) === undefined);
  if (missingColumn !== undefined)
    return { reason: `column "${missingColumn}" of table "${targetRelation.name}" does not exist`, detail: NO_KEY };
  const matches = relation.relationships.filter(
    (candidate) =>
      !candidate.isOwnKey &&
      isSameName(candidate.target, target) &&
      haveSameItems(
        candidate.columns.map(([, column]) => column),
        columns,
      ),
  );
  const relationship = chooseOnlyKey(matches, ({ constraint }) =>
    targetRelation.foreignKeys.some(
      (foreignKey) => foreignKey.name === constraint && isSameName(foreignKey.target, relation),
    ),
  );
  if (relationship === "no foreign key has")
    return {
      reason: `table "${target.name}" has no foreign key of ${quoteNames(columns)} to this one`,
      detail: NO_KEY,
    };
  if (typeof relationship === "string")
    return {
      reason: `${relationship} exactly the columns ${quoteNames(columns)} of table "${target.name}"`,
      detail: findDetail(relationship),
    };
  if (isObjectRelationship && !relationship.isToOne) {
    // Nothing guarantees at most one row, so any row is returned, as with manually chosen columns.
    return {
      relationship: {
        ...relationship,
        id: `metadata ${name}`,
        cardinality: "many-to-one",
        isToOne: true,
        isManual: true,
      },
      isNew: true,
      isWrittenAfterParent: true,
    };
  }
  if (!isObjectRelationship && relationship.isToOne) {
    // A one-to-one key that the metadata names as an array returns the same rows as a list.
    return {
      relationship: { ...relationship, id: `metadata ${name}`, cardinality: "one-to-many", isToOne: false },
      isNew: true,
      isWrittenAfterParent: false,
    };
  }
  return { relationship, isNew: false, isWrittenAfterParent: false };
};

const findDetail = (finding: "no foreign key has" | "several foreign keys have"): string =>
  finding === "no foreign key has" ? NO_KEY : SEVERAL_KEYS;

const buildMissingTable = ({ name }: QualifiedName): Mismatch => ({
  reason: `table "${name}" does not exist`,
  detail: `table "${name}" is not tracked`,
});

/** Returns the only foreign key, or the reason why none is chosen. Foreign keys of tables take precedence over keys
 *  that views inherit, and equal constraints count as one. */
const chooseOnlyKey = (
  candidates: readonly Relationship[],
  isOfTables: (relationship: Relationship) => boolean,
): Relationship | "no foreign key has" | "several foreign keys have" => {
  const keys = candidates.filter(isOfTables);
  const [first, ...otherKeys] = keys.length > 0 ? keys : candidates.slice(0, 1);
  if (first === undefined) return "no foreign key has";
  const isSame = (key: Relationship): boolean =>
    isSameName(key.target, first.target) &&
    key.columns.every(([source, target]) =>
      first.columns.some(([firstSource, firstTarget]) => firstSource === source && firstTarget === target),
    );
  return otherKeys.every(isSame) ? first : "several foreign keys have";
};

const buildManualRelationship = (
  model: Model,
  relation: Relation,
  rawObject: RawObject,
  isToOne: boolean,
  name: string,
): MatchedRelationship | Mismatch => {
  const target = readQualifiedName(rawObject["remote_table"]);
  const targetRelation = target && findRelation(model, target);
  if (target === undefined || targetRelation === undefined)
    return target === undefined ? { reason: "it says neither a foreign key nor a table" } : buildMissingTable(target);
  const columns = Object.entries(readObjectOrEmpty(rawObject["column_mapping"])).map(([source, column]): ColumnPair => [
    source,
    readText(column) ?? "",
  ]);
  for (const [source, column] of columns) {
    if (findColumn(relation, source) === undefined) return { reason: `column "${source}" does not exist` };
    if (findColumn(targetRelation, column) === undefined)
      return { reason: `column "${column}" of table "${targetRelation.name}" does not exist` };
  }
  if (columns.length === 0) return { reason: "its column_mapping is empty" };
  const isAfter = isToOne && rawObject["insertion_order"] === "after_parent";
  return {
    relationship: {
      id: `metadata ${name}`,
      cardinality: isToOne ? "many-to-one" : "one-to-many",
      isToOne,
      source: { schema: relation.schema, name: relation.name },
      target: { schema: targetRelation.schema, name: targetRelation.name },
      columns,
      constraint: "",
      isOwnKey: isToOne && !isAfter,
      isManual: true,
    },
    isNew: true,
    isWrittenAfterParent: isAfter,
  };
};
