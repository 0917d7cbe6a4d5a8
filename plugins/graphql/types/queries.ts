/** `{ album(where: …, order_by: …) { id title } album_by_pk(id: 1) { title } }`: adds rows of tables and views, their
 *  columns, `where` and `order_by`. @rule G-OUT-1 G-INP-1 G-INP-3 G-ROOT-1 G-ROOT-3 G-ROOT-16 G-GEN-7 G-GEN-8
 *  G-GEN-11 */
import { GraphQLString, type GraphQLOutputType } from "graphql";
import { definePlugin } from "../../../core/index.ts";
import { isJson } from "../values/columns.ts";
import { getRoleTable, type RoleTable, type RoleColumn } from "./role-table.ts";
import {
  buildBoolExpType,
  listKeyArguments,
  listArguments,
  buildOrderDirectionEnum,
  quoteTableName,
  forEachTable,
  buildRowType,
} from "./type-names.ts";
import { argument, buildEntry, collectFields, addToReadRoots, forTable, tapFields } from "./field-taps.ts";
import { listOrderingEntries, buildOrderingFields } from "./orderings.ts";
import { wrapList, wrapNonNull, wrapNonNullList } from "./non-null-list.ts";
import type { GqlBuild } from "../field-types.ts";
import type { GqlRootFieldName } from "../catalog-types.ts";

/** Returns whether the metadata shows the select field in this root. @rule G-ROOT-16 */
export const isRootShown = ({ rights }: RoleTable, scope: string, key: GqlRootFieldName): boolean => {
  const shownFields = scope === "query_root" ? rights.select?.queryRootFields : rights.select?.subscriptionRootFields;
  return shownFields?.has(key) !== false;
};

const buildRootFields = forEachTable((build, table, scope) => {
  const roleTable = getRoleTable(build, table);
  const row = roleTable.rights.select === undefined ? undefined : buildRowType(build, table);
  if (row === undefined) return {};
  return {
    select: isRootShown(roleTable, scope, "select")
      ? {
          kind: "list",
          type: wrapNonNullList(row),
          args: listArguments(build, table),
          description: `fetch data from the table: ${quoteTableName(table)}`,
        }
      : undefined,
    select_by_pk:
      roleTable.hasKey && isRootShown(roleTable, scope, "select_by_pk")
        ? {
            kind: "by-pk",
            type: row,
            args: listKeyArguments(build, table),
            description: `fetch data from the table: ${quoteTableName(table)} using primary key columns`,
          }
        : undefined,
  };
});

export const pathArgument = { path: argument(GraphQLString, { kind: "argument", name: "path" }, "JSON select path") };

const buildOutputType = (
  build: GqlBuild,
  { rights }: RoleTable,
  { name, column, value }: RoleColumn,
): GraphQLOutputType => {
  const type = build.valueOutput(value);
  return column.notNull && rights.select?.masked?.has(name) !== true ? wrapNonNull(type) : type;
};

const buildRowFields = forTable((build, table) => {
  const roleTable = getRoleTable(build, table);
  return collectFields(
    roleTable.readable.map((column) =>
      buildEntry(column.name, buildOutputType(build, roleTable, column), column.part, {
        description: column.comment,
        ...(isJson(column.value) ? { args: pathArgument } : {}),
      }),
    ),
  );
});

const buildBoolExpFields = forTable((build, table) => {
  const self = buildBoolExpType(build, table);
  if (self === undefined) return {};
  return collectFields([
    buildEntry(build.fieldName("_and"), wrapList(self), { kind: "and" }),
    buildEntry(build.fieldName("_not"), self, { kind: "not" }),
    buildEntry(build.fieldName("_or"), wrapList(self), { kind: "or" }),
    ...getRoleTable(build, table).readable.map((column) =>
      buildEntry(column.name, build.comparison(column.value), column.part),
    ),
  ]);
});

const buildOrderByFields = forTable((build, table) => {
  const direction = buildOrderDirectionEnum(build);
  if (direction === undefined) return {};
  const { readable } = getRoleTable(build, table);
  return collectFields([
    ...readable.map(({ name, part }) => buildEntry(name, direction, part)),
    ...listOrderingEntries(build, readable),
  ]);
});

/** Adds the root fields that read tables and views, with `where` and `order_by`. */
export const graphqlQueries = definePlugin({
  name: "graphql-queries",
  requires: ["graphql", "graphql-comparisons"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-queries", {
      ...addToReadRoots(buildRootFields),
      row: buildRowFields,
      bool_exp: buildBoolExpFields,
      order_by: buildOrderByFields,
      ordering: buildOrderingFields,
    }),
});
