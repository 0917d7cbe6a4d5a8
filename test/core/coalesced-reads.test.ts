/** Reads that are asked at the same moment, in one round trip: everybody gets what they would have got alone. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { metrics } from "../../plugins/metrics/index.ts";
import { asAdmin, capabilities, type Answer } from "../support/api.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { startMeasured, type Measured } from "../support/metrics.ts";
import { bearer } from "../support/tokens.ts";

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
  create function crowd.method() returns text language sql stable as $$ select current_setting('request.method', true) $$;
  grant usage on schema crowd to sea_anon, sea_clerk;
  grant select on crowd.note, crowd.other, crowd.diary to sea_anon, sea_clerk;
  grant select on crowd.closed, crowd.later to sea_clerk;
`;

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await database.query(SCHEMA);
});

const NAME = "relapi_coalesced_reads_total";
const coalescedBy = async (api: Measured, work: () => Promise<void>): Promise<number> => {
  const before = (await api.metrics())[NAME] ?? 0;
  await work();
  return ((await api.metrics())[NAME] ?? 0) - before;
};

const times = <Value>(count: number, one: (i: number) => Value): readonly Value[] =>
  Array.from({ length: count }, (_, i) => one(i));

/** So often that they count as short. */
const warm = async (asks: readonly (() => Promise<unknown>)[]): Promise<void> => {
  for (let i = 0; i < 6; i++) for (const ask of asks) await ask();
};

const note = (api: Measured, id: number | string, role?: "sea_clerk"): Promise<Answer> =>
  api.get(`/note?id=eq.${id}&select=id,text`, role === undefined ? {} : { headers: bearer({ role }) });

const noteOf = (id: number) => [{ id, text: `note ${id}` }];

describe("one api", () => {
  let api: Measured;
  beforeAll(async () => {
    api = await startMeasured({ dbSchemas: ["crowd"] });
    await warm([
      () => note(api, 1),
      () => note(api, 1, "sea_clerk"),
      () => api.get("/other?id=eq.1&select=word"),
      () => api.get("/diary?select=id", { headers: bearer({ role: "sea_clerk", sub: "u1" }) }),
      () => api.get("/closed", { headers: bearer({ role: "sea_clerk" }) }),
      () => api.gql("query ($id: Int!) { crowd_note_by_pk(id: $id) { text } }", { id: 1 }, asAdmin()),
    ]);
  });
  afterAll(() => api.close());

  /** On a machine that is busy some rounds find nobody at the same moment. */
  const untilCoalesced = async (round: () => Promise<void>): Promise<void> => {
    let count = 0;
    for (let i = 0; i < 30 && count === 0; i++) count = await coalescedBy(api, round);
    expect(count).toBeGreaterThan(1);
  };

  test("R-TX-17 reads at the same moment have round trips in common, and answers of their own", () =>
    untilCoalesced(async () => {
      const answers = await Promise.all(times(60, (i) => note(api, 1 + ((i * 7) % 500))));
      for (const [i, answer] of answers.entries())
        expect([answer.status, answer.json()]).toEqual([200, noteOf(1 + ((i * 7) % 500))]);
    }));

  test("R-TX-17 on GraphQL too", () =>
    untilCoalesced(async () => {
      const query = "query ($id: Int!) { crowd_note_by_pk(id: $id) { text } }";
      const answers = await Promise.all(times(60, (i) => api.gql(query, { id: i + 1 }, asAdmin())));
      for (const [i, answer] of answers.entries())
        expect(answer).toEqual({ data: { crowd_note_by_pk: { text: `note ${i + 1}` } } });
    }));

  test("R-TX-17 one that fails leaves the others alone", async () => {
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(times(60, (i) => note(api, i % 10 === 3 ? "99999999999" : i + 1)));
      for (const [i, answer] of answers.entries())
        if (i % 10 === 3) expect([answer.status, answer.json().code]).toEqual([400, "22003"]);
        else expect([answer.status, answer.json()]).toEqual([200, noteOf(i + 1)]);
    }
  });

  test("R-TX-17 each has the rights of its own role", async () => {
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        times(60, (i) => {
          if (i % 3 === 0) return note(api, i + 1, "sea_clerk");
          return i % 3 === 1
            ? note(api, i + 1)
            : api.get("/closed", i % 2 === 0 ? { headers: bearer({ role: "sea_clerk" }) } : {});
        }),
      );
      for (const [i, answer] of answers.entries())
        if (i % 3 !== 2) expect([answer.status, answer.json()]).toEqual([200, noteOf(i + 1)]);
        else if (i % 2 === 0) expect([answer.status, answer.json()]).toEqual([200, [{ id: 1, word: "closed" }]]);
        else expect([answer.status, answer.json().code]).toEqual([401, "42501"]);
    }
  });

  test("R-TX-17 rows under policies are read by each for itself", async () => {
    const count = await coalescedBy(api, async () => {
      const answers = await Promise.all(
        times(60, (i) => api.get("/diary?select=owner", { headers: bearer({ role: "sea_clerk", sub: `u${i % 5}` }) })),
      );
      for (const [i, answer] of answers.entries())
        expect(answer.json()).toEqual(times(20, () => ({ owner: `u${i % 5}` })));
    });
    expect(count).toBe(0);
  });

  test("R-TX-17 row policies that are switched on count at once, and a view in the place of a table", async () => {
    const mine = (i: number): Promise<Answer> =>
      api.get("/later?select=owner&order=id", { headers: bearer({ role: "sea_clerk", sub: `u${i % 5}` }) });
    await warm([() => mine(1)]);
    for (const answer of await Promise.all(times(20, mine)))
      expect(answer.json()).toEqual(times(20, (i) => ({ owner: `u${i % 5}` })));
    await database.query("alter table crowd.later enable row level security");
    for (let round = 0; round < 3; round++)
      for (const [i, answer] of (await Promise.all(times(20, mine))).entries())
        expect(answer.json()).toEqual(times(4, () => ({ owner: `u${i % 5}` })));
    await database.query(`alter table crowd.later rename to later_table;
      create view crowd.later as select id, crowd.sub() as owner from crowd.later_table;
      grant select on crowd.later to sea_clerk`);
    for (let round = 0; round < 3; round++)
      for (const [i, answer] of (await Promise.all(times(20, mine))).entries())
        expect(answer.json()).toEqual(times(20, () => ({ owner: `u${i % 5}` })));
  });

  test("R-TX-6 R-TX-17 functions find the settings of their request among other reads", async () => {
    const answers = await Promise.all(times(40, (i) => (i % 2 === 0 ? note(api, i + 1) : api.get("/rpc/method"))));
    for (const [i, answer] of answers.entries()) expect(answer.json()).toEqual(i % 2 === 0 ? noteOf(i + 1) : "GET");
  });

  test.skipIf(!capabilities.realServer)(
    "R-TX-17 a table that is locked holds up nobody who reads another",
    async () => {
      const client = await database.connect();
      await client.query("begin; lock table crowd.note in access exclusive mode");
      try {
        const held = times(3, (i) => note(api, i + 1));
        const startedAt = performance.now();
        const answers = await Promise.all([
          ...times(20, (i) => api.get(`/other?id=eq.${i + 1}&select=word`)),
          // nor does who waits keep what it has read
          database.query("alter table crowd.other add column if not exists more int").then(() => undefined),
        ]);
        expect(performance.now() - startedAt).toBeLessThan(1500);
        for (const [i, answer] of answers.entries())
          if (answer !== undefined) expect(answer.json()).toEqual([{ word: `word ${i + 1}` }]);
        await client.query("commit");
        for (const [i, answer] of (await Promise.all(held)).entries()) expect(answer.json()).toEqual(noteOf(i + 1));
      } finally {
        await client.end();
      }
    },
  );

  test.skipIf(!capabilities.realServer)(
    "R-TX-17 where two runs are on their way, further reads wait for one",
    async () => {
      const client = await database.connect();
      const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));
      try {
        let count = 0;
        // on a machine that is busy they may come in one turn, or after the two runs were given up
        for (let round = 0; round < 30 && count < 4; round++) {
          const first = (): Promise<Answer> => api.get(`/note?id=eq.1&select=first${round}:text`);
          await warm([first]);
          await client.query("begin; lock table crowd.note in access exclusive mode");
          const held: Promise<Answer>[] = [];
          count = await coalescedBy(api, async () => {
            const reads: Promise<Answer>[] = [];
            for (let i = 0; i < 2; i++) {
              held.push(first());
              await turn();
            }
            for (let i = 0; i < 4; i++) {
              reads.push(api.get(`/other?id=eq.${i + 1}&select=word`));
              await turn();
            }
            for (const [i, answer] of (await Promise.all(reads)).entries())
              expect(answer.json()).toEqual([{ word: `word ${i + 1}` }]);
          });
          await client.query("commit");
          for (const answer of await Promise.all(held))
            expect(answer.json()).toEqual([{ [`first${round}`]: "note 1" }]);
        }
        expect(count).toBeGreaterThanOrEqual(4);
      } finally {
        await client.end();
      }
    },
  );

  test.skipIf(!capabilities.realServer)("R-TX-17 R-HST-7 a connection that is lost loses no read", async () => {
    const kill =
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'relapi' and datname = current_database() limit 1";
    for (let round = 0; round < 10; round++) {
      const killing = database.query(kill);
      const answers = await Promise.all(times(40, (at) => note(api, at + 1)));
      await killing;
      for (const [i, answer] of answers.entries()) expect([answer.status, answer.json()]).toEqual([200, noteOf(i + 1)]);
    }
  });
});

test("R-TX-17 MAX_COALESCED_READS=1, or without the plugin: each has its own", async () => {
  const apis = await Promise.all([
    startMeasured({ dbSchemas: ["crowd"], maxCoalescedReads: 1 }),
    startMeasured({ dbSchemas: ["crowd"] }, [metrics, without("coalesced-reads")]),
  ]);
  for (const api of apis) {
    await warm([() => note(api, 1)]);
    const count = await coalescedBy(api, async () => {
      const answers = await Promise.all(times(40, (i) => note(api, i + 1)));
      for (const [i, answer] of answers.entries()) expect(answer.json()).toEqual(noteOf(i + 1));
    });
    expect(count).toBe(0);
    await api.close();
  }
});
