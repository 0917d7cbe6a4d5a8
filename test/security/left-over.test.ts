/** Traces of one caller on a connection are invisible to the next one, and the caches of connections are bounded. */
import { describe, expect, test } from "vitest";
import { capabilities, rolledBack, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { startMeasured } from "../support/metrics.ts";

const database = await testDatabase();
await database.query(`
  create schema left_over;
  grant usage on schema left_over to sea_anon;
  create sequence left_over.numbers;
  grant usage on sequence left_over.numbers to sea_anon;
  create table left_over.plain (id serial primary key, t text);
  create table left_over.watched (id int primary key, kind text);
  grant all on all tables in schema left_over to sea_anon;
  grant all on all sequences in schema left_over to sea_anon;
  create function left_over.soil(kind text) returns text language plpgsql as $$ begin
    case kind
      when 'response headers' then perform set_config('response.headers', '[{"X-Left": "over"}]', false);
      when 'session variable' then perform set_config('session.user_id', '666', false);
      when 'claims' then perform set_config('request.jwt.claims', '{"sub": "somebody"}', false);
      when 'read only' then perform set_config('default_transaction_read_only', 'on', false);
      when 'timeout' then perform set_config('statement_timeout', '4321', false);
      when 'search path' then perform set_config('search_path', 'left_over', false);
      when 'role' then perform set_config('role', 'sea_clerk', false);
      when 'user' then execute 'set session authorization sea_clerk';
      when 'temporary table' then create temporary table left_table as select 'secret' as t;
      when 'temporary function' then execute 'create function pg_temp.left_function() returns text language sql as ''select current_user::text''';
      when 'advisory lock' then perform pg_advisory_lock(4711);
      when 'channel' then execute 'listen left_channel';
      when 'cursor' then execute 'declare left_cursor cursor with hold for select 1';
      when 'prepared statement' then execute 'prepare "left; over" as select ''secret''';
      when 'sequence' then perform nextval('left_over.numbers');
      when 'nothing' then null;
    end case;
    return kind;
  end $$;
  create function left_over.soil_row() returns trigger language plpgsql as $$ begin perform left_over.soil(new.kind); return new; end $$;
  create trigger soil before insert on left_over.watched for each row execute function left_over.soil_row();
  create constraint trigger soil_late after update on left_over.watched deferrable initially deferred for each row execute function left_over.soil_row();
  create function left_over.look() returns json language plpgsql as $$ declare last text; begin
    begin last := lastval(); exception when others then last := null; end;
    return json_build_object('headers', nullif(current_setting('response.headers', true), ''), 'user', nullif(current_setting('session.user_id', true), ''),
      'claims', current_setting('request.jwt.claims', true), 'read only', current_setting('default_transaction_read_only'), 'timeout', current_setting('statement_timeout'),
      'path', current_setting('search_path'), 'who', current_user, 'login', session_user, 'table', to_regclass('pg_temp.left_table') is not null,
      'function', to_regprocedure('pg_temp.left_function()') is not null, 'locks', (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()),
      'channels', (select count(*) from pg_listening_channels() as name where name = 'left_channel'), 'cursors', (select count(*) from pg_cursors where name <> ''), 'prepared', (select count(*) from pg_prepared_statements where from_sql), 'last', last, 'jit', current_setting('jit'));
  end $$;
  create function left_over.before() returns void language plpgsql as $$ begin perform left_over.soil('timeout'); end $$;
  create function left_over.backend() returns int language sql as 'select pg_backend_pid()';
  create function left_over.prepared(out count int, out bytes int) language sql as $$ select count(*), coalesce(sum(length(statement)), 0) from pg_prepared_statements $$;
`);

const api = await startApi({ dbSchemas: ["left_over"], dbPool: 2 });

const looks = (testApi: TestApi): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: 12 }, async () => {
      const answer = await testApi.post("/rpc/look");
      return `${answer.status} ${answer.headers["x-left"]} ${answer.text}`;
    }),
  );

const clean = (await looks(api))[0] as string;
const expectClean = async (testApi = api): Promise<void> =>
  expect(await looks(testApi)).toEqual(Array.from({ length: 12 }, () => clean));

const KINDS = [
  "response headers",
  "session variable",
  "claims",
  "read only",
  "timeout",
  "search path",
  "role",
  "temporary table",
  "temporary function",
  "advisory lock",
  "channel",
  "cursor",
  "prepared statement",
  "sequence",
];

describe("remains of user-defined code", () => {
  test("R-TX-13 R-TX-6 a clean connection has no state before the tests", async () => {
    expect(clean).toMatch(/^200 undefined \{"headers" : null, "user" : null, /);
    await expectClean();
  });

  test.each([...KINDS, "user"])(
    "R-TX-13 R-TX-13a %s: state that a function leaves is not seen by the next callers",
    async (kind) => {
      for (let i = 0; i < 3; i++)
        expect((await api.post("/rpc/soil", { body: { kind } })).text).toBe(JSON.stringify(kind));
      await expectClean();
    },
  );

  test.each(KINDS)(
    "R-TX-13 R-TX-13a %s: state that a trigger leaves is not seen after a commit, a rollback or an error",
    async (kind) => {
      const row = { id: 1, kind };
      expect((await api.post("/watched", { headers: rolledBack(), body: row })).status).toBe(201);
      await expectClean();
      expect((await api.post("/watched", { body: row })).status).toBe(201);
      await expectClean();
      // The trigger runs before the key is checked.
      expect((await api.post("/watched", { body: row })).status).toBe(409);
      await expectClean();
      // The check runs first, in a transaction of its own.
      expect(
        (
          await api.patch("/watched?id=eq.1", {
            headers: { accept: "application/vnd.pgrst.object+json", prefer: "return=representation" },
            body: { kind },
          })
        ).status,
      ).toBe(200);
      await expectClean();
      await api.delete("/watched?id=eq.1");
    },
  );

  test("R-TX-13 state that the pre-request function leaves is not seen, also after reads", async () => {
    const ownApi = await startApi({
      dbSchemas: ["left_over"],
      dbPool: 1,
      dbPreRequest: "left_over.before",
    });
    for (let i = 0; i < 3; i++) expect((await ownApi.get("/plain")).status).toBe(200);
    // Only the statement itself sees it, because the next transaction starts clean.
    await database.query("create or replace function left_over.before() returns void language sql as 'select'");
    await expectClean(ownApi);
  });

  test("R-TX-13 R-TX-13c the sequence value of an insert is not seen by the next caller", async () => {
    expect((await api.post("/plain", { body: { t: "x" } })).status).toBe(201);
    expect((await api.post("/plain", { body: [{ t: "x" }, { t: "y" }] })).status).toBe(201);
    await expectClean();
  });

  test("R-TX-13 R-TX-13c the sequence value of a failed insert is not seen by the next caller", async () => {
    await database.query(
      "create table left_over.unique_one (id serial, t text unique, late int unique deferrable initially deferred); grant all on left_over.unique_one, left_over.unique_one_id_seq to sea_anon",
    );
    await api.reload();
    const row = { t: "x", late: 1 };
    expect((await api.post("/unique_one", { body: row })).status).toBe(201);
    await expectClean();
    expect((await api.post("/unique_one", { body: row })).status).toBe(409);
    await expectClean();
    // The constraint is checked at the end.
    expect((await api.post("/unique_one", { body: { ...row, t: "y" } })).status).toBe(409);
    await expectClean();
    expect((await api.post("/unique_one", { headers: rolledBack(), body: { t: "z", late: 2 } })).status).toBe(201);
    await expectClean();
  });

  test("R-TX-13 state that a trigger leaves in a mutation is not seen by the next caller", async () => {
    expect(await api.gql('mutation { insert_left_over_watched_one(object: {id: 9, kind: "timeout"}) { id } }')).toEqual(
      { data: { insert_left_over_watched_one: { id: 9 } } },
    );
    await expectClean();
    await api.delete("/watched?id=eq.9");
  });

  test("R-TX-13 state is removed without prepared statements too, and if functions deallocate them", async () => {
    const ownApi = await startApi({ dbSchemas: ["left_over"], dbPool: 1, dbPreparedStatements: false });
    await ownApi.post("/rpc/soil", { body: { kind: "timeout" } });
    await expectClean(ownApi);
    await database.query(
      "create function left_over.forget() returns void language plpgsql as $$ begin execute 'deallocate all'; perform left_over.soil('timeout'); end $$",
    );
    await api.reload();
    for (let i = 0; i < 3; i++) expect((await api.post("/rpc/forget")).status).toBe(204);
    await expectClean();
  });
});

describe("prepared statements", () => {
  const start = async (options: StartOptions = {}) => {
    const ownApi = await startMeasured({ dbSchemas: ["left_over"], dbPool: 1, ...options });
    const metric = async (name: string): Promise<number> => (await ownApi.metrics())[name] ?? Number.NaN;
    return { ownApi, metric };
  };
  /** A unique document, about twice as long as `padding`. */
  const document = (i: number, padding: number): string =>
    `{ ${Array.from({ length: padding / 20 }, (_, n) => `a${i}_${n}_${"x".repeat(8)}: t`).join(" ")} }`;

  test("R-BND-6 R-BND-6a a text that is used once is not prepared, and a repeated one is", async () => {
    const { ownApi, metric } = await start();
    for (let i = 0; i < 3; i++) await ownApi.gql("{ left_over_plain { id } }");
    const before = await metric("relapi_prepared_statements");
    for (let i = 0; i < 20; i++)
      expect((await ownApi.gql(`{ left_over_plain { id a${i}: t } }`)).errors).toBeUndefined();
    expect(await metric("relapi_prepared_statements")).toBe(before);
    await ownApi.gql("{ left_over_plain { id a1: t } }");
    expect(await metric("relapi_prepared_statements")).toBe(before + 1);
  });

  test("R-BND-6 R-BND-6a prepared texts are limited in bytes, and a long text is never prepared", async () => {
    const { ownApi, metric } = await start({ dbMaxPreparedBytes: 40_000 });
    for (let round = 0; round < 3; round++)
      for (let i = 0; i < 30; i++)
        expect((await ownApi.gql(`{ left_over_plain ${document(i, 800)} }`)).errors).toBeUndefined();
    const bytes = await metric("relapi_prepared_statement_bytes");
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThanOrEqual(40_000);
    // The cleaning statements run too.
    if (capabilities.realServer) expect((await ownApi.post("/rpc/prepared")).json().bytes).toBeLessThanOrEqual(42_000);
    for (let round = 0; round < 3; round++) await ownApi.gql(`{ left_over_plain ${document(99, 8000)} }`);
    expect(await metric("relapi_prepared_statement_bytes")).toBeLessThanOrEqual(40_000);
  });

  test.skipIf(!capabilities.realServer)(
    "R-BND-6 R-BND-6b a connection that has parsed too many texts is replaced",
    async () => {
      const { ownApi } = await start({ dbMaxPreparedBytes: 4000 });
      const backend = async (): Promise<number> => (await ownApi.post("/rpc/backend")).json();
      const before = await backend();
      for (let i = 0; i < 5; i++) expect(await backend()).toBe(before);
      for (let i = 0; i < 40; i++)
        expect((await ownApi.gql(`{ left_over_plain ${document(i, 1600)} }`)).errors).toBeUndefined();
      expect(await backend()).not.toBe(before);
    },
  );

  test("R-BND-6 prepared statements are limited in number", async () => {
    const { ownApi } = await start({ dbMaxPreparedStatements: 20 });
    for (let round = 0; round < 2; round++)
      for (let i = 0; i < 40; i++) await ownApi.gql(`{ left_over_plain { b${i}: t } }`);
    const { count } = (await ownApi.post("/rpc/prepared")).json();
    if (capabilities.realServer) expect(count).toBeLessThanOrEqual(20);
    expect((await ownApi.gql("{ left_over_plain { b0: t } }")).errors).toBeUndefined();
  });
});
