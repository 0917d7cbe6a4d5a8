/** Changes of live queries as patches, on every transport: the patched result of the client equals a fresh query. */
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { createGraphqlPatchApplier, createRestPatchApplier } from "../../plugins/live/patches/client.ts";
import { forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import {
  initSocket,
  openEvents,
  startLive,
  subscribe,
  untilNoneIsDue,
  type LiveApi,
  type Stream,
} from "../support/live.ts";
import { createRandom } from "../support/random.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";

const options: StartOptions = forGraphql({
  liveQueryInterval: 30,
  liveDirective: true,
  dbSchemas: ["public"],
  unreadTimeout: 3600, // no client is disconnected, however long it reads nothing
});
const api = await startLive(options);
afterAll(() => api.close());
await api.sql(`
  create table public.parcel (id int primary key, name text not null, weight numeric(30, 10), seen bigint, tags json);
  create table public.stop (parcel_id int references public.parcel, at int, town text, primary key (parcel_id, at));
  `);
await api.reload();
beforeEach(() =>
  api.sql(`truncate public.parcel, public.stop;
  insert into public.parcel select i, 'parcel ' || i, i * 1.5, 9007199254740993, '{"a": [1, 2, {"b/c": "d~e"}]}' from generate_series(1, 20) i;
  insert into public.stop select p, s, 'town ' || s from generate_series(1, 20) p, generate_series(1, 3) s`),
);

const headers = { "x-session-admin-secret": adminSecret };
const SELECTION = "parcel(order_by: {id: asc}) { id name weight seen tags stops(order_by: {at: asc}) { at town } }";
const LIVE = `subscription @live(patch: true) { ${SELECTION} }`;
const PATH = "/api/parcel?select=*,stop(at,town)&order=id&stop.order=at";

const queryData = async (): Promise<any> => (await api.gql(`{ ${SELECTION} }`)).data;

interface Client {
  /** The results after patching. */
  readonly results: any[];
  /** The messages of the server, parsed. */
  readonly messages: any[];
  close(): Promise<void> | void;
}

const untilMessages = (client: Pick<Client, "messages">, count: number): Promise<void> =>
  until(() => client.messages.length === count, `message ${count}`);

const untilEvents = (stream: Stream, count: number): Promise<void> =>
  until(() => stream.events.length >= count, `event ${count}`);

const createCollector = (): { readonly client: Pick<Client, "results" | "messages">; take(result: any): void } => {
  const fold = createGraphqlPatchApplier();
  const client = { results: [] as any[], messages: [] as any[] };
  return {
    client,
    take: (result) => {
      client.messages.push(result);
      client.results.push(fold<any>(result));
    },
  };
};

const overSocket = async (query = LIVE): Promise<Client> => {
  const socket = await initSocket(api);
  const { client, take } = createCollector();
  socket.socket.on("message", (data) => {
    const message = JSON.parse(String(data));
    if (message.type === "next") take(message.payload);
  });
  subscribe(socket, "1", query);
  return { ...client, close: () => socket.close() };
};

const overOldSocket = async (): Promise<Client> => {
  const socket = await openSocket(api, { path: "/v1/graphql", protocols: ["graphql-ws"] });
  const { client, take } = createCollector();
  socket.socket.on("message", (data) => {
    const message = JSON.parse(String(data));
    if (message.type === "data") take(message.payload);
  });
  socket.send({ type: "connection_init", payload: { headers } });
  socket.send({ id: "1", type: "start", payload: { query: LIVE } });
  return { ...client, close: () => socket.close() };
};

const followStream = (stream: Stream, take: (data: string) => void): (() => void) => {
  let index = 0;
  const timer = setInterval(() => {
    for (; index < stream.events.length; index++) {
      const { data } = stream.events[index]!;
      if (data !== "") take(data); // nothing is left at the end of the stream
    }
  }, 5);
  return () => {
    clearInterval(timer);
    stream.close();
  };
};

const asEvents = async (): Promise<Client> => {
  const { client, take } = createCollector();
  const stream = await openEvents(api, "/v1/graphql", { method: "POST", headers, body: { query: LIVE } });
  return { ...client, close: followStream(stream, (data) => take(JSON.parse(data))) };
};

const inParts = async (): Promise<Client> => {
  const { client, take } = createCollector();
  const controller = new AbortController();
  const response = await fetch(`${api.url}/v1/graphql`, {
    method: "POST",
    headers: { ...headers, accept: "multipart/mixed;subscriptionSpec=1.0" },
    body: JSON.stringify({ query: LIVE }),
    signal: controller.signal,
  });
  void (async () => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const parts = text.split("\r\n--graphql");
      text = parts.pop()!;
      for (const part of parts) {
        const json = part.slice(part.indexOf("\r\n\r\n")).trim();
        const { payload } = json === "" ? {} : JSON.parse(json);
        if (payload !== undefined) take(payload);
      }
    }
  })().catch(() => undefined);
  return { ...client, close: () => controller.abort() };
};

const asRows = async (): Promise<Client> => {
  const messages: any[] = [];
  const results: any[] = [];
  const fold = createRestPatchApplier();
  const stream = await openEvents(api, `${PATH}&live=patch`, { headers });
  const close = followStream(stream, (data) => {
    messages.push(JSON.parse(data));
    results.push({ data: { parcel: fold(data).map(({ stop, ...row }: any) => ({ ...row, stops: stop })) } });
  });
  return { results, messages, close };
};

const readLive = (message: any): { version: number; patch?: readonly any[] } => message.extensions?.live ?? message;

const numeric = (data: any): any =>
  JSON.parse(JSON.stringify(data, (key, value) => (key === "weight" || key === "seen" ? Number(value) : value)));

describe.each([
  ["graphql-transport-ws", overSocket],
  ["graphql-ws", overOldSocket],
  ["events", asEvents],
  ["parts", inParts],
  ["REST", asRows],
] as const)("%s", (name, open) => {
  test("X-PAT-1 X-PAT-2 X-PAT-3 the first message has the whole result, and a changed row one operation, with versions", async () => {
    const client = await open();
    await untilMessages(client, 1);
    expect(readLive(client.messages[0])).toMatchObject({ version: 1 });
    expect(readLive(client.messages[0]).patch).toBeUndefined();
    await api.sql("insert into public.parcel values (0, 'front', 1, 2, '[]')");
    await untilMessages(client, 2);
    const { version, patch } = readLive(client.messages[1]);
    expect([version, patch?.length, patch?.[0].op]).toEqual([2, 1, "add"]);
    expect(client.messages[1].data).toBeUndefined();
    await api.sql("update public.stop set town = 'elsewhere' where parcel_id = 7 and at = 2");
    await untilMessages(client, 3);
    expect(readLive(client.messages[2]).patch).toEqual([
      { op: "replace", path: expect.stringMatching(/\/7\/stops?\/1\/town$/), value: "elsewhere" },
    ]);
    await api.sql("delete from public.parcel where id = 0");
    await untilMessages(client, 4);
    expect(readLive(client.messages[3])).toMatchObject({ version: 4, patch: [{ op: "remove" }] });
    expect(numeric(client.results.at(-1).data)).toEqual(numeric(await queryData()));
    await client.close();
  });

  test("X-PAT-4 the patched result equals a fresh query after many random changes", async () => {
    const client = await open();
    const upTo = createRandom(20 + name.length).int;
    await untilMessages(client, 1);
    const agrees = async (): Promise<void> => {
      const expected = numeric(await queryData());
      const text = JSON.stringify(expected);
      const last = () => numeric(client.results.at(-1).data);
      await until(() => JSON.stringify(last()) === text, "the client has what a fresh query gives").catch(() =>
        expect(last()).toEqual(expected),
      );
    };
    for (let i = 0; i < 30; i++) {
      const id = upTo(30);
      await api.sql(
        [
          `insert into public.parcel values (${id}, 'new ${i}', random() * 1e6, ${i}, '{"n": ${i}}') on conflict (id) do update set name = excluded.name`,
          `delete from public.stop where parcel_id = ${id}; delete from public.parcel where id = ${id}`,
          `update public.parcel set weight = weight + 0.0000000001, seen = seen + 1 where id % 3 = ${upTo(3)}`,
          `update public.parcel set id = id + ${1000 + 100 * i} where id = ${id} and not exists (select from public.stop where parcel_id = ${id})`,
          `insert into public.stop select id, ${upTo(9)}, 'x"\\/~${i}' from public.parcel order by id limit 5 on conflict do nothing`,
          `update public.stop set town = town || '!' where at = ${upTo(4)}`,
        ][upTo(6)]!,
      );
      // Other transports may combine several changes that come quickly.
      if (upTo(3) === 0) await agrees();
    }
    await agrees();
    expect(client.messages.filter((message) => readLive(message).patch !== undefined).length).toBeGreaterThan(3);
    expect(client.messages.map((message) => readLive(message).version)).toEqual(client.messages.map((_, i) => i + 1));
    await client.close();
  });
});

test("X-PAT-2 without patch: true messages are unchanged, and if: false requests no patches", async () => {
  const query = "subscription ($on: Boolean!) @live(if: $on, patch: true) { parcel(limit: 1) { id } }";
  const socket = await initSocket(api);
  subscribe(socket, "1", query, { on: false });
  expect(Object.keys((await socket.next()).payload)).toEqual(["data"]);
  subscribe(socket, "2", query, { on: true });
  expect((await socket.next()).payload.extensions).toEqual({ live: { version: 1 } });
  subscribe(socket, "3", "subscription { parcel(limit: 1) { id } }");
  expect(Object.keys((await socket.next()).payload)).toEqual(["data"]);
  subscribe(socket, "4", "query @live(patch: true) { parcel(limit: 1) { id } }");
  expect((await socket.next()).payload.extensions).toEqual({ live: { version: 1 } });
  await socket.close();
});

test("X-PAT-1 the result after an error is sent whole", async () => {
  await api.sql(
    "create table public.quotient (id int primary key, n int not null); insert into public.quotient values (1, 1)",
  );
  await api.sql(
    "create view public.inverse as select id, 1 / n as x, repeat('long ', 50) as text from public.quotient",
  );
  await api.reload();
  const client = await overSocket("subscription @live(patch: true) { inverse { id x text } }");
  await untilMessages(client, 1);
  await api.sql("update public.quotient set n = 0");
  await untilMessages(client, 2);
  expect(client.messages[1].errors).toHaveLength(1);
  expect(client.messages[1].extensions).toBeUndefined();
  await api.sql("update public.quotient set n = 2");
  await untilMessages(client, 3);
  expect(client.messages[2]).toMatchObject({ data: { inverse: [{ x: 0 }] }, extensions: { live: { version: 2 } } });
  await api.sql("update public.quotient set n = 1");
  await untilMessages(client, 4);
  expect(client.messages[3].extensions.live).toEqual({
    version: 3,
    patch: [{ op: "replace", path: "/inverse/0/x", value: 1 }],
  });
  await client.close();
});

test("X-PAT-1 a slow client skips results and receives the change from the last one sent", async () => {
  await api.sql("create table public.bulk (id int primary key, n int, pad text)");
  await api.sql("insert into public.bulk select i, 0, md5(i::text) || repeat('x', 9000) from generate_series(1, 80) i");
  await api.reload();
  const [client, otherSocket] = [await initSocket(api), await initSocket(api)];
  const fold = createGraphqlPatchApplier();
  const results: any[] = [];
  client.socket.on("message", (data) => {
    const message = JSON.parse(String(data));
    if (message.type === "next") results.push(fold<any>(message.payload));
  });
  subscribe(client, "1", "subscription @live(patch: true) { bulk(order_by: {id: asc}) { id n pad } }");
  await until(() => results.length === 1, "the first result");
  subscribe(otherSocket, "1", "subscription { bulk_by_pk(id: 1) { n } }");
  await otherSocket.next();
  await untilNoneIsDue(api.context);
  client.socket.pause();
  /** Changes every row, so that each change is as large as the whole result. Another client receives it. */
  let changes = 0;
  const change = async (): Promise<void> => {
    changes++;
    await api.sql(`update public.bulk set n = ${changes}, pad = md5(n::text || id) || repeat('y', 9000)`);
    await otherSocket.next((message) => message.payload?.data?.bulk_by_pk?.n === changes);
  };
  // The system buffers some results for the client.
  for (let unreadCount = 0; unreadCount < 4;) {
    await change();
    unreadCount = api.context.counters.get("unread-bytes") > 0 ? unreadCount + 1 : 0;
  }
  await api.sql("update public.bulk set n = -1 where id = 5");
  client.socket.resume();
  await until(() => results.at(-1).data.bulk[4].n === -1, "the last result");
  // With a result for each change, there would be two more: the first and the last one.
  expect(results.length).toBeLessThan(changes);
  expect(results.at(-1).data.bulk).toEqual((await api.gql("{ bulk(order_by: {id: asc}) { id n pad } }")).data.bulk);
  await client.close();
  await otherSocket.close();
});

test("X-PAT-4 a result larger than the setting is sent whole", async () => {
  const limitedApi = await startApi({ ...options, maxLivePatchBytes: 200 });
  const socket = await initSocket(limitedApi);
  subscribe(socket, "1", LIVE);
  await socket.next();
  await api.sql("update public.parcel set name = name || '.' where id = (select min(id) from public.parcel)");
  const { payload } = await socket.next();
  expect(payload.extensions.live).toEqual({ version: 2 });
  expect(payload.data.parcel.length).toBeGreaterThan(1);
  await socket.close();
  await limitedApi.close();
});

describe("Last-Event-ID", () => {
  const path = "/api/artist?select=name,country&id=eq.3&live=patch";
  const openRows = (target: TestApi, lastId?: string, restPath = path): Promise<Stream> =>
    openEvents(target, restPath, {
      headers: { ...headers, ...(lastId === undefined ? {} : { "last-event-id": lastId }) },
    });
  const first = async (target: TestApi, lastId?: string, restPath = path): Promise<any> => {
    const stream = await openRows(target, lastId, restPath);
    await untilEvents(stream, 1);
    stream.close();
    return stream.events[0];
  };

  test("X-PAT-7 Last-Event-ID suppresses an unchanged result and is the same without patches", async () => {
    const { id } = await first(api);
    expect((await first(api, undefined, path.replace("&live=patch", ""))).id).toBe(id);
    const resumedStream = await openRows(api, id);
    await api.settle();
    expect(resumedStream.events).toEqual([]);
    await api.sql("update artist set country = 'Elsewhere' where id = 3");
    await untilEvents(resumedStream, 1);
    expect(JSON.parse(resumedStream.events[0]!.data)).toMatchObject({ version: 1, data: [{ country: "Elsewhere" }] });
    resumedStream.close();
    // The value changed and changed back while the client was away.
    const restoredEvent = await first(api);
    await api.sql("update artist set country = 'Nowhere' where id = 3");
    await api.sql("update artist set country = 'Elsewhere' where id = 3");
    const quiet = await openRows(api, restoredEvent.id);
    await api.settle();
    expect(quiet.events).toEqual([]);
    quiet.close();
  });

  test("X-PAT-7 Last-Event-ID is valid after a restart and in another process", async () => {
    const { id } = await first(api);
    const otherApi: LiveApi = await startLive(options);
    const quiet = await openRows(otherApi, id);
    await otherApi.settle();
    expect(quiet.events).toEqual([]);
    quiet.close();
    await api.sql("update artist set country = country || '!' where id = 3");
    expect(JSON.parse((await first(otherApi, id)).data).version).toBe(1);
    await otherApi.close();
  });

  test("X-PAT-7 the id of another caller reveals nothing about that caller's result", async () => {
    const ownPath = path;
    const otherPath = path.replace("id=eq.3", "id=eq.1");
    const { id } = await first(api, undefined, otherPath);
    const { data } = await first(api, id, ownPath);
    expect(JSON.parse(data)).toMatchObject({
      version: 1,
      data: (await api.get(ownPath.replace("&live=patch", ""), { headers })).json(),
    });
  });

  test.each(["", "0", "-1", "x".repeat(65), "error-x", "1.2", "..", "'; drop table artist; --", "null", "\u00e4"])(
    "X-PAT-7 an unknown id is answered with the whole result: %j",
    async (id) => expect(JSON.parse((await first(api, id)).data)).toMatchObject({ version: 1, data: [{}] }),
  );
});

describe("requests without event streams, or with an invalid parameter", () => {
  test.each([
    ["no events", `${PATH}&live=patch`, "application/json"],
    ["another value", `${PATH}&live=patches`, "text/event-stream"],
    ["in capitals", `${PATH}&live=PATCH`, "text/event-stream"],
    ["a filter without a column", `${PATH}&live=eq.patch`, "text/event-stream"],
  ])("X-PAT-3 the parameter live is read as a filter and rejected: %s", async (_title, path, accept) => {
    const answer = await api.get(path, { headers: { ...headers, accept } });
    expect(answer.status).toBe(400);
  });

  test("X-PAT-3 a column named live can still be filtered", async () => {
    await api.sql(
      "create table public.show (id int primary key, live text); insert into public.show values (1, 'patch'), (2, 'x')",
    );
    await api.reload();
    const stream = await openEvents(api, "/api/show?live=eq.patch&live=patch&select=id", { headers });
    await untilEvents(stream, 1);
    expect(JSON.parse(stream.events[0]!.data)).toEqual({ version: 1, data: [{ id: 1 }] });
    stream.close();
  });

  test("X-PAT-3 without the plugin the parameter live is rejected as a filter", async () => {
    const otherApi = await startApi({ ...options, parts: [without("live-patches")] });
    expect(
      (await otherApi.get(`${PATH}&live=patch`, { headers: { ...headers, accept: "text/event-stream" } })).json(),
    ).toMatchObject({
      code: "PGRST100",
    });
    await otherApi.close();
  });
});
