/** `relapi doctor`: its findings, and the printed SQL, which removes their causes. */
import { beforeAll, describe, expect, test } from "vitest";
import { listCallsPerRow, addSubselects } from "../../presets/cli/doctor/calls-per-row.ts";
import { diagnose } from "../../presets/cli/doctor/doctor-command.ts";
import type { Finding } from "../../presets/cli/doctor/finding.ts";
import { readEnvironment } from "../../presets/server/environment.ts";
import { capabilities, testDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";
import { relapi } from "./run.ts";

describe.skipIf(!capabilities.realServer)("doctor", async () => {
  const database = await testDatabase();
  const environment = { DATABASE_URL: database.options.databaseUrl, DB_SCHEMAS: "ward", ANON_ROLE: "sea_anon" };
  const findings = (): Promise<readonly Finding[]> => diagnose(readEnvironment(environment));

  /** The SQL that causes each finding, and the expected finding. */
  const cases: readonly (readonly [rule: string, level: string, setup: string, finding: string])[] = [
    [
      "C-DOK-1",
      "slow",
      `create table ward.t (id int primary key, owner text);
       create index on ward.t (owner);
       alter table ward.t enable row level security;
       create policy "user" on ward.t using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub')
         with check (owner = nullif(current_setting('request.user', true), ''))`,
      'policy "user" on ward.t calls current_setting() for each row',
    ],
    [
      "C-DOK-2",
      "slow",
      `create table ward.a (id int primary key); create table ward.b (id int primary key, a_id int references ward.a)`,
      "foreign key b_a_id_fkey has no index on ward.b (a_id)",
    ],
    [
      "C-DOK-2",
      "slow",
      `create table ward.t (id int primary key, owner text);
       alter table ward.t enable row level security;
       create policy mine on ward.t using (owner = current_user)`,
      'ward.t (owner) has no index, and policy "mine" reads it',
    ],
    [
      "C-DOK-2",
      "slow",
      `create table ward.a (id int primary key);
       create table ward.t (id int primary key, a_id int references ward.a);
       alter table ward.t enable row level security;
       create policy mine on ward.t using (a_id > 3)`,
      'foreign key t_a_id_fkey has no index on ward.t (a_id), which policy "mine" reads too',
    ],
    [
      "C-DOK-2",
      "slow",
      `create table ward.a (id int primary key);
       create table ward.p (id int, a_id int references ward.a) partition by list (id)`,
      "foreign key p_a_id_fkey has no index on ward.p (a_id)",
    ],
    [
      "C-DOK-3",
      "danger",
      `create table ward.t (id int primary key);
       alter table ward.t enable row level security;
       create policy mine on ward.t using (id > 1);
       create view ward."open view" as select id from ward.t;
       create view ward.safe_view with (security_invoker = true) as select id from ward.t`,
      'ward."open view" reads ward.t as "',
    ],
    [
      "C-DOK-3",
      "danger",
      `create table ward.t (id int primary key);
       alter table ward.t enable row level security;
       create policy mine on ward.t using (id > 1);
       create materialized view ward.copy as select id from ward.t;
       create materialized view ward.own_copy as select id from ward.t;
       grant select on ward.copy to sea_anon, public`,
      'ward.copy reads ward.t as "',
    ],
    [
      "C-DOK-4",
      "danger",
      `create function ward.all_of_it(n int) returns int language sql security definer set search_path = ward as 'select n';
       create function ward.shut() returns int language sql as 'select 1';
       revoke execute on function ward.shut() from public`,
      "ward.all_of_it(n integer) may be called by every role, and runs as its owner",
    ],
    [
      "C-DOK-4",
      "note",
      `create function ward."Say"(text) returns text language sql as 'select $1'`,
      'ward."Say"(text) may be called by every role',
    ],
    [
      "C-DOK-5",
      "danger",
      `create function ward.run() returns int language sql security definer as 'select 1';
       revoke execute on function ward.run() from public`,
      "ward.run() runs as its owner with the caller's search path",
    ],
    [
      "C-DOK-6",
      "danger",
      `create table ward.t (id int primary key); create policy mine on ward.t using (id > 1)`,
      "ward.t has row policies that do nothing",
    ],
    [
      "C-DOK-6",
      "note",
      `create table ward.t (id int primary key); alter table ward.t enable row level security`,
      "ward.t has row-level security and no policy",
    ],
    [
      "C-DOK-11",
      "danger",
      `create table ward.t (id int primary key, owner text);
       create index on ward.t (owner);
       alter table ward.t enable row level security;
       create policy mine on ward.t to sea_clerk, sea_anon using (owner = current_user);
       create policy added on ward.t for insert with check (true);
       create schema ward_history;
       create table ward_history.t (like ward.t, valid_from timestamptz, valid_to timestamptz);
       grant select on ward_history.t to sea_anon`,
      "ward_history.t has no row-level security, although ward.t has it",
    ],
    [
      "C-DOK-11",
      "note",
      `create table ward.t (id int primary key, owner text);
       create index on ward.t (owner);
       alter table ward.t enable row level security;
       create policy mine on ward.t using (owner = current_user);
       create schema ward_history;
       create table ward_history.t (like ward.t, valid_from timestamptz, valid_to timestamptz);
       alter table ward_history.t enable row level security;
       grant select (id) on ward_history.t to public`,
      "ward_history.t has row-level security and no policy, and ward.t has policies",
    ],
    [
      "C-DOK-7",
      "danger",
      `create table ward.t (id int primary key);
       grant select, insert, update on ward.t to sea_anon;
       create table ward.under_policy (id int primary key);
       grant insert on ward.under_policy to sea_anon;
       alter table ward.under_policy enable row level security;
       create policy some_of_them on ward.under_policy using (id > 1)`,
      "callers without credentials may insert, update on ward.t",
    ],
    [
      "C-DOK-7",
      "danger",
      `create table ward.t (id int primary key); grant delete on ward.t to public`,
      "callers without credentials may delete on ward.t, by a grant to public",
    ],
    [
      "C-DOK-8",
      "broken",
      `create table ward.t (id serial primary key, own int generated by default as identity);
       grant insert on ward.t to sea_clerk`,
      'sea_clerk may insert into ward.t, and may not use ward.t_id_seq, which generates the default of "id"',
    ],
    [
      "C-DOK-9",
      "slow",
      `create table ward.t (id int primary key, name text);
       create index by_name on ward.t (name); create index by_name_too on ward.t (name);
       create index by_upper on ward.t (upper(name)); create index some_names on ward.t (name) where id > 3`,
      "index ward.by_name_too on ward.t is like ward.by_name",
    ],
    [
      "C-DOK-9",
      "slow",
      `create table ward.t (id int primary key); create index again on ward.t (id)`,
      "index ward.again on ward.t is like ward.t_pkey",
    ],
  ];

  describe("one finding per schema", () => {
    const getSchemaName = (index: number): string => `ward_${index}`;
    const inSchema = (text: string, index: number): string =>
      text.replace(/\bward(?=\b|_history)/g, getSchemaName(index));
    const names = cases.map((_, index) => getSchemaName(index));
    const all = { ...environment, DB_SCHEMAS: names.join(",") };
    let before: readonly Finding[] = [];
    let after: readonly Finding[] = [];

    beforeAll(async () => {
      for (const [index, [, , setup]] of cases.entries())
        await database.query(`create schema ${getSchemaName(index)}; ${inSchema(setup, index)}`);
      before = await diagnose(readEnvironment(all));
      for (const { fix } of before) await database.query(fix);
      after = await diagnose(readEnvironment(all));
      await database.query(`drop schema ${names.join(", ")} cascade`);
      for (const name of names) await database.query(`drop schema if exists ${name}_history cascade`);
    });

    test.each(cases.map((row, index) => [...row, index] as const))(
      "%s %s: the printed SQL removes the finding",
      (_, level, _setup, expected, index) => {
        const isOwn = (finding: Finding): boolean =>
          new RegExp(`\\b${getSchemaName(index)}(?:\\b|_history)`).test(JSON.stringify(finding));
        const ownFindings = before.filter(isOwn);
        expect(ownFindings.map((finding) => finding.finding)).toEqual([
          expect.stringContaining(inSchema(expected, index)),
        ]);
        expect(ownFindings[0]).toMatchObject({ level, reason: expect.stringMatching(/.{20}/) });
        expect(after.filter(isOwn)).toEqual([]);
      },
    );

    test("C-DOK-1 C-DOK-9 only these findings are reported, and none after the fixes", () => {
      expect([before.length, after]).toEqual([cases.length, []]);
    });
  });

  test("C-DOK-1 the fixed policy still shows the same rows", async () => {
    await database.query(`
      create schema ward;
      create table ward.t (id int primary key, owner text, home uuid);
      insert into ward.t values (1, 'bo', null), (2, 'cy', null);
      create index on ward.t (owner); create index on ward.t (home);
      alter table ward.t enable row level security;
      create policy mine on ward.t using (
        (current_setting('request.jwt.claims', true)::json -> 'app' ->> 'sub' = owner)
        or home = nullif(current_setting('request.home', true), '')::uuid);
      grant usage on schema ward to sea_clerk; grant select on ward.t to sea_clerk`);
    const rows = async () => {
      const client = await database.connect();
      await client.query("begin; set local role sea_clerk");
      await client.query(`select set_config('request.jwt.claims', '{"app":{"sub":"bo"}}', true)`);
      const { rows } = await client.query("select id from ward.t");
      const { rows: plan } = await client.query("explain select id from ward.t");
      await client.end();
      return { rows, plan: plan.map((row: Record<string, string>) => row["QUERY PLAN"]).join("\n") };
    };
    const before = await rows();
    const [finding] = await findings();
    await database.query(finding?.fix ?? "");
    const after = await rows();
    expect(after.rows).toEqual([{ id: 1 }]);
    expect(before.rows).toEqual(after.rows);
    expect(before.plan).toMatch(/Filter: .*current_setting/);
    expect(after.plan).not.toMatch(/Filter: .*current_setting/);
    expect(await findings()).toEqual([]);
    await database.query("drop schema ward cascade");
  });

  test("C-DOK-7 an anonymous role without limits is reported", async () => {
    const role = `c_dok_anon_${process.pid}`;
    await database.query(`create schema ward; create role ${role} bypassrls`);
    const { stdout } = await relapi(["doctor", "--json"], { ...environment, ANON_ROLE: role });
    const [finding] = JSON.parse(stdout) as readonly Finding[];
    expect(finding?.finding).toBe(`ANON_ROLE "${role}" bypasses row policies`);
    await database.query(finding?.fix ?? "");
    expect((await relapi(["doctor"], { ...environment, ANON_ROLE: role })).stdout).toBe("nothing found\n");
    await database.query(`drop role ${role}; drop schema ward`);
  });

  test("C-DOK-2 a policy on a column of few values needs no index, and each cause has its own reason", async () => {
    await database.query(`
      create schema ward;
      create table ward.a (id int primary key);
      create table ward.t (id int primary key, region text, owner text, a_id int references ward.a);
      insert into ward.a select generate_series(1, 1000);
      insert into ward.t select i, 'r' || i % 3, 'o' || i, i from generate_series(1, 1000) i;
      alter table ward.t enable row level security;
      create policy mine on ward.t using (region = 'r1' or owner = current_user);
      analyze ward.t`);
    expect((await findings()).map(({ finding, reason }) => [finding, reason])).toEqual([
      ['ward.t (owner) has no index, and policy "mine" reads it', "each read under the policy reads the whole table"],
      [
        "foreign key t_a_id_fkey has no index on ward.t (a_id)",
        "each embed along the key and each delete of a row that it refers to reads the whole table",
      ],
    ]);
    await database.query("drop schema ward cascade");
  });

  test.skipIf(!capabilities.logicalReplication)(
    "C-DOK-12 a table with many changes is reported if the log lacks its foreign keys",
    async () => {
      await database.query(`
        create schema ward;
        create table ward.a (id int primary key);
        create table ward.calm (id int primary key, a_id int references ward.a);
        create table ward.busy (like ward.calm including all, foreign key (a_id) references ward.a);
        create table ward.by_key (a_id int primary key references ward.a, n int);
        create index on ward.calm (a_id); create index on ward.busy (a_id);
        insert into ward.a select generate_series(1, 10000);
        insert into ward.busy select i, i from generate_series(1, 10000) i;
        insert into ward.by_key select i, i from generate_series(1, 10000) i;
        update ward.busy set a_id = id; delete from ward.by_key`);
      await until(async () => {
        const rows = await database.query(
          "select relname from pg_stat_all_tables where schemaname = 'ward' and n_tup_upd + n_tup_del >= 10000",
        );
        return rows.length === 2;
      }, "the statistics of the changes");
      const [finding, ...furtherFindings] = await findings();
      expect(finding).toMatchObject({
        level: "note",
        finding: "the change feed lacks the foreign keys of changed rows of ward.busy",
        fix: "alter table ward.busy replica identity full",
      });
      expect(furtherFindings).toEqual([]);
      await database.query(finding?.fix ?? "");
      expect(await findings()).toEqual([]);
      await database.query("drop schema ward cascade");
    },
  );

  test("C-DOK-10 the text output lists finding, reason and SQL, the worst first; --strict makes the exit code 1", async () => {
    await database.query(`
      create schema ward;
      create function ward.hello() returns int language sql as 'select 1';
      create table ward.t (id int primary key);
      create policy mine on ward.t using (id > 1)`);
    const { code, stdout } = await relapi(["doctor"], environment);
    expect([code, stdout.split("\n").map((line) => line.slice(0, 44))]).toEqual([
      0,
      [
        "danger: ward.t has row policies that do nothing",
        "  reason:  row-level security is off, so every role with a grant sees every row",
        "  fix:     alter table ward.t enable row level security;",
        "",
        "note: ward.hello() may be called by every role",
        "  reason:  PostgreSQL grants new functions to public: revoke that, and grant them to the roles that call them",
        "  fix:     revoke execute on function ward.hello() from public;",
        "",
      ].map((line) => line.slice(0, 44)),
    ]);
    expect((await relapi(["doctor", "--strict"], environment)).code).toBe(1);
    await database.query("drop schema ward cascade; create schema ward");
    expect(await relapi(["doctor", "--strict"], environment)).toEqual({
      code: 0,
      stdout: "nothing found\n",
      stderr: "",
    });
    expect((await relapi(["doctor", "--json"], environment)).stdout).toBe("[]\n");
    await database.query("drop schema ward");
  });
});

test.each([
  ["(owner = current_setting('a'::text, true))", ["current_setting"]],
  ["(owner = ( SELECT current_setting('a'::text, true) AS current_setting))", []],
  ["(owner = ( SELECT (NULLIF(current_setting('a'::text, true), ''::text))::integer AS x))", []],
  ["((id = ( SELECT auth.uid() AS uid)) AND (auth.role() = 'x'::text))", ["auth.role"]],
  ["(EXISTS ( SELECT 1 FROM t WHERE (t.owner = auth.uid())))", ["auth.uid"]],
  ["(owner = CURRENT_USER)", []],
  ["auth.owns(id)", []],
  ["(owner = current_setting(('app.'::text || kind)))", []],
])("C-DOK-1 doctor finds the calls per row of %s", (expression, calls) => {
  expect(listCallsPerRow(expression)).toEqual(calls);
});

test.each([
  ["(owner = auth.uid())", "(owner = (select auth.uid()))"],
  [
    "(owner = ((current_setting('request.jwt.claims'::text, true))::json ->> 'sub'::text))",
    "(owner = (select ((current_setting('request.jwt.claims'::text, true))::json ->> 'sub'::text)))",
  ],
  [
    "((id = (current_setting('it''s (a'::text))::integer) OR (auth.role() = 'x'::text))",
    "((id = (select (current_setting('it''s (a'::text))::integer)) OR ((select auth.role()) = 'x'::text))",
  ],
  [
    "(home = (NULLIF(current_setting('a'::text, true), ''::text))::uuid)",
    "(home = (NULLIF((select current_setting('a'::text, true)), ''::text))::uuid)",
  ],
])("C-DOK-1 the suggested SQL moves the calls of %s into subselects", (expression, expected) => {
  expect(addSubselects(expression)).toBe(expected);
  expect(listCallsPerRow(expected)).toEqual([]);
});
