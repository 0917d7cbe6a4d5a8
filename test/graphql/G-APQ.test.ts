import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { asAdmin, forGraphql, startApi, type TestApi } from "../support/api.ts";
import { openSocket } from "../support/socket.ts";
import { buildGqlErrorBody } from "../support/cases.ts";

const api = await startApi(forGraphql({ anonRole: "music_reader" }));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const persistedQuery = (sha256Hash: unknown) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });
const NOT_FOUND = buildGqlErrorBody("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND");
const REDS = { data: { team_by_pk: { name: "Reds" } } };

let documentCount = 0;
/** A document that no client has sent before. */
const newDocument = (): string => `query q${documentCount++}($id: Int = 1) { team_by_pk(id: $id) { name } }`;

const send = async (body: unknown, headers = {}, target: TestApi = api) =>
  (await target.post("/v1/graphql", { body, headers })).json();

describe("persisted queries", () => {
  test("G-APQ-1 G-APQ-2 a hash is unknown until it is sent with its document", async () => {
    const query = newDocument();
    expect(await send(persistedQuery(sha256(query)))).toEqual(NOT_FOUND);
    expect(await send({ query, ...persistedQuery(sha256(query)) })).toEqual(REDS);
    expect(await send(persistedQuery(sha256(query)))).toEqual(REDS);
    expect(await send({ ...persistedQuery(sha256(query).toUpperCase()), variables: { id: 2 } })).toEqual({
      data: { team_by_pk: { name: "Blues" } },
    });
  });

  test("G-APQ-2 a hash may be sent in the URL", async () => {
    const query = newDocument();
    const { extensions } = persistedQuery(sha256(query));
    const url = (extraParameters: Record<string, string>) =>
      `/v1/graphql?${new URLSearchParams({ extensions: JSON.stringify(extensions), ...extraParameters }).toString()}`;
    expect((await api.get(url({}))).json()).toEqual(NOT_FOUND);
    expect((await api.get(url({ query }))).json()).toEqual(REDS);
    expect((await api.get(url({}))).json()).toEqual(REDS);
  });

  test("G-APQ-2 a hash may be sent in a batch", async () => {
    const query = newDocument();
    await send({ query, ...persistedQuery(sha256(query)) });
    expect(await send([persistedQuery(sha256(query)), { query }])).toEqual([REDS, REDS]);
  });

  test("G-APQ-2 a hash may be sent over a WebSocket", async () => {
    const query = newDocument();
    await send({ query, ...persistedQuery(sha256(query)) });
    const socket = await openSocket(api);
    await socket.init();
    socket.send({ id: "1", type: "subscribe", payload: { query: "", ...persistedQuery(sha256(query)) } });
    expect(await socket.next()).toMatchObject({ id: "1", type: "next", payload: REDS });
  });

  test("G-APQ-3 the hash of another document is rejected", async () => {
    const [firstDocument, otherDocument] = [newDocument(), newDocument()];
    expect(await send({ query: firstDocument, ...persistedQuery(sha256(otherDocument)) })).toEqual(
      buildGqlErrorBody("provided sha does not match query", "bad-request", "$.extensions.persistedQuery"),
    );
    expect(await send(persistedQuery(sha256(otherDocument)))).toEqual(NOT_FOUND);
  });

  test.each([["abc"], [7], [undefined], [null]])("G-APQ-3 %j is rejected as a hash", async (hash) => {
    for (const extraKeys of [{}, { query: newDocument() }])
      expect(await send({ ...persistedQuery(hash), ...extraKeys })).toEqual(
        buildGqlErrorBody(
          "sha256Hash is not a SHA-256 hash in hexadecimal",
          "bad-request",
          "$.extensions.persistedQuery",
        ),
      );
  });

  test("G-APQ-4 a persisted query runs with the rights of the caller who sends its hash", async () => {
    const query = "{ secret_note { id } }";
    await api.sql("create table if not exists secret_note (id int)");
    await api.sql("insert into secret_note values (1)");
    await api.reload();
    expect(await send({ query, ...persistedQuery(sha256(query)) }, asAdmin())).toEqual({
      data: { secret_note: [{ id: 1 }] },
    });
    expect((await send(persistedQuery(sha256(query)))).errors[0].message).toBe(
      "field 'secret_note' not found in type: 'query_root'",
    );
  });

  test("G-APQ-4 the least recently used document is removed", async () => {
    const limitedApi = await startApi(forGraphql({ anonRole: "music_reader", persistedQueryBytes: 8000 }));
    const first = newDocument();
    await send({ query: first, ...persistedQuery(sha256(first)) }, {}, limitedApi);
    expect(await send(persistedQuery(sha256(first)), {}, limitedApi)).toEqual(REDS);
    for (let i = 0; i < 20; i++) {
      const query = newDocument();
      await send({ query, ...persistedQuery(sha256(query)) }, {}, limitedApi);
    }
    expect(await send(persistedQuery(sha256(first)), {}, limitedApi)).toEqual(NOT_FOUND);
  });
});
