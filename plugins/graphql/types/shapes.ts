/** The types of a table that several families lead to, by their names; their fields come from the families. @rule G-OUT G-INP G-ENU */
import { GraphQLInt, GraphQLList, GraphQLNonNull, type GraphQLArgumentConfig, type GraphQLEnumType, type GraphQLInputObjectType, type GraphQLObjectType } from "graphql";
import type { GqlBuild, GqlRootFieldName, GqlTable, GqlWord } from "../../../core/index.ts";
import { lensOf, type LensColumn } from "./lens.ts";
import { describedName } from "./names.ts";
import { argument } from "./tap.ts";

/** `"album"` as descriptions quote it. */
export const quoted = (table: GqlTable): string => `"${describedName(table.relation)}"`;

export const columnPart = (table: GqlTable, { column, value }: LensColumn) => ({ kind: "column", column, relation: table.relation, value }) as const;

export const list = (type: GraphQLEnumType | GraphQLInputObjectType) => new GraphQLList(new GraphQLNonNull(type));

/** Name of a root field, as metadata has it or by default. */
export const rootNameOf = (build: GqlBuild, table: GqlTable, key: GqlRootFieldName, ...words: readonly (string | GqlWord)[]): string => {
  const custom = table.rootFields[key]?.name;
  return custom === undefined ? build.rootName(...words) : build.customRootName(custom);
};

/** Description of a root field; metadata's comment replaces it. */
export const rootComment = (table: GqlTable, key: GqlRootFieldName, standard: string): string | null => {
  const comment = table.rootFields[key]?.comment;
  return comment === undefined ? standard : comment || null;
};

/** @rule G-OUT-1 */
export const rowType = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined =>
  build.object({
    name: build.typeName(table.word),
    scope: "row",
    relation: table.relation,
    description: table.comment === undefined ? `columns and relationships of ${quoted(table)}` : table.comment,
  });

/** @rule G-OUT-2 */
export const aggregateType = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined =>
  build.object({ name: build.typeName(table.word, "aggregate"), scope: "aggregate", relation: table.relation, description: `aggregated selection of ${quoted(table)}` });

/** @rule G-OUT-7 */
export const mutationResponse = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined =>
  build.object({
    name: build.typeName(table.word, "mutation_response"),
    scope: "mutation_response",
    relation: table.relation,
    description: `response of any mutation on the table ${quoted(table)}`,
  });

/** @rule G-INP-1 */
export const boolExp = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  build.inputObject({
    name: build.typeName(table.word, "bool_exp"),
    scope: "bool_exp",
    relation: table.relation,
    description: `Boolean expression to filter rows from the table ${quoted(table)}. All fields are combined with a logical 'AND'.`,
  });

/** @rule G-INP-3 */
export const orderBy = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined => {
  const lens = lensOf(build, table);
  if (lens.readable.length === 0 && lens.computed.length === 0 && lens.relationships.length === 0) return undefined;
  return build.inputObject({
    name: build.typeName(table.word, "order_by"),
    scope: "order_by",
    relation: table.relation,
    description: `Ordering options when selecting data from ${quoted(table)}.`,
  });
};

/** @rule G-INP-4 */
export const aggregateOrderBy = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  build.inputObject({
    name: build.typeName(table.word, "aggregate_order_by"),
    scope: "aggregate_order_by",
    relation: table.relation,
    description: `order by aggregate values of table ${quoted(table)}`,
  });

/** @rule G-ENU-2 G-OUT-11 */
export const selectColumn = (build: GqlBuild, table: GqlTable): GraphQLEnumType | undefined => {
  const { readable } = lensOf(build, table);
  if (readable.length === 0) return undefined;
  return build.enumeration({
    name: build.typeName(table.word, "select_column"),
    relation: table.relation,
    description: `select columns of table ${quoted(table)}`,
    values: () => readable.map((each) => ({ name: each.name, value: each.column.name, description: "column name", part: columnPart(table, each) })),
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

/** @rule G-ENU-1 G-ORD-3 */
export const orderDirection = (build: GqlBuild): GraphQLEnumType | undefined =>
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

const listArgumentsOf = new WeakMap<GqlBuild, Map<GqlTable, Record<string, GraphQLArgumentConfig>>>();

/** Arguments of everything that answers a list of rows. @rule G-ROOT-5 */
export const listArguments = (build: GqlBuild, table: GqlTable): Record<string, GraphQLArgumentConfig> => {
  let known = listArgumentsOf.get(build);
  if (known === undefined) listArgumentsOf.set(build, (known = new Map<GqlTable, Record<string, GraphQLArgumentConfig>>()));
  let args = known.get(table);
  if (args === undefined) known.set(table, (args = makeListArguments(build, table)));
  return args;
};

const makeListArguments = (build: GqlBuild, table: GqlTable): Record<string, GraphQLArgumentConfig> => {
  const columns = selectColumn(build, table);
  const order = orderBy(build, table);
  const where = boolExp(build, table);
  return {
    ...(columns && { [build.fieldName("distinct_on")]: argument(list(columns), { kind: "argument", name: "distinct_on" }, "distinct select on columns") }),
    limit: argument(GraphQLInt, { kind: "argument", name: "limit" }, "limit the number of rows returned"),
    offset: argument(GraphQLInt, { kind: "argument", name: "offset" }, "skip the first n rows. Use only with order_by"),
    ...(order && { [build.fieldName("order_by")]: argument(list(order), { kind: "argument", name: "order_by" }, "sort the rows by one or more columns") }),
    ...(where && { where: argument(where, { kind: "argument", name: "where" }, "filter the rows returned") }),
  };
};

/** One required argument per primary key column. @rule G-ROOT-3 */
export const keyArguments = (build: GqlBuild, table: GqlTable): Record<string, GraphQLArgumentConfig> =>
  Object.fromEntries(
    lensOf(build, table).key.map((each) => [
      each.name,
      argument(new GraphQLNonNull(build.valueInput(each.value)), columnPart(table, { ...each, value: { ...each.value, isNullable: false } }), each.comment),
    ]),
  );
