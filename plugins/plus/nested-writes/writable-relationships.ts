/** The ways from a table to others that writes can take, and what a role may do on each. */
import { columnOf, type ColumnPair, type Relation } from "../../../core/index.ts";
import type { GqlBuild, GqlRelationshipField, GqlTable } from "../../graphql/api.ts";

/** A relationship, seen from the table that is updated. */
export interface WritableRelationship {
  readonly field: GqlRelationshipField;
  /** The table itself holds the key; otherwise the related rows do. */
  readonly isOwn: boolean;
  /** Own column, column of the related row. */
  readonly columns: readonly ColumnPair[];
  /** The columns of the key, where it is held, and those of them that may be null. */
  readonly held: readonly string[];
  readonly nullable: readonly string[];
}

/** Returns undefined for a relationship through a junction or by a function. */
export const writableRelationshipOf = (
  source: Relation,
  field: GqlRelationshipField,
): WritableRelationship | undefined => {
  const { relationship, target, isAfter } = field;
  const { columns, junction, routine, isToOne, isManual, isOwnKey } = relationship;
  if (columns.length === 0 || junction !== undefined || routine !== undefined) return undefined;
  const isOwn = isToOne && (isManual === true ? isAfter !== true : isOwnKey);
  const held = columns.map(([own, other]) => (isOwn ? own : other));
  const holder = isOwn ? source : target;
  return { field, isOwn, columns, held, nullable: held.filter((name) => columnOf(holder, name)?.notNull === false) };
};

/** The operations that a role may use along a relationship. */
export interface Operations {
  readonly insert: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  readonly connect: boolean;
  readonly disconnect: boolean;
}

/** @rule P-NST-5 */
export const operationsOf = (
  build: GqlBuild,
  source: GqlTable,
  target: GqlTable,
  way: WritableRelationship,
): Operations => {
  const there = build.rights(target);
  const own = build.rights(source).update?.columns;
  const holder = way.isOwn ? own : there.update?.columns;
  const maySet = (names: readonly string[]): boolean =>
    names.length > 0 && names.every((name) => holder?.has(name) === true);
  const canSee = there.select !== undefined;
  return {
    insert: there.insert !== undefined && (!way.isOwn || maySet(way.held)),
    update: there.update !== undefined && canSee,
    // the rows that lead there are set to something else before, and found again by their key
    delete:
      there.delete === true && canSee && (!way.isOwn || (maySet(way.held) && source.relation.primaryKey.length > 0)),
    connect: maySet(way.held) && keysOf(build, target).length > 0,
    disconnect: canSee && maySet(way.nullable),
  };
};

/** Columns that identify a row, which the role reads in every row. */
export const keysOf = (build: GqlBuild, table: GqlTable): readonly (readonly string[])[] => {
  const { columns, masked } = build.rights(table).select ?? {};
  const { relation, primaryKey } = table;
  return [primaryKey, ...relation.uniqueKeys.filter(({ isPrimary }) => !isPrimary).map((key) => key.columns)].filter(
    (key) => key.length > 0 && key.every((name) => columns?.has(name) === true && masked?.has(name) !== true),
  );
};
