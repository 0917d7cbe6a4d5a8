/** Fields as graphql-js has them, made from `GqlFields`. Its own construction copies every argument of every field;
 *  here the arguments of a list are made once per table, and types with the same fields share them, which a schema of a
 *  thousand tables needs. @rule G-INT-2 */
import type {
  GraphQLArgument,
  GraphQLField,
  GraphQLFieldConfig,
  GraphQLFieldConfigArgumentMap,
  GraphQLFieldMap,
  GraphQLInputField,
  GraphQLInputFieldConfig,
  GraphQLInputFieldMap,
  GraphQLInputType,
  GraphQLOutputType,
} from "graphql";
import { GQL_EXTENSION, type GqlField, type GqlFields, type GqlPart } from "../parts.ts";

const noArguments: readonly GraphQLArgument[] = [];
const argumentsOf = new WeakMap<GraphQLFieldConfigArgumentMap, readonly GraphQLArgument[]>();

const makeArguments = (configs: GraphQLFieldConfigArgumentMap | undefined): readonly GraphQLArgument[] => {
  if (configs === undefined) return noArguments;
  let known = argumentsOf.get(configs);
  if (known === undefined) {
    known = Object.keys(configs)
      .sort()
      .map((name) => {
        const config = configs[name]!; // one of its keys
        return {
          name,
          description: config.description,
          type: config.type,
          defaultValue: config.defaultValue,
          deprecationReason: undefined,
          extensions: config.extensions ?? {},
          astNode: undefined,
        };
      });
    argumentsOf.set(configs, known);
  }
  return known;
};

/** What all fields share. Classes, because there are hundreds of thousands: shared properties are on the prototype, and
 *  a field doubles as its extensions object. */
abstract class Field {
  readonly name: string;
  readonly description: string | null | undefined;
  readonly [GQL_EXTENSION]: GqlPart;

  constructor(name: string, { config, toPlan }: GqlField) {
    this.name = name;
    this.description = config.description;
    this[GQL_EXTENSION] = toPlan;
  }

  get extensions(): Readonly<Record<string, unknown>> {
    return this as unknown as Readonly<Record<string, unknown>>; // it has the one key that is looked for
  }

  get deprecationReason(): undefined {
    return undefined;
  }

  get astNode(): undefined {
    return undefined;
  }
}

class OutputField extends Field implements GraphQLField<unknown, unknown> {
  readonly type: GraphQLOutputType;
  /** Converted to arguments on first access. */
  #config: GraphQLFieldConfig<unknown, unknown> | undefined;
  #args: readonly GraphQLArgument[] | undefined;

  constructor(name: string, field: GqlField) {
    super(name, field);
    this.#config = field.config as GraphQLFieldConfig<unknown, unknown>; // the scope's type is an object
    this.type = this.#config.type;
  }

  get args(): readonly GraphQLArgument[] {
    if (this.#args === undefined) {
      this.#args = makeArguments(this.#config?.args);
      this.#config = undefined;
    }
    return this.#args;
  }

  get resolve(): undefined {
    return undefined;
  }

  get subscribe(): undefined {
    return undefined;
  }
}

class InputField extends Field implements GraphQLInputField {
  readonly type: GraphQLInputType;
  readonly defaultValue: unknown;

  constructor(name: string, field: GqlField) {
    super(name, field);
    const config = field.config as GraphQLInputFieldConfig; // the scope's type is an input object
    this.type = config.type;
    this.defaultValue = config.defaultValue;
  }
}

/** In the order of names. @rule G-INT-2 */
const mapOf = <Member>(
  fields: GqlFields,
  make: (name: string, field: GqlField) => Member,
): Readonly<Record<string, Member>> => {
  const map = Object.create(null) as Record<string, Member>;
  for (const name of Object.keys(fields).sort()) map[name] = make(name, fields[name]!); // one of its keys
  return map;
};

export const makeOutputFields = (fields: GqlFields): GraphQLFieldMap<unknown, unknown> =>
  mapOf<GraphQLField<unknown, unknown>>(fields, (name, field) => new OutputField(name, field));

export const makeInputFields = (fields: GqlFields): GraphQLInputFieldMap =>
  mapOf<GraphQLInputField>(fields, (name, field) => new InputField(name, field));
