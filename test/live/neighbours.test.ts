/** Nobody's live query disturbs another's: latency from commit to message beside a neighbour that raises, is slow, is
 *  huge, does not read, or loses its rights. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asAdmin, capabilities, forGraphql, startApi, type TestApi } from "../support/api.ts";
import { initiated, openEvents, pause, subscribe, until } from "../support/live.ts";

const PROBES = 25;
/** Below this, twice is noise. */
const FLOOR_MS = 20;
const ATTEMPTS = 4;

const DESKS = 10;
const DESK = "subscription ($id: Int!) { desk_by_pk(id: $id) { id n } }";

interface Probe {
  /** Of one desk, from before its commit to its message. */
  ask(): Promise<number>;
  close(): Promise<void>;
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1] as number; // there are some

describe.skipIf(!capabilities.realServer)("neighbours", () => {
  let api: TestApi;
  let database: Awaited<ReturnType<TestApi["database"]["connect"]>>;
  /** The log tells of a commit once it is flushed, which may be long afterwards if nobody waits for it. */
  const commit = async (sql: string, values: readonly unknown[] = []): Promise<void> =>
    void (await database.query(sql, [...values]));

  beforeAll(async () => {
    api = await startApi(forGraphql({ liveQueryInterval: 20, maxSocketMessageBytes: 1 << 30 }));
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
        if d.id > 50 then perform pg_sleep(0.7); end if;
        return d.n;
      end $$;
      create function public.noise_slow(d public.noise) returns int language plpgsql stable as $$ begin
        perform pg_sleep(1.5);
        return d.n;
      end $$`);
    await api.reload();
    database = await api.database.connect();
    await database.query("set synchronous_commit = on");
  });

  afterAll(() => database.end());

  /** `query`: takes `$id` of a desk. */
  const probing = async (query: string): Promise<Probe> => {
    const socket = await initiated(api);
    const heard = new Map<number, number>();
    socket.socket.on("message", (bytes: Buffer) => {
      const { payload } = JSON.parse(bytes.toString()) as {
        payload?: { data?: { desk_by_pk?: { id: number; n: number } } };
      };
      const desk = payload?.data?.desk_by_pk;
      if (desk != null) heard.set(desk.id, desk.n);
    });
    for (let id = 1; id <= DESKS; id++) subscribe(socket, String(id), query, { id });
    await until(() => heard.size === DESKS, 10_000);
    let at = 0;
    const ask = async (): Promise<number> => {
      const id = 1 + (at++ % DESKS);
      const wanted = (heard.get(id) ?? 0) + 1;
      const startedAtMs = performance.now();
      await commit("update desk set n = $2 where id = $1", [id, wanted]);
      while (heard.get(id) !== wanted) {
        if (performance.now() - startedAtMs > 10_000) throw new Error(`desk ${id} is not heard of`);
        await pause(1);
      }
      const tookMs = performance.now() - startedAtMs;
      await pause(5);
      return tookMs;
    };
    return { ask, close: socket.close };
  };

  const measure = async (ask: () => Promise<number>): Promise<number> => {
    const taken: number[] = [];
    for (let i = 0; i < PROBES; i++) taken.push(await ask());
    return median(taken);
  };

  /** Commits that wake the neighbour, one after the other. */
  const committing = (sql: string): (() => Promise<void>) => {
    let isOver = false;
    const loop = (async () => {
      while (!isOver) {
        await commit(sql);
        await pause(10);
      }
    })();
    return () => {
      isOver = true;
      return loop;
    };
  };

  interface Neighbour {
    /** Committed all the time, with the neighbour and without it. */
    readonly commits: string;
    /** Of the others. */
    readonly query?: string;
    /** Starts the neighbour; returns how to stop it. */
    begin(): Promise<() => Promise<void>>;
  }

  const undisturbed = async ({ commits, query = DESK, begin }: Neighbour): Promise<void> => {
    const { ask, close } = await probing(query);
    const stopCommits = committing(commits);
    await measure(ask);
    const seen: string[] = [];
    let isFine = false;
    for (let attempt = 0; attempt < ATTEMPTS && !isFine; attempt++) {
      const before = await measure(ask);
      const stop = await begin();
      const beside = await measure(ask);
      await stop();
      const after = await measure(ask);
      seen.push(`${before.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside it, ${after.toFixed(1)} ms after it`);
      isFine = beside <= Math.max(FLOOR_MS, 2 * Math.max(before, after));
    }
    await stopCommits();
    await close();
    if (process.env["NEIGHBOURS"] !== undefined) console.log(seen.join("; "));
    if (!isFine) expect.fail(seen.join("\n"));
  };

  test("G-SUB-17 one that raises, in the same statement", { timeout: 120_000 }, async () => {
    const query = "subscription ($id: Int!) { desk_by_pk(id: $id) { id n desk_guarded } }";
    await undisturbed({
      commits: "update desk set n = n + 1 where id > 50",
      query,
      begin: async () => {
        const socket = await initiated(api);
        for (let id = 51; id <= 70; id++) subscribe(socket, String(id), query, { id });
        for (let count = 0; count < 20; count++) await socket.next();
        return socket.close;
      },
    });
  });

  test.each([1, 12])("G-SUB-17 slow statements of others: %s", { timeout: 120_000 }, async (count) => {
    await undisturbed({
      commits: "update noise set n = n + 1",
      begin: async () => {
        const socket = await initiated(api);
        for (let i = 1; i <= count; i++)
          subscribe(socket, String(i), `subscription { a${i}: noise_by_pk(id: ${i}) { id n noise_slow } }`);
        await pause(2500);
        return async () => {
          await socket.close();
          await pause(1600);
        };
      },
    });
  });

  test("G-SUB-17 a slow row in the same statement", { timeout: 120_000 }, async () => {
    const query = "subscription ($id: Int!) { desk_by_pk(id: $id) { id n desk_slow } }";
    await undisturbed({
      commits: "update desk set n = n + 1 where id = 51",
      query,
      begin: async () => {
        const socket = await initiated(api);
        subscribe(socket, "1", query, { id: 51 });
        await socket.next();
        await pause(4000);
        return async () => {
          await socket.close();
          await pause(800);
        };
      },
    });
  });

  describe("with long answers", () => {
    beforeAll(() => commit("update noise set bulk = repeat('0123456789', case id when 1 then 2000000 else 1000 end)"));
    afterAll(() => commit("update noise set bulk = ''"));

    test("G-SUB-17 a huge answer", { timeout: 120_000 }, async () => {
      await undisturbed({
        commits: "update noise set n = n + 1 where id = 1",
        begin: async () => {
          const socket = await initiated(api);
          subscribe(socket, "1", "subscription { noise_by_pk(id: 1) { id n bulk } }");
          await socket.next(undefined, 20_000);
          return socket.close;
        },
      });
    });

    test("G-SUB-17 sockets and streams that do not read", { timeout: 120_000 }, async () => {
      await undisturbed({
        commits: "update noise set n = n + 1 where id = 2",
        begin: async () => {
          const query = (i: number): string =>
            `subscription { a${i}: noise(where: {id: {_gt: 1}}, order_by: {id: asc}) { id n bulk } }`;
          const sockets = await Promise.all(
            Array.from({ length: 6 }, async (_, i) => {
              const socket = await initiated(api);
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
              await until(() => stream.events.length > 0);
              stream.response.pause();
              return stream;
            }),
          );
          await pause(500);
          return async () => {
            for (const { socket } of sockets) socket.terminate();
            for (const stream of streams) stream.close();
          };
        },
      });
    });
  });

  test("G-SUB-17 a role that is revoked", { timeout: 120_000 }, async () => {
    await undisturbed({
      commits: "update noise set n = n + 1",
      begin: async () => {
        await api.sql("grant select on public.noise to music_nobody");
        await api.reload();
        const socket = await initiated(api, { headers: asAdmin("music_nobody") });
        for (let id = 1; id <= 100; id++)
          subscribe(socket, String(id), "subscription ($id: Int!) { noise_by_pk(id: $id) { id n } }", { id });
        for (let count = 0; count < 100; count++) await socket.next();
        // nobody reads the schema again: each run is refused
        await api.sql("revoke select on public.noise from music_nobody");
        await socket.next((message) => message.payload?.errors !== undefined);
        return socket.close;
      },
    });
  });
});
