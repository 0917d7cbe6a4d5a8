/** Relations of the model from the rows of the relations query. */
import type { Column, ForeignKey, PgType, Relation, UniqueKey } from "../../core/index.ts";
import type { createAclReader } from "./privileges.ts";
import { DELETE, INSERT, UPDATE, type ColumnRow, type RelationRow } from "./relations.ts";
import { characterLength, type DomainTraits } from "./types.ts";

export interface RelationParts {
  readonly readAcl: ReturnType<typeof createAclReader>;
  /** Equal texts as one: names and types of columns repeat from table to table. */
  readonly share: (text: string) => string;
  readonly traitsOf: (type: number) => DomainTraits;
  readonly types: ReadonlyMap<number, PgType>;
  /** All by oid, for the targets of keys. */
  readonly rows: { get(oid: number): NamedRow | undefined };
  /** Key of a view, by attribute numbers. */
  readonly viewKeyOf: (row: RelationRow) => readonly number[];
  /** Column of a table that a view's column is. */
  readonly originOf: (view: RelationRow, position: number) => ColumnRow | undefined;
}

/** The relation of the model, without relationships. */
export const buildRelation = (row: RelationRow, parts: RelationParts): Relation => {
  const keys = row.keys ?? [];
  const columns = (row.columns ?? []).map((column) => buildColumn(column, row, parts));
  const names = columnNames(row);
  const nameAll = (positions: readonly number[]): readonly string[] =>
    positions.map((position) => parts.share(names.get(position) ?? ""));
  const primary = row.kind === "view" || row.kind === "materialized" ? parts.viewKeyOf(row) : primaryKeyOf(row);
  return {
    schema: parts.share(row.schema),
    name: row.name,
    oid: row.oid,
    kind: row.kind,
    rowType: row.rowType,
    owner: parts.share(row.owner),
    acl: parts.readAcl(row.acl, "relation"),
    comment: row.comments?.[0],
    columns,
    primaryKey: nameAll(primary),
    uniqueKeys: keys.flatMap(([kind, name, positions]): readonly UniqueKey[] =>
      kind === "f" ? [] : [{ name, columns: nameAll(positions), isPrimary: kind === "p" }],
    ),
    foreignKeys: keys.flatMap(([kind, name, positions, target, targetPositions]): readonly ForeignKey[] => {
      const other = kind === "f" ? parts.rows.get(target) : undefined;
      if (other === undefined) return [];
      const otherNames = columnNames(other);
      return [
        {
          name,
          columns: nameAll(positions),
          target: { schema: parts.share(other.schema), name: other.name },
          targetColumns: (targetPositions ?? []).map((position) => otherNames.get(position) ?? ""),
        },
      ];
    }),
    writable: {
      insert: (row.writable & INSERT) !== 0,
      update: (row.writable & UPDATE) !== 0,
      delete: (row.writable & DELETE) !== 0,
    },
    hasRowSecurity: row.hasRowSecurity,
    ...(row.plain !== null && { plain: row.plain }),
    ...(row.mayHideNulls && { mayHideNulls: true }),
    relationships: [],
  };
};

/** @rule R-SC-2 */
const ownDefault = (
  [, , type, , , , default_, identity, isGenerated]: ColumnRow,
  { types, traitsOf }: RelationParts,
): string | undefined => {
  const mayHaveOne = !isGenerated && identity !== "a";
  return default_ ?? (mayHaveOne && types.get(type)?.kind === "domain" ? traitsOf(type).default : undefined);
};

const buildColumn = (column: ColumnRow, row: RelationRow, parts: RelationParts): Column => {
  const [position, name, type, modifier, sqlType, notNull, default_, identity, isGenerated, acl, isUpdatable] = column;
  const known = parts.types.get(type);
  const traits = known?.kind === "domain" ? parts.traitsOf(type) : undefined;
  const origin =
    row.kind === "view" && default_ === null && isUpdatable && !row.hasTrigger
      ? parts.originOf(row, position)
      : undefined;
  const baseDefault = origin && ownDefault(origin, parts);
  const own = ownDefault(column, parts);
  return {
    name: parts.share(name),
    position,
    type,
    sqlType: parts.share(sqlType),
    notNull: notNull || (traits?.notNull ?? false),
    default: own === undefined ? undefined : parts.share(own),
    ...(baseDefault === undefined ? {} : { baseDefault }),
    identity: identity === "" ? undefined : identity === "a" ? "always" : "by default",
    isGenerated,
    maxLength: traits?.maxLength ?? (known && characterLength(known, modifier)),
    comment: row.comments?.[position],
    acl: parts.readAcl(acl, "column"),
    isUpdatable,
  };
};

/** What has columns with names. */
export interface NamedRow {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly (readonly [position: number, name: string, ...rest: readonly unknown[]])[] | null;
}

const namesByRow = new WeakMap<NamedRow, ReadonlyMap<number, string>>();

/** One text for all that are equal. */
export const createShare = (): ((text: string) => string) => {
  const known = new Map<string, string>();
  return (text) => {
    const found = known.get(text);
    if (found === undefined) known.set(text, text);
    return found ?? text;
  };
};

/** Column names by attribute number. */
export const columnNames = (row: NamedRow): ReadonlyMap<number, string> => {
  let names = namesByRow.get(row);
  if (names === undefined) {
    names = new Map((row.columns ?? []).map(([position, name]) => [position, name]));
    namesByRow.set(row, names);
  }
  return names;
};

/** Attribute numbers of the primary key, in key order. */
export const primaryKeyOf = (row: RelationRow): readonly number[] =>
  row.keys?.find(([kind]) => kind === "p")?.[2] ?? [];

/** The row type, whose attributes are the columns. */
export const buildRowType = (row: RelationRow, share: (text: string) => string): PgType => ({
  oid: row.rowType,
  schema: share(row.schema),
  name: row.name,
  sqlName: row.rowSqlName,
  kind: "composite",
  category: "C",
  attributes: (row.columns ?? []).map(([, name, type]) => ({ name: share(name), type })),
  relation: { schema: share(row.schema), name: row.name },
});
