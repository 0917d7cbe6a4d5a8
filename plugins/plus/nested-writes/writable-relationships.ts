/** The relationships along which related rows can be written, and the operations that a role may use on each. */
import { findColumn, type ColumnPair, type Relation } from "../../../core/index.ts";
import type { GqlBuild, GqlRelationshipField, GqlTable } from "../../graphql/api.ts";

/** A relationship, seen from the table that is updated. */
export interface WritableRelationship {
  readonly field: GqlRelationshipField;
  /** True if the table itself has the foreign key. Otherwise the related rows have it. */
  readonly isOwnKey: boolean;
  /** Pairs of a column of the table and a column of the related row. */
  readonly columns: readonly ColumnPair[];
  /** The columns of the foreign key, and those of them that may be null. */
  readonly keyColumns: readonly string[];
  readonly nullableKeyColumns: readonly string[];
}

/** Returns undefined for a relationship through a junction or by a function. */
export const findWritableRelationship = (
  source: Relation,
  field: GqlRelationshipField,
): WritableRelationship | undefined => {
  const { relationship, target, isAfter } = field;
  const { columns, junction, routine, isToOne, isManual, isOwnKey } = relationship;
  if (columns.length === 0 || junction !== undefined || routine !== undefined) return undefined;
  const sourceHasKey = isToOne && (isManual === true ? isAfter !== true : isOwnKey);
  const keyColumns = columns.map(([sourceColumn, targetColumn]) => (sourceHasKey ? sourceColumn : targetColumn));
  const holder = sourceHasKey ? source : target;
  return {
    field,
    isOwnKey: sourceHasKey,
    columns,
    keyColumns,
    nullableKeyColumns: keyColumns.filter((name) => findColumn(holder, name)?.notNull === false),
  };
};

/** The operations that a role may use along a relationship. */
interface Operations {
  readonly insert: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  readonly connect: boolean;
  readonly disconnect: boolean;
}

/** Returns the writes that the role may nest in a relationship. @rule P-NST-5 */
export const findOperations = (
  build: GqlBuild,
  source: GqlTable,
  target: GqlTable,
  relationship: WritableRelationship,
): Operations => {
  const targetRights = build.rights(target);
  const updatableColumns = build.rights(source).update?.columns;
  const holder = relationship.isOwnKey ? updatableColumns : targetRights.update?.columns;
  const maySet = (names: readonly string[]): boolean =>
    names.length > 0 && names.every((name) => holder?.has(name) === true);
  const canSee = targetRights.select !== undefined;
  return {
    insert: targetRights.insert !== undefined && (!relationship.isOwnKey || maySet(relationship.keyColumns)),
    update: targetRights.update !== undefined && canSee,
    // A second update removes the references to the deleted row, and finds its rows by their primary key.
    delete:
      targetRights.delete === true &&
      canSee &&
      (!relationship.isOwnKey || (maySet(relationship.keyColumns) && source.relation.primaryKey.length > 0)),
    connect: maySet(relationship.keyColumns) && listReadableKeys(build, target).length > 0,
    disconnect: canSee && maySet(relationship.nullableKeyColumns),
  };
};

/** Returns the primary and unique keys whose columns the role may read in every row. */
export const listReadableKeys = (build: GqlBuild, table: GqlTable): readonly (readonly string[])[] => {
  const { columns, masked: maskedColumns } = build.rights(table).select ?? {};
  const { relation, primaryKey } = table;
  return [primaryKey, ...relation.uniqueKeys.filter(({ isPrimary }) => !isPrimary).map((key) => key.columns)].filter(
    (key) => key.length > 0 && key.every((name) => columns?.has(name) === true && maskedColumns?.has(name) !== true),
  );
};
