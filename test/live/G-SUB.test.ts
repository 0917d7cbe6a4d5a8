import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, capabilities, forGraphql, startApi } from "../support/api.ts";
import { initSocket, openEvents, roundTrip, startLive, subscribe, untilNoneIsDue } from "../support/live.ts";
import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";
import { openSocket, type TestSocket } from "../support/socket.ts";
import { until } from "../support/until.ts";
import { collectMessages } from "../support/logger.ts";

const api = await startLive(forGraphql({ liveQueryInterval: 20 }));

/** Expects no other message, although every committed change has been noticed. */
const expectNothing = async (...sockets: readonly TestSocket[]): Promise<void> => {
  await api.settle();
  for (const socket of sockets) expect(socket.takeMessages()).toEqual([]);
};

const asRole = (role: string, variables: Record<string, string> = {}) => ({ headers: asAdmin(role, variables) });

describe("results of live queries", () => {
  test("G-SUB-1 fields of query_root are live queries, and there are no _stream fields", async () => {
    const socket = await initSocket(api);
    for (const [i, field] of [
      "album(limit: 1) { id }",
      "album_by_pk(id: 1) { id }",
      "album_aggregate { aggregate { count } }",
    ].entries()) {
      subscribe(socket, `f${i}`, `subscription { ${field} }`);
      expect(await socket.next()).toMatchObject({ id: `f${i}`, type: "next", payload: { data: {} } });
    }
    subscribe(socket, "stream", "subscription { album_stream(batch_size: 1, cursor: []) { id } }");
    expect(await socket.next()).toMatchObject({
      id: "stream",
      type: "error",
      payload: [{ message: "field 'album_stream' not found in type: 'subscription_root'" }],
    });
    await socket.close();
  });

  test("G-SUB-2 a subscription has one root field unless a directive allows several", async () => {
    const socket = await initSocket(api);
    const twoFields = "{ album_by_pk(id: 1) { id } artist_by_pk(id: 1) { id } }";
    subscribe(socket, "1", `subscription ${twoFields}`);
    expect(await socket.next()).toEqual({
      id: "1",
      type: "error",
      payload: [
        {
          message: "subscriptions must select one top level field",
          extensions: { path: "$", code: "validation-failed" },
        },
      ],
    });
    subscribe(socket, "1", `subscription @_multiple_top_level_fields ${twoFields}`);
    expect(await socket.next()).toEqual({
      id: "1",
      type: "next",
      payload: { data: { album_by_pk: { id: 1 }, artist_by_pk: { id: 1 } } },
    });
    await socket.close();
  });

  test("G-SUB-3 the first result is sent at once, also if it is empty", async () => {
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { album(where: {id: {_eq: 1}}) { id title } }");
    expect(await socket.next()).toEqual({
      id: "1",
      type: "next",
      payload: { data: { album: [{ id: 1, title: expect.any(String) }] } },
    });
    subscribe(socket, "2", "subscription { album(where: {id: {_eq: -1}}) { id } }");
    expect(await socket.next()).toEqual({ id: "2", type: "next", payload: { data: { album: [] } } });
    subscribe(socket, "3", "subscription { __typename }");
    expect(await socket.next()).toEqual({
      id: "3",
      type: "next",
      payload: { data: { __typename: "subscription_root" } },
    });
    await socket.close();
  });

  test("G-SUB-3 a later result is sent if its text differs, and an equal one never is", async () => {
    const socket = await initSocket(api);
    const [before] = await api.sql("select sold from album where id = 2");
    subscribe(socket, "1", "subscription { album_by_pk(id: 2) { sold } }");
    expect(await socket.next()).toMatchObject({ payload: { data: { album_by_pk: { sold: before!.sold } } } });
    await api.sql("update album set sold = sold where id = 2");
    await api.sql("update album set sold = 77 where id = 1");
    await expectNothing(socket);
    await api.sql("update album set sold = 4242 where id = 2");
    expect(await socket.next()).toMatchObject({ id: "1", payload: { data: { album_by_pk: { sold: 4242 } } } });
    await expectNothing(socket);
    await socket.close();
  });

  test("G-SUB-3 a later subscriber of a live query receives the current result, and earlier subscribers receive nothing", async () => {
    const [firstSocket, secondSocket] = [await initSocket(api), await initSocket(api)];
    const query = "subscription { album_by_pk(id: 3) { sold } }";
    await api.sql("update album set sold = 1 where id = 3");
    subscribe(firstSocket, "1", query);
    expect(await firstSocket.next()).toMatchObject({ payload: { data: { album_by_pk: { sold: 1 } } } });
    subscribe(secondSocket, "1", query);
    expect(await secondSocket.next()).toMatchObject({ payload: { data: { album_by_pk: { sold: 1 } } } });
    await expectNothing(firstSocket);
    await api.sql("update album set sold = 2 where id = 3");
    for (const socket of [firstSocket, secondSocket])
      expect(await socket.next()).toMatchObject({ payload: { data: { album_by_pk: { sold: 2 } } } });
    await firstSocket.close();
    await secondSocket.close();
  });

  test("G-SUB-4 a subscriber receives the last result after a burst of changes", async () => {
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { album_by_pk(id: 4) { sold } }");
    await socket.next();
    for (let sold = 1; sold <= 60; sold++) await api.sql("update album set sold = $1 where id = 4", [sold]);
    const last = await socket.next((message) => message.payload?.data?.album_by_pk?.sold === 60);
    expect(last.id).toBe("1");
    await expectNothing(socket);
    await socket.close();
  });

  test("G-SUB-4 changes behind views, partitions, relationships and functions are detected", async () => {
    const socket = await initSocket(api);
    const queries = {
      view: "subscription { album_title(where: {id: {_eq: 5}}) { title } }",
      parts: "subscription { measure_aggregate { aggregate { count } } }",
      related: "subscription { artist_by_pk(id: 3) { albums(where: {id: {_eq: 5}}) { title } } }",
      routine: 'subscription { search_albums(args: {term: "zzz"}) { title } }',
    };
    for (const [id, query] of Object.entries(queries)) subscribe(socket, id, query);
    const first = new Map<string, any>();
    while (first.size < 4) {
      const message = await socket.next();
      expect(message.type).toBe("next");
      first.set(message.id, message.payload.data);
    }
    const [{ title }] = (await api.sql("select title from album where id = 5")) as [{ title: string }];
    const [column] = await api.sql(
      "select string_agg(quote_ident(attname), ',') as names from pg_attribute where attrelid = 'measure'::regclass and attnum > 0",
    );
    await api
      .sql(`insert into measure (${column!.names}) select ${column!.names} from measure limit 1`)
      .catch(() => api.sql("delete from measure where ctid in (select ctid from measure limit 1)"));
    await api.sql("update album set title = 'zzz' where id = 5");
    const changedIds = new Set<string>();
    while (changedIds.size < 4) {
      const message = await socket.next();
      expect(message.payload.data).not.toEqual(first.get(message.id));
      changedIds.add(message.id);
    }
    await api.sql("update album set title = $1 where id = 5", [title]);
    await socket.close();
  });
});

describe("callers and shared statements", () => {
  test("G-SUB-6 each subscriber receives the result of its own variables, also if one is null", async () => {
    const socket = await initSocket(api);
    const query = "subscription ($id: Int!, $limit: Int) { album(where: {id: {_in: [$id]}}, limit: $limit) { id } }";
    for (let id = 1; id <= 5; id++) subscribe(socket, `s${id}`, query, { id, limit: id === 5 ? null : 1 });
    const answers = new Map<string, unknown>();
    for (let i = 0; i < 5; i++) {
      const message = await socket.next();
      answers.set(message.id, message.payload.data);
    }
    for (let id = 1; id <= 5; id++) expect(answers.get(`s${id}`)).toEqual({ album: [{ id }] });
    await socket.close();
  });

  test("G-SUB-6 a live query may have more subscribers than one statement takes", async () => {
    const batchedApi = await startApi(forGraphql({ liveQueryBatchSize: 3 }));
    const socket = await initSocket(batchedApi);
    for (let i = 0; i < 20; i++)
      subscribe(
        socket,
        String(i),
        "subscription ($price: numeric!) { album_aggregate(where: {price: {_gt: $price}}) { aggregate { count } } }",
        { price: i },
      );
    const counts = new Map<string, number>();
    while (counts.size < 20) {
      const message = await socket.next();
      counts.set(message.id, message.payload.data.album_aggregate.aggregate.count);
    }
    for (const [id, count] of counts) {
      const [row] = await batchedApi.sql("select count(*)::int as count from album where price > $1", [Number(id)]);
      expect(count).toBe(row!.count);
    }
    await socket.close();
    await batchedApi.close();
  });

  test("G-SUB-5 G-SUB-6 each subscriber sees the rows of its own session variables under row policies, also after changes", async () => {
    const query = "subscription { diary(order_by: {id: asc}) { id } }";
    const [firstSocket, secondSocket] = [
      await initSocket(api, asRole("music_artist", { "artist-id": "1" })),
      await initSocket(api, asRole("music_artist", { "artist-id": "2" })),
    ];
    subscribe(firstSocket, "1", query);
    subscribe(secondSocket, "1", query);
    const readIds = async (artist: number) =>
      (await api.sql("select id from diary where artist_id = $1 order by id", [artist])).map(({ id }) => ({ id }));
    const first = (await firstSocket.next()).payload.data.diary;
    expect(first).toEqual(await readIds(1));
    const second = (await secondSocket.next()).payload.data.diary;
    expect(second).toEqual(await readIds(2));
    expect(first).not.toEqual(second);
    await api.sql("delete from diary where id = $1", [first[0].id]);
    expect((await firstSocket.next()).payload.data.diary).toEqual(await readIds(1));
    await expectNothing(secondSocket);
    await firstSocket.close();
    await secondSocket.close();
  });

  test("G-SUB-5 a subscriber without rights receives the error of a query", async () => {
    const socket = await initSocket(api, asRole("music_reader"));
    subscribe(socket, "1", "subscription { diary { id } }");
    expect(await socket.next()).toMatchObject({
      id: "1",
      type: "error",
      payload: [{ extensions: { code: "validation-failed" } }],
    });
    await socket.close();
  });
});

describe("errors", () => {
  test("G-SUB-7 only the subscriber concerned receives an error, and its live query continues", async () => {
    const socket = await initSocket(api);
    await api.sql(
      "create or replace function public.album_share(a public.album) returns int language sql stable as 'select 100 / a.sold'",
    );
    await api.sql("update album set sold = 1 where id = 1; update album set sold = 1 where id = 2");
    await api.reload();
    const query = "subscription ($id: Int!) { album_by_pk(id: $id) { album_share } }";
    const probe = await api.gql("{ album_by_pk(id: 1) { album_share } }");
    expect(probe).toEqual({ data: { album_by_pk: { album_share: 100 } } });
    subscribe(socket, "1", query, { id: 1 });
    subscribe(socket, "2", query, { id: 2 });
    await socket.next();
    await socket.next();
    await api.sql("update album set sold = 0 where id = 1; update album set sold = 2 where id = 2");
    const [a, b] = [await socket.next(), await socket.next()];
    const byId = new Map([a, b].map((message) => [message.id, message]));
    expect(byId.get("1")).toMatchObject({
      type: "next",
      payload: { errors: [{ extensions: { code: "data-exception" } }] },
    });
    expect(byId.get("1").payload).not.toHaveProperty("data");
    expect(byId.get("2")).toMatchObject({ payload: { data: { album_by_pk: { album_share: 50 } } } });
    await expectNothing(socket);
    await api.sql("update album set sold = 4 where id = 1");
    expect(await socket.next()).toMatchObject({ id: "1", payload: { data: { album_by_pk: { album_share: 25 } } } });
    await socket.close();
  });

  test.each(["42501", "42P01", "40001", "53300"])(
    "G-SUB-7 an error that a function raises reaches only its subscriber: %s",
    async (code) => {
      const socket = await initSocket(api);
      await api.sql(
        `create or replace function public.album_guarded(a public.album) returns int language plpgsql stable as $$ begin
          if a.sold = 0 then raise exception using errcode = '${code}', message = 'not for you'; end if;
          return a.sold;
        end $$;
        update album set sold = 1 where id in (1, 2)`,
      );
      await api.reload();
      for (const id of [1, 2])
        subscribe(socket, String(id), "subscription ($id: Int!) { album_by_pk(id: $id) { album_guarded } }", { id });
      await socket.next();
      await socket.next();
      await api.sql("update album set sold = 0 where id = 1; update album set sold = 2 where id = 2");
      const messages = [await socket.next(), await socket.next()];
      expect(messages.find(({ id }) => id === "1").payload.errors).toHaveLength(1);
      expect(messages.find(({ id }) => id === "2").payload.data).toEqual({ album_by_pk: { album_guarded: 2 } });
      await expectNothing(socket);
      await socket.close();
    },
  );

  test("G-SUB-8 a reload ends live queries whose fields are gone, and the others continue", async () => {
    const socket = await initSocket(api);
    await api.sql(
      "create table public.fleeting (id int primary key, n int); insert into public.fleeting values (1, 1)",
    );
    await api.reload();
    subscribe(socket, "gone", "subscription { fleeting { n } }");
    expect(await socket.next()).toMatchObject({ id: "gone", payload: { data: { fleeting: [{ n: 1 }] } } });
    subscribe(socket, "stays", "subscription { artist_by_pk(id: 2) { country } }");
    await socket.next();
    await api.sql("drop table public.fleeting");
    await api.reload();
    const error = await socket.next((message) => message.type === "error");
    expect(error).toMatchObject({
      id: "gone",
      payload: [{ message: "field 'fleeting' not found in type: 'subscription_root'" }],
    });
    await api.sql("update artist set country = 'LIVE' where id = 2");
    expect(await socket.next()).toMatchObject({
      id: "stays",
      payload: { data: { artist_by_pk: { country: "LIVE" } } },
    });
    await socket.close();
  });

  /**
   * A table that one role may read, a second one with a relationship to it, and a live query of that role on each
   * transport.
   */
  const followTable = async (table: string) => {
    const pollingApi = await startLive(
      forGraphql({ liveQueryInterval: 20, parts: [without("replication-changes"), without("notify-changes")] }),
    );
    await pollingApi.sql(
      `create table public.${table} (id int primary key); create table public.of_${table} (id int references public.${table});
        insert into public.${table} values (1); insert into public.of_${table} values (1);
        grant select on public.${table}, public.of_${table} to music_reader`,
    );
    await pollingApi.reload();
    const query = `subscription { ${table} { id of_${table}s { id } } }`;
    const headers = asAdmin("music_reader") as Record<string, string>;
    const socket = await initSocket(pollingApi, { headers });
    subscribe(socket, "1", query);
    expect(await socket.next()).toMatchObject({ payload: { data: { [table]: [{ id: 1 }] } } });
    const stream = await openEvents(pollingApi, "/v1/graphql", { method: "POST", headers, body: { query } });
    await until(() => stream.events.length === 1, "the stream has its first result");
    return { pollingApi, socket, stream };
  };

  /** Expects both to end with the error of a removed field, and nothing after it. */
  const expectEnds = async (table: string, { pollingApi, socket, stream }: Awaited<ReturnType<typeof followTable>>) => {
    const message = expect.stringMatching(`^no subscriptions exist$|^field '${table}' not found`);
    expect(await socket.next((event) => event.type === "error")).toMatchObject({ id: "1", payload: [{ message }] });
    await stream.closed;
    expect(JSON.parse(stream.events.at(-2)?.data ?? "")).toMatchObject({ errors: [{ message }] });
    expect(stream.events.at(-1)?.event).toBe("complete");
    await until(() => pollingApi.context.counters.get("pool-in-use") === 0, "no statement runs");
    await roundTrip(pollingApi);
    expect(socket.takeMessages()).toEqual([]);
    expect(pollingApi.context.counters.get("live-subscribers")).toBe(0);
    await socket.close();
    await pollingApi.close();
  };

  test("G-SUB-8 a reload ends live queries whose last result was the error of a lost right", async () => {
    const open = await followTable("failed");
    const { pollingApi, socket, stream } = open;
    await pollingApi.sql("revoke select on public.failed from music_reader");
    expect(await socket.next()).toMatchObject({ payload: { errors: [{ extensions: { code: "permission-error" } }] } });
    await until(() => stream.events.length === 2, "the stream has the error");
    await pollingApi.reload();
    await expectEnds("failed", open);
  });

  test.skipIf(!capabilities.realServer)(
    "G-SUB-8 a reload ends live queries that are running, and does not send their results",
    async () => {
      const open = await followTable("locked");
      const { pollingApi } = open;
      const holder = await pollingApi.database.connect();
      await holder.query("begin; lock table public.of_locked in access exclusive mode");
      await pollingApi.sql("update public.locked set id = id");
      const waitingCount = async (): Promise<number> =>
        (await pollingApi.sql("select from pg_locks where relation = 'public.of_locked'::regclass and not granted"))
          .length;
      await until(async () => (await waitingCount()) > 0, "a live query waits for the table");
      await pollingApi.sql("revoke select on public.locked from music_reader");
      await pollingApi.reload();
      await until(() => open.stream.events.length === 3, "the stream has ended");
      expect(await waitingCount()).toBeGreaterThan(0);
      await holder.query("commit");
      await holder.end();
      await expectEnds("locked", open);
    },
  );

  test.each(["before a run", "after a failed run"])(
    "G-SUB-8 a reload ends live queries of each transport with the error, %s",
    async (order) => {
      const isFailed = order === "after a failed run";
      const table = isFailed ? "late_end" : "soon_end";
      const { pollingApi, socket, stream } = await followTable(table);
      const headers = asAdmin("music_reader") as Record<string, string>;
      const query = `subscription { ${table} { id } }`;
      const old = await openSocket(pollingApi, { path: "/v1/graphql", protocols: ["graphql-ws"] });
      await old.init({ headers });
      old.send({ id: "1", type: "start", payload: { query } });
      expect(await old.next()).toMatchObject({ type: "data", payload: { data: { [table]: [{ id: 1 }] } } });
      await pollingApi.sql(`revoke select on public.${table} from music_reader`);
      if (isFailed) {
        for (const subscriber of [socket, old])
          expect(await subscriber.next()).toMatchObject({
            payload: { errors: [{ extensions: { code: "permission-error" } }] },
          });
        await until(() => stream.events.length === 2, "the stream has the error");
      }
      await pollingApi.reload();
      const message = expect.stringMatching(`^no subscriptions exist$|^field '${table}' not found`);
      expect(await old.next((event) => event.type === "error")).toMatchObject({ payload: { errors: [{ message }] } });
      await old.close();
      await expectEnds(table, { pollingApi, socket, stream });
    },
  );

  test("G-SUB-8 a client that has not read its last results receives the error after them", async () => {
    await api.sql(`
      create table public.wide (id int primary key, filler text); insert into public.wide values (1, '');
      grant select on public.wide to music_reader`);
    await api.reload();
    const headers = asAdmin("music_reader") as Record<string, string>;
    const body = { query: "subscription { wide { id filler } }" };
    const stream = await openEvents(api, "/v1/graphql", { method: "POST", headers, body });
    await until(() => stream.events.length === 1, "the first event");
    stream.response.pause();
    let count = 0;
    const { counters } = api.context;
    const isUnread = (): boolean => counters.get("unread-bytes") > 0;
    await until(async () => {
      await api.sql("update public.wide set filler = repeat($1, 2000000)", [String(count++ % 10)]);
      // A live query whose result waits for the client stays due.
      await until(() => isUnread() || counters.get("live-queries-due") === 0, "the result is sent, or waits");
      return isUnread();
    }, "results wait for the client");
    await api.sql("revoke select on public.wide from music_reader");
    await api.reload();
    stream.response.resume();
    await stream.closed;
    const message = expect.stringMatching("^no subscriptions exist$|^field 'wide' not found");
    expect(JSON.parse(stream.events.at(-2)?.data ?? "")).toMatchObject({ errors: [{ message }] });
    expect(stream.events.at(-1)?.event).toBe("complete");
  });

  test("G-SUB-9 an error of the document is sent at once, and no live query starts", async () => {
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { albun { id } }");
    expect(await socket.next()).toEqual({
      id: "1",
      type: "error",
      payload: [
        {
          message: "field 'albun' not found in type: 'subscription_root'",
          extensions: { path: "$.selectionSet.albun", code: "validation-failed" },
        },
      ],
    });
    subscribe(socket, "1", "subscription { album(limit: 1) { id } }");
    expect(await socket.next()).toMatchObject({ id: "1", type: "next" });
    await socket.close();
  });
});

test("G-SUB-4 without a change source a live query sends one result", async () => {
  const deafApi = await startLive(
    forGraphql({ parts: [without("poll-changes"), without("notify-changes"), without("replication-changes")] }),
  );
  const socket = await initSocket(deafApi);
  subscribe(socket, "1", "subscription { artist_by_pk(id: 1) { country } }");
  await socket.next();
  await deafApi.sql("update artist set country = 'X' where id = 1");
  subscribe(socket, "later", "subscription { artist_by_pk(id: 1) { country name } }");
  expect(await socket.next()).toMatchObject({ id: "later", payload: { data: { artist_by_pk: { country: "X" } } } });
  await untilNoneIsDue(deafApi.context);
  await roundTrip(deafApi);
  expect(socket.takeMessages()).toEqual([]);
  await socket.close();
  await deafApi.close();
});

describe("values that are invalid although no row is compared with them", async () => {
  const limitedApi = await startLive(forGraphql({ liveQueryInterval: 20, dbMaxRows: 100 }));
  await limitedApi.sql(`
    create table shelf (id int primary key, doc jsonb, title text, words tsvector, path ltree, size int, code bit(3), at date, sizes int[]);
    create table book (id int primary key, shelf_id int references shelf);
    create function shelves_of(pattern text) returns setof shelf language sql stable as $$ select * from shelf where title = pattern $$;
    grant select on shelf, book to sea_anon`);
  await limitedApi.reload();

  const emptyQuery = (where: string): string => `{ shelf(where: {id: {_eq: -1}, ${where}}) { id } }`;
  test.each([
    emptyQuery('doc: {_jsonb_path_exists: "$.("}'),
    emptyQuery('doc: {_jsonb_path_match: "$.("}'),
    emptyQuery('title: {_regex: "("}'),
    emptyQuery('title: {_niregex: "*"}'),
    emptyQuery('title: {_similar: "("}'),
    emptyQuery('title: {_like: "a"}'),
    emptyQuery('path: {_matches: "!!"}'),
    emptyQuery('path: {_matches_any: ["!!"]}'),
    emptyQuery('path: {_matches_fulltext: "&"}'),
    emptyQuery('doc: {_cast: {String: {_regex: "("}}}'),
    emptyQuery("size: {_eq: 1}"),
    emptyQuery('code: {_eq: "2"}'),
    emptyQuery('at: {_eq: "2020-13-01"}'),
    '{ book(where: {id: {_eq: -1}, shelf: {doc: {_jsonb_path_exists: "Arrival"}}}) { id } }',
    '{ book { id shelf { books(where: {shelf: {title: {_regex: "("}}}) { id } } } }',
    '{ shelves_of(args: {pattern: "a"}, where: {doc: {_jsonb_path_exists: "Arrival"}}, offset: 2) { id } }',
    '{ shelf_aggregate(where: {title: {_regex: "("}}) { aggregate { count } } }',
  ])("G-SUB-20 the first result of a live query is that of the query: %s", async (selection) => {
    const socket = await initSocket(limitedApi);
    for (const id of ["1", "2"]) subscribe(socket, id, `subscription ${selection}`);
    const plain = await limitedApi.gql(`query ${selection}`);
    for (const _ of ["1", "2"]) {
      const { type, payload } = await socket.next();
      expect(type === "error" ? { errors: payload } : payload).toEqual(plain);
    }
    await socket.close();
  });

  test.each([
    "title=match.(",
    "title=match(any).{a,(}",
    "title=like.a",
    "words=fts.a b",
    "words=fts(nope).a",
    "path=eq.a..b",
    "size=eq.x",
    "size=in.(1,x)",
    "size=eq(any).{1",
    "doc->>a=match.(",
    "doc=cs.{",
    "code=eq.2",
    "at=gt.2020-13-01",
    "sizes=ov.{1,x}",
    "sizes=cs.{1}",
  ])("G-SUB-20 R-MED-1 the first event of a stream is the response of GET ?%s", async (filter) => {
    const path = `/shelf?id=eq.-1&${encodeURI(filter)}`;
    const plain = await limitedApi.get(path);
    const stream = await openEvents(limitedApi, path);
    if (stream.response.statusCode === 200) {
      await until(() => stream.events.length > 0, "the first event");
      const { event, data } = stream.events[0]!;
      expect([event === undefined ? 200 : 400, JSON.parse(data)]).toEqual([plain.status, plain.json()]);
    } else expect(stream.response.statusCode).toBe(plain.status);
    stream.close();
  });

  test("G-SUB-20 an error of one live query does not affect others of the same statement", async () => {
    const socket = await initSocket(limitedApi);
    const query = "subscription ($p: String!) { shelf(where: {doc: {_jsonb_path_exists: $p}}) { id } }";
    for (const [id, p] of Object.entries({ a: "$.a", b: "$.(", c: "$.c" })) subscribe(socket, id, query, { p });
    const payloads = new Map<string, any>();
    while (payloads.size < 3) {
      const { id, payload } = await socket.next();
      payloads.set(id, payload);
    }
    expect(payloads.get("a")).toEqual({ data: { shelf: [] } });
    expect(payloads.get("b")).toMatchObject({ errors: [{ message: "database query error" }] });
    expect(payloads.get("c")).toEqual({ data: { shelf: [] } });
    await limitedApi.sql("insert into shelf (id, doc) values (1, '{\"c\": 1}')");
    expect(await socket.next()).toMatchObject({ id: "c", payload: { data: { shelf: [{ id: 1 }] } } });
    await socket.close();
  });
});

describe("values that depend on the time", async () => {
  const filters = {
    before_now: { at: { _lte: "now()" } },
    not_after_now: { _not: { at: { _gt: " NOW " } } },
    one_of: { _or: [{ id: { _eq: -1 } }, { ats: { _lte: "now" } }] },
    until: { at: { _lte: "X-Session-Until" } },
  };
  const { logger, lines: statements } = collectMessages("info");
  const timedApi = await startLive(
    forGraphql({
      liveQueryInterval: 20,
      logQuery: true,
      logger,
      metadata: buildMetadataDocument([
        table("studio"),
        table("notice", {
          select_permissions: permissions(
            Object.fromEntries(Object.entries(filters).map(([role, filter]) => [role, { columns: "*", filter }])),
          ),
        }),
      ]),
    }),
  );
  await timedApi.sql(`
    create domain opening as timestamptz;
    create table notice (id int primary key, title text, at timestamptz, ats timestamp, opens opening, day date, hour time,
      hourtz timetz, span tstzrange, days daterange, spans tstzmultirange, doc jsonb, n int);
    grant select on notice to sea_anon`);
  await timedApi.reload();
  await timedApi.settle();
  if (capabilities.logicalReplication)
    await until(() => statements.includes("live queries detect changes by logical replication"), "the log is read");

  const runs = (): number =>
    statements.filter((text) => text.includes("_relapi_subscribers") && text.includes('"notice"')).length;
  /** Waits until the query runs repeatedly although nothing is committed. */
  const runsByItself = async (): Promise<void> => {
    const before = runs();
    await until(() => runs() > before + 2, "it runs by itself");
  };

  const list = (where: string): string => `subscription { notice(where: ${where}) { id } }`;
  test.each<[string, string, Record<string, unknown>?, Record<string, string>?]>([
    ["now() of timestamptz", list('{at: {_lte: "now()"}}')],
    ["now of timestamp", list('{ats: {_gt: "now"}}')],
    ["of a domain", list('{opens: {_gt: "now"}}')],
    ["today of date", list('{day: {_eq: "today"}}')],
    ["Tomorrow with blanks", list('{day: {_lt: " Tomorrow "}}')],
    ["yesterday in a list", list('{day: {_in: ["2020-01-01", "yesterday"]}}')],
    ["a time of today", list('{at: {_gt: "today 10:00"}}')],
    ["now of time", list('{hour: {_gt: "now"}}')],
    ["now of timetz", list('{hourtz: {_gt: "NOW"}}')],
    ["in a range", list('{span: {_eq: "[now,)"}}')],
    ["in a range of days", list('{days: {_eq: "[today,tomorrow)"}}')],
    ["in a multirange", list('{spans: {_eq: "{[2020-01-01,now]}"}}')],
    ["of an aggregate", 'subscription { notice_aggregate(where: {at: {_lte: "now"}}) { aggregate { count } } }'],
    ["a variable", "subscription ($t: timestamptz!) { notice(where: {at: {_lte: $t}}) { id } }", { t: "now()" }],
    ["a default of a variable", 'subscription ($t: timestamptz = "now") { notice(where: {at: {_lte: $t}}) { id } }'],
    [
      "within a variable",
      "subscription ($w: notice_bool_exp!) { notice(where: $w) { id } }",
      { w: { _or: [{ at: { _lte: " NOW " } }] } },
    ],
    ["a permission", "subscription { notice { id } }", {}, asAdmin("before_now") as Record<string, string>],
    ["not in a permission", "subscription { notice { id } }", {}, asAdmin("not_after_now") as Record<string, string>],
    ["one of a permission", "subscription { notice { id } }", {}, asAdmin("one_of") as Record<string, string>],
    [
      "a session variable",
      "subscription { notice { id } }",
      {},
      asAdmin("until", { until: "now()" }) as Record<string, string>,
    ],
  ])(
    "G-SUB-19 G-SUB-19a a live query with a value that depends on the time runs again at each interval: %s",
    async (_, query, variables, headers) => {
      const socket = await initSocket(timedApi, headers && { headers });
      subscribe(socket, "1", query, variables);
      expect(await socket.next()).toMatchObject({ type: "next", payload: { data: {} } });
      await runsByItself();
      await socket.close();
    },
  );

  test.each(["at=lte.now", "day=in.(2020-01-01,today)", "span=ov.[now,)", "or=(n.eq.1,not.and(at.gt.now(),n.eq.2))"])(
    "G-SUB-19 R-MED-1 an event stream of ?%s runs again at each interval",
    async (filter) => {
      const stream = await openEvents(timedApi, `/notice?${filter}`);
      await until(() => stream.events.length > 0, "the first event");
      expect(stream.events[0]!.data).toBe("[]");
      await runsByItself();
      stream.close();
    },
  );

  test("G-SUB-19 a row that a permission shows from a time on is sent at that time", async () => {
    const socket = await initSocket(timedApi, { headers: asAdmin("before_now") });
    subscribe(socket, "1", "subscription { notice { id } }");
    expect(await socket.next()).toMatchObject({ payload: { data: { notice: [] } } });
    await timedApi.sql("insert into notice (id, at) values (1, now() + interval '500 ms')");
    expect(await socket.next()).toMatchObject({ payload: { data: { notice: [{ id: 1 }] } } });
    await timedApi.sql("delete from notice");
    await socket.close();
  });

  test("G-SUB-19 G-SUB-19a a live query whose row policy reads a session variable as a time runs at each interval", async () => {
    await api.sql(`
      create table public.embargo (id int primary key, at timestamptz); alter table public.embargo enable row level security;
      create policy past on public.embargo using (at <= current_setting('session.until')::timestamptz);
      grant select on public.embargo to music_reader`);
    await api.reload();
    const socket = await initSocket(api, asRole("music_reader", { until: "now" }));
    subscribe(socket, "1", "subscription { embargo { id } }");
    expect(await socket.next()).toMatchObject({ payload: { data: { embargo: [] } } });
    await api.sql("insert into public.embargo values (1, now() + interval '500 ms')");
    expect(await socket.next()).toMatchObject({ payload: { data: { embargo: [{ id: 1 }] } } });
    await socket.close();
  });

  test
    .skipIf(!capabilities.logicalReplication)
    .each([
      '{title: {_eq: "now"}}',
      '{title: {_ilike: "%today%"}}',
      '{title: {_in: ["today"]}}',
      '{doc: {_contains: {at: "now"}}}',
      '{day: {_gt: "2020-01-01"}, n: {_eq: 1}}',
    ])("G-SUB-19 a live query without a time value does not run without a change: %s", async (where) => {
    const socket = await initSocket(timedApi);
    subscribe(socket, "1", list(where));
    await socket.next();
    await timedApi.settle();
    const before = runs();
    await timedApi.settle();
    expect(runs()).toBe(before);
    await socket.close();
  });
});
