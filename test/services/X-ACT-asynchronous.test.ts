/** Asynchronous actions: a mutation answers an id, the webhook is called in the background, and fields have the
 *  result. */
import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { asAdmin, capabilities, forGraphql, startApi, type HeaderValues, type StartOptions } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { collectWarnings, buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";
import { openSocket } from "../support/socket.ts";
import { until } from "../support/until.ts";
import { argument, startActionHook } from "./action-metadata.ts";
import { json } from "./hook-server.ts";
import { startWithWebhooks } from "./start.ts";

const metadata = buildMetadataDocument(
  [table("artist", { select_permissions: permissions({ reader: { columns: ["name"], filter: {} } }) })],
  {
    actions: [
      {
        name: "order",
        comment: "Places an order.",
        definition: {
          kind: "asynchronous",
          type: "mutation",
          handler: "{{ACTION_BASE}}/order",
          forward_client_headers: true,
          arguments: [argument("amount", "bigint!")],
          output_type: "Placed!",
        },
        permissions: [{ role: "reader" }],
      },
    ],
    custom_types: {
      objects: [
        {
          name: "Placed",
          fields: [argument("number", "bigint!"), argument("artist_id", "Int")],
          relationships: [
            { name: "artist", type: "object", remote_table: "artist", field_mapping: { artist_id: "id" } },
          ],
        },
      ],
    },
  },
);

const hook = await startActionHook();

test("X-ACT-12d without the plugin events asynchronous actions are left out", async () => {
  const warnings = collectWarnings();
  await startApi(forGraphql({ preset: plus, parts: [without("events")], metadata, logger: warnings.logger }));
  expect(warnings.all()).toEqual(["action order: asynchronous actions need the plugin events; ignored"]);
});

describe.runIf(capabilities.realServer)("with a PostgreSQL server", async () => {
  const options: StartOptions = {
    metadata,
    on: await openDatabase(),
  };
  const api = await startWithWebhooks(options);
  const reader: HeaderValues = { ...asAdmin("reader"), "x-hasura-user-id": "7" };
  beforeEach(() => void (hook.requests.length = 0));

  const order = async (headers = reader): Promise<string> =>
    (await api.gql("mutation ($n: bigint!) { order(amount: $n) }", { n: "5" }, headers)).data.order;
  const FIELDS = "id created_at errors output { number artist { name } }";
  const find = async (id: string, headers = reader, targetApi = api): Promise<any> =>
    (await targetApi.gql(`query ($id: uuid!) { order(id: $id) { ${FIELDS} } }`, { id }, headers)).data.order;
  const findEnded = async (id: string, targetApi = api): Promise<any> => {
    await until(async () => {
      const { errors, output } = await find(id, reader, targetApi);
      return errors !== null || output !== null;
    }, "the action has a result");
    return find(id, reader, targetApi);
  };

  test("X-ACT-12 the mutation returns an id, with which the query has the result", async () => {
    let response: ServerResponse | undefined;
    hook.answer = (pendingResponse) => void (response = pendingResponse);
    const id = await order();
    await until(() => response !== undefined, "the webhook is called");
    expect(await find(id)).toEqual({ id, created_at: expect.any(String), errors: null, output: null });
    const [row] = await api.sql("select status from relapi.action_log where id = $1", [id]);
    expect(row).toEqual({ status: "processing" });
    json({ number: 9, artist_id: 2 })(response!, hook.requests[0]!);
    expect(await findEnded(id)).toMatchObject({ errors: null, output: { number: 9, artist: { name: "Bjork" } } });
  });

  test("X-ACT-12b the webhook receives the stored call", async () => {
    hook.answer = json({ number: 1 });
    const id = await order({ ...reader, "x-own": "1" });
    const { created_at: createdAt } = await findEnded(id);
    expect(JSON.parse(hook.requests[0]?.body ?? "")).toEqual({
      action: { name: "order" },
      id,
      created_at: createdAt,
      input: { amount: "5" },
      session_variables: { "x-hasura-role": "reader", "x-hasura-user-id": "7" },
      request_query: "mutation ($n: bigint!) { order(amount: $n) }",
    });
    expect(hook.requests[0]?.headers["x-own"]).toBe("1");
    expect(
      await api.sql("select status, request_headers as headers from relapi.action_log where id = $1", [id]),
    ).toEqual([{ status: "completed", headers: null }]);
  });

  test.each([
    [json({ message: "sold out", code: "empty" }, 400), { path: "$", code: "empty" }, "sold out"],
    [json({ message: "sold out", extensions: { left: 0 } }, 400), { left: 0 }, "sold out"],
    [json({}, 500), { path: "$", code: "unexpected" }, "internal error"],
    [json({ number: null }), { path: "$", code: "unexpected" }, expect.stringContaining('"number"')],
  ])("X-ACT-12e an error of the webhook is the result, %#", async (answer, extensions, message) => {
    hook.answer = answer;
    const { errors, output } = await findEnded(await order());
    expect({ errors, output }).toEqual({ errors: { message, extensions }, output: null });
    expect(hook.requests).toHaveLength(1);
  });

  test("X-ACT-12a only the same session and administrators see a call", async () => {
    hook.answer = json({ number: 1 });
    const id = await order();
    expect(await find(id, { ...reader, "x-hasura-user-id": "8" })).toBeNull();
    expect(await find(id, asAdmin())).toMatchObject({ id });
    expect(await find("00000000-0000-0000-0000-000000000000")).toBeNull();
  });

  test("X-ACT-12c a subscription receives the result when it is written", async () => {
    let response: ServerResponse | undefined;
    hook.answer = (pendingResponse) => void (response = pendingResponse);
    const id = await order();
    const socket = await openSocket(api);
    await socket.init({ headers: reader });
    const query = `subscription { order(id: "${id}") { errors output { number } } }`;
    socket.send({ id: "1", type: "subscribe", payload: { query } });
    expect(await socket.next()).toMatchObject({ payload: { data: { order: { errors: null, output: null } } } });
    await until(() => response !== undefined, "the webhook is called");
    json({ number: 3 })(response!, hook.requests[0]!);
    expect(await socket.next()).toMatchObject({
      payload: { data: { order: { errors: null, output: { number: 3 } } } },
    });
    await socket.close();
  });

  test("X-ACT-12c a subscription has the rows of relationships, which are read for each result", async () => {
    let response: ServerResponse | undefined;
    hook.answer = (pendingResponse) => void (response = pendingResponse);
    const id = await order();
    const socket = await openSocket(api);
    await socket.init({ headers: reader });
    const subscribe = (name: string, selection: string): void => {
      const query = `subscription { order(id: "${id}") { ${selection} } }`;
      socket.send({ id: name, type: "subscribe", payload: { query } });
    };
    const receive = async (): Promise<unknown> => {
      const { id: name, payload } = await socket.next();
      return [name, payload];
    };
    const data = (output: unknown): unknown => ({ data: { order: { output } } });
    subscribe("rows", "output { artist { name } }");
    expect(await receive()).toEqual(["rows", data(null)]);
    subscribe("number", "output { number }");
    expect(await receive()).toEqual(["number", data(null)]);
    await until(() => response !== undefined, "the webhook is called");
    json({ number: 3, artist_id: 2 })(response!, hook.requests[0]!);
    const results = new Map([await receive(), await receive()] as [string, unknown][]);
    expect(results.get("rows")).toEqual(data({ artist: { name: "Bjork" } }));
    expect(results.get("number")).toEqual(data({ number: 3 }));
    await socket.close();
  });

  test("X-ACT-12d before the installation a query has no call, and other operations are rejected with the reason", async () => {
    const ownDatabase = await openDatabase();
    const bare = await startWithWebhooks({ ...options, on: ownDatabase, eventsInstall: false });
    const field = `order(id: "00000000-0000-0000-0000-000000000000") { errors }`;
    expect(await bare.gql(`{ ${field} }`, {}, reader)).toMatchObject({ data: { order: null } });
    const errors = [
      {
        message: 'asynchronous actions are not installed in the database: run "relapi --preset plus events install"',
        extensions: { path: "$.selectionSet.order", code: "not-supported" },
      },
    ];
    expect(await bare.gql('mutation { order(amount: "6") }', {}, reader)).toMatchObject({ errors });
    const socket = await openSocket(bare);
    await socket.init({ headers: reader });
    socket.send({ id: "1", type: "subscribe", payload: { query: `subscription { ${field} }` } });
    expect(await socket.next()).toMatchObject({ payload: { errors } });
    await socket.close();
    const installing = await startWithWebhooks({ ...options, on: ownDatabase });
    hook.answer = json({ number: 1 });
    expect((await installing.gql('mutation { order(amount: "6") }', {}, reader)).data.order).toBeTypeOf("string");
    await until(() => hook.requests.length === 1, "the webhook is called");
  });

  test("X-ACT-12e a call whose process ends is made again with the same id", async () => {
    hook.answer = () => undefined;
    const otherApi = await startWithWebhooks({ ...options, shutdownGrace: 0 });
    await api.close();
    const { data } = await otherApi.gql('mutation { order(amount: "6") }', {}, reader);
    await until(() => hook.requests.length === 1, "the webhook is called");
    hook.answer = json({ number: 6 });
    await otherApi.close();
    const next = await startWithWebhooks(options);
    expect(await findEnded(data.order, next)).toMatchObject({ output: { number: 6 } });
    expect(hook.requests.map(({ body }) => JSON.parse(body).id)).toEqual([data.order, data.order]);
  });
});
