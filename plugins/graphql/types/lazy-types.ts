/** Object and input object types of graphql-js whose fields are built on first use. A schema with a thousand tables has
 *  fifty thousand types, so each stores only what is its own: graphql-js's constructors check, copy and bind for every
 *  one. @rule G-GEN-1 */
import {
  GraphQLInputObjectType,
  GraphQLObjectType,
  type GraphQLField,
  type GraphQLFieldMap,
  type GraphQLInputFieldMap,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
} from "graphql";
import { makeInputFields, makeOutputFields } from "./fields.ts";
import type { GqlScope } from "../part-kinds.ts";
import { GQL_EXTENSION, type GqlFields, type GqlTypeFacts, type GqlTypeSpec } from "../parts.ts";

/** Where the fields of a schema's types come from. */
export interface FieldSource {
  fieldsOf(spec: GqlTypeSpec): GqlFields;
  /** The field of that name alone, or none; undefined: the type's fields are made together. */
  oneOf(spec: GqlTypeSpec, name: string): GqlFields | undefined;
  readonly interfacesOf?: ((spec: GqlTypeSpec) => readonly GraphQLInterfaceType[]) | undefined;
  /** What another type built from the same fields. */
  readonly made: Map<GqlFields, unknown>;
}

/** Scopes whose types often share all fields with another type: `avg` and `stddev` have the same. */
const SHARING: ReadonlySet<string> = new Set(["aggregate_columns", "aggregate_order_by_columns"]);

export const isRootScope = (scope: GqlScope | undefined): boolean =>
  scope === "query_root" || scope === "mutation_root" || scope === "subscription_root";

const NONE: readonly never[] = Object.freeze([]);

type FieldOf<FieldMap> = FieldMap[keyof FieldMap];

/** A class whose objects are types of graphql-js by their prototype. */
const lazyType = <FieldMap extends Readonly<Record<string, unknown>>>(
  prototype: object,
  make: (fields: GqlFields) => FieldMap,
) => {
  class LazyType {
    readonly name: string;
    readonly description: string | null | undefined;
    readonly [GQL_EXTENSION]: GqlTypeFacts;
    readonly #source: FieldSource;
    #given: GqlFields | undefined;
    #fields: FieldMap | undefined;
    /** Of roots: those that documents have used. */
    #some: Map<string, FieldOf<FieldMap>> | undefined;

    /** `given`: its fields, if known. */
    constructor(spec: GqlTypeSpec, source: FieldSource, given?: GqlFields) {
      this.name = spec.name;
      this.description = spec.description;
      this[GQL_EXTENSION] = spec;
      this.#source = source;
      this.#given = given;
    }

    getFields(): FieldMap {
      if (this.#fields === undefined) {
        const source = this.#source;
        const spec = this[GQL_EXTENSION] as GqlTypeSpec; // as it was given
        const fields = this.#given ?? source.fieldsOf(spec);
        if (SHARING.has(spec.scope)) {
          this.#fields = source.made.get(fields) as FieldMap | undefined; // made by this class
          if (this.#fields === undefined) source.made.set(fields, (this.#fields = make(fields)));
        } else {
          this.#fields = make(fields);
        }
        this.#given = undefined;
        this.#some = undefined;
      }
      return this.#fields;
    }

    forgetFields(): void {
      if (!isRootScope(this[GQL_EXTENSION].scope)) this.#fields = undefined;
    }

    /** The field of that name, without the others where they are many. */
    getField(name: string): FieldOf<FieldMap> | undefined {
      const some = this.#some?.get(name);
      if (some !== undefined) return some;
      const isOpen = this.#given === undefined && this.#fields === undefined;
      const one = isOpen ? this.#source.oneOf(this[GQL_EXTENSION] as GqlTypeSpec, name) : undefined; // as it was given
      if (one === undefined) return this.getFields()[name] as FieldOf<FieldMap> | undefined; // what maps have
      const field = make(one)[name] as FieldOf<FieldMap> | undefined;
      if (field !== undefined) (this.#some ??= new Map()).set(name, field);
      return field;
    }

    getInterfaces(): readonly GraphQLInterfaceType[] {
      return this.#source.interfacesOf?.(this[GQL_EXTENSION] as GqlTypeSpec) ?? NONE; // as it was given
    }

    /** The type itself has the one key that is looked for. */
    get extensions(): unknown {
      return this;
    }

    get extensionASTNodes(): readonly never[] {
      return NONE;
    }
  }
  Object.setPrototypeOf(LazyType.prototype, prototype);
  return LazyType;
};

const ObjectType = lazyType<GraphQLFieldMap<unknown, unknown>>(GraphQLObjectType.prototype, makeOutputFields);
const InputObjectType = lazyType<GraphQLInputFieldMap>(GraphQLInputObjectType.prototype, makeInputFields);

// both are of these types by their prototypes, which TypeScript cannot see
export const objectType = (spec: GqlTypeSpec, source: FieldSource, given?: GqlFields): GraphQLObjectType =>
  new ObjectType(spec, source, given) as unknown as GraphQLObjectType;
export const inputObjectType = (spec: GqlTypeSpec, source: FieldSource, given?: GqlFields): GraphQLInputObjectType =>
  new InputObjectType(spec, source, given) as unknown as GraphQLInputObjectType;

/** Its fields are made anew when they are asked for again: those of all types take hundreds of megabytes. */
export const forgetFields = (type: GraphQLNamedType): void => {
  if (type instanceof ObjectType || type instanceof InputObjectType)
    (type as InstanceType<typeof ObjectType> | InstanceType<typeof InputObjectType>).forgetFields();
};

/** The field of that name. */
export const fieldOf = (type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined =>
  type instanceof ObjectType ? (type as InstanceType<typeof ObjectType>).getField(name) : type.getFields()[name];
