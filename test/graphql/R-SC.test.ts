/** The types of a role's schema are created when documents use them. */
import { describe, expect, test } from "vitest";
import { definePlugin } from "../../core/index.ts";
import { graphqlService, type GqlEngine } from "../../plugins/graphql/api.ts";
import { initSocket, startLive, subscribe, untilProcessed } from "../support/live.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { INTROSPECTION, fetchSchema } from "../support/schema.ts";

const ROLES = [undefined, "music_reader", "music_editor", "music_nobody"];

describe.each(["hasura-default", "graphql-default"] as const)(
  "R-SC-12 names by the convention %s",
  (defaultNamingConvention) => {
    test.each(ROLES)("R-SC-12 R-SC-12a role %s finds each root field of its schema by its name", async (role) => {
      const api = await startApi(forGraphql({ defaultNamingConvention }));
      const schema = await fetchSchema(api, role);
      const missingFields: string[] = [];
      let foundCount = 0;
      for (const [kind, root] of Object.entries(schema.roots)) {
        if (root === undefined || kind === "subscription") continue;
        for (const name of Object.keys(schema.members(root))) {
          // The document is incomplete, so that no field runs.
          const answer = await api.gql(`${kind} { ${name} }`, {}, asAdmin(role));
          if (JSON.stringify(answer.errors ?? []).includes("not found in type")) missingFields.push(`${root}.${name}`);
          else foundCount++;
        }
      }
      expect(missingFields).toEqual([]);
      expect(foundCount).toBeGreaterThan(role === "music_nobody" ? 0 : 20);
    });
  },
);

describe("R-SC-12 preparation for all documents", () => {
  const session = { role: "admin", isAdmin: true, claims: {}, variables: {} };
  const request = { query: "{ artist { id } }" };

  test("R-SC-12 R-SC-12b the first document waits for the preparation, and no later one does", async () => {
    const preparations: unknown[] = [];
    let engine: GqlEngine | undefined;
    const earlyPlugin = definePlugin({
      name: "early",
      apply: (_, context) =>
        context.onModel(() => {
          engine = context.use(graphqlService);
          preparations.push(engine?.prepare(request, session), engine?.buildExampleQuery(session));
        }),
    });
    const api = await startApi(forGraphql({ parts: [earlyPlugin] }));
    expect(preparations).toEqual([expect.any(Promise), expect.any(Promise)]);
    expect(await Promise.all(preparations)).toEqual([
      expect.objectContaining({ operation: "query" }),
      expect.stringContaining("query {"),
    ]);
    expect(engine?.prepare(request, session)).toMatchObject({ operation: "query" });
    expect(engine?.buildExampleQuery(session)).toContain("query {");
    // If a caller has sent a document, the names of the next model are created in advance.
    preparations.length = 0;
    await api.reload();
    expect(preparations).toEqual([expect.objectContaining({ operation: "query" }), expect.any(String)]);
  });

  test("R-SC-12 G-SUB-8 R-SC-12b live queries wait for the preparation after changed settings, and continue or end", async () => {
    let dbMaxRows = 1000;
    const changingOptions = definePlugin({
      name: "moving",
      apply: (_, context) => context.addOptionSource({ name: "the test", read: async () => ({ dbMaxRows }) }),
    });
    const api = await startLive(forGraphql({ parts: [changingOptions] }));
    await api.sql("create table berries (id int primary key); create table leaves (id int primary key)");
    await api.reload();
    const socket = await initSocket(api);
    subscribe(socket, "stays", "subscription { berries { id } }");
    expect(await socket.next()).toMatchObject({ id: "stays", payload: { data: { berries: [] } } });
    subscribe(socket, "ends", "subscription { leaves { id } }");
    expect(await socket.next()).toMatchObject({ id: "ends", type: "next" });
    await api.sql("drop table leaves");
    dbMaxRows++;
    await api.reload();
    // A result with the error may come first, if the live query runs before the reload.
    expect(await socket.next(({ type }) => type === "error")).toMatchObject({ id: "ends" });
    await api.sql("insert into berries values (1)");
    expect(await socket.next()).toMatchObject({ id: "stays", payload: { data: { berries: [{ id: 1 }] } } });
    // A live query ends, or the schema is loaded again, while the live query waits.
    dbMaxRows++;
    const reload = api.reload();
    socket.send({ id: "stays", type: "complete" });
    await reload;
    dbMaxRows++;
    await Promise.all([api.reload(), api.reload()]);
    await untilProcessed(socket);
    await api.sql("insert into berries values (2)");
    await api.settle();
    expect(socket.takeMessages()).toEqual([]);
    subscribe(socket, "again", "subscription { berries { id } }");
    expect(await socket.next()).toMatchObject({ id: "again", payload: { data: { berries: [{ id: 1 }, { id: 2 }] } } });
    await socket.close();
    await api.sql("drop table berries");
  });
});

describe("R-SC-13", () => {
  test("R-SC-13 repeated introspection has the same response, separately and beside other fields", async () => {
    const api = await startApi(forGraphql());
    const first = await api.gql(INTROSPECTION);
    for (let i = 0; i < 3; i++) expect(await api.gql(INTROSPECTION)).toEqual(first);
    const mixedQuery = `{ artist(limit: 1) { id } one: __type(name: "artist") { name } ${INTROSPECTION.slice(1, -1)} two: __type(name: "nowhere") { name } }`;
    const { data } = await api.gql(mixedQuery);
    expect(Object.keys(data)).toEqual(["artist", "one", "__schema", "two"]);
    expect(data).toMatchObject({ one: { name: "artist" }, two: null, __schema: first.data.__schema });
    expect((await api.gql(mixedQuery)).data).toEqual(data);
  });

  test("R-SC-13 each role has its own introspection", async () => {
    const api = await startApi(forGraphql());
    const names = async (role?: string): Promise<string> =>
      JSON.stringify(await api.gql("{ __schema { types { name } } }", {}, asAdmin(role)));
    const [admin, reader] = [await names(), await names("music_reader")];
    expect(admin).not.toBe(reader);
    expect([await names(), await names("music_reader")]).toEqual([admin, reader]);
  });
});
