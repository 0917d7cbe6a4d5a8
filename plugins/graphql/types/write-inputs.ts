/** Builds the input types of writes that several families of fields share. @rule G-INP-11 … G-INP-22 */
import type { GraphQLInputObjectType } from "graphql";
import type { UpdateOperatorSpec } from "../../../core/index.ts";
import type { GqlBuild, GqlField } from "../field-types.ts";
import type { GqlTable } from "../catalog-types.ts";
import { getRoleTable, type RoleColumn } from "./role-table.ts";
import { quoteTableName } from "./type-names.ts";

export const buildInsertInputType = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  build.inputObject({
    name: build.typeName(table.namePart, "insert_input"),
    scope: "insert_input",
    relation: table.relation,
    description: `input type for inserting data into table ${quoteTableName(table)}`,
  });

/** Returns the input type of a nested insert. @rule G-INP-12 G-INP-13 */
export const buildRelatedInsertType = (
  build: GqlBuild,
  table: GqlTable,
  isToOne: boolean,
): GraphQLInputObjectType | undefined =>
  build.inputObject({
    name: build.typeName(table.namePart, isToOne ? "obj_rel_insert_input" : "arr_rel_insert_input"),
    scope: "rel_insert_input",
    relation: table.relation,
    fn: isToOne ? "object" : "array",
    description: `input type for inserting ${isToOne ? "object" : "array"} relation for remote table ${quoteTableName(table)}`,
  });

export const acceptsColumn = (operator: UpdateOperatorSpec, { value }: RoleColumn): boolean =>
  operator.types.includes("any") || (value.enumTable === undefined && operator.types.includes(value.type.name));

/** Builds the input of an update operator: `T_delete_key_input` for `_delete_key`. */
const buildOperatorInputType = (
  build: GqlBuild,
  table: GqlTable,
  operator: UpdateOperatorSpec,
): GraphQLInputObjectType | undefined =>
  build.inputObject({
    name: build.typeName(table.namePart, `${operator.graphql.replace(/^_/, "")}_input`),
    scope: "update_input",
    relation: table.relation,
    fn: operator.name,
    description: operator.inputDescription.replace("$table", () => quoteTableName(table)),
    isOptional: true,
  });

/** Returns one field per update operator that applies to a column of the table. */
export const buildOperatorFields = (build: GqlBuild, table: GqlTable): (readonly [name: string, field: GqlField])[] => {
  const { updatable } = getRoleTable(build, table);
  return build.schema.registry.updateOperators.flatMap((operator) => {
    const type = updatable.some((column) => acceptsColumn(operator, column))
      ? buildOperatorInputType(build, table, operator)
      : undefined;
    if (type === undefined) return [];
    return [
      [
        build.fieldName(operator.graphql),
        { config: { type, description: operator.description }, toPlan: { kind: "update-operator", operator } },
      ] as const,
    ];
  });
};

export const buildUpdatesInputType = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  build.inputObject({ name: build.typeName(table.namePart, "updates"), scope: "updates", relation: table.relation });
