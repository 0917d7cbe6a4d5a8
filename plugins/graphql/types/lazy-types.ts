/** Object and input object types of graphql-js whose fields are built on first access and can be forgotten. The fields
 *  of all types of a thousand tables take hundreds of megabytes. @rule G-GEN-1 */
import {
  GraphQLInputObjectType,
  GraphQLObjectType,
  type GraphQLFieldConfig,
  type GraphQLFieldMap,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldMap,
  type GraphQLInterfaceType,
} from "graphql";
import type { Pieces } from "../../../core/index.ts";
import type { GqlScope } from "../part-kinds.ts";
import { GQL_EXTENSION, withPart, type GqlField, type GqlFields, type GqlTypeSpec } from "../parts.ts";

export const isRootScope = (scope: GqlScope | undefined): boolean =>
  scope === "query_root" || scope === "mutation_root" || scope === "subscription_root";

/** @rule G-INT-2 */
const inOrder = <From, To>(record: Readonly<Record<string, From>>, change: (one: From) => To): Record<string, To> => {
  const sorted: Record<string, To> = {};
  for (const name of Object.keys(record).sort()) sorted[name] = change(record[name]!); // the name is one of its keys
  return sorted;
};

const outputConfig = ({ config, toPlan }: GqlField): GraphQLFieldConfig<unknown, unknown> => {
  const { type, description, args } = config as GraphQLFieldConfig<unknown, unknown>; // the type of the scope is an object type
  return { type, description, ...(args && { args: inOrder(args, (one) => one) }), extensions: withPart(toPlan) };
};

const inputConfig = ({ config, toPlan }: GqlField): GraphQLInputFieldConfig => ({
  ...(config as GraphQLInputFieldConfig), // the type of the scope is an input object type
  extensions: withPart(toPlan),
});

export const outputFields = (fields: GqlFields): GraphQLFieldMap<unknown, unknown> =>
  new GraphQLObjectType({ name: "fields", fields: inOrder(fields, outputConfig) }).getFields();

const inputFields = (fields: GqlFields): GraphQLInputFieldMap =>
  new GraphQLInputObjectType({ name: "fields", fields: inOrder(fields, inputConfig) }).getFields();

const factsOf = (spec: GqlTypeSpec) => ({
  name: spec.name,
  description: spec.description,
  extensions: { [GQL_EXTENSION]: spec },
  fields: {},
});

export class LazyObjectType extends GraphQLObjectType {
  readonly #make: () => GqlFields;
  #fields: GraphQLFieldMap<unknown, unknown> | undefined;

  constructor(spec: GqlTypeSpec, make: () => GqlFields, interfaces?: () => readonly GraphQLInterfaceType[]) {
    super({ ...factsOf(spec), interfaces });
    this.#make = make;
  }

  override getFields(): GraphQLFieldMap<unknown, unknown> {
    return (this.#fields ??= outputFields(this.#make()));
  }

  /** Builds the fields in time slices, for types with thousands of fields, and replaces existing fields. */
  *makeFields(): Pieces<void> {
    const fields = this.#make();
    const made = Object.create(null) as GraphQLFieldMap<unknown, unknown>;
    for (const name of Object.keys(fields).sort()) {
      Object.assign(made, outputFields({ [name]: fields[name]! })); // the name is one of its keys
      yield;
    }
    this.#fields = made;
  }

  forgetFields(): void {
    this.#fields = undefined;
  }
}

export class LazyInputType extends GraphQLInputObjectType {
  readonly #make: () => GqlFields;
  #fields: GraphQLInputFieldMap | undefined;

  constructor(spec: GqlTypeSpec, make: () => GqlFields) {
    super(factsOf(spec));
    this.#make = make;
  }

  override getFields(): GraphQLInputFieldMap {
    return (this.#fields ??= inputFields(this.#make()));
  }

  forgetFields(): void {
    this.#fields = undefined;
  }
}
