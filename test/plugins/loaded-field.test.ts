/**
 * Fields of rows by a function: the example of docs/guides/write-a-loaded-field.md, and cases that the guide does not
 * show.
 */
import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLString } from "graphql";
import { beforeEach, describe, expect, test } from "vitest";
import { definePlugin, type Plugin } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret } from "../support/tokens.ts";
import { loadedField } from "./loaded-field.ts";
import type { GqlField, GqlFieldContext, GqlFields, GqlPart } from "../../plugins/graphql/api.ts";

let requests: (readonly string[])[] = [];
beforeEach(() => {
  requests = [];
});
const find = async (artists: readonly string[], width: number): Promise<readonly (string | null)[]> => {
  requests.push(artists);
  return artists.map((artist) => (artist.startsWith("Can") ? null : `${artist}@${width}`));
};

describe("the example", async () => {
  const api = await startApi(forGraphql({ dbTxEnd: "rollback", parts: [loadedField(find)] }));

  test("X-GQL-6 one call loads the field of all rows, with columns that are not selected", async () => {
    expect(await api.gql("{ artist(order_by: {id: asc}) { id portrait } }")).toEqual({
      data: {
        artist: [
          { id: 1, portrait: "Abba@100" },
          { id: 2, portrait: "Bjork@100" },
          { id: 3, portrait: null },
          { id: 4, portrait: expect.stringMatching(/^Dusk/) },
        ],
      },
    });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toHaveLength(4);
  });

  test("X-GQL-6 one call per selected field loads rows at any depth, in aliases and fragments too", async () => {
    const { data } = await api.gql(
      `query ($w: Int) {
         album(order_by: {id: asc}) { by: artist { small: portrait large: portrait(width: $w) albums(limit: 1) { artist { ...p } } } }
       }
       fragment p on artist { portrait }`,
      { w: 900 },
    );
    expect(data.album[0]).toEqual({
      by: { small: "Abba@100", large: "Abba@900", albums: [{ artist: { portrait: "Abba@100" } }] },
    });
    expect(requests).toHaveLength(3);
    expect(requests.map((rows) => rows.length)).toEqual([data.album.length, data.album.length, data.album.length]);
  });

  gqlCases(api, [
    {
      title: "X-GQL-6 the field is loaded in nodes of aggregates",
      query: "{ artist_aggregate(where: {id: {_eq: 1}}) { aggregate { count } nodes { portrait } } }",
      data: { artist_aggregate: { aggregate: { count: 1 }, nodes: [{ portrait: "Abba@100" }] } },
    },
    {
      title: "X-GQL-6 the field is loaded in the returned rows of mutations",
      query: `mutation {
        update_artist(where: {id: {_eq: 1}}, _set: {name: "X"}) { returning { portrait albums(limit: 1, order_by: {id: asc}) { artist { portrait } } } }
        insert_artist_one(object: {name: "Y", country: "NO"}) { portrait }
        update_artist_many(updates: [{where: {id: {_eq: 2}}, _set: {name: "Z"}}]) { returning { portrait } }
      }`,
      data: {
        update_artist: {
          returning: [{ portrait: "X@100", albums: [{ artist: { portrait: "X@100" } }] }],
        },
        insert_artist_one: { portrait: "Y@100" },
        update_artist_many: [{ returning: [{ portrait: "Z@100" }] }],
      },
    },
    {
      title: "X-GQL-6 the field is loaded for a row by its key, and without a row no call is made",
      query: "{ artist_by_pk(id: 1) { portrait } none: artist_by_pk(id: -1) { portrait } }",
      data: { artist_by_pk: { portrait: "Abba@100" }, none: null },
    },
    {
      title: "X-GQL-1 the arguments of the field are checked",
      query: '{ artist { portrait(width: "x") } }',
      error: {
        message: "expected a 32-bit integer for type 'Int', but found a string",
        path: "$.selectionSet.artist.selectionSet.portrait.args.width",
      },
    },
  ]);

  test("X-GQL-6 the rest of the response keeps the bytes of PostgreSQL", async () => {
    await api.sql(`create table odd (id int primary key, artist_id int references artist, raw json);
      insert into odd values (1, 1, '{ "b" : 1.50,  "a":[ 12345678901234567890, "]}\\"" ], "b": {"artist": {}} }')`);
    await api.reload();
    const post = async (query: string) =>
      (await api.post("/v1/graphql", { headers: { "x-session-admin-secret": adminSecret }, body: { query } })).text;
    const plain = await post("{ odd { raw artist { name } after: raw } }");
    expect(plain).toContain("12345678901234567890");
    expect(await post("{ odd { raw artist { name: portrait } after: raw } }")).toBe(
      plain.replace('"Abba"', '"Abba@100"'),
    );
  });

  test("X-GQL-6 without rows no call is made", async () => {
    expect(await api.gql("{ artist(where: {id: {_lt: 0}}) { portrait } }")).toEqual({ data: { artist: [] } });
    expect(requests).toEqual([]);
  });

  test("X-GQL-6 a role that may not read the required columns does not have the field", async () => {
    const ownApi = await startApi(forGraphql({ parts: [loadedField(find)] }));
    await ownApi.sql("grant select (id) on artist to music_nobody");
    await ownApi.reload();
    const { errors } = await ownApi.gql("{ artist { id portrait } }", {}, asAdmin("music_nobody"));
    expect(errors[0].message).toBe("field 'portrait' not found in type: 'artist'");
  });

  test("X-GQL-7 live queries have the field, which is loaded again when the rows change", async () => {
    await api.sql(
      "create table band (id int primary key, artist_id int references artist); insert into band values (1, 1)",
    );
    await api.reload();
    const socket = await openSocket(api);
    socket.send({ type: "connection_init", payload: { headers: { "x-session-admin-secret": adminSecret } } });
    await socket.next();
    const subscribe = (id: string, width: number): void =>
      socket.send({
        id,
        type: "subscribe",
        payload: {
          query: `subscription ($w: Int) { band { id artist { portrait(width: $w) } } }`,
          variables: { w: width },
        },
      });
    const answer = (id: string, portrait: string, extraRows: readonly unknown[] = []) => ({
      id,
      type: "next",
      payload: { data: { band: [{ id: 1, artist: { portrait } }, ...extraRows] } },
    });
    subscribe("1", 10);
    expect(await socket.next()).toEqual(answer("1", "Abba@10"));
    // This is the same statement with other arguments of the function.
    subscribe("2", 20);
    expect(await socket.next()).toEqual(answer("2", "Abba@20"));
    await api.sql("insert into band values (2, 2)");
    const results = [await socket.next(), await socket.next()].sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(results).toEqual([
      answer("1", "Abba@10", [{ id: 2, artist: { portrait: "Bjork@10" } }]),
      answer("2", "Abba@20", [{ id: 2, artist: { portrait: "Bjork@20" } }]),
    ]);
    await socket.close();
  });
});

describe("results", async () => {
  type Loading = Extract<GqlPart, { readonly load: unknown }>;
  const Size = new GraphQLObjectType({
    name: "size",
    fields: { width: { type: new GraphQLNonNull(GraphQLInt) }, unit: { type: GraphQLString } },
  });
  const loading = (
    name: string,
    type: GqlField["config"]["type"],
    columns: readonly string[],
    load: Loading["load"],
  ): Plugin =>
    definePlugin({
      name,
      requires: ["graphql-queries"],
      apply: (hooks) =>
        hooks.buildGqlField.tap(name, (fields: GqlFields, { scope, relation }: GqlFieldContext): GqlFields =>
          scope === "row" && relation?.name === "artist"
            ? {
                ...fields,
                [name]: { config: { type } as GqlField["config"], toPlan: { kind: "custom", columns, load } },
              }
            : fields,
        ),
    });
  const api = await startApi(
    forGraphql({
      parts: [
        loading("size", Size, ["id"], (rows) => rows.map(({ id }) => ({ width: Number(id) * 2, unit: "cm", more: 1 }))),
        loading("me", GraphQLString, [], (rows, { session }) => rows.map(() => session.role)),
        loading("few", GraphQLString, ["id"], () => []),
        loading("fails", GraphQLString, ["id"], () => {
          throw new Error("secret");
        }),
      ],
    }),
  );
  gqlCases(api, [
    {
      title: "X-GQL-6 a result of objects is reduced to the selection",
      query: "{ artist(where: {id: {_eq: 2}}) { size { u: unit width __typename } me } }",
      data: { artist: [{ size: { u: "cm", width: 4, __typename: "size" }, me: "admin" }] },
    },
    {
      title: "X-GQL-6 a result whose length is not the number of rows is an internal error",
      query: "{ album(limit: 1) { artist { few } } }",
      error: { message: "internal error", path: "$.selectionSet.album.selectionSet.artist.selectionSet.few" },
    },
    {
      title: "X-GQL-6 an error of the function fails the request and is not shown",
      query: "{ artist { fails } }",
      error: { message: "internal error", path: "$.selectionSet.artist.selectionSet.fails", code: "unexpected" },
    },
  ]);

  test("X-GQL-7 live queries load the field for each caller", async () => {
    const ask = async (role: string) => {
      const socket = await openSocket(api);
      socket.send({
        type: "connection_init",
        payload: { headers: { "x-session-admin-secret": adminSecret, "x-session-role": role } },
      });
      await socket.next();
      socket.send({
        id: "1",
        type: "subscribe",
        payload: { query: "subscription { artist(limit: 1, order_by: {id: asc}) { me } }" },
      });
      const { payload } = await socket.next();
      return { me: payload.data.artist[0].me, socket };
    };
    const answers = await Promise.all([ask("music_reader"), ask("music_editor")]);
    expect(answers.map(({ me }) => me)).toEqual(["music_reader", "music_editor"]);
    await Promise.all(answers.map(({ socket }) => socket.close()));
  });
});
