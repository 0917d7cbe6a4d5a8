/** Finds the names of a remote schema that something else has already. @rule X-RMT-5a */
import {
  isIntrospectionType,
  isScalarType,
  isSpecifiedScalarType,
  printType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from "graphql";
import { RemoteSchemaProblem } from "./errors.ts";
import type { RemoteView } from "./view.ts";

/** The names of the tables and functions. */
export interface LocalNames {
  readonly roots: ReadonlySet<string>;
  readonly types: ReadonlySet<string>;
}

/** The ends of the names of types that belong to a table, in lower case and without underscores. */
const TABLE_TYPE =
  /^(?:.*fields|.*orderby|.*boolexp|(?:arrrel|objrel)?insertinput|onconflict|constraint|.*column|.*input|.*updates|mutationresponse|aggregate.*|connection|edge)$/;

/** The types of the surface that belong to no table. */
const OWN_TYPE =
  /^(?:query_root|mutation_root|subscription_root|order_by|OrderBy|cursor_ordering|CursorOrdering|PageInfo|.+(?:_comparison_exp|ComparisonExp))$/;

const normalize = (name: string): string => name.toLowerCase().replaceAll("_", "");

const isLocalType = (name: string, types: ReadonlySet<string>): boolean => {
  if (types.has(name) || OWN_TYPE.test(name)) return true;
  const word = normalize(name);
  for (const type of types) {
    const table = normalize(type);
    if (word.startsWith(table) && TABLE_TYPE.test(word.slice(table.length))) return true;
  }
  return false;
};

const listTypes = (schema: GraphQLSchema, hasNamespace: boolean): readonly GraphQLNamedType[] => {
  const roots = new Set<GraphQLNamedType | null | undefined>(
    hasNamespace ? [] : [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()],
  );
  return Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type) && !roots.has(type),
  );
};

/** Checks the remote schemas one after another. */
export interface ConflictCheck {
  /** Adds the names of a remote schema. @throws RemoteSchemaProblem, and adds none */
  add(remote: string, view: RemoteView, hasNamespace: boolean): void;
}

export const createConflictCheck = ({ roots, types }: LocalNames): ConflictCheck => {
  const rootOwners = new Map<string, string>();
  const typesByName = new Map<string, { readonly remote: string; readonly text: string }>();
  return {
    add: (remote, { schema, fields }, hasNamespace) => {
      const names = (["query", "mutation", "subscription"] as const).flatMap((root) =>
        Object.keys(fields[root]).map((name) => [`${root}.${name}`, name] as const),
      );
      for (const [key, name] of names) {
        const owner = rootOwners.get(key);
        if (owner !== undefined)
          throw new RemoteSchemaProblem(`the remote schema ${owner} has the root field "${name}" too`);
        if (roots.has(name)) throw new RemoteSchemaProblem(`a table or function has the root field "${name}" too`);
      }
      const own = listTypes(schema, hasNamespace).map((type) => [type, printType(type)] as const);
      for (const [type, text] of own) {
        const { name } = type;
        if (!isScalarType(type) && isLocalType(name, types))
          throw new RemoteSchemaProblem(`a type of a table has the name "${name}" too`);
        const other = typesByName.get(name);
        // a definition that is equal does no harm
        if (other !== undefined && other.text !== text)
          throw new RemoteSchemaProblem(`the remote schema ${other.remote} has another type "${name}"`);
      }
      for (const [key] of names) rootOwners.set(key, remote);
      for (const [{ name }, text] of own) typesByName.set(name, { remote, text });
    },
  };
};
