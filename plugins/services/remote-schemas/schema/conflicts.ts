/** Finds the names of a remote schema that are already in use. @rule X-RMT-5a */
import {
  isIntrospectionType,
  isScalarType,
  isSpecifiedScalarType,
  printType,
  specifiedScalarTypes,
  type GraphQLNamedType,
  type GraphQLSchema,
} from "graphql";
import { RemoteSchemaProblem } from "../errors.ts";
import type { RemoteRoleSchema } from "./role-schema.ts";

/** The names of the GraphQL surface. */
export interface LocalNames {
  /** The root fields of tables and functions. */
  readonly roots: ReadonlySet<string>;
  /** The row types of tables. */
  readonly types: ReadonlySet<string>;
  /** The types of the database. */
  readonly scalars: ReadonlySet<string>;
}

/** The suffixes of names of types that belong to a table, in lower case and without underscores. */
const TABLE_TYPE = new RegExp(
  `^(?:${[
    "(?:aggregate|avg|max|min|stddev|stddevpop|stddevsamp|sum|varpop|varsamp|variance)(?:fields|orderby)",
    "aggregate",
    "aggregateboolexp.*",
    "(?:append|deleteatpath|deleteelem|deletekey|inc|insert|prepend|set)input",
    "(?:arrrelinsert|objrelinsert|pkcolumns|streamcursor|streamcursorvalue)input",
    "boolexp|orderby|onconflict|constraint|updatecolumn|selectcolumn.*|updates|mutationresponse|connection|edge",
  ].join("|")})$`,
);

/** The types of the surface that belong to no table. */
const OWN_TYPE =
  /^(?:query_root|mutation_root|subscription_root|order_by|OrderBy|cursor_ordering|CursorOrdering|PageInfo)$/;

/** The types of the surface that belong to a scalar: `Int_comparison_exp`, `StringArrayComparisonExp`. */
const SCALAR_TYPE = /^(.+?)(?:_(?:array_)?comparison_exp|(?:Array)?ComparisonExp|_cast_exp|CastExp)$/;

const BUILT_IN_SCALARS: ReadonlySet<string> = new Set(specifiedScalarTypes.map(({ name }) => name.toLowerCase()));

const normalize = (name: string): string => name.toLowerCase().replaceAll("_", "");

/** Returns whether a table has a type of this name: the name of the row type, followed by a known suffix. */
const isTableType = (name: string, types: ReadonlySet<string>): boolean => {
  for (let length = 1; length < name.length; length++) {
    const end = name.slice(length);
    if (/^[_A-Z]/.test(end) && types.has(name.slice(0, length)) && TABLE_TYPE.test(normalize(end))) return true;
  }
  return types.has(name);
};

const isLocalType = (name: string, { types, scalars }: LocalNames): boolean => {
  const scalar = SCALAR_TYPE.exec(name)?.[1]?.toLowerCase();
  if (scalar !== undefined && (BUILT_IN_SCALARS.has(scalar) || scalars.has(scalar))) return true;
  return OWN_TYPE.test(name) || isTableType(name, types);
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
interface ConflictCheck {
  /** Adds the names of a remote schema. @throws RemoteSchemaProblem, and adds none */
  add(remote: string, roleSchema: RemoteRoleSchema, hasNamespace: boolean): void;
}

/** Creates a check that finds names which two schemas define differently. */
export const createConflictCheck = (local: LocalNames): ConflictCheck => {
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
        if (local.roots.has(name))
          throw new RemoteSchemaProblem(`a table or function has the root field "${name}" too`);
      }
      const typeTexts = listTypes(schema, hasNamespace).map((type) => [type, printType(type)] as const);
      for (const [type, text] of typeTexts) {
        const { name } = type;
        if (!isScalarType(type) && isLocalType(name, local))
          throw new RemoteSchemaProblem(`a type of a table has the name "${name}" too`);
        const knownType = typesByName.get(name);
        // An equal definition causes no conflict.
        if (knownType !== undefined && knownType.text !== text)
          throw new RemoteSchemaProblem(`the remote schema ${knownType.remote} has another type "${name}"`);
      }
      for (const [key] of names) rootOwners.set(key, remote);
      for (const [{ name }, text] of typeTexts) typesByName.set(name, { remote, text });
    },
  };
};
