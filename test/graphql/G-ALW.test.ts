import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { relApi } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";
import { openSocket } from "../support/socket.ts";
import { collectMessages } from "../support/logger.ts";
import { temporaryFolder } from "../support/temporary-files.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const TEAMS = "# all of them\nquery Teams { team(order_by: {id: asc}) { name } }\n";
const PRINTED_TEAMS = "query Teams {\n  team(order_by: {id: asc}) {\n    name\n  }\n}";
const MANIFEST = "query One($id: Int!) { team_by_pk(id: $id) { name } }";
const APOLLO = "query Count { team_aggregate { aggregate { count } } }";

const folder = temporaryFolder({
  "teams.graphql": TEAMS,
  "more/map.json": JSON.stringify({ "one-team": MANIFEST }),
  "apollo.json": JSON.stringify({
    format: "apollo-persisted-query-manifest",
    version: 1,
    operations: [{ id: sha256(APOLLO), name: "Count", type: "query", body: APOLLO }],
  }),
  "notes.txt": "not a document",
  "broken.graphql": "query {",
});

const collection = (name: string, ...queries: readonly string[]) => ({
  name,
  definition: { queries: queries.map((query, index) => ({ name: `${name}-${index}`, query })) },
});

const fullPermission = { columns: "*", filter: {}, allow_aggregations: true };

const FOR_ALL = "{ team(where: {id: {_eq: 2}}) { name } }";
const FOR_READERS = "{ team(where: {id: {_eq: 1}}) { name } }";
const NOBODYS = "{ team(where: {id: {_eq: 3}}) { name } }";

const metadata = buildMetadataDocument(
  [table("team", { select_permissions: permissions({ reader: fullPermission, guest: fullPermission }) })],
  {
    query_collections: [
      collection("open", FOR_ALL),
      collection("readers", FOR_READERS, "subscription { team(where: {id: {_eq: 1}}) { name } }"),
      collection("unlisted", NOBODYS),
    ],
    allowlist: [
      { collection: "open" },
      { collection: "readers", scope: { global: false, roles: ["reader"] } },
      { collection: "nowhere" },
    ],
  },
);

const { logger, lines: warnings } = collectMessages("warn");
const base: StartOptions = { metadata, logger, trustedDocuments: folder };
const openApi = await startApi(forGraphql(base));
const allowlistApi = await startApi(
  forGraphql({
    ...base,
    enableAllowlist: true,
  }),
);

const NOT_ALLOWED = {
  errors: [{ message: "query is not allowed", extensions: { path: "$", code: "validation-failed" } }],
};
const NOT_FOUND = {
  errors: [{ message: "PersistedQueryNotFound", extensions: { path: "$", code: "PERSISTED_QUERY_NOT_FOUND" } }],
};

const send = async (api: TestApi, body: unknown, role: string | undefined = "reader") =>
  (await api.post("/v1/graphql", { body, headers: asAdmin(role) })).json();
const persistedQuery = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });
const teams = { data: { team: expect.arrayContaining([{ name: "Reds" }, { name: "Blues" }]) } };

describe("trusted documents", () => {
  test.each([
    ["the hash of the file", persistedQuery(sha256(TEAMS))],
    ["the hash of the file without its last line break", persistedQuery(sha256(TEAMS.trim()))],
    ["the hash of the printed document", persistedQuery(sha256(PRINTED_TEAMS))],
    ["documentId", { documentId: `sha256:${sha256(PRINTED_TEAMS)}` }],
  ])("G-ALW-1 G-ALW-1a a trusted document is found by %s", async (_title, body) => {
    expect(await send(openApi, body)).toEqual(teams);
    expect(await send(allowlistApi, body)).toEqual(teams);
  });

  test.each(["documentId", "doc_id", "id"])(
    "G-ALW-1 G-ALW-1a a trusted document is found by the id of a manifest in %s",
    async (name) => {
      expect(await send(allowlistApi, { [name]: "one-team", variables: { id: 1 } })).toEqual({
        data: { team_by_pk: { name: "Reds" } },
      });
    },
  );

  test("G-ALW-1 a trusted document is found by the id of Apollo's manifest", async () => {
    expect(
      (await send(allowlistApi, persistedQuery(sha256(APOLLO)))).data.team_aggregate.aggregate.count,
    ).toBeGreaterThan(1);
  });

  test("G-ALW-1 documents of the allow list are found by their hash", async () => {
    expect(await send(allowlistApi, persistedQuery(sha256(FOR_ALL)))).toEqual({ data: { team: [{ name: "Blues" }] } });
  });

  test("G-ALW-1 G-ALW-1a an unknown document name is not found", async () => {
    expect(await send(openApi, { documentId: "two-teams" })).toEqual(NOT_FOUND);
    expect(await send(allowlistApi, persistedQuery(sha256("two")))).toEqual(NOT_FOUND);
  });

  test("G-ALW-1 G-ALW-1b invalid documents and missing collections are logged", () => {
    expect(warnings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/broken\.graphql is no GraphQL document; ignored/),
        expect.stringMatching(/there is no query collection "nowhere"/),
      ]),
    );
  });

  test("G-ALW-1 G-ALW-1b a missing folder stops the start", () => {
    expect(() =>
      relApi(
        fullCompat({
          databaseUrl: "postgres://nobody@127.0.0.1:1/none",
          trustedDocuments: join(folder, "nothing"),
        }),
      ),
    ).toThrow(/trusted documents: the folder .*nothing cannot be read/);
  });

  test("G-ALW-1 the folder is read again with the schema", async () => {
    const laterDocument = "query Later { team(limit: 1) { name } }";
    expect(await send(allowlistApi, { query: laterDocument })).toEqual(NOT_ALLOWED);
    await writeFile(join(folder, "later.gql"), laterDocument);
    await allowlistApi.reload();
    expect(await send(allowlistApi, { query: laterDocument })).toHaveProperty("data");
  });
});

describe("the allow list", () => {
  test("G-ALW-2 without the allow list every document runs", async () => {
    expect(await send(openApi, { query: NOBODYS })).toHaveProperty("data");
  });

  test("G-ALW-2 documents outside of the allow list are rejected, also when they are repeated", async () => {
    for (let time = 0; time < 2; time++) {
      expect(await send(allowlistApi, { query: NOBODYS })).toEqual(NOT_ALLOWED);
      expect(await send(allowlistApi, { query: "{ __schema { queryType { name } } }" })).toEqual(NOT_ALLOWED);
    }
  });

  test("G-ALW-2 administrators may run any document", async () => {
    expect(await send(allowlistApi, { query: NOBODYS }, "admin")).toHaveProperty("data");
  });

  test("G-ALW-2 blanks, comments and __typename do not matter", async () => {
    const query = "{\n  # mine\n team(where: {id: {_eq: 2}}) { __typename, name } __typename }";
    expect(await send(allowlistApi, { query })).toEqual({
      data: { team: [{ __typename: "team", name: "Blues" }], __typename: "query_root" },
    });
  });

  test("G-ALW-2 different values and aliases make another document", async () => {
    expect(await send(allowlistApi, { query: FOR_ALL.replace("2", "1") }, "guest")).toEqual(NOT_ALLOWED);
    expect(await send(allowlistApi, { query: FOR_ALL.replace("name", "called: name") })).toEqual(NOT_ALLOWED);
  });

  test("G-ALW-2 a document with one more operation is another document", async () => {
    const query = `query a ${FOR_ALL} query b ${NOBODYS}`;
    expect(await send(allowlistApi, { query, operationName: "b" })).toEqual(NOT_ALLOWED);
  });

  test("G-ALW-2 a document that cannot be parsed gets its parse error", async () => {
    expect((await send(allowlistApi, { query: "{ team" })).errors[0].message).toBe("not a valid graphql query");
  });

  test("G-ALW-2 a persisted query does not bypass the allow list", async () => {
    expect(await send(allowlistApi, { query: NOBODYS, ...persistedQuery(sha256(NOBODYS)) })).toEqual(NOT_ALLOWED);
    expect(await send(allowlistApi, persistedQuery(sha256(NOBODYS)))).toEqual(NOT_ALLOWED);
  });

  test("G-ALW-2 the allow list applies in the URL, in batches, and to calls of the application", async () => {
    const url = `/v1/graphql?${new URLSearchParams({ query: NOBODYS }).toString()}`;
    expect((await allowlistApi.get(url, { headers: asAdmin("reader") })).json()).toEqual(NOT_ALLOWED);
    expect(await send(allowlistApi, [{ query: FOR_ALL }, { query: NOBODYS }])).toEqual([
      { data: { team: [{ name: "Blues" }] } },
      NOT_ALLOWED,
    ]);
    expect(await allowlistApi.relApi.graphql({ query: NOBODYS, session: { role: "reader" } })).toEqual(NOT_ALLOWED);
  });

  test("G-ALW-2 the allow list applies over a WebSocket", async () => {
    const socket = await openSocket(allowlistApi);
    await socket.init({ headers: asAdmin("reader") });
    socket.send({ id: "1", type: "subscribe", payload: { query: `subscription ${NOBODYS}` } });
    expect(await socket.next()).toMatchObject({ id: "1", type: "error", payload: NOT_ALLOWED.errors });
    socket.send({ id: "2", type: "subscribe", payload: { query: `subscription ${FOR_READERS}` } });
    expect(await socket.next()).toMatchObject({
      id: "2",
      type: "next",
      payload: { data: { team: [{ name: "Reds" }] } },
    });
  });

  test("G-ALW-3 a collection may be restricted to some roles", async () => {
    expect(await send(allowlistApi, { query: FOR_READERS })).toEqual({ data: { team: [{ name: "Reds" }] } });
    expect(await send(allowlistApi, { query: FOR_READERS }, "guest")).toEqual(NOT_ALLOWED);
    expect(await send(allowlistApi, { query: FOR_ALL }, "guest")).toHaveProperty("data");
  });
});
