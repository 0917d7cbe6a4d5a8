/** GraphQL types of a logical model for a role. */
import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  type GraphQLInputFieldConfig,
  type GraphQLInputType,
  type GraphQLOutputType,
} from "graphql";
import { memoize } from "../../../core/index.ts";
import type { GqlBuild } from "../../graphql/api.ts";
import type { LogicalModel, NativeField, NativeQuery } from "./document.ts";

/** The types of one logical model for one role. */
interface ModelTypes {
  readonly row: GraphQLObjectType;
  readonly where: GraphQLInputObjectType;
  readonly order: GraphQLInputObjectType | undefined;
  readonly columns: GraphQLEnumType;
}

export const pickDescription = ({
  description,
}: {
  readonly description?: string;
}): { readonly description?: string } => (description === undefined ? {} : { description });

/** Returns whether a table uses the type name. The schema then omits the logical model. */
const isTableTypeName = (build: GqlBuild, name: string): boolean =>
  build.catalog.tables.some((table) => build.typeName(table.namePart) === name);

/** Builds the types with the fields that the role may read. Returns undefined if GraphQL has no type for these fields.
 *  `buildNestedConfig` is called when the type's fields are first resolved. */
const buildModelTypes = (
  build: GqlBuild,
  model: LogicalModel,
  fields: readonly NativeField[],
  buildNestedConfig: () => GraphQLFieldConfigMap<unknown, unknown>,
): ModelTypes | undefined => {
  const typedFields = fields.flatMap((field) => {
    const value = build.valueType(field.type.oid, field.isNullable);
    return value === undefined ? [] : [{ field, value }];
  });
  if (typedFields.length === 0) return undefined;
  const outputs = typedFields.map(({ field, value }) => {
    const type: GraphQLOutputType = build.valueOutput(value);
    return [
      field.name,
      {
        type: field.isNullable || type instanceof GraphQLNonNull ? type : new GraphQLNonNull(type),
        ...pickDescription(field),
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
        typedFields.flatMap(({ field, value }) => {
          const type = build.comparison(value);
          return type === undefined ? [] : [[field.name, { type }] as const];
        }),
      ),
    }),
  });
  const order = build.orderDirection();
  return {
    row: new GraphQLObjectType({
      name: model.name,
      ...pickDescription(model),
      fields: () => ({ ...Object.fromEntries(outputs), ...buildNestedConfig() }),
    }),
    where,
    order:
      order &&
      new GraphQLInputObjectType({
        name: `${model.name}_order_by`,
        fields: Object.fromEntries(typedFields.map(({ field }) => [field.name, { type: order }])),
      }),
    columns: new GraphQLEnumType({
      name: `${model.name}_select_column`,
      values: Object.fromEntries(typedFields.map(({ field }) => [field.name, { value: field.name }])),
    }),
  };
};

/** Returns the type of `args`. Returns undefined if GraphQL has no type for one of the arguments. */
const buildArgumentsType = (build: GqlBuild, query: NativeQuery): GraphQLInputType | undefined => {
  const fields: Record<string, GraphQLInputFieldConfig> = {};
  for (const argument of query.arguments) {
    const value = build.valueType(argument.type.oid, argument.isNullable);
    if (value === undefined) return undefined;
    const type = build.valueInput(value);
    fields[argument.name] = {
      type: argument.isNullable || type instanceof GraphQLNonNull ? type : new GraphQLNonNull(type),
      ...pickDescription(argument),
    };
  }
  const input = new GraphQLInputObjectType({ name: `${query.name}_arguments`, fields });
  return query.arguments.every(({ isNullable }) => isNullable) ? input : new GraphQLNonNull(input);
};

/** The types of a native query for a role. */
interface QueryTypes extends ModelTypes {
  readonly args: GraphQLFieldConfigArgumentMap;
  /** The arguments of the list of rows. */
  readonly listArgs: GraphQLFieldConfigArgumentMap;
}

/** Returns the types of the native queries for a role schema, made on first use. Returns undefined if the role has no
 *  access to the query. */
export const createQueryTypes = (
  build: GqlBuild,
  queries: readonly NativeQuery[],
): ((query: NativeQuery) => QueryTypes | undefined) => {
  const { role, isAdmin = false } = build.access;
  const mayRead = ({ permissions }: LogicalModel, name: string): boolean =>
    isAdmin || permissions.get(role)?.columns.has(name) === true;

  const buildNestedFields = (model: LogicalModel): GraphQLFieldConfigMap<unknown, unknown> => {
    const first = queries.find(({ returns }) => returns === model);
    const fields: GraphQLFieldConfigMap<unknown, unknown> = {};
    for (const { name, isArray, ...field } of model.nestedFields) {
      const target = queries.find((query) => query.name === first?.relationships.get(name)?.target);
      const types = target && mayRead(model, name) ? getQueryTypes(target) : undefined;
      if (types === undefined) continue;
      fields[name] = isArray
        ? { type: buildRowsType(types), args: { ...types.args, ...types.listArgs }, ...pickDescription(field) }
        : { type: types.row, args: types.args, ...pickDescription(field) };
    }
    return fields;
  };

  const getModelTypes = memoize((model: LogicalModel): ModelTypes | undefined => {
    const readable = model.fields.filter(({ name }) => mayRead(model, name));
    const hasModelType = (isAdmin || model.permissions.has(role)) && !isTableTypeName(build, model.name);
    return hasModelType ? buildModelTypes(build, model, readable, () => buildNestedFields(model)) : undefined;
  });

  const getQueryTypes = memoize((query: NativeQuery): QueryTypes | undefined => {
    const model = getModelTypes(query.returns);
    const type = query.arguments.length === 0 ? undefined : buildArgumentsType(build, query);
    if (model === undefined || (query.arguments.length > 0 && type === undefined)) return undefined;
    return {
      ...model,
      args: type === undefined ? {} : { args: { type } },
      listArgs: {
        distinct_on: { type: new GraphQLList(new GraphQLNonNull(model.columns)) },
        limit: { type: GraphQLInt },
        offset: { type: GraphQLInt },
        ...(model.order && { order_by: { type: new GraphQLList(new GraphQLNonNull(model.order)) } }),
        where: { type: model.where },
      },
    };
  });
  return getQueryTypes;
};

export const buildRowsType = ({ row }: ModelTypes) => new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(row)));
