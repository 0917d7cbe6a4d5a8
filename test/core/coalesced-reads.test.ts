/** Reads of the same moment in one round trip: each gets the response that it would get separately. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { without, type PresetPart } from "../../core/index.ts";
import { metrics } from "../../plugins/operations/index.ts";
import { asAdmin, capabilities, type Answer, type StartOptions } from "../support/api.ts";
import { watchExecutions } from "../support/context.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { startMeasured, type MeasuredApi } from "../support/metrics.ts";
import { bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";

const SCHEMA = `
  create schema crowd;
  create table crowd.note (id int primary key, owner text, text text);
  insert into crowd.note select i, 'owner ' || i % 7, 'note ' || i from generate_series(1, 500) i;
  create table crowd.other (id int primary key, note_id int references crowd.note, word text);
  insert into crowd.other select i, i, 'word ' || i from generate_series(1, 500) i;
  create table crowd.diary (id int primary key, owner text);
  insert into crowd.diary select i, 'u' || i % 5 from generate_series(1, 100) i;
  alter table crowd.diary enable row level security;
  create policy mine on crowd.diary using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
  create function crowd.sub() returns text language sql stable as $$
    select current_setting('request.jwt.claims', true)::json ->> 'sub' $$;
  create table crowd.later (id int primary key, owner text);
  insert into crowd.later select i, 'u' || i % 5 from generate_series(0, 19) i;
  create policy mine on crowd.later using (owner = crowd.sub());
  create table crowd.closed (id int primary key, word text);
  insert into crowd.closed values (1, 'closed');
  create table crowd.gate (id int primary key);
  create function crowd.method() returns text language sql stable as $$ select current_setting('request.method', true) $$;
  grant usage on schema crowd to sea_anon, sea_clerk;
  grant select on crowd.note, crowd.other, crowd.diary, crowd.gate to sea_anon, sea_clerk;
  grant select on crowd.closed, crowd.later to sea_clerk;
`;

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await database.query(SCHEMA);
});

/**
 * The measured time does not advance, so that reads count as short and no run takes too long, however busy the machine
 * is.
 */
const stopClock = (): void => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.spyOn(performance, "now").mockReturnValue(0);
  vi.spyOn(performance, "eventLoopUtilization").mockReturnValue({ idle: 0, active: 0, utilization: 0 });
};
const startClock = (): void => {
  vi.useRealTimers();
  vi.restoreAllMocks();
};
beforeEach(stopClock);
afterEach(startClock);

const NAME = "relapi_coalesced_reads_total";
const coalescedBy = async (api: MeasuredApi, work: () => Promise<void>): Promise<number> => {
  const before = (await api.metrics())[NAME] ?? 0;
  await work();
  return ((await api.metrics())[NAME] ?? 0) - before;
};

const times = <Value>(count: number, create: (i: number) => Value): readonly Value[] =>
  Array.from({ length: count }, (_, i) => create(i));

/** Repeats the reads often enough that they count as short. */
const warm = async (asks: readonly (() => Promise<unknown>)[]): Promise<void> => {
  for (let i = 0; i < 6; i++) for (const ask of asks) await ask();
};

let executionCount = 0;
const counting = watchExecutions(() => executionCount++);

const start = (
  connectionCount: number,
  options: StartOptions = {},
  parts: readonly PresetPart[] = [metrics],
): Promise<MeasuredApi> =>
  startMeasured({ dbSchemas: ["crowd"], ...(capabilities.realServer ? { dbPool: connectionCount } : {}), ...options }, [
    ...parts,
    counting,
  ]);

let gateCount = 0;

/** Keeps all connections of the api busy until each of the reads waits for one. */
const gather = async <Read>(
  api: MeasuredApi,
  connectionCount: number,
  ask: () => readonly Promise<Read>[],
): Promise<readonly Promise<Read>[]> => {
  const client = await database.connect();
  try {
    await client.query("begin; lock table crowd.gate in access exclusive mode");
    executionCount = 0;
    const gates = times(connectionCount, () => api.get(`/gate?select=gate${gateCount++}:id`));
    await until(() => executionCount === gates.length, "all connections are busy");
    const reads = ask();
    await until(() => executionCount === gates.length + reads.length, "all reads wait for a connection");
    await client.query("commit");
    await Promise.all(gates);
    return reads;
  } finally {
    await client.end();
  }
};

const askTogether = async (
  api: MeasuredApi,
  connectionCount: number,
  ask: () => readonly Promise<Answer>[],
): Promise<readonly Answer[]> => Promise.all(await gather(api, connectionCount, ask));

const note = (api: MeasuredApi, id: number | string, role?: "sea_clerk"): Promise<Answer> =>
  api.get(`/note?id=eq.${id}&select=id,text`, role === undefined ? {} : { headers: bearer({ role }) });

const buildNotes = (id: number) => [{ id, text: `note ${id}` }];

describe("one connection", () => {
  let api: MeasuredApi;
  beforeAll(async () => {
    stopClock();
    api = await start(1);
    await warm([
      () => note(api, 1),
      () => note(api, 1, "sea_clerk"),
      () => api.get("/diary?select=id", { headers: bearer({ role: "sea_clerk", sub: "u1" }) }),
      () => api.get("/closed", { headers: bearer({ role: "sea_clerk" }) }),
      () => api.gql("query ($id: Int!) { crowd_note_by_pk(id: $id) { text } }", { id: 1 }, asAdmin()),
    ]);
    startClock();
  });
  afterAll(() => api.close());

  test("R-TX-17 reads of the same moment share round trips, and each gets its own rows", async () => {
    const count = await coalescedBy(api, async () => {
      const answers = await askTogether(api, 1, () => times(60, (i) => note(api, 1 + ((i * 7) % 500))));
      for (const [i, answer] of answers.entries())
        expect([answer.status, answer.json()]).toEqual([200, buildNotes(1 + ((i * 7) % 500))]);
    });
    expect(count).toBe(60);
  });

  test("R-TX-17 reads of GraphQL also share round trips", async () => {
    const query = "query ($id: Int!) { crowd_note_by_pk(id: $id) { text } }";
    const count = await coalescedBy(api, async () => {
      const answers = await gather(api, 1, () => times(60, (i) => api.gql(query, { id: i + 1 }, asAdmin())));
      for (const [i, answer] of answers.entries())
        expect(await answer).toEqual({ data: { crowd_note_by_pk: { text: `note ${i + 1}` } } });
    });
    expect(count).toBe(60);
  });

  test("R-TX-17 a read that fails does not affect the others", async () => {
    const answers = await askTogether(api, 1, () => times(60, (i) => note(api, i % 10 === 3 ? "99999999999" : i + 1)));
    for (const [i, answer] of answers.entries())
      if (i % 10 === 3) expect([answer.status, answer.json().code]).toEqual([400, "22003"]);
      else expect([answer.status, answer.json()]).toEqual([200, buildNotes(i + 1)]);
  });

  test("R-TX-17 each read has the rights of its own role", async () => {
    const answers = await askTogether(api, 1, () =>
      times(60, (i) => {
        if (i % 3 === 0) return note(api, i + 1, "sea_clerk");
        return i % 3 === 1
          ? note(api, i + 1)
          : api.get("/closed", i % 2 === 0 ? { headers: bearer({ role: "sea_clerk" }) } : {});
      }),
    );
    for (const [i, answer] of answers.entries())
      if (i % 3 !== 2) expect([answer.status, answer.json()]).toEqual([200, buildNotes(i + 1)]);
      else if (i % 2 === 0) expect([answer.status, answer.json()]).toEqual([200, [{ id: 1, word: "closed" }]]);
      else expect([answer.status, answer.json().code]).toEqual([401, "42501"]);
  });

  test("R-TX-17 reads of tables with row policies run separately", async () => {
    const count = await coalescedBy(api, async () => {
      const answers = await askTogether(api, 1, () =>
        times(60, (i) => api.get("/diary?select=owner", { headers: bearer({ role: "sea_clerk", sub: `u${i % 5}` }) })),
      );
      for (const [i, answer] of answers.entries())
        expect(answer.json()).toEqual(times(20, () => ({ owner: `u${i % 5}` })));
    });
    expect(count).toBe(0);
  });

  test("R-TX-17 row policies that are switched on take effect at once, and so does a view in place of a table", async () => {
    const readOwnRows = (i: number): Promise<Answer> =>
      api.get("/later?select=owner&order=id", { headers: bearer({ role: "sea_clerk", sub: `u${i % 5}` }) });
    const all = (): Promise<readonly Answer[]> => askTogether(api, 1, () => times(20, readOwnRows));
    await warm([() => readOwnRows(1)]);
    for (const answer of await all()) expect(answer.json()).toEqual(times(20, (i) => ({ owner: `u${i % 5}` })));
    await database.query("alter table crowd.later enable row level security");
    for (let round = 0; round < 2; round++)
      for (const [i, answer] of (await all()).entries())
        expect(answer.json()).toEqual(times(4, () => ({ owner: `u${i % 5}` })));
    await database.query(`alter table crowd.later rename to later_table;
      create view crowd.later as select id, crowd.sub() as owner from crowd.later_table;
      grant select on crowd.later to sea_clerk`);
    for (let round = 0; round < 2; round++)
      for (const [i, answer] of (await all()).entries())
        expect(answer.json()).toEqual(times(20, () => ({ owner: `u${i % 5}` })));
  });

  test("R-TX-6 R-TX-17 functions find the settings of their own request among other reads", async () => {
    const answers = await askTogether(api, 1, () =>
      times(40, (i) => (i % 2 === 0 ? note(api, i + 1) : api.get("/rpc/method"))),
    );
    for (const [i, answer] of answers.entries()) expect(answer.json()).toEqual(i % 2 === 0 ? buildNotes(i + 1) : "GET");
  });
});

describe.skipIf(!capabilities.realServer)("locked tables", () => {
  const CONNECTION_COUNT = 4;
  let api: MeasuredApi;
  let client: Awaited<ReturnType<TestDatabase["connect"]>>;
  beforeAll(async () => {
    api = await start(CONNECTION_COUNT);
    client = await database.connect();
  });
  afterAll(async () => {
    await client.end();
    await api.close();
  });

  const lockNotes = () => client.query("begin; lock table crowd.note in access exclusive mode");
  const waitingForNotes = () =>
    database.query<{ readonly pid: number }>(
      "select pid from pg_locks where relation = 'crowd.note'::regclass and not granted",
    );

  test("R-TX-17 a locked table delays no read of another table", async () => {
    const noteNamed = (id: number): Promise<Answer> => api.get(`/note?id=eq.${id}&select=held:text`);
    const word = (id: number): Promise<Answer> => api.get(`/other?id=eq.${id}&select=free:word`);
    await warm([() => noteNamed(1), () => word(1)]);
    await lockNotes();
    const reads = await gather(api, CONNECTION_COUNT, () => {
      startClock(); // a run that waits for the lock is split
      return [...times(3, (i) => noteNamed(i + 1)), ...times(20, (i) => word(i + 1))];
    });
    for (const [i, answer] of (await Promise.all(reads.slice(3))).entries())
      expect(answer.json()).toEqual([{ free: `word ${i + 1}` }]);
    // The waiting reads hold no lock on tables that they have read.
    await database.query("alter table crowd.other add column if not exists more int");
    await client.query("commit");
    for (const [i, answer] of (await Promise.all(reads.slice(0, 3))).entries())
      expect(answer.json()).toEqual([{ held: `note ${i + 1}` }]);
  });

  test("R-TX-17 while two runs are in progress, other reads wait for one", async () => {
    const first = (): Promise<Answer> => api.get("/note?id=eq.1&select=first:text");
    const next = (id: number): Promise<Answer> => api.get(`/other?id=eq.${id}&select=next:word`);
    const closed = (): Promise<Answer> => api.get("/closed", { headers: bearer({ role: "sea_clerk" }) });
    await warm([first, () => next(1)]);
    const count = await coalescedBy(api, async () => {
      await lockNotes();
      const runs: Promise<Answer>[] = [];
      for (let i = 1; i <= 2; i++) {
        runs.push(first());
        await until(async () => (await waitingForNotes()).length === i, `${i} runs are on their way`);
      }
      executionCount = 0;
      let answeredCount = 0;
      const reads = times(4, async (i) => {
        const answer = await next(i + 1);
        answeredCount++;
        return answer;
      });
      await until(() => executionCount === 4, "four more reads are asked");
      expect((await closed()).json()).toEqual([{ id: 1, word: "closed" }]);
      expect(answeredCount).toBe(0);
      await client.query("commit");
      for (const answer of await Promise.all(runs)) expect(answer.json()).toEqual([{ first: "note 1" }]);
      for (const [i, answer] of (await Promise.all(reads)).entries())
        expect(answer.json()).toEqual([{ next: `word ${i + 1}` }]);
    });
    expect(count).toBe(4);
  });

  test("R-TX-17 R-HST-7 a lost connection loses no read", async () => {
    const noteNamed = (id: number): Promise<Answer> => api.get(`/note?id=eq.${id}&select=lost:text`);
    await warm([() => noteNamed(1)]);
    await lockNotes();
    const reads = await gather(api, CONNECTION_COUNT, () => times(40, (i) => noteNamed(i + 1)));
    await until(async () => (await waitingForNotes()).length > 0, "a run waits for the lock");
    const [run] = await waitingForNotes();
    await database.query("select pg_terminate_backend($1)", [run!.pid]);
    await client.query("commit");
    for (const [i, answer] of (await Promise.all(reads)).entries())
      expect([answer.status, answer.json()]).toEqual([200, [{ lost: `note ${i + 1}` }]]);
  });
});

test.each<readonly [string, StartOptions, readonly PresetPart[]]>([
  ["R-TX-17 with MAX_COALESCED_READS=1 each read has its own round trip", { maxCoalescedReads: 1 }, [metrics]],
  ["R-TX-17 without the plugin each read has its own round trip", {}, [metrics, without("coalesced-reads")]],
])("%s", async (_, options, parts) => {
  const api = await start(1, options, parts);
  await warm([() => note(api, 1)]);
  const count = await coalescedBy(api, async () => {
    const answers = await askTogether(api, 1, () => times(40, (i) => note(api, i + 1)));
    for (const [i, answer] of answers.entries()) expect(answer.json()).toEqual(buildNotes(i + 1));
  });
  expect(count).toBe(0);
  await api.close();
});
