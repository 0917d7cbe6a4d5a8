import { expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { fetchSchema } from "../support/schema.ts";
import { entry, withMetadata } from "./with-metadata.ts";
import type { GqlRootFieldName, GqlTableRights } from "../../plugins/graphql/api.ts";

const inShop = (name: string) => ({ schema: "shop", name });
const inPublic = (name: string) => ({ schema: "public", name });

const buildRights = (
  query: readonly GqlRootFieldName[],
  subscription: readonly GqlRootFieldName[],
): GqlTableRights => ({
  select: {
    columns: new Set(["id", "title", "artist_id"]),
    computedFields: new Set(),
    mayAggregate: true,
    queryRootFields: new Set(query),
    subscriptionRootFields: new Set(subscription),
    masked: new Set(["title"]),
  },
});

const api = await startApi(
  forGraphql({
    dbSchemas: ["public", "shop"],
    parts: [
      withMetadata((model) => ({
        tables: [
          entry(model, "artist", {}, { works: "album" }),
          entry(
            model,
            "album",
            {
              computedFields: [
                {
                  name: "price_in",
                  routine: inShop("album_price_in"),
                  tableArgument: "a",
                  sessionArgument: "hasura_session",
                  comment: "Price in another currency",
                },
              ],
            },
            { maker: "artist" },
          ),
          entry(model, "person", {
            computedFields: [
              { name: "letter", routine: inPublic("person_title") },
              { name: "older", routine: inPublic("person_age_in") },
            ],
          }),
        ],
        functions: [
          { routine: inPublic("search_albums"), customName: "findAlbums", comment: "Finds them" },
          {
            routine: inPublic("live_albums"),
            rootFields: {
              function: { name: "onStage" },
              function_aggregate: { name: "countOnStage", comment: "How many" },
            },
          },
          { routine: inPublic("volatile_albums"), exposedAs: "query" },
          { routine: inPublic("sell_album") },
        ],
        findAccess: (session) =>
          session.role !== "visitor"
            ? undefined
            : {
                key: "visitor",
                role: "visitor",
                rights: (table) =>
                  table.relation.name === "album"
                    ? buildRights([], ["select_by_pk"])
                    : table.relation.name === "artist"
                      ? buildRights(["select", "select_aggregate"], ["select"])
                      : {},
                mayCall: () => false,
              },
      })),
    ],
  }),
);
const admin = await fetchSchema(api);
const visitor = await fetchSchema(api, "visitor");

test("G-REL-4 relationships come only from the metadata, without default ones", () => {
  expect(Object.keys(admin.members("artist")).filter((name) => name.startsWith("albums"))).toEqual([]);
  expect(admin.members("artist")).toMatchObject({ works: "[album!]!", works_aggregate: "album_aggregate!" });
  expect(admin.members("album").maker).toBe("artist!");
});

test("G-GEN-2 only the objects of the metadata are served", () => {
  expect(Object.keys(admin.members("query_root")).filter((name) => !/_(aggregate|by_pk)$/.test(name))).toEqual([
    "album",
    "artist",
    "countOnStage",
    "findAlbums",
    "onStage",
    "person",
    "volatile_albums",
  ]);
});

test("G-ROOT-16 select fields can be removed from the roots, and relationships stay", () => {
  expect(Object.keys(visitor.members("query_root"))).toEqual(["artist", "artist_aggregate"]);
  expect(Object.keys(visitor.members("subscription_root"))).toEqual(["album_by_pk", "artist"]);
  expect(visitor.members("artist")).toMatchObject({ works: "[album!]!" });
});

test("G-PRM-14 a column that not every parent permits is nullable", () => {
  expect(visitor.members("album")).toMatchObject({ title: "String", id: "Int!" });
});

test("G-FN-8 a function is visible if its table can be read and listed", () => {
  expect(Object.keys(visitor.members("query_root"))).not.toContain("findAlbums");
});

test("G-FN-10 functions have custom names for themselves and their fields", () => {
  expect(admin.args("query_root", "findAlbums").args).toBe("findAlbums_args!");
  expect(admin.members("query_root")).toMatchObject({
    findAlbums_aggregate: "album_aggregate!",
    onStage: "[album!]!",
    countOnStage: "album_aggregate!",
  });
  expect(Object.keys(admin.members("mutation_root"))).toContain("sell_album");
});

test("G-FN-9 G-GEN-10b functions have the descriptions of the metadata", async () => {
  expect(admin.description("query_root", "findAlbums")).toBe("Finds them");
  expect(admin.description("query_root", "countOnStage")).toBe("How many");
  const plainApi = await startApi(forGraphql());
  try {
    const schema = await fetchSchema(plainApi);
    expect(schema.description("query_root", "search_albums")).toBe("Albums whose title has the term");
    expect(schema.description("query_root", "live_albums")).toBe(
      'execute function "live_albums" which returns "album"',
    );
    expect(schema.description("mutation_root", "sell_album")).toBe(
      'execute VOLATILE function "sell_album" which returns "album"',
    );
    expect(schema.description("query_root", "live_albums_aggregate")).toBe(
      'execute function "live_albums" and query aggregates on result of table type "album"',
    );
    expect(schema.description("query_root", "search_albums", "args")).toBe(
      'input parameters for function "search_albums"',
    );
  } finally {
    await plainApi.close();
  }
});

test("G-CF-4 computed fields have the descriptions of the metadata", () => {
  expect(admin.description("album", "price_in")).toBe("Price in another currency");
  expect(admin.description("person", "letter")).toBe("How to begin a letter");
  expect(admin.description("person", "older")).toBe('A computed field, executes function "person_age_in"');
  expect(admin.description("album", "price_in", "args")).toBe(
    'input parameters for computed field "price_in" defined on table "album"',
  );
});

gqlCases(api, [
  {
    title: "G-REL-4 related rows are read by the names of the metadata",
    query: "{ artist(where: {id: {_eq: 2}}) { works { title maker { name } } } }",
    data: { artist: [{ works: [{ title: "Debut", maker: { name: "Bjork" } }] }] },
  },
  {
    title: "G-CF-4 a computed field of the metadata may have a session argument",
    query: '{ album_by_pk(id: 2) { price_in(args: {currency: "NOK"}) } }',
    data: { album_by_pk: { price_in: "20.00 NOK for admin" } },
  },
  {
    title: "G-FN-10 a function is called by its custom name",
    query: '{ findAlbums(args: {term: "de"}, order_by: {id: asc}) { title } }',
    data: { findAlbums: [{ title: "Debut" }] },
  },
]);
