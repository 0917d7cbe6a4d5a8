/** The types of the Relay specification beside those of the tables. */
import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
  type GraphQLFieldConfigArgumentMap,
} from "graphql";
import { memoize, type Relation } from "../../../core/index.ts";
import type { GqlBuild, GqlField, GqlTable } from "../../graphql/api.ts";

export const nonNull = <Type extends GraphQLObjectType | typeof GraphQLString>(type: Type) => new GraphQLNonNull(type);

export const Node = new GraphQLInterfaceType({
  name: "Node",
  description: "An object with globally unique ID",
  fields: { id: { type: new GraphQLNonNull(GraphQLID), description: "A globally unique identifier" } },
});

const PAGE_INFO = "PageInfo";

const PageInfo = new GraphQLObjectType({
  name: PAGE_INFO,
  fields: {
    endCursor: { type: nonNull(GraphQLString) },
    hasNextPage: { type: new GraphQLNonNull(GraphQLBoolean) },
    hasPreviousPage: { type: new GraphQLNonNull(GraphQLBoolean) },
    startCursor: { type: nonNull(GraphQLString) },
  },
});

const WINDOW: GraphQLFieldConfigArgumentMap = {
  after: { type: GraphQLString },
  before: { type: GraphQLString },
  first: { type: GraphQLInt },
  last: { type: GraphQLInt },
};

/** Returns the table if the role may read all columns of the table's key. */
export const findKeyedTable = (build: GqlBuild, relation: Relation | undefined): GqlTable | undefined => {
  const table = relation && build.table(relation);
  const columns = table && build.rights(table).select?.columns;
  const { primaryKey = [] } = relation ?? {};
  return primaryKey.length > 0 && primaryKey.every((name) => columns?.has(name) === true) ? table : undefined;
};

/** Returns the type names of tables, which take precedence. */
const listTypeNames = memoize(
  (build: GqlBuild): ReadonlySet<string> =>
    new Set([...build.catalog.tablesByKey.values()].map(({ namePart }) => build.typeName(namePart))),
);

/** Returns the connection type, one per role and table. */
export const getConnectionType = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined =>
  createTypeCache(build)(table);

const createTypeCache = memoize((build: GqlBuild) => memoize((table: GqlTable) => buildConnection(build, table)));

const buildConnection = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined => {
  const row = build.rowType(table);
  const isFree =
    row && ![PAGE_INFO, `${row.name}Connection`, `${row.name}Edge`].some((name) => listTypeNames(build).has(name));
  if (isFree !== true) return undefined;
  return new GraphQLObjectType({
    name: `${row.name}Connection`,
    description: `A Relay connection object on "${table.relation.name}"`,
    fields: () => ({
      edges: {
        type: new GraphQLNonNull(
          new GraphQLList(
            nonNull(
              new GraphQLObjectType({
                name: `${row.name}Edge`,
                fields: () => ({ cursor: { type: nonNull(GraphQLString) }, node: { type: nonNull(row) } }),
              }),
            ),
          ),
        ),
      },
      nodes: {
        type: new GraphQLNonNull(new GraphQLList(nonNull(row))),
        description: "the rows of the edges, without their cursors",
      },
      pageInfo: { type: nonNull(PageInfo) },
      ...(build.rights(table).select?.mayAggregate === true && {
        totalCount: { type: new GraphQLNonNull(GraphQLInt), description: "the number of rows on all pages" },
      }),
    }),
  });
};

/** Returns the arguments of a list without its window arguments, which the connection's own ones replace. */
export const buildConnectionArguments = ({ config }: GqlField): GraphQLFieldConfigArgumentMap => {
  const { args = {} } = config as { readonly args?: GraphQLFieldConfigArgumentMap }; // every list is an output field
  const rowArguments = Object.entries(args).filter(([, { extensions }]) =>
    ["where", "order_by", "distinct_on"].includes(
      (extensions?.["relapi"] as { readonly name?: string } | undefined)?.name ?? "",
    ),
  );
  return { ...WINDOW, ...Object.fromEntries(rowArguments) };
};
