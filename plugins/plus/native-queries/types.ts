/** GraphQL types of a logical model, as a role sees it. */
import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLInputFieldConfig,
  type GraphQLInputType,
  type GraphQLOutputType,
} from "graphql";
import type { GqlBuild } from "../../graphql/api.ts";
import type { LogicalModel, NativeField, NativeQuery } from "./document.ts";

/** Of one logical model for one role. */
export interface ModelTypes {
  readonly row: GraphQLObjectType;
  readonly where: GraphQLInputObjectType;
  readonly order: GraphQLInputObjectType | undefined;
  readonly columns: GraphQLEnumType;
}

const DIRECTIONS = [
  ["asc", "asc", "last", "in ascending order, nulls last"],
  ["asc_nulls_first", "asc", "first", "in ascending order, nulls first"],
  ["asc_nulls_last", "asc", "last", "in ascending order, nulls last"],
  ["desc", "desc", "first", "in descending order, nulls first"],
  ["desc_nulls_first", "desc", "first", "in descending order, nulls first"],
  ["desc_nulls_last", "desc", "last", "in descending order, nulls last"],
] as const;

/** The type that all orders share. */
const direction = (build: GqlBuild): GraphQLEnumType | undefined =>
  build.enumeration({
    name: build.sharedTypeName("order_by"),
    description: "column ordering options",
    values: () =>
      DIRECTIONS.map(([name, order, nulls, description]) => ({
        name: build.enumValue(name),
        value: name,
        description,
        part: { kind: "direction", direction: order, nulls },
      })),
  });

const described = ({ description }: { readonly description?: string }): { readonly description?: string } =>
  description === undefined ? {} : { description };

/** Names of types that tables have: a logical model of such a name is left out. */
export const isTaken = (build: GqlBuild, name: string): boolean =>
  build.source.tables.some((table) => build.typeName(table.word) === name);

/** `fields`: those that the role may read; undefined: GraphQL has no type for them. */
export const modelTypes = (
  build: GqlBuild,
  model: LogicalModel,
  fields: readonly NativeField[],
): ModelTypes | undefined => {
  const valued = fields.flatMap((field) => {
    const value = build.valueType(field.type.oid, field.isNullable);
    return value === undefined ? [] : [{ field, value }];
  });
  if (valued.length === 0) return undefined;
  const outputs = valued.map(({ field, value }) => {
    const type: GraphQLOutputType = build.valueOutput(value);
    return [
      field.name,
      {
        type: field.isNullable || type instanceof GraphQLNonNull ? type : new GraphQLNonNull(type),
        ...described(field),
      },
    ] as const;
  });
  const where: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${model.name}_bool_exp`,
    fields: () => ({
      _and: { type: new GraphQLList(new GraphQLNonNull(where)) },
      _not: { type: where },
      _or: { type: new GraphQLList(new GraphQLNonNull(where)) },
      ...Object.fromEntries(
        valued.flatMap(({ field, value }) => {
          const type = build.comparison(value);
          return type === undefined ? [] : [[field.name, { type }] as const];
        }),
      ),
    }),
  });
  const order = direction(build);
  return {
    row: new GraphQLObjectType({ name: model.name, ...described(model), fields: Object.fromEntries(outputs) }),
    where,
    order:
      order &&
      new GraphQLInputObjectType({
        name: `${model.name}_order_by`,
        fields: Object.fromEntries(valued.map(({ field }) => [field.name, { type: order }])),
      }),
    columns: new GraphQLEnumType({
      name: `${model.name}_select_column`,
      values: Object.fromEntries(valued.map(({ field }) => [field.name, { value: field.name }])),
    }),
  };
};

/** Of `args`; undefined: it takes none, or GraphQL has no type for one of them. */
export const argumentsType = (build: GqlBuild, query: NativeQuery): GraphQLInputType | undefined => {
  const fields: Record<string, GraphQLInputFieldConfig> = {};
  for (const argument of query.arguments) {
    const value = build.valueType(argument.type.oid, argument.isNullable);
    if (value === undefined) return undefined;
    const type = build.valueInput(value);
    fields[argument.name] = {
      type: argument.isNullable || type instanceof GraphQLNonNull ? type : new GraphQLNonNull(type),
      ...described(argument),
    };
  }
  const input = new GraphQLInputObjectType({ name: `${query.name}_arguments`, fields });
  return query.arguments.every(({ isNullable }) => isNullable) ? input : new GraphQLNonNull(input);
};
