/** Builds the relations of the model from the rows of the relations query. */
import {
  isView,
  type Column,
  type ForeignKey,
  memoize,
  type PgType,
  type Relation,
  type UniqueKey,
} from "../../../core/index.ts";
import type { createAclReader } from "./privileges.ts";
import { DELETE, INSERT, UPDATE, type ColumnRow, type ConflictTargetRow, type RelationRow } from "./relations.ts";
import { findCharacterLength, type DomainTraits } from "./types.ts";

interface RelationParts {
  readonly readAcl: ReturnType<typeof createAclReader>;
  readonly getDomainTraits: (type: number) => DomainTraits;
  readonly types: ReadonlyMap<number, PgType>;
  /** All relations by oid, for the targets of keys. */
  readonly rows: { get(oid: number): NamedRow | undefined };
  /** Returns the key of a view, as attribute numbers. */
  readonly findViewKey: (row: RelationRow) => readonly number[];
  /** Returns the conflict targets of the table that a view shows, as attribute numbers of the view. */
  readonly findViewTargets: (view: RelationRow) => readonly ConflictTargetRow[];
  /** Returns the column of a table that a view's column shows. */
  readonly findOrigin: (view: RelationRow, position: number) => ColumnRow | undefined;
}

type GetColumns = (rows: readonly ColumnRow[]) => readonly Column[];

/** Creates a function that builds the relation of a catalog row. */
export const createRelationBuilder = (parts: RelationParts): ((row: RelationRow) => Relation) => {
  const getColumns = memoize((rows: readonly ColumnRow[]) => buildColumns(rows, parts));
  return (row) => buildRelation(row, parts, getColumns);
};

/** Builds a relation of the model, without relationships. */
const buildRelation = (row: RelationRow, parts: RelationParts, getColumns: GetColumns): Relation => {
  const keys = row.keys ?? [];
  const rows = row.columns ?? NO_COLUMNS;
  const columns = row.kind === "view" || row.comments !== null ? buildColumns(rows, parts, row) : getColumns(rows);
  const names = getColumnNames(row);
  const findNames = (positions: readonly number[]): readonly string[] =>
    positions.map((position) => names.get(position) ?? "");
  const primary = isView(row) ? parts.findViewKey(row) : findPrimaryKey(row);
  const targets = row.kind === "view" ? parts.findViewTargets(row) : (row.conflictTargets ?? []);
  return {
    schema: row.schema,
    name: row.name,
    oid: row.oid,
    kind: row.kind,
    rowType: row.rowType,
    ancestorTypes: row.ancestorTypes ?? undefined,
    owner: row.owner,
    acl: parts.readAcl(row.acl, "relation"),
    comment: row.comments?.[0],
    columns,
    primaryKey: findNames(primary),
    uniqueKeys: keys.flatMap(([kind, name, positions]): readonly UniqueKey[] =>
      kind === "f" ? [] : [{ name, columns: findNames(positions), isPrimary: kind === "p" }],
    ),
    conflictTargets: targets.length === 0 ? undefined : targets.map((target) => buildConflictTarget(target, findNames)),
    foreignKeys: keys.flatMap(([kind, name, positions, target, targetPositions]): readonly ForeignKey[] => {
      const targetRelation = kind === "f" ? parts.rows.get(target) : undefined;
      if (targetRelation === undefined) return [];
      const targetNames = getColumnNames(targetRelation);
      return [
        {
          name,
          columns: findNames(positions),
          target: { schema: targetRelation.schema, name: targetRelation.name },
          targetColumns: (targetPositions ?? []).map((position) => targetNames.get(position) ?? ""),
        },
      ];
    }),
    writable: {
      insert: (row.writable & INSERT) !== 0,
      update: (row.writable & UPDATE) !== 0,
      delete: (row.writable & DELETE) !== 0,
    },
    hasRowSecurity: row.hasRowSecurity,
    provenAccess: row.provenAccess ?? undefined,
    mayHideNulls: row.mayHideNulls ? true : undefined,
    rules: row.rules ?? undefined,
    rejectsConflict: row.rejectsConflict ? true : undefined,
    relationships: [],
  };
};

const buildConflictTarget = (
  [positions, expressions, predicate]: ConflictTargetRow,
  findNames: (positions: readonly number[]) => readonly string[],
): NonNullable<Relation["conflictTargets"]>[number] => ({
  columns: findNames(positions),
  expressions,
  predicate: predicate ?? undefined,
});

/** Builds the columns of a relation. `relation` is set if the relation is a view or has comments. */
const buildColumns = (rows: readonly ColumnRow[], parts: RelationParts, relation?: RelationRow): readonly Column[] =>
  rows.map((row) => buildColumn(row, parts, relation));

/** Returns the default of a column, or of its domain. @rule R-SC-2 */
const findDefault = (
  [, , type, , , , default_, identity, isGenerated]: ColumnRow,
  { types, getDomainTraits }: RelationParts,
): string | undefined => {
  const mayHaveDefault = !isGenerated && identity !== "a";
  return default_ ?? (mayHaveDefault && types.get(type)?.kind === "domain" ? getDomainTraits(type).default : undefined);
};

const buildColumn = (column: ColumnRow, parts: RelationParts, relation: RelationRow | undefined): Column => {
  const [position, name, type, modifier, sqlType, notNull, default_, identity, isGenerated, acl, isUpdatable] = column;
  const knownType = parts.types.get(type);
  const traits = knownType?.kind === "domain" ? parts.getDomainTraits(type) : undefined;
  const origin =
    relation?.kind === "view" && default_ === null && isUpdatable && !relation.hasTrigger
      ? parts.findOrigin(relation, position)
      : undefined;
  const baseDefault = origin && findDefault(origin, parts);
  const [, , , , , , , baseIdentity, isBaseGenerated = false] = origin ?? [];
  const ownDefault = findDefault(column, parts);
  return {
    name,
    position,
    type,
    sqlType,
    notNull: notNull || (traits?.notNull ?? false),
    default: ownDefault,
    ...(baseDefault === undefined ? {} : { baseDefault }),
    identity: identity === "" ? undefined : identity === "a" ? "always" : "by default",
    isGenerated,
    ...((baseIdentity === "a" || isBaseGenerated) && { isBaseGenerated: true as const }),
    maxLength: traits?.maxLength ?? (knownType && findCharacterLength(knownType, modifier)),
    comment: relation?.comments?.[position],
    acl: parts.readAcl(acl, "column"),
    isUpdatable,
  };
};

/** A relation with the names of its columns. */
interface NamedRow {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly (readonly [position: number, name: string, ...details: readonly unknown[]])[] | null;
}

const indexColumnNames = memoize(
  (columns: NonNullable<NamedRow["columns"]>): ReadonlyMap<number, string> =>
    new Map(columns.map(([position, name]) => [position, name])),
);

/** Returns column names by attribute number. */
export const getColumnNames = ({ columns }: NamedRow): ReadonlyMap<number, string> =>
  indexColumnNames(columns ?? NO_COLUMNS);

const NO_COLUMNS: readonly ColumnRow[] = [];

/** Returns the attribute numbers of the primary key, in key order. */
export const findPrimaryKey = (row: RelationRow): readonly number[] =>
  row.keys?.find(([kind]) => kind === "p")?.[2] ?? [];

/** Creates a function that builds row types, whose attributes are the columns. */
export const createRowTypeBuilder = (): ((row: RelationRow) => PgType) => {
  const buildAttributes = memoize((rows: readonly ColumnRow[]) => rows.map(([, name, type]) => ({ name, type })));
  return (row) => buildRowType(row, buildAttributes(row.columns ?? NO_COLUMNS));
};

const buildRowType = (row: RelationRow, attributes: PgType["attributes"]): PgType => ({
  oid: row.rowType,
  schema: row.schema,
  name: row.name,
  sqlName: row.rowSqlName,
  kind: "composite",
  category: "C",
  attributes,
  relation: { schema: row.schema, name: row.name },
});
