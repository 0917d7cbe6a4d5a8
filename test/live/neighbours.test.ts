/**
 * A live query never disturbs another one: changes arrive beside a neighbour that raises, never ends, is huge, does not
 * read, or loses its rights.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asAdmin, capabilities, forGraphql, type TestApi } from "../support/api.ts";
import { initSocket, openEvents, startLive, subscribe, type LiveApi } from "../support/live.ts";
import { until } from "../support/until.ts";

const DESKS = 10;
const DESK = "subscription ($id: Int!) { desk_by_pk(id: $id) { id n } }";

interface Desks {
  /** Changes the desks one after the other, and resolves when each change has arrived. */
  work(): Promise<void>;
  close(): Promise<void>;
}

/** The advisory lock for which the slow functions wait. */
const LOCK = 17_017;

describe.skipIf(!capabilities.realServer)("live queries beside others", () => {
  let api: LiveApi;
  let database: Awaited<ReturnType<TestApi["database"]["connect"]>>;
  /** Commits with a flush. Otherwise the log contains the commit only after the next flush, possibly much later. */
  const commit = async (sql: string, values: readonly unknown[] = []): Promise<void> =>
    void (await database.query(sql, [...values]));

  beforeAll(async () => {
    api = await startLive(forGraphql({ liveQueryInterval: 20, maxSocketMessageBytes: 1 << 30, unreadTimeout: 3600 }));
    await api.sql(`
      create table public.desk (id int primary key, n int not null);
      insert into public.desk select i, 0 from generate_series(1, 100) i;
      create table public.noise (id int primary key, n int not null, bulk text);
      insert into public.noise select i, 0, '' from generate_series(1, 100) i;
      create function public.desk_guarded(d public.desk) returns int language plpgsql stable as $$ begin
        if d.id > 50 then raise exception 'not this desk'; end if;
        return d.n;
      end $$;
      create function public.desk_slow(d public.desk) returns int language plpgsql stable as $$ begin
        if d.id > 50 then perform pg_sleep(3), pg_advisory_xact_lock_shared(${LOCK}); end if;
        return d.n;
      end $$;
      create function public.noise_slow(d public.noise) returns int language plpgsql stable as $$ begin
        perform pg_advisory_xact_lock_shared(${LOCK});
        return d.n;
      end $$`);
    await api.reload();
    database = await api.database.connect();
    await database.query("set synchronous_commit = on");
  });

  afterAll(() => database.end());

  /** Opens live queries of desks. `query` has the variable `$id`. */
  const openDesks = async (query: string): Promise<Desks> => {
    const socket = await initSocket(api);
    const counts = new Map<number, number>();
    socket.socket.on("message", (bytes: Buffer) => {
      const { payload } = JSON.parse(bytes.toString()) as {
        payload?: { data?: { desk_by_pk?: { id: number; n: number } } };
      };
      const desk = payload?.data?.desk_by_pk;
      if (desk != null) counts.set(desk.id, desk.n);
    });
    for (let id = 1; id <= DESKS; id++) subscribe(socket, String(id), query, { id });
    await until(() => counts.size === DESKS, "the first result of each desk");
    const work = async (): Promise<void> => {
      for (let id = 1; id <= DESKS; id++) {
        const expected = (counts.get(id) ?? 0) + 1;
        await commit("update desk set n = $2 where id = $1", [id, expected]);
        await until(() => counts.get(id) === expected, `the change of desk ${id}`);
      }
    };
    await work();
    return { work, close: socket.close };
  };

  /** The number of live queries that wait for the lock in the database. */
  const waitingCount = async (): Promise<number> =>
    (
      await api.sql(
        "select from pg_locks where locktype = 'advisory' and objid = $1 and not granted and database = (select oid from pg_database where datname = current_database())",
        [LOCK],
      )
    ).length;

  /** Expects all changes of the desks to arrive while slow live queries that `begin` starts do not end. */
  const workBesideSlow = async (query: string, begin: () => Promise<void>): Promise<void> => {
    const { work, close } = await openDesks(query);
    const holder = await api.database.connect();
    await holder.query("select pg_advisory_lock($1)", [LOCK]);
    await begin();
    await until(async () => (await waitingCount()) > 0, "a slow live query runs");
    await work();
    expect(await waitingCount()).toBeGreaterThan(0);
    await holder.end();
    await close();
  };

  interface Neighbour {
    /** The SQL that is committed before each change of a desk. */
    readonly commits: string;
    /** The live query of the desks. */
    readonly query?: string;
    /** Starts the neighbour, and returns a function that stops it. */
    begin(): Promise<() => Promise<void> | void>;
  }

  const workBeside = async ({ commits, query = DESK, begin }: Neighbour): Promise<void> => {
    const { work, close } = await openDesks(query);
    const stop = await begin();
    for (let round = 0; round < 3; round++) {
      await commit(commits);
      await work();
    }
    await stop();
    await close();
  };

  test("G-SUB-17 an error of one live query does not delay others of the same statement", async () => {
    const query = "subscription ($id: Int!) { desk_by_pk(id: $id) { id n desk_guarded } }";
    await workBeside({
      commits: "update desk set n = n + 1 where id > 50",
      query,
      begin: async () => {
        const socket = await initSocket(api);
        for (let id = 51; id <= 70; id++) subscribe(socket, String(id), query, { id });
        for (let count = 0; count < 20; count++) await socket.next();
        return socket.close;
      },
    });
  });

  test.each([1, 12])("G-SUB-17 G-SUB-17a slow statements do not delay other live queries: %s", async (count) => {
    const socket = await initSocket(api);
    await workBesideSlow(DESK, async () => {
      for (let i = 1; i <= count; i++)
        subscribe(socket, String(i), `subscription { a${i}: noise_by_pk(id: ${i}) { id n noise_slow } }`);
    });
    for (let i = 1; i <= count; i++) await socket.next(({ type }) => type === "next");
    await socket.close();
  });

  test("G-SUB-17 a slow row does not delay others of the same statement", async () => {
    const query = "subscription ($id: Int!) { desk_by_pk(id: $id) { id n desk_slow } }";
    const socket = await initSocket(api);
    subscribe(socket, "1", query, { id: 51 });
    // The query is known as slow from here on.
    await socket.next();
    await workBesideSlow(query, () => commit("update desk set n = n + 1 where id = 51"));
    await socket.next();
    await socket.close();
  });

  describe("live queries with long results", () => {
    beforeAll(() => commit("update noise set bulk = repeat('0123456789', case id when 1 then 500000 else 1000 end)"));
    afterAll(() => commit("update noise set bulk = ''"));

    test("G-SUB-17 a very large result does not delay other live queries", async () => {
      await workBeside({
        commits: "update noise set n = n + 1 where id = 1",
        begin: async () => {
          const socket = await initSocket(api);
          subscribe(socket, "1", "subscription { noise_by_pk(id: 1) { id n bulk } }");
          await socket.next();
          return socket.close;
        },
      });
    });

    test("G-SUB-17 sockets and streams that do not read do not delay other live queries", async () => {
      await workBeside({
        commits: "update noise set n = n + 1 where id = 2",
        begin: async () => {
          const query = (i: number): string =>
            `subscription { a${i}: noise(where: {id: {_gt: 1}}, order_by: {id: asc}) { id n bulk } }`;
          const sockets = await Promise.all(
            Array.from({ length: 6 }, async (_, i) => {
              const socket = await initSocket(api);
              subscribe(socket, "1", query(i));
              await socket.next();
              socket.socket.pause();
              return socket;
            }),
          );
          const streams = await Promise.all(
            Array.from({ length: 6 }, async (_, i) => {
              const headers = Object.entries(asAdmin()).filter(([, header]) => typeof header === "string");
              const stream = await openEvents(api, "/v1/graphql", {
                method: "POST",
                headers: { ...Object.fromEntries(headers), "content-type": "application/json" },
                body: { query: query(i + 6) },
              });
              await until(() => stream.events.length > 0, "the first event");
              stream.response.pause();
              return stream;
            }),
          );
          await commit("update noise set n = n + 1 where id = 2");
          return async () => {
            for (const { socket } of sockets) socket.terminate();
            for (const stream of streams) stream.close();
          };
        },
      });
    });
  });

  test("G-SUB-17 a revoked role does not delay other live queries", async () => {
    await workBeside({
      commits: "update noise set n = n + 1",
      begin: async () => {
        await api.sql("grant select on public.noise to music_nobody");
        await api.reload();
        const socket = await initSocket(api, { headers: asAdmin("music_nobody") });
        for (let id = 1; id <= 100; id++)
          subscribe(socket, String(id), "subscription ($id: Int!) { noise_by_pk(id: $id) { id n } }", { id });
        for (let count = 0; count < 100; count++) await socket.next();
        // The schema is not reloaded, so each run is rejected.
        await api.sql("revoke select on public.noise from music_nobody");
        await commit("update noise set n = n + 1");
        await socket.next((message) => message.payload?.errors !== undefined);
        return socket.close;
      },
    });
  });
});
