/** What of a table one role sees: its columns by what may be done with them, each with its value type. Made once per table and role. */
import type { GqlBuild, GqlColumn, GqlComputedField, GqlRelationshipField, GqlTable, GqlTableRights, GqlValueType } from "../../../core/index.ts";
import { isComparable, isNumeric } from "./values.ts";

export interface LensColumn extends GqlColumn {
  readonly value: GqlValueType;
}

/** A scalar computed field. */
export interface LensComputed {
  readonly field: GqlComputedField;
  readonly value: GqlValueType;
  /** No arguments beside the row and the session. */
  readonly isPlain: boolean;
}

export interface Lens {
  readonly table: GqlTable;
  readonly rights: GqlTableRights;
  readonly readable: readonly LensColumn[];
  readonly insertable: readonly LensColumn[];
  readonly updatable: readonly LensColumn[];
  /** Primary key columns, when all of them may be read; else empty. */
  readonly key: readonly LensColumn[];
  readonly mayAggregate: boolean;
  /** Those whose target may be read. */
  readonly relationships: readonly (GqlRelationshipField & { readonly table: GqlTable })[];
  readonly computed: readonly LensComputed[];
}

const lenses = new WeakMap<GqlBuild, Map<GqlTable, Lens>>();

export const lensOf = (build: GqlBuild, table: GqlTable): Lens => {
  let known = lenses.get(build);
  if (known === undefined) lenses.set(build, (known = new Map<GqlTable, Lens>()));
  let lens = known.get(table);
  if (lens === undefined) known.set(table, (lens = makeLens(build, table)));
  return lens;
};

const none: ReadonlySet<string> = new Set();

/** Arguments that are left for the caller. */
export const ownParameters = ({ routine, tableArgument, sessionArgument }: GqlComputedField) =>
  routine.parameters.flatMap((parameter, index) => (index === tableArgument || index === sessionArgument ? [] : [{ parameter, index }]));

const makeLens = (build: GqlBuild, table: GqlTable): Lens => {
  const rights = build.rights(table);
  const { select, insert, update } = rights;
  const columns = table.columns.flatMap((column): LensColumn[] => {
    const name = column.column.name;
    const isUsed = select?.columns.has(name) === true || insert?.columns.has(name) === true || update?.columns.has(name) === true;
    const value = isUsed ? build.columnValue(column) : undefined;
    return value === undefined ? [] : [{ ...column, value }];
  });
  const among = (names: ReadonlySet<string> = none): readonly LensColumn[] => columns.filter(({ column }) => names.has(column.name));
  const readable = among(select?.columns);
  const key = table.primaryKey.flatMap((name) => readable.find(({ column }) => column.name === name) ?? []);
  return {
    table,
    rights,
    readable,
    insertable: among(insert?.columns),
    updatable: among(update?.columns),
    key: key.length === table.primaryKey.length ? key : [],
    mayAggregate: select?.mayAggregate === true,
    relationships: table.relationships.flatMap((relationship) => {
      const target = build.table(relationship.target);
      return target === undefined || build.rights(target).select === undefined ? [] : [{ ...relationship, table: target }];
    }),
    computed: table.computedFields.flatMap((field) => {
      const value = field.target === undefined && select?.computedFields.has(field.name) === true ? build.valueType(field.routine.returns.type) : undefined;
      return value === undefined ? [] : [{ field, value, isPlain: ownParameters(field).length === 0 }];
    }),
  };
};

export const numericColumns = (lens: Lens): readonly LensColumn[] => lens.readable.filter(({ value }) => isNumeric(value));
export const comparableColumns = (lens: Lens): readonly LensColumn[] => lens.readable.filter(({ value }) => isComparable(value));
