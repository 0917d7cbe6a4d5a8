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

export const required = <Type extends GraphQLObjectType | typeof GraphQLString>(type: Type) => new GraphQLNonNull(type);

export const Node = new GraphQLInterfaceType({
  name: "Node",
  description: "An object with globally unique ID",
  fields: { id: { type: new GraphQLNonNull(GraphQLID), description: "A globally unique identifier" } },
});

const PAGE_INFO = "PageInfo";

const PageInfo = new GraphQLObjectType({
  name: PAGE_INFO,
  fields: {
    endCursor: { type: required(GraphQLString) },
    hasNextPage: { type: new GraphQLNonNull(GraphQLBoolean) },
    hasPreviousPage: { type: new GraphQLNonNull(GraphQLBoolean) },
    startCursor: { type: required(GraphQLString) },
  },
});

const WINDOW: GraphQLFieldConfigArgumentMap = {
  after: { type: GraphQLString },
  before: { type: GraphQLString },
  first: { type: GraphQLInt },
  last: { type: GraphQLInt },
};

/** The table if the role may read all columns of its key. */
export const keyedTable = (build: GqlBuild, relation: Relation | undefined): GqlTable | undefined => {
  const table = relation && build.table(relation);
  const columns = table && build.rights(table).select?.columns;
  const { primaryKey = [] } = relation ?? {};
  return primaryKey.length > 0 && primaryKey.every((name) => columns?.has(name) === true) ? table : undefined;
};

/** The type names of tables, which take precedence. */
const typeNames = memoize(
  (build: GqlBuild): ReadonlySet<string> =>
    new Set([...build.source.tableOf.values()].map(({ word }) => build.typeName(word))),
);

/** The connection type, one per role and table. */
export const connectionType = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined =>
  connectionTypes(build)(table);

const connectionTypes = memoize((build: GqlBuild) => memoize((table: GqlTable) => buildConnection(build, table)));

const buildConnection = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined => {
  const row = build.rowType(table);
  const isFree =
    row && ![PAGE_INFO, `${row.name}Connection`, `${row.name}Edge`].some((name) => typeNames(build).has(name));
  if (isFree !== true) return undefined;
  return new GraphQLObjectType({
    name: `${row.name}Connection`,
    description: `A Relay connection object on "${table.relation.name}"`,
    fields: () => ({
      edges: {
        type: new GraphQLNonNull(
          new GraphQLList(
            required(
              new GraphQLObjectType({
                name: `${row.name}Edge`,
                fields: () => ({ cursor: { type: required(GraphQLString) }, node: { type: required(row) } }),
              }),
            ),
          ),
        ),
      },
      nodes: {
        type: new GraphQLNonNull(new GraphQLList(required(row))),
        description: "the rows of the edges, without their cursors",
      },
      pageInfo: { type: required(PageInfo) },
      ...(build.rights(table).select?.mayAggregate === true && {
        totalCount: { type: new GraphQLNonNull(GraphQLInt), description: "the number of rows on all pages" },
      }),
    }),
  });
};

/** The arguments of a list without its window arguments, which the connection's own ones replace. */
export const connectionArguments = ({ config }: GqlField): GraphQLFieldConfigArgumentMap => {
  const { args = {} } = config as { readonly args?: GraphQLFieldConfigArgumentMap }; // every list is an output field
  const kept = Object.entries(args).filter(([, { extensions }]) =>
    ["where", "order_by", "distinct_on"].includes(
      (extensions?.["relapi"] as { readonly name?: string } | undefined)?.name ?? "",
    ),
  );
  return { ...WINDOW, ...Object.fromEntries(kept) };
};
