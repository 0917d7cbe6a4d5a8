/** Fields as graphql-js has them, made from `GqlFields`. Its own construction copies every argument of every field; here the arguments of a
 *  list are made once per table, and types with the same fields share them, which a schema of a thousand tables needs. @rule G-INT-2 */
import type {
  GraphQLArgument, GraphQLField, GraphQLFieldConfig, GraphQLFieldConfigArgumentMap, GraphQLFieldMap, GraphQLInputFieldConfig, GraphQLInputFieldMap, GraphQLOutputType,
} from "graphql";
import { GQL_EXTENSION, type GqlField, type GqlFields, type GqlPart } from "../../../core/index.ts";

const extensions = (part: GqlPart): Readonly<Record<string, unknown>> => ({ [GQL_EXTENSION]: part });

const noArguments: readonly GraphQLArgument[] = [];
const argumentsOf = new WeakMap<GraphQLFieldConfigArgumentMap, readonly GraphQLArgument[]>();

const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const makeArguments = (configs: GraphQLFieldConfigArgumentMap | undefined): readonly GraphQLArgument[] => {
  if (configs === undefined) return noArguments;
  let known = argumentsOf.get(configs);
  if (known === undefined) {
    known = Object.keys(configs)
      .sort(compareNames)
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

/** A class for the sake of `args`: an accessor on the prototype makes them when they are looked at, at no cost per field. */
class OutputField implements GraphQLField<unknown, unknown> {
  readonly name: string;
  readonly description: string | null | undefined;
  readonly type: GraphQLOutputType;
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly resolve = undefined;
  readonly subscribe = undefined;
  readonly deprecationReason = undefined;
  readonly astNode = undefined;
  readonly #config: GraphQLFieldConfig<unknown, unknown>;
  #args: readonly GraphQLArgument[] | undefined;

  constructor(name: string, { config, toPlan }: GqlField) {
    this.#config = config as GraphQLFieldConfig<unknown, unknown>; // the scope's type is an object
    this.name = name;
    this.description = config.description;
    this.type = this.#config.type;
    this.extensions = extensions(toPlan);
  }

  get args(): readonly GraphQLArgument[] {
    return (this.#args ??= makeArguments(this.#config.args));
  }
}

const mapOf = <Member>(fields: GqlFields, make: (name: string, field: GqlField) => Member): Readonly<Record<string, Member>> => {
  const map = Object.create(null) as Record<string, Member>;
  for (const name of Object.keys(fields).sort(compareNames)) map[name] = make(name, fields[name]!); // one of its keys
  return map;
};

export const makeOutputFields = (fields: GqlFields): GraphQLFieldMap<unknown, unknown> => mapOf<GraphQLField<unknown, unknown>>(fields, (name, field) => new OutputField(name, field));

export const makeInputFields = (fields: GqlFields): GraphQLInputFieldMap =>
  mapOf(fields, (name, { config, toPlan }) => {
    const { type, description, defaultValue } = config as GraphQLInputFieldConfig; // the scope's type is an input object
    return { name, description, type, defaultValue, deprecationReason: undefined, extensions: extensions(toPlan), astNode: undefined };
  });
