/** Builds the GraphQL types of actions for a role. */
import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  getNullableType,
  specifiedScalarTypes,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLNullableType,
  type TypeNode,
} from "graphql";
import type { GqlBuild, GqlScope, GqlValueType } from "../../graphql/api.ts";
import {
  getDatabaseTypes,
  getTypeName,
  type ActionField,
  type CustomType,
  type CustomTypes,
  type TypedName,
  type TypeRelationship,
} from "./definitions.ts";

type FieldConfig = Pick<GraphQLFieldConfig<unknown, unknown>, "type" | "args" | "description">;

/** Builds definitions of fields. They are undefined if the role has no GraphQL type for a type of the database. */
interface ActionTypes {
  buildField(field: ActionField): FieldConfig | undefined;
  /** Builds the field of an asynchronous action in a root: the mutation returns an id, and the other roots return an
   *  object with the result. @rule X-ACT-12 */
  buildAsynchronousField(scope: GqlScope, field: ActionField): FieldConfig | undefined;
}

const SPECIFIED_SCALARS = new Map(specifiedScalarTypes.map((type) => [type.name, type]));

const wrap = <Type extends GraphQLInputType | GraphQLOutputType>(node: TypeNode, namedType: Type): Type => {
  if (node.kind === "NamedType") return namedType;
  const inner = wrap(node.type, namedType);
  // The wrapped type is an input or output type, like the named type.
  return (node.kind === "ListType"
    ? new GraphQLList(inner)
    : new GraphQLNonNull(inner as GraphQLNullableType)) as unknown as Type;
};

/** Creates the GraphQL types of actions. */
export const createActionTypes = (build: GqlBuild, types: CustomTypes): ActionTypes => {
  const inputs = new Map<string, GraphQLInputType>();
  const outputs = new Map<string, GraphQLOutputType>();

  const findValueType = (name: string): GqlValueType | undefined => {
    const type = getDatabaseTypes(build.schema.model).get(name);
    return type && build.valueType(type.oid, true);
  };
  const findDatabaseInput = (name: string): GraphQLInputType | undefined => {
    const value = findValueType(name);
    return value && getNullableType(build.valueInput(value));
  };
  const findDatabaseOutput = (name: string): GraphQLOutputType | undefined => {
    const value = findValueType(name);
    return value && getNullableType(build.valueOutput(value));
  };

  const findInput = (name: string): GraphQLInputType | undefined =>
    SPECIFIED_SCALARS.get(name) ?? inputs.get(name) ?? findDatabaseInput(name);
  const findOutput = (name: string): GraphQLOutputType | undefined =>
    SPECIFIED_SCALARS.get(name) ?? outputs.get(name) ?? findDatabaseOutput(name);

  const mapFields = <Type extends GraphQLInputType | GraphQLOutputType>(
    fields: readonly TypedName[],
    find: (name: string) => Type | undefined,
  ): Record<string, { type: Type; description: string | undefined }> =>
    Object.fromEntries(
      fields.flatMap(({ name, type, description }) => {
        const namedType = find(getTypeName(type));
        return namedType === undefined ? [] : [[name, { type: wrap(type, namedType), description }] as const];
      }),
    );

  const buildRelationships = (relationships: readonly TypeRelationship[]): GraphQLFieldConfigMap<unknown, unknown> =>
    Object.fromEntries(
      relationships.flatMap(({ name, relation, ...join }) => {
        const table = build.table(relation);
        const field = table && build.joinedField(table, join);
        return field === undefined ? [] : [[name, field] as const];
      }),
    );

  const add = (type: CustomType): void => {
    const { name, description } = type;
    if (type.kind === "object")
      outputs.set(
        name,
        new GraphQLObjectType({
          name,
          description,
          fields: () => ({ ...mapFields(type.fields, findOutput), ...buildRelationships(type.relationships) }),
        }),
      );
    else if (type.kind === "input")
      inputs.set(
        name,
        new GraphQLInputObjectType({ name, description, fields: () => mapFields(type.fields, findInput) }),
      );
    else {
      const leaf =
        type.kind === "scalar"
          ? new GraphQLScalarType({ name, description })
          : new GraphQLEnumType({
              name,
              description,
              values: Object.fromEntries(type.values.map((value) => [value.name, { description: value.description }])),
            });
      inputs.set(name, leaf);
      outputs.set(name, leaf);
    }
  };
  for (const type of types.values()) add(type);

  const buildField = ({ arguments: args, output, description }: ActionField): FieldConfig | undefined => {
    const type = findOutput(getTypeName(output));
    const argumentConfigs = mapFields(args, findInput);
    if (type === undefined || Object.keys(argumentConfigs).length < args.length) return undefined;
    return { type: wrap(output, type), args: argumentConfigs, description };
  };

  const results = new Map<string, GraphQLObjectType>();
  const findResult = (name: string, output: GraphQLOutputType): GraphQLObjectType | undefined => {
    const [id, createdAt, errors] = ["uuid", "timestamptz", "json"].map(findDatabaseOutput);
    if (id === undefined || createdAt === undefined || errors === undefined) return undefined;
    const fields = {
      id: { type: new GraphQLNonNull(id), description: "the unique id of an action" },
      created_at: { type: new GraphQLNonNull(createdAt), description: "the time at which this action was created" },
      errors: { type: errors, description: "errors related to the invocation" },
      output: { type: getNullableType(output), description: "the output fields of this action" },
    };
    const result =
      results.get(name) ?? new GraphQLObjectType({ name, description: `fields of action: "${name}"`, fields });
    results.set(name, result);
    return result;
  };

  return {
    buildField,
    buildAsynchronousField: (scope, field) => {
      const config = buildField(field);
      const [input, output] = [findDatabaseInput("uuid"), findDatabaseOutput("uuid")];
      if (config === undefined || input === undefined || output === undefined) return undefined;
      if (scope === "mutation_root") return { ...config, type: new GraphQLNonNull(output) };
      const type = findResult(field.name, config.type);
      const args = { id: { type: new GraphQLNonNull(input), description: "the unique id of an action" } };
      return type && { type, args, description: field.description };
    },
  };
};
