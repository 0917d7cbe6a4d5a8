/** Builds role tables: the columns of a table by the operations that the role may use, with their value types. Each is
 *  built once per table and role. */
import { memoize, memoizeValue, type QualifiedName } from "../../../core/index.ts";
import type { GqlPart } from "../plan-parts.ts";
import type { GqlBuild } from "../field-types.ts";
import type { GqlComputedField, GqlValueType } from "../value-types.ts";
import type { GqlColumn, GqlRelationshipField, GqlTable, GqlTableRights } from "../catalog-types.ts";

export interface RoleColumn extends GqlColumn {
  readonly value: GqlValueType;
  /** The column's field part, an object that all positions of the column share. */
  readonly part: GqlPart;
}

/** A scalar computed field as the role may use it. */
export interface RoleComputedField {
  readonly field: GqlComputedField;
  readonly value: GqlValueType;
  /** True if the field has no arguments other than the row and the session. */
  readonly isPlain: boolean;
}

export interface RoleTable {
  readonly rights: GqlTableRights;
  readonly readable: readonly RoleColumn[];
  readonly insertable: readonly RoleColumn[];
  readonly updatable: readonly RoleColumn[];
  /** True if the table has a primary key, the role may read all its columns, and a plugin compares them. */
  readonly hasKey: boolean;
  readonly key: readonly RoleColumn[];
  readonly mayAggregate: boolean;
  /** True if a row leads to a value that the role may read. @rule G-GEN-14a */
  readonly isSelectable: boolean;
  /** The relationships whose rows or aggregates the role may read. */
  readonly relationships: readonly (GqlRelationshipField & { readonly table: GqlTable })[];
  readonly computedFields: readonly RoleComputedField[];
}

const roleTables = memoize((build: GqlBuild) => memoize((table: GqlTable) => buildRoleTable(build, table)));

export const getRoleTable = (build: GqlBuild, table: GqlTable): RoleTable => roleTables(build)(table);

const noColumns: ReadonlySet<string> = new Set();

/** Returns whether a plugin provides the operator. A field whose plan needs an operator that no plugin provides does
 *  not exist. */
export const hasOperator = ({ schema }: GqlBuild, name: string): boolean =>
  schema.registry.operators.some((operator) => operator.name === name);

export const hasEmbed = ({ schema }: GqlBuild, mode: string): boolean =>
  schema.registry.embeds.some((embed) => embed.mode === mode);

/** Returns the parameters for which the client gives arguments. */
export const listOwnParameters = ({ routine, tableArgument, sessionArgument }: GqlComputedField) =>
  routine.parameters.flatMap((parameter, index) =>
    index === tableArgument || index === sessionArgument ? [] : [{ parameter, index }],
  );

/** Returns whether the role may aggregate the related rows. */
const mayAggregateRows = (build: GqlBuild, { relationship }: GqlRelationshipField, target: GqlTable): boolean =>
  !relationship.isToOne && build.rights(target).select?.mayAggregate === true;

/** Returns whether rows of the table, or rows that are related to them, have a value that the role may read. Tables may
 *  refer to each other. */
const leadsToValue = (build: GqlBuild, table: GqlTable): boolean => {
  const reachedTables = new Set([table]);
  const addReachedTable = (name: QualifiedName): void => {
    const target = build.table(name);
    if (target !== undefined) reachedTables.add(target);
  };
  for (const reachedTable of reachedTables) {
    const { rights, readable, computedFields } = getRoleTable(build, reachedTable);
    if (readable.length > 0 || computedFields.length > 0) return true;
    if (rights.select === undefined) continue;
    for (const relationship of reachedTable.relationships) {
      const target = build.table(relationship.target);
      if (target !== undefined && mayAggregateRows(build, relationship, target)) return true;
      addReachedTable(relationship.target);
    }
    for (const { name, target } of reachedTable.computedFields)
      if (target !== undefined && rights.select.computedFields.has(name)) addReachedTable(target);
  }
  return false;
};

const buildRoleTable = (build: GqlBuild, table: GqlTable): RoleTable => {
  const rights = build.access.rights(table);
  const { select, insert, update } = rights;
  const columns = memoizeValue(() =>
    table.columns.flatMap((column): RoleColumn[] => {
      const { name } = column.column;
      const isUsed =
        select?.columns.has(name) === true || insert?.columns.has(name) === true || update?.columns.has(name) === true;
      const value = isUsed ? build.columnValue(column) : undefined;
      return value === undefined
        ? []
        : [{ ...column, value, part: { kind: "column", column: column.column, relation: table.relation, value } }];
    }),
  );
  const filterColumns = (names: ReadonlySet<string> = noColumns) =>
    memoizeValue((): readonly RoleColumn[] => columns().filter(({ column }) => names.has(column.name)));
  const readable = filterColumns(select?.columns);
  const insertable = filterColumns(insert?.columns);
  const updatable = filterColumns(update?.columns);
  const key = memoizeValue(() =>
    table.primaryKey.flatMap((name) => readable().find(({ column }) => column.name === name) ?? []),
  );
  const relationships = memoizeValue(() =>
    table.relationships.flatMap((relationship) => {
      const target = build.table(relationship.target);
      return target !== undefined &&
        (getRoleTable(build, target).isSelectable || mayAggregateRows(build, relationship, target))
        ? [{ ...relationship, table: target }]
        : [];
    }),
  );
  const isSelectable = memoizeValue(() => leadsToValue(build, table));
  const computedFields = memoizeValue(() =>
    table.computedFields.flatMap((field) => {
      const value =
        field.target === undefined && select?.computedFields.has(field.name) === true
          ? build.valueType(field.routine.returns.type)
          : undefined;
      return value === undefined ? [] : [{ field, value, isPlain: listOwnParameters(field).length === 0 }];
    }),
  );
  return {
    rights,
    get hasKey() {
      return hasOperator(build, "eq") && key().length > 0 && key().length === table.primaryKey.length;
    },
    mayAggregate: select?.mayAggregate === true,
    get readable() {
      return readable();
    },
    get insertable() {
      return insertable();
    },
    get updatable() {
      return updatable();
    },
    get key() {
      return key();
    },
    get isSelectable() {
      return isSelectable();
    },
    get relationships() {
      return relationships();
    },
    get computedFields() {
      return computedFields();
    },
  };
};
