/** Subscriptions of remote schemas, by URL and in the process. */
import { writeFile } from "node:fs/promises";
import { buildSchema, printSchema, type GraphQLSchema } from "graphql";
import { beforeEach, describe, expect, test } from "vitest";
import { remoteSchemas } from "../../plugins/services/index.ts";
import { asAdmin, type StartOptions, type TestApi } from "../support/api.ts";
import { introspect } from "../support/graphql-data.ts";
import {
  collectWarnings,
  buildMetadataDocument,
  permissions,
  table,
  type Entry,
} from "../support/metadata-document.ts";
import { openSocket, type TestSocket } from "../support/socket.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { temporaryFile } from "../support/temporary-files.ts";
import { startRemote } from "./remote-server.ts";
import { startWithWebhooks } from "./start.ts";

/** Events for all readers. A reader counts from its first read to its end. */
class Channel {
  readonly readers = new Set<(event: unknown) => void>();

  send(event: unknown): void {
    for (const reader of this.readers) reader(event);
  }

  subscribe(): AsyncIterableIterator<unknown> {
    const events: unknown[] = [];
    let wake: (() => void) | undefined;
    let isEnded = false;
    const reader = (event: unknown): void => {
      if (event === "end") isEnded = true;
      else events.push(event);
      wake?.();
    };
    this.readers.add(reader);
    const close = async (): Promise<any> => {
      isEnded = true;
      this.readers.delete(reader);
      wake?.();
      return { done: true, value: undefined };
    };
    const iterator: AsyncIterableIterator<unknown> = {
      next: async () => {
        while (events.length === 0 && !isEnded) await new Promise<void>((resolve) => (wake = resolve));
        if (events.length > 0) return { done: false, value: events.shift() };
        return close();
      },
      return: close,
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }
}

const SDL = `
  type Query { secret: String }
  type Subscription { ticks(of: String, big: Big): Tick! hidden: Tick }
  type Tick { n: Int! of: String broken: String big: Big code: ID inner: Tick }
  scalar Big
`;
const buildTicks = (channel: Channel, note: (args: any, context: any) => void = () => undefined): GraphQLSchema => {
  const schema = buildSchema(SDL);
  const { ticks, hidden } = schema.getSubscriptionType()!.getFields();
  for (const field of [ticks!, hidden!]) {
    field.subscribe = (_root, args, context) => {
      note(args, context);
      if (args.of === "nobody") throw new Error("nothing of that kind");
      return channel.subscribe();
    };
    field.resolve = (event: any, args) => ({ ...event, of: args.of });
  }
  (schema.getType("Tick") as any).getFields().broken.resolve = (tick: any) => {
    if (tick.n === 13) throw new Error("a broken tick");
    return "whole";
  };
  return schema;
};

const channel = new Channel();
const remote = await startRemote(buildTicks(channel));

const READER = `
  type Query { secret: String }
  type Subscription { ticks(of: String @preset(value: "x-hasura-kind")): Tick! }
  type Tick { n: Int! of: String code: ID }
`;
const ARTIST = table("artist", {
  select_permissions: permissions({ reader: { columns: ["id", "name"], filter: { id: { _lte: 2 } } } }),
});
const documentWith = (extraKeys: Entry = {}): Entry =>
  buildMetadataDocument([ARTIST], {
    remote_schemas: [
      {
        name: "clock",
        definition: {
          url: remote.url,
          timeout_seconds: 20,
          headers: [{ name: "x-key", value: "the key" }],
          forward_client_headers: true,
        },
        permissions: [
          { role: "reader", definition: { schema: READER } },
          { role: "guest", definition: { schema: "type Query { secret: String }" } },
        ],
        remote_relationships: [
          {
            type_name: "Tick",
            relationships: [
              {
                name: "artists",
                definition: {
                  to_source: {
                    relationship_type: "array",
                    source: "default",
                    table: "artist",
                    field_mapping: { code: "country" },
                  },
                },
              },
            ],
          },
        ],
        ...extraKeys,
      },
    ],
  });
/** In seconds: a client that does not read must not be closed while a test is slow. */
const UNREAD_TIMEOUT = 3600;

const start = (metadata: Entry, extraOptions: StartOptions = {}): Promise<TestApi> =>
  startWithWebhooks({ unreadTimeout: UNREAD_TIMEOUT, metadata, ...extraOptions });
const api = await start(documentWith());

beforeEach(() => {
  channel.readers.clear();
  remote.sockets.length = 0;
  remote.isRejecting = false;
});

const open = async (target = api, role?: string, variables: Entry = {}): Promise<TestSocket> => {
  const socket = await openSocket(target);
  const session = Object.entries(variables).map(([name, value]) => [`X-Session-${name}`, value]);
  await socket.init({
    headers: {
      "X-Session-Admin-Secret": adminSecret,
      ...(role === undefined ? {} : { "X-Session-Role": role }),
      ...Object.fromEntries(session),
    },
  });
  return socket;
};
const subscribe = (socket: TestSocket, query: string, variables: Entry = {}, id = "1"): void =>
  socket.send({ id, type: "subscribe", payload: { query, variables } });
const readers = (count: number, eventChannel = channel): Promise<void> =>
  until(() => eventChannel.readers.size === count, `${count} readers of the events`);

describe("events", () => {
  test("X-GQL-16 X-RMT-15 each event of the remote is a result, in order, and the end of the client ends the remote's", async () => {
    const socket = await open();
    subscribe(socket, "subscription ($of: String) { now: ticks(of: $of) { n of } }", { of: "seconds" });
    await readers(1);
    for (const n of [1, 2, 2, 3]) channel.send({ n });
    for (const n of [1, 2, 2, 3])
      expect(await socket.next()).toEqual({ id: "1", type: "next", payload: { data: { now: { n, of: "seconds" } } } });
    expect(remote.sockets[0]?.operations[0].variables).toEqual({ of: "seconds" });
    socket.send({ id: "1", type: "complete" });
    await readers(0);
    await until(() => remote.sockets[0]?.isOpen === false, "the connection to the remote is closed");
    subscribe(socket, "subscription { ticks { n } }");
    await readers(1);
    await socket.close();
    await readers(0);
  });

  test("X-RMT-15e a client that does not read stops the remote, and gets all events when it reads again", async () => {
    const [count, bytes] = [300, 200_000];
    const socket = await open();
    subscribe(socket, "subscription { ticks { n of } }");
    await readers(1);
    socket.socket.pause();
    const [connection] = remote.sockets;
    const padding = "x".repeat(bytes);
    for (let n = 0; n < count; n++)
      connection?.send(JSON.stringify({ id: "1", type: "next", payload: { data: { ticks: { n, of: padding } } } }));
    for (let i = 0; i < 20; i++) expect((await api.gql("{ artist { id } }", {}, asAdmin())).errors).toBeUndefined();
    // The buffers of the network take less than a half.
    expect(connection?.countUnsentBytes()).toBeGreaterThan((count * bytes) / 2);
    socket.socket.resume();
    for (let n = 0; n < count; n++) expect((await socket.next()).payload.data.ticks.n).toBe(n);
    await socket.close();
    await readers(0);
  });

  test("X-RMT-15 the last event of the remote completes the subscription, and its errors are results", async () => {
    const socket = await open();
    subscribe(socket, "subscription { ticks { n broken } }");
    await readers(1);
    channel.send({ n: 13 });
    expect((await socket.next()).payload).toEqual({
      errors: [{ message: "a broken tick", path: ["ticks", "broken"] }],
    });
    channel.send({ n: 14 });
    expect((await socket.next()).payload).toEqual({ data: { ticks: { n: 14, broken: "whole" } } });
    channel.send("end");
    expect(await socket.next()).toEqual({ id: "1", type: "complete" });
    subscribe(socket, 'subscription { ticks(of: "nobody") { n } }');
    expect((await socket.next()).payload).toEqual({
      errors: [{ message: "nothing of that kind", path: ["ticks"] }],
    });
    expect(await socket.next()).toEqual({ id: "1", type: "complete" });
    await socket.close();
  });

  test("X-RMT-15 X-RMT-6a numbers of custom scalars keep their digits", async () => {
    const socket = await open();
    let raw = "";
    socket.socket.on("message", (data) => (raw = String(data)));
    subscribe(socket, "subscription { ticks { big } }");
    await readers(1);
    remote.sockets[0]?.send('{"id":"1","type":"next","payload":{"data":{"ticks":{"big":9007199254740993}}}}');
    await socket.next();
    expect(raw).toContain("9007199254740993");
    await socket.close();
  });

  test("X-RMT-15 other transports serve the events: server-sent events, parts and the older protocol", async () => {
    const body = JSON.stringify({ query: "subscription { ticks { n } }" });
    for (const [accept, last] of [
      ["text/event-stream", "event: complete"],
      ['multipart/mixed;subscriptionSpec="1.0"', "--graphql--"],
    ] as const) {
      const headers = { "x-session-admin-secret": adminSecret, accept, "content-type": "application/json" };
      const response = await fetch(`${api.url}/v1/graphql`, { method: "POST", headers, body });
      await readers(1);
      channel.send({ n: 1 });
      channel.send({ n: 1 });
      channel.send("end");
      const text = await response.text();
      expect(text.match(/\{"data":\{"ticks":\{"n":1\}\}\}/g)).toHaveLength(2);
      expect(text).toContain(last);
      await readers(0);
    }
    const legacy = await openSocket(api, { protocols: ["graphql-ws"] });
    legacy.send({ type: "connection_init", payload: { headers: { "X-Session-Admin-Secret": adminSecret } } });
    await legacy.next((message) => message.type === "connection_ack");
    legacy.send({ id: "1", type: "start", payload: { query: "subscription { ticks { n } }" } });
    await readers(1);
    channel.send({ n: 5 });
    expect(await legacy.next()).toEqual({ id: "1", type: "data", payload: { data: { ticks: { n: 5 } } } });
    channel.send("end");
    expect(await legacy.next()).toEqual({ id: "1", type: "complete" });
    await legacy.close();
  });

  test("X-RMT-15 X-RMT-14b relationships of the types are read for each event", async () => {
    const socket = await open();
    subscribe(socket, "subscription { ticks { n artists(limit: 1, order_by: {id: asc}) { name } } }");
    await readers(1);
    channel.send({ n: 1, code: "SE" });
    expect((await socket.next()).payload).toEqual({ data: { ticks: { n: 1, artists: [{ name: "Abba" }] } } });
    channel.send({ n: 2, code: "XX" });
    expect((await socket.next()).payload).toEqual({ data: { ticks: { n: 2, artists: [] } } });
    await socket.close();
  });

  test("X-RMT-15a headers of the definition and session variables are sent, and no header of the client", async () => {
    const socket = await openSocket(api, { headers: { "x-secret": "of the client" } });
    await socket.init({ headers: { "X-Session-Admin-Secret": adminSecret, "X-Session-User-Id": "7" } });
    subscribe(socket, "subscription { ticks { n } }");
    await readers(1);
    const { headers, payload } = remote.sockets[0]!;
    for (const sentHeaders of [headers, payload.headers]) {
      expect(sentHeaders).toMatchObject({ "x-key": "the key", "x-hasura-role": "admin", "x-hasura-user-id": "7" });
      expect(JSON.stringify(sentHeaders)).not.toContain("of the client");
      expect(JSON.stringify(sentHeaders)).not.toContain(adminSecret);
    }
    await socket.close();
  });
});

describe("roles", () => {
  test("X-RMT-15 X-RMT-9 a role sees and can use the subscription fields of its permission, with their presets", async () => {
    const see = async (role: string): Promise<string> => printSchema(await introspect(api, role));
    expect(await see("reader")).toContain("  ticks: Tick!\n");
    expect(await see("reader")).not.toContain("hidden");
    expect(await see("guest")).not.toMatch(/Tick|ticks|hidden/);
    const reader = await open(api, "reader", { kind: "hours" });
    subscribe(reader, "subscription { ticks { n of } }");
    await readers(1);
    expect(Object.values(remote.sockets[0]?.operations[0].variables)).toEqual(["hours"]);
    channel.send({ n: 1 });
    expect((await reader.next()).payload).toEqual({ data: { ticks: { n: 1, of: "hours" } } });
    await reader.close();
    await readers(0);
    for (const [role, query] of [
      ["reader", "subscription { hidden { n } }"],
      ["reader", 'subscription { ticks(of: "x") { n } }'],
      ["reader", "subscription { ticks { broken } }"],
      ["guest", "subscription { ticks { n } }"],
      ["stranger", "subscription { ticks { n } }"],
    ] as const) {
      const socket = await open(api, role, { kind: "hours" });
      subscribe(socket, query);
      const rejection = await socket.next();
      expect(rejection.type).toBe("error");
      expect(rejection.payload[0].extensions.code).toBe("validation-failed");
      await socket.close();
    }
    expect(remote.sockets).toHaveLength(1);
  });

  test("X-RMT-15 a missing session variable of a preset rejects the subscription", async () => {
    const socket = await open(api, "reader");
    subscribe(socket, "subscription { ticks { n } }");
    expect(await socket.next()).toMatchObject({
      type: "error",
      payload: [{ message: 'missing session variable: "x-hasura-kind"', extensions: { code: "not-found" } }],
    });
    await socket.close();
  });
});

describe("errors", () => {
  const failure = (message: string) => ({
    id: "1",
    type: "error",
    payload: [
      {
        message: `the remote schema clock failed: ${message}`,
        extensions: { path: "$.selectionSet.ticks", code: "remote-schema-error" },
      },
    ],
  });

  test("X-HTTP-9 X-RMT-15b a remote that goes away ends its own subscriptions only", async () => {
    const socket = await open();
    subscribe(socket, "subscription { artist(limit: 1, order_by: {id: asc}) { id } }", {}, "table");
    expect((await socket.next()).payload.data.artist).toHaveLength(1);
    for (const [end, message] of [
      [() => remote.sockets.at(-1)?.terminate(), "it closed the connection with code 1006"],
      [() => remote.sockets.at(-1)?.close(4999), "it closed the connection with code 4999"],
      [
        () => remote.sockets.at(-1)?.send("nonsense"),
        "it sent a message that does not belong to the protocol graphql-transport-ws",
      ],
    ] as const) {
      subscribe(socket, "subscription { ticks { n } }");
      await readers(1);
      end();
      expect(await socket.next()).toEqual(failure(message));
      await readers(0);
    }
    remote.isRejecting = true;
    subscribe(socket, "subscription { ticks { n } }");
    expect(await socket.next()).toEqual(failure("it closed the connection with code 4403"));
    await remote.stop();
    subscribe(socket, "subscription { ticks { n } }");
    expect(await socket.next()).toEqual(failure("the connection to the server failed: ECONNREFUSED"));
    await remote.start();
    await api.sql("update artist set name = name || '!' where id = 1");
    subscribe(socket, "subscription { artist(limit: 1, order_by: {id: asc}) { name } }", {}, "other");
    expect((await socket.next(({ id }) => id === "other")).payload.data.artist).toEqual([{ name: "Abba!" }]);
    await api.sql("update artist set name = 'Abba' where id = 1");
    await socket.close();
  });

  test("X-RMT-15c selections are checked before the remote is called, and the field has no other beside it", async () => {
    const socket = await open();
    for (const [query, message] of [
      ["subscription { ticks { nothing } }", 'Cannot query field "nothing" on type "Tick".'],
      ["subscription { ticks }", 'Field "ticks" of type "Tick!" must have a selection of subfields.'],
      ["subscription { ticks(of: 1) { n } }", "String cannot represent a non string value: 1"],
      ["subscription { ticks { n } hidden { n } }", "subscriptions must select one top level field"],
      [
        "subscription @_multiple_top_level_fields { ticks { n } artist { id } }",
        "a subscription of a remote schema must be the only field of the operation",
      ],
      ["subscription { ticks { artists { nothing } } }", "field 'nothing' not found in type: 'artist'"],
    ] as const) {
      subscribe(socket, query);
      const { type, payload } = await socket.next();
      expect([type, payload[0].message]).toEqual(["error", expect.stringContaining(message)]);
    }
    expect(remote.sockets).toEqual([]);
    const overHttp = await api.gql("subscription { ticks { n } }", {}, asAdmin());
    expect(overHttp.errors[0].extensions.code).toBe("unexpected-payload");
    await socket.close();
  });
});

describe("names and reloads", () => {
  test("X-RMT-5 X-RMT-15 customization gives the fields and types other names", async () => {
    const customization = {
      root_fields_namespace: "clock",
      type_names: { prefix: "Clock" },
      field_names: [
        { parent_type: "Subscription", prefix: "the_" },
        { parent_type: "Tick", mapping: { n: "number" } },
      ],
    };
    const renamedApi = await start(documentWith({ definition: { url: remote.url, customization } }));
    const socket = await open(renamedApi);
    subscribe(socket, "subscription { clock { the_ticks { __typename number broken } } }");
    await readers(1);
    channel.send({ n: 4 });
    expect((await socket.next()).payload).toEqual({
      data: { clock: { the_ticks: { __typename: "ClockTick", number: 4, broken: "whole" } } },
    });
    channel.send({ n: 13 });
    expect((await socket.next()).payload.errors[0]).toEqual({
      message: "a broken tick",
      path: ["clock", "the_ticks", "broken"],
    });
    await socket.close();
    await readers(0);
  });

  test("X-RMT-5a a subscription field with a name of a table makes the remote schema inconsistent", async () => {
    const schema = buildSchema("type Query { a: Int } type Subscription { artist: Int }");
    const otherRemote = await startRemote(schema);
    const warnings = collectWarnings();
    const lame = await start(
      documentWith({ definition: { url: otherRemote.url }, permissions: [], remote_relationships: [] }),
      {
        logger: warnings.logger,
      },
    );
    expect(warnings.all()).toEqual([
      'remote schema clock: a table or function has the root field "artist" too; ignored',
    ]);
    expect((await lame.gql("{ artist(limit: 1) { id } }", {}, asAdmin())).data.artist).toHaveLength(1);
  });

  test("X-RMT-15d a reload keeps the events, and ends those that the role may no longer have", async () => {
    const file = temporaryFile("metadata.json", JSON.stringify(documentWith()));
    const ownApi = await start({}, { metadata: file });
    const socket = await open(ownApi);
    const reader = await open(ownApi, "reader", { kind: "hours" });
    subscribe(socket, "subscription { ticks { n artists(limit: 1, order_by: {id: asc}) { id } } }");
    subscribe(reader, "subscription { ticks { n } }");
    await readers(2);
    await ownApi.reload();
    channel.send({ n: 1, code: "SE" });
    expect((await socket.next()).payload).toEqual({ data: { ticks: { n: 1, artists: [{ id: 1 }] } } });
    expect((await reader.next()).payload).toEqual({ data: { ticks: { n: 1 } } });
    expect(remote.sockets).toHaveLength(2);
    await writeFile(file, JSON.stringify(documentWith({ permissions: [] })));
    await ownApi.reload();
    expect(await reader.next()).toMatchObject({
      type: "error",
      payload: [{ message: "field 'ticks' not found in type: 'subscription_root'" }],
    });
    await readers(1);
    await reader.close();
    await socket.close();
    await readers(0);
  });
});

test("X-RMT-15e a schema in the process makes events at the pace of the client", async () => {
  const [count, bytes] = [500, 200_000];
  let eventCount = 0;
  let isEnded = false;
  const schema = buildSchema("type Query { a: Int } type Subscription { numbers: String! }");
  const { numbers } = schema.getSubscriptionType()?.getFields() ?? {};
  if (numbers)
    numbers.subscribe = async function* () {
      try {
        while (eventCount < count) yield { numbers: String(++eventCount).padEnd(bytes, ".") };
      } finally {
        isEnded = true;
      }
    };
  const localApi = await start(buildMetadataDocument([ARTIST]), { parts: [remoteSchemas({ here: { schema } })] });
  const socket = await open(localApi);
  socket.socket.pause();
  subscribe(socket, "subscription { numbers }");
  await until(() => eventCount > 0, "the first event");
  for (let i = 0; i < 20; i++) expect((await localApi.gql("{ artist { id } }", {}, asAdmin())).errors).toBeUndefined();
  expect(eventCount).toBeLessThan(count / 2);
  socket.socket.resume();
  for (let n = 1; n <= count; n++) expect(Number.parseInt((await socket.next()).payload.data.numbers, 10)).toBe(n);
  await socket.close();
  await until(() => isEnded, "the generator has ended");
});

test("X-RMT-15 X-RMT-2 a schema in the process sends the events of its subscribe functions", async () => {
  const ownChannel = new Channel();
  const subscribeCalls: any[] = [];
  const schema = buildTicks(ownChannel, (args, context) => subscribeCalls.push({ args, ...context }));
  const localApi = await start(documentWith({ permissions: [] }), {
    parts: [remoteSchemas({ own: { schema, permissions: { reader: READER } } })],
    metadata: buildMetadataDocument([ARTIST]),
  });
  const socket = await open(localApi, "reader", { kind: "days" });
  subscribe(socket, "subscription { ticks { n of } }");
  await readers(1, ownChannel);
  expect(subscribeCalls).toMatchObject([{ args: { of: "days" }, session: { role: "reader" } }]);
  expect(subscribeCalls[0].signal.aborted).toBe(false);
  ownChannel.send({ n: 1 });
  ownChannel.send({ n: 1 });
  for (let i = 0; i < 2; i++) expect((await socket.next()).payload).toEqual({ data: { ticks: { n: 1, of: "days" } } });
  subscribe(socket, "subscription { hidden { n } }", {}, "2");
  expect(await socket.next()).toMatchObject({ id: "2", type: "error" });
  await socket.close();
  await readers(0, ownChannel);
  expect(subscribeCalls[0].signal.aborted).toBe(true);
});
