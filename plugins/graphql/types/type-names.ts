/** Builds the types of a table that several families of fields share, by name. The families add their fields.
 *  @rule G-OUT G-INP G-ENU */
import {
  GraphQLInt,
  type GraphQLArgumentConfig,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from "graphql";
import type { Slices } from "../../../core/index.ts";
import { getRoleTable, type RoleColumn } from "./role-table.ts";
import { formatName, isEnumValueName, listRootNameParts } from "./names.ts";
import { argument, collectFields } from "./field-taps.ts";
import { wrapList, wrapNonNull } from "./non-null-list.ts";
import type { GqlRootKind, GqlScope } from "../part-kinds.ts";
import type { GqlBuild, GqlEnumSpec, GqlField, GqlFieldContext, GqlFields } from "../field-types.ts";
import type { GqlRootFieldName, GqlTable } from "../catalog-types.ts";

/** Returns the quoted name for descriptions: `"album"`. */
export const quoteTableName = (table: GqlTable): string => `"${formatName(table.relation)}"`;

/** Returns the part of a key column as an input. The input is never null, even if a view's column may be null. */
export const buildKeyPart = (table: GqlTable, { column, value }: RoleColumn) =>
  ({ kind: "column", column, relation: table.relation, value: { ...value, isNullable: false } }) as const;

interface RootField {
  readonly kind: GqlRootKind;
  readonly type: GraphQLOutputType;
  readonly args: Readonly<Record<string, GraphQLArgumentConfig>>;
  readonly description: string;
}

/** Returns a root field of a table. The metadata may set its exact name and its description. @rule G-NAM-5 */
const buildRootField = (
  build: GqlBuild,
  table: GqlTable,
  key: GqlRootFieldName,
  { kind, type, args, description }: RootField,
): readonly [name: string, field: GqlField] => {
  const rootField = table.rootFields[key];
  return [
    rootField?.name ?? build.rootName(...listRootNameParts(key, table.namePart)),
    {
      config: { type, args, description: rootField?.comment === undefined ? description : rootField.comment || null },
      toPlan: { kind, relation: table.relation },
    },
  ];
};

type RootFields = Readonly<Partial<Record<GqlRootFieldName, RootField | undefined>>>;

/** Adapts a function that describes the root fields of a table. A field is undefined if the role does not have it. */
export const forEachTable =
  (describe: (build: GqlBuild, table: GqlTable, scope: GqlScope) => RootFields) =>
  ({ build, scope }: GqlFieldContext): GqlFields =>
    collectFields(
      build.catalog.tables.flatMap((table) =>
        Object.entries(describe(build, table, scope)).map(
          // The type of the fields has no other keys.
          ([key, field]) => field && buildRootField(build, table, key as GqlRootFieldName, field),
        ),
      ),
    );

/** Returns the type of the table's rows. @rule G-OUT-1 G-GEN-14a */
export const buildRowType = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined =>
  getRoleTable(build, table).isSelectable
    ? build.object({
        name: build.typeName(table.namePart),
        scope: "row",
        relation: table.relation,
        description:
          table.comment === undefined ? `columns and relationships of ${quoteTableName(table)}` : table.comment,
      })
    : undefined;

/** Returns the type `T_aggregate`. @rule G-OUT-2 */
export const buildAggregateType = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined =>
  build.object({
    name: build.typeName(table.namePart, "aggregate"),
    scope: "aggregate",
    relation: table.relation,
    description: `aggregated selection of ${quoteTableName(table)}`,
  });

/** Returns the type `T_mutation_response`. @rule G-OUT-7 */
export const buildMutationResponseType = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined =>
  build.object({
    name: build.typeName(table.namePart, "mutation_response"),
    scope: "mutation_response",
    relation: table.relation,
    description: `response of any mutation on the table ${quoteTableName(table)}`,
  });

/** Returns the input type `T_bool_exp`. @rule G-INP-1 */
export const buildBoolExpType = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  build.inputObject({
    name: build.typeName(table.namePart, "bool_exp"),
    scope: "bool_exp",
    relation: table.relation,
    description: `Boolean expression to filter rows from the table ${quoteTableName(table)}. All fields are combined with a logical 'AND'.`,
  });

/** Returns the input type `T_order_by`. @rule G-INP-3 */
export const buildOrderByType = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  build.inputObject({
    name: build.typeName(table.namePart, "order_by"),
    scope: "order_by",
    relation: table.relation,
    description: `Ordering options when selecting data from ${quoteTableName(table)}.`,
    isOptional: getRoleTable(build, table).readable.length === 0,
  });

/** Returns the input type `T_aggregate_order_by`. @rule G-INP-4 */
export const buildAggregateOrderByType = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  build.inputObject({
    name: build.typeName(table.namePart, "aggregate_order_by"),
    scope: "aggregate_order_by",
    relation: table.relation,
    description: `order by aggregate values of table ${quoteTableName(table)}`,
  });

/** Returns the input type `T_aggregate_bool_exp`. @rule G-INP-6 G-NAM-6 */
export const buildAggregateBoolExpType = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  build.inputObject({
    name: build.bareTypeName(table.namePart, "aggregate_bool_exp"),
    scope: "aggregate_bool_exp",
    relation: table.relation,
  });

/** Returns columns as values of an enum. */
export const listColumnValues = (columns: readonly RoleColumn[]): ReturnType<GqlEnumSpec["values"]> =>
  columns.map((roleColumn) => ({
    name: roleColumn.name,
    value: roleColumn.column.name,
    description: "column name",
    part: roleColumn.part,
  }));

/** Returns the columns whose names are legal enum values. @rule G-NAM-3 */
export const filterEnumerable = (columns: readonly RoleColumn[]): readonly RoleColumn[] =>
  columns.filter(({ name }) => isEnumValueName(name));

/** Returns the enum `T_select_column`. @rule G-ENU-2 G-OUT-11 */
export const buildSelectColumnEnum = (build: GqlBuild, table: GqlTable): GraphQLEnumType | undefined => {
  const columns = filterEnumerable(getRoleTable(build, table).readable);
  if (columns.length === 0) return undefined;
  return build.enumeration({
    name: build.typeName(table.namePart, "select_column"),
    relation: table.relation,
    description: `select columns of table ${quoteTableName(table)}`,
    values: () => listColumnValues(columns),
  });
};

const DIRECTIONS = [
  ["asc", "asc", "last", "in ascending order, nulls last"],
  ["asc_nulls_first", "asc", "first", "in ascending order, nulls first"],
  ["asc_nulls_last", "asc", "last", "in ascending order, nulls last"],
  ["desc", "desc", "first", "in descending order, nulls first"],
  ["desc_nulls_first", "desc", "first", "in descending order, nulls first"],
  ["desc_nulls_last", "desc", "last", "in descending order, nulls last"],
] as const;

/** Returns the enum `order_by`. @rule G-ENU-1 G-ORD-3 */
export const buildOrderDirectionEnum = (build: GqlBuild): GraphQLEnumType | undefined =>
  build.enumeration({
    name: build.sharedTypeName("order_by"),
    description: "column ordering options",
    values: () =>
      DIRECTIONS.map(([name, direction, nulls, description]) => ({
        name: build.enumValue(name),
        value: name,
        description,
        part: { kind: "direction", direction, nulls },
      })),
  });

/** Builds the role tables of related tables one by one, so that the fields of a type fit in one time slice. */
export const buildTargetTypes = function* (build: GqlBuild, table: GqlTable): Slices<void> {
  for (const { target } of table.relationships) {
    yield;
    const targetTable = build.table(target);
    if (targetTable === undefined) continue;
    buildRowType(build, targetTable);
    buildAggregateType(build, targetTable);
    listArguments(build, targetTable);
  }
};

/** Returns the arguments of fields that return a list of rows. @rule G-ROOT-5 */
export const listArguments = (build: GqlBuild, table: GqlTable): Record<string, GraphQLArgumentConfig> => {
  const columns = buildSelectColumnEnum(build, table);
  const order = buildOrderByType(build, table);
  const where = buildBoolExpType(build, table);
  return {
    ...(columns && {
      [build.fieldName("distinct_on")]: argument(
        wrapList(columns),
        { kind: "argument", name: "distinct_on" },
        "distinct select on columns",
      ),
    }),
    limit: argument(GraphQLInt, { kind: "argument", name: "limit" }, "limit the number of rows returned"),
    offset: argument(GraphQLInt, { kind: "argument", name: "offset" }, "skip the first n rows. Use only with order_by"),
    ...(order && {
      [build.fieldName("order_by")]: argument(
        wrapList(order),
        { kind: "argument", name: "order_by" },
        "sort the rows by one or more columns",
      ),
    }),
    ...(where && { where: argument(where, { kind: "argument", name: "where" }, "filter the rows returned") }),
  };
};

/** Returns one required argument per primary key column. @rule G-ROOT-3 */
export const listKeyArguments = (build: GqlBuild, table: GqlTable): Record<string, GraphQLArgumentConfig> =>
  Object.fromEntries(
    getRoleTable(build, table).key.map((column) => [
      column.name,
      argument(wrapNonNull(build.valueInput(column.value)), buildKeyPart(table, column), column.comment),
    ]),
  );
