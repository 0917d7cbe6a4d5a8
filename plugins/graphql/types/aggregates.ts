/** `{ album_aggregate { aggregate { count sum { sold } } nodes { id } } }`: adds aggregates of tables, and
 *  `albums_aggregate` in rows and in `order_by`. @rule G-OUT-2 … G-OUT-9 G-OUT-11 G-INP-4 G-INP-5 G-ROOT-2 G-REL-2 */
import { GraphQLBoolean, GraphQLInt } from "graphql";
import { definePlugin, type AggregateSpec } from "../../../core/index.ts";
import { buildAggregateFieldsType, findResultType, listAggregateFunctions, acceptsValue } from "./aggregate-fields.ts";
import { hasEmbed, getRoleTable } from "./role-table.ts";
import { isRootShown } from "./queries.ts";
import {
  buildAggregateOrderByType,
  buildAggregateType,
  listArguments,
  buildOrderDirectionEnum,
  quoteTableName,
  forEachTable,
  buildRowType,
  buildSelectColumnEnum,
} from "./type-names.ts";
import { argument, buildEntry, collectFields, addToReadRoots, findTable, forTable, tapFields } from "./field-taps.ts";
import { wrapList, wrapNonNull, wrapNonNullList } from "./non-null-list.ts";
import type { GqlFieldContext, GqlFields } from "../field-types.ts";

/** Returns the aggregate function to which the type belongs. */
const findAggregate = ({ build, fn = "" }: GqlFieldContext): AggregateSpec | undefined =>
  build.schema.registry.aggregates.get(fn);

const buildRootFields = forEachTable((build, table, scope) => {
  const roleTable = getRoleTable(build, table);
  const type =
    roleTable.mayAggregate && isRootShown(roleTable, scope, "select_aggregate")
      ? buildAggregateType(build, table)
      : undefined;
  return {
    select_aggregate: type && {
      kind: "aggregate",
      type: wrapNonNull(type),
      args: listArguments(build, table),
      description: `fetch aggregated fields from the table: ${quoteTableName(table)}`,
    },
  };
});

const listArrayRelationships = (context: GqlFieldContext) => {
  const table = findTable(context);
  if (table === undefined) return [];
  return getRoleTable(context.build, table).relationships.filter(
    (relationshipField) => !relationshipField.relationship.isToOne,
  );
};

/** Returns the array relationships whose rows the role may aggregate. */
const listAggregatedRelationships = (context: GqlFieldContext) =>
  listArrayRelationships(context).filter(
    (relationshipField) => getRoleTable(context.build, relationshipField.table).mayAggregate,
  );

const buildRowFields = (context: GqlFieldContext): GqlFields =>
  collectFields(
    (hasEmbed(context.build, "aggregate") ? listAggregatedRelationships(context) : []).map(
      ({ name, table, relationship, target }) => {
        const type = buildAggregateType(context.build, table);
        if (type === undefined) return undefined;
        return buildEntry(
          // The relationship's name stays unchanged in `order_by` and `where` (G-NAM-8).
          context.build.fieldName(name, "aggregate"),
          wrapNonNull(type),
          { kind: "relationship-aggregate", relationship, target },
          { args: listArguments(context.build, table), description: "An aggregate relationship" },
        );
      },
    ),
  );

const buildAggregateTypeFields = forTable((build, table) => {
  const row = buildRowType(build, table);
  const fields = buildAggregateFieldsType(build, table);
  return collectFields([
    buildEntry("aggregate", fields, { kind: "aggregate-fields" }),
    buildEntry("nodes", row && wrapNonNullList(row), { kind: "nodes" }),
  ]);
});

const buildAggregateFields = forTable((build, table) => {
  const columns = buildSelectColumnEnum(build, table);
  const args = {
    ...(columns && { columns: argument(wrapList(columns), { kind: "argument", name: "columns" }) }),
    distinct: argument(GraphQLBoolean, { kind: "argument", name: "distinct" }),
  };
  return collectFields([
    buildEntry("count", wrapNonNull(GraphQLInt), { kind: "count" }, { args }),
    ...listAggregateFunctions(build.schema.registry).map(({ spec: { name: fn }, aggregateName }) => {
      const type = build.object({
        name: build.typeName(table.namePart, `${aggregateName}_fields`),
        scope: "aggregate_columns",
        relation: table.relation,
        fn,
        description: `aggregate ${build.fieldName(aggregateName)} on columns`,
        isOptional: true,
      });
      return buildEntry(build.fieldName(aggregateName), type, { kind: "aggregate-function", fn });
    }),
  ]);
});

const listAggregateColumns = forTable((build, table, context) => {
  const spec = findAggregate(context);
  if (spec === undefined) return {};
  return collectFields(
    getRoleTable(build, table)
      .readable.filter(({ value }) => acceptsValue(spec, value))
      .map((column) =>
        buildEntry(column.name, findResultType(build, spec.name, column.value), column.part, {
          description: column.comment,
        }),
      ),
  );
});

/** Returns the fields that order rows by aggregates of their related rows. They exist for roles that may select those
 *  rows. @rule G-INP-3 */
const buildOrderByFields = (context: GqlFieldContext): GqlFields =>
  collectFields(
    listArrayRelationships(context).map(({ name, table, relationship, target }) =>
      buildEntry(
        context.build.fieldName({ text: name, isCustom: true }, "aggregate"),
        buildAggregateOrderByType(context.build, table),
        { kind: "relationship-aggregate", relationship, target },
      ),
    ),
  );

const buildAggregateOrderByFields = forTable((build, table) => {
  const direction = buildOrderDirectionEnum(build);
  if (direction === undefined) return {};
  return collectFields([
    buildEntry("count", direction, { kind: "count" }),
    ...listAggregateFunctions(build.schema.registry).map(({ spec: { name: fn }, aggregateName }) => {
      const type = build.inputObject({
        name: build.typeName(table.namePart, `${aggregateName}_order_by`),
        scope: "aggregate_order_by_columns",
        relation: table.relation,
        fn,
        description: `order by ${build.fieldName(aggregateName)}() on columns of table ${quoteTableName(table)}`,
        isOptional: true,
      });
      return buildEntry(build.fieldName(aggregateName), type, { kind: "aggregate-function", fn });
    }),
  ]);
});

const listAggregateOrderByColumns = forTable((build, table, context) => {
  const spec = findAggregate(context);
  const direction = buildOrderDirectionEnum(build);
  if (spec === undefined || direction === undefined) return {};
  return collectFields(
    getRoleTable(build, table)
      .readable.filter(({ value }) => acceptsValue(spec, value))
      .map((column) => buildEntry(column.name, direction, column.part)),
  );
});

/** Adds aggregates of tables and of related rows. */
export const graphqlAggregates = definePlugin({
  name: "graphql-aggregates",
  requires: ["graphql-queries", "aggregate-functions"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-aggregates", {
      ...addToReadRoots(buildRootFields),
      row: buildRowFields,
      aggregate: buildAggregateTypeFields,
      aggregate_fields: buildAggregateFields,
      aggregate_columns: listAggregateColumns,
      order_by: buildOrderByFields,
      aggregate_order_by: buildAggregateOrderByFields,
      aggregate_order_by_columns: listAggregateOrderByColumns,
    }),
});
