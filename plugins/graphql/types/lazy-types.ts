/** Object and input object types of graphql-js whose fields are built on first access and can be forgotten. The fields
 *  of all types of a thousand tables take hundreds of megabytes. @rule G-GEN-1 */
import {
  GraphQLInputObjectType,
  GraphQLObjectType,
  type GraphQLArgument,
  type GraphQLArgumentConfig,
  type GraphQLField,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldMap,
  type GraphQLInputField,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldMap,
  type GraphQLInterfaceType,
} from "graphql";
import type { GqlScope } from "../part-kinds.ts";
import { GQL_EXTENSION, withPart } from "../plan-parts.ts";
import type { GqlField, GqlFields, GqlTypeSpec } from "../field-types.ts";

export const isRootScope = (scope: GqlScope | undefined): boolean =>
  scope === "query_root" || scope === "mutation_root" || scope === "subscription_root";

/** Builds the members of a type, sorted by name. The result has no prototype, because a column may be called
 *  `constructor`. @rule G-INT-2 */
const mapSorted = <From, To>(
  record: Readonly<Record<string, From>>,
  make: (name: string, from: From) => To,
): Record<string, To> => {
  const sortedRecord = Object.create(null) as Record<string, To>;
  // The name is a key of the object.
  for (const name of Object.keys(record).sort()) sortedRecord[name] = make(name, record[name]!);
  return sortedRecord;
};

const buildArgument = (name: string, config: GraphQLArgumentConfig): GraphQLArgument => ({
  name,
  description: config.description,
  type: config.type,
  defaultValue: config.defaultValue,
  deprecationReason: config.deprecationReason,
  extensions: config.extensions ?? {},
  astNode: undefined,
});

const buildArguments = (configs: GraphQLFieldConfigArgumentMap): readonly GraphQLArgument[] =>
  Object.keys(configs)
    .sort()
    .map((name) => buildArgument(name, configs[name]!)); // the name is a key of the object

export const buildOutputField = (name: string, { config, toPlan }: GqlField): GraphQLField<unknown, unknown> => {
  // The type of the scope is an object type.
  const { type, description, args } = config as GraphQLFieldConfig<unknown, unknown>;
  return {
    name,
    description,
    type,
    args: args === undefined ? [] : buildArguments(args),
    deprecationReason: undefined,
    extensions: withPart(toPlan),
    astNode: undefined,
  };
};

const buildInputField = (name: string, { config, toPlan }: GqlField): GraphQLInputField => {
  // The type of the scope is an input object type.
  const { type, description, defaultValue } = config as GraphQLInputFieldConfig;
  return {
    name,
    description,
    type,
    defaultValue,
    deprecationReason: undefined,
    extensions: withPart(toPlan),
    astNode: undefined,
  };
};

type BuildFields = (spec: GqlTypeSpec) => GqlFields;

export class LazyObjectType extends GraphQLObjectType {
  readonly #spec: GqlTypeSpec;
  readonly #fieldsOf: BuildFields;
  #fields: GraphQLFieldMap<unknown, unknown> | undefined;

  constructor(spec: GqlTypeSpec, buildFields: BuildFields, interfaces?: () => readonly GraphQLInterfaceType[]) {
    super({ name: spec.name, description: spec.description, fields: {}, interfaces });
    this.extensions = { [GQL_EXTENSION]: spec };
    this.#spec = spec;
    this.#fieldsOf = buildFields;
  }

  override getFields(): GraphQLFieldMap<unknown, unknown> {
    return (this.#fields ??= mapSorted(this.#fieldsOf(this.#spec), buildOutputField));
  }

  forgetFields(): void {
    this.#fields = undefined;
  }
}

export class LazyInputType extends GraphQLInputObjectType {
  readonly #spec: GqlTypeSpec;
  readonly #fieldsOf: BuildFields;
  #fields: GraphQLInputFieldMap | undefined;

  constructor(spec: GqlTypeSpec, buildFields: BuildFields) {
    super({ name: spec.name, description: spec.description, fields: {} });
    this.extensions = { [GQL_EXTENSION]: spec };
    this.#spec = spec;
    this.#fieldsOf = buildFields;
  }

  override getFields(): GraphQLInputFieldMap {
    return (this.#fields ??= mapSorted(this.#fieldsOf(this.#spec), buildInputField));
  }

  forgetFields(): void {
    this.#fields = undefined;
  }
}
