/** Transactions on a real database: their settings, their traces on the connection, their end and their errors. */
import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { mayConcernEncryption } from "../../plugins/database/connector/connection-string.ts";
import { parseHosts } from "../../plugins/database/connector/hosts.ts";
import type { Connector } from "../../core/database/connector.ts";
import { createConnector } from "../../plugins/database/connector/connector.ts";
import { connectorSettings } from "../../plugins/database/settings.ts";
import { createDatabase, type Database } from "../../core/database/database.ts";
import { createCounters } from "../../core/kernel/counters.ts";
import {
  coreSettings,
  createCaches,
  RelApiError,
  resolveOptions,
  type BoundValue,
  type Execution,
  type Model,
  type RelApiOptions,
  type ResultRow,
  type Role,
  type Session,
} from "../../core/index.ts";
import type { Slot } from "../../core/sql/fragment.ts";
import type { Program, ProgramCheck, ProgramStatement } from "../../core/sql/program.ts";
import { requestSettings } from "../../plugins/auth/request-settings.ts";
import { hasuraSession, sessionSettings } from "../../plugins/auth/session-settings.ts";
import { capabilities, testDatabase, type TestDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";
import { collectMessages } from "../support/logger.ts";

let db: TestDatabase;
const silent = () => undefined;
const { logger, lines: warnings } = collectMessages("warn");
const databases: Database[] = [];

const open = (options: RelApiOptions = {}, model?: Partial<Model>): Database & Pick<Connector, "listen"> => {
  const resolvedOptions = resolveOptions({ dbPool: 1, ...db.options, ...options }, [
    ...coreSettings,
    ...connectorSettings,
  ]);
  const current = { options: resolvedOptions, model: model as Model | undefined };
  const connector = createConnector({ options: resolvedOptions, logger, isLoaded: () => current.model !== undefined });
  const database = createDatabase(
    current,
    logger,
    createCaches("cache", { maxBytes: () => resolvedOptions.cacheBytes }, createCounters()),
    [requestSettings, sessionSettings, hasuraSession].flatMap(({ sessions = [] }) => sessions),
    connector,
  );
  databases.push(database);
  return { ...database, listen: connector.listen };
};

let database: Database;
beforeAll(async () => {
  db = await testDatabase();
  await db.query(`
    create schema exe;
    grant usage on schema exe to sea_anon, sea_clerk;
    create table exe.notes (id int primary key, text text, twin int unique deferrable initially deferred);
    grant all on exe.notes to sea_anon;
    create table exe.shapes (id int);
    grant all on exe.shapes to sea_anon;
    create function exe.settings() returns text language sql as $$
      select json_build_object('user', current_user, 'path', current_setting('search_path'), 'claims', current_setting('request.jwt.claims', true),
        'variables', current_setting('session.variables', true), 'user_id', current_setting('session.user_id', true),
        'odd', current_setting('session.odd', true), 'hasura', current_setting('hasura.user', true),
        'read_only', current_setting('transaction_read_only'), 'isolation', current_setting('transaction_isolation'),
        'method', current_setting('request.method', true), 'app', current_setting('app.settings.region', true)) $$;
    create function exe.before() returns void language plpgsql as $$ begin perform set_config('exe.before', current_user, true); end $$;
  `);
  database = open();
});
afterAll(async () => {
  for (const pool of databases) await pool.close(0);
});
afterEach(() => {
  vi.useRealTimers();
});

const anon: Session = {
  role: "sea_anon",
  databaseRole: "sea_anon",
  isAdmin: false,
  claims: { role: "sea_anon" },
  variables: { "x-session-role": "sea_anon" },
};
const admin: Session = {
  role: "admin",
  isAdmin: true,
  claims: { role: "admin" },
  variables: { "x-session-role": "admin" },
};

const statement = (
  text: string,
  columns: readonly string[],
  slots: readonly Slot[] = [],
  overrides: Partial<ProgramStatement> = {},
): ProgramStatement => ({ text, columns, slots, ...overrides });

const program = (
  statements: readonly ProgramStatement[],
  checks: readonly ProgramCheck[] = [],
  isProven = false,
): Program => ({ statements, main: statements.length - 1, checks, relations: new Set(), isOpenEnded: false, isProven });

const run = (
  text: string,
  options: Partial<Execution> & {
    readonly values?: readonly BoundValue[];
    readonly pool?: Database;
    readonly columns?: readonly string[];
    readonly isProven?: boolean;
  } = {},
): Promise<readonly ResultRow[]> => {
  const { values = [], pool = database, columns = ["body"], isProven, ...execution } = options;
  const slots = values.map((_, param): Slot => ({ param }));
  return pool.execute({
    session: anon,
    access: "read write",
    schema: "exe",
    end: "commit",
    programs: [{ program: program([statement(text, columns, slots)], [], isProven), values }],
    ...execution,
  });
};

const fetchBody = async (text: string, options: Parameters<typeof run>[1] = {}): Promise<string | null | undefined> =>
  (await run(text, options))[0]?.["body"];

const settings = async (options: Parameters<typeof run>[1] = {}): Promise<Record<string, string | null>> =>
  JSON.parse((await fetchBody("select exe.settings()", options)) ?? "null");

const catchError = async (work: Promise<unknown>): Promise<RelApiError> => {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RelApiError))
    throw new Error(`expected a RelApiError, not ${String(error)}`, { cause: error });
  return error;
};

const count = async (where = "true"): Promise<number> =>
  Number((await db.query<{ n: string }>(`select count(*) as n from exe.notes where ${where}`))[0]?.n);

describe("settings", () => {
  test.skipIf(!capabilities.realServer)(
    "R-TX-8 statements are not compiled with JIT, unless a setting asks for that",
    async () => {
      expect(await fetchBody("select current_setting('jit')")).toBe("off");
      const jitPool = open({ databaseUrl: `${db.options.databaseUrl}?options=-c%20jit%3Don` });
      expect(await fetchBody("select current_setting('jit')", { pool: jitPool })).toBe("on");
    },
  );

  test("R-TX-1 G-SES-1 a transaction sets search path, role, claims, variables and request", async () => {
    const session: Session = {
      ...anon,
      claims: { sub: "7", role: "other" },
      variables: { "x-session-role": "sea_anon", "x-session-user-id": "7", "x-session-odd name": "1" },
    };
    const transactionSettings = await settings({ session, access: "read only", settings: [["request.method", "GET"]] });
    expect(transactionSettings).toMatchObject({
      user: "sea_anon",
      path: '"exe", "public"',
      user_id: "7",
      read_only: "on",
      isolation: "read committed",
      method: "GET",
    });
    expect(transactionSettings["claims"]).toBe('{"sub":"7","role":"sea_anon"}');
    expect(transactionSettings["variables"]).toBe(
      '{"x-session-role":"sea_anon","x-session-user-id":"7","x-session-odd name":"1"}',
    );
    expect(transactionSettings["hasura"]).toBe(
      '{"x-hasura-role":"sea_anon","x-hasura-user-id":"7","x-hasura-odd name":"1"}',
    );
  });

  test("R-AUT-8 without a database role statements run as the login role", async () => {
    expect((await settings({ session: admin }))["user"]).not.toBe("sea_anon");
  });

  test("R-TX-6 G-SES-7 a transaction leaves nothing behind on its connection", async () => {
    await settings({
      session: { ...anon, variables: { "x-session-user-id": "7", "x-session-role": "sea_anon" } },
      access: "read only",
      settings: [["request.method", "GET"]],
    });
    const next = await settings({ session: admin });
    expect(next).toMatchObject({ user_id: "", method: "", read_only: "off", claims: '{"role":"admin"}' });
    expect(next["user"]).not.toBe("sea_anon");
    await catchError(run("select 1 / 0", { session: { ...anon, variables: { "x-session-user-id": "8" } } }));
    expect(await settings({ session: admin })).toMatchObject({ user_id: "", user: next["user"] });
    expect(
      (
        await database.query<{ who: string; readonly: string }>({
          parts: ["select current_user as who, current_setting('transaction_read_only') as readonly"],
        } as never)
      )[0],
    ).toEqual({ who: next["user"], readonly: "off" });
  });

  test("R-TX-6 settings of the acting role and of the application apply in the transaction", async () => {
    const roles = new Map<string, Partial<Role>>([["sea_anon", { settings: [["statement_timeout", "4567ms"]] }]]);
    const pool = open(
      { appSettings: { region: "north" } },
      { roles: roles as Map<string, Role>, loginRole: "postgres" },
    );
    expect(await fetchBody("select current_setting('statement_timeout')", { pool })).toBe("4567ms");
    expect((await settings({ pool }))["app"]).toBe("north");
    expect(await fetchBody("select current_setting('statement_timeout')", { pool, session: admin })).toBe("0");
  });

  test("R-TX-1 a transaction can set more settings than a function has arguments", async () => {
    const manySettings = Array.from({ length: 230 }, (_, i): readonly [string, string] => [`many.n${i}`, String(i)]);
    expect(
      await fetchBody("select current_setting('many.n0') || current_setting('many.n229') || current_user", {
        settings: manySettings,
      }),
    ).toBe("0229sea_anon");
  });

  test("R-AUT-11 a missing role gives the database's error 22023 with status 401", async () => {
    expect(
      await catchError(run("select 1", { session: { ...anon, databaseRole: "no one", role: "no one" } })),
    ).toMatchObject({ code: "22023", status: 401, message: 'role "no one" does not exist' });
    expect((await settings())["user"]).toBe("sea_anon");
  });

  test("R-TX-7 the pre-request function runs as the acting role, and can be skipped", async () => {
    const pool = open({ dbPreRequest: "exe.before" });
    expect(await fetchBody("select current_setting('exe.before', true)", { pool })).toBe("sea_anon");
    expect(await fetchBody("select current_setting('exe.before', true)", { pool, skipsPreRequest: true })).toBe("");
    expect(
      await fetchBody("select current_setting('exe.before', true)", { pool: open({ dbPreRequest: "before" }) }),
    ).toBe("sea_anon");
  });
});

describe("access, isolation and end", () => {
  test("R-TX-2 a read-only transaction rejects a write", async () => {
    expect(await catchError(run("insert into exe.notes values (1, 'x')", { access: "read only" }))).toMatchObject({
      code: "25006",
      status: 405,
    });
    expect(
      await catchError(run("insert into exe.notes values (1, 'x')", { access: "read only", end: "rollback" })),
    ).toMatchObject({ code: "25006" });
    expect(await count()).toBe(0);
  });

  test("R-TX-3 a transaction has the requested isolation, and by default read committed, whatever the login role's default", async () => {
    expect((await settings({ isolation: "serializable", access: "read only" }))["isolation"]).toBe("serializable");
    expect((await settings({ isolation: "REPEATABLE READ" }))["isolation"]).toBe("repeatable read");
    const roles = new Map<string, Partial<Role>>([["postgres", { settings: [], isolation: "serializable" }]]);
    expect(
      (await settings({ pool: open({}, { roles: roles as Map<string, Role>, loginRole: "postgres" }) }))["isolation"],
    ).toBe("read committed");
  });

  test("R-TX-5 a rollback leaves nothing behind, and its response is complete", async () => {
    expect(await fetchBody("insert into exe.notes values (1, 'x') returning text", { end: "rollback" })).toBe("x");
    expect(await count()).toBe(0);
  });

  test("R-PRF-6 deferred constraints are checked before a rollback", async () => {
    const insertDuplicates = "insert into exe.notes values (1, 'a', 5), (2, 'b', 5) returning 'done'";
    expect(await catchError(run(insertDuplicates, { end: "rollback" }))).toMatchObject({ code: "23505", status: 409 });
    expect(await count()).toBe(0);
  });

  test("R-TX-5 a deferred constraint that fails at the commit undoes everything", async () => {
    expect(
      await catchError(run("insert into exe.notes values (1, 'a', 5), (2, 'b', 5) returning 'done'")),
    ).toMatchObject({ code: "23505", facts: { constraint: "notes_twin_key", sqlstate: "23505" } });
    expect(await count()).toBe(0);
  });

  test("R-TX-1 several statements run in one transaction and return one row per program", async () => {
    const twoStatements = program([
      statement("insert into exe.notes values (1, 'one') returning text, 'first'", ["one", "body"]),
      statement("select text || '!' from exe.notes where id = 1", ["body"]),
    ]);
    const rows = await database.execute({
      session: anon,
      access: "read write",
      schema: "exe",
      end: "rollback",
      programs: [
        { program: twoStatements, values: [] },
        { program: program([statement("select 2", ["two"])]), values: [] },
      ],
    });
    expect(rows).toEqual([{ one: "one", body: "one!" }, { two: "2" }]);
    expect(await count()).toBe(0);
  });

  test("R-TX-5 an error of a later statement undoes the earlier ones and names its path", async () => {
    const twoStatements = program([
      statement("insert into exe.notes values (1, 'one') returning id", ["id"], [], { path: "$.first" }),
      statement("insert into exe.notes values (1, 'again') returning id", ["id"], [], { path: "$.second" }),
    ]);
    const error = await catchError(
      database.execute({
        session: anon,
        access: "read write",
        schema: "exe",
        end: "commit",
        programs: [{ program: twoStatements, values: [] }],
      }),
    );
    expect(error).toMatchObject({ code: "23505", path: "$.second", details: "Key (id)=(1) already exists." });
    expect(await count()).toBe(0);
  });

  test("R-TX-5 an error of the check rolls the transaction back", async () => {
    const checkedRows: unknown[] = [];
    const check = (rows: readonly ResultRow[]): void => {
      checkedRows.push(rows);
      throw new RangeError("no");
    };
    await expect(run("insert into exe.notes values (1, 'x') returning text", { check })).rejects.toThrow(RangeError);
    expect(checkedRows).toEqual([[{ body: "x" }]]);
    expect(await count()).toBe(0);
    await run("insert into exe.notes values (1, 'x') returning text", { check: () => undefined });
    expect(await count()).toBe(1);
    await db.query("truncate exe.notes");
  });

  test("G-PRM-9 G-NST-6 failed checks of a program roll back", async () => {
    const write = statement(
      "insert into exe.notes values (1, 'x') returning text, $1::bool, $2::int",
      ["text", "check", "count"],
      [{ param: 0 }, { param: 1 }],
    );
    const checks: readonly ProgramCheck[] = [
      { statement: 0, column: "check", kind: "permission", message: "", path: "$.p" },
      { statement: 0, column: "count", kind: "step", message: "nothing came of it", path: "$.s" },
    ];
    const attempt = (values: readonly BoundValue[]) =>
      database.execute({
        session: anon,
        access: "read write",
        schema: "exe",
        end: "commit",
        programs: [{ program: program([write], checks), values }],
      });
    expect(await catchError(attempt(["f", "1"]))).toMatchObject({ code: "permission-check-failed", path: "$.p" });
    expect(await catchError(attempt([null, "1"]))).toMatchObject({ code: "permission-check-failed" });
    expect(await catchError(attempt(["t", "0"]))).toMatchObject({
      code: "step-wrote-nothing",
      message: "nothing came of it",
      path: "$.s",
    });
    expect(await count()).toBe(0);
    expect(await attempt(["t", "1"])).toEqual([{ text: "x", check: "t", count: "1" }]);
    await db.query("truncate exe.notes");
  });
});

describe("values and rows", () => {
  test("R-FMT-1 results contain bound values as PostgreSQL writes them", async () => {
    const text = "a'b\\ \u{1f600} é".repeat(9000);
    expect(
      await run("select $1::text, $2::numeric, $3::int, length($4::bytea)", {
        values: [text, "12.500", null, new Uint8Array([0, 1, 255])],
        columns: ["text", "number", "none", "bytes"],
      }),
    ).toEqual([{ text, number: "12.500", none: null, bytes: "3" }]);
  });

  test("R-FMT-1 a body of several megabytes arrives complete", async () => {
    expect((await fetchBody("select repeat('äb', 3000000)"))?.length).toBe(6_000_000);
  });

  test("X-MED-2 the rows of a multi-row statement are joined to one text", async () => {
    const rows = (isMultiRow: boolean) =>
      database.execute({
        session: anon,
        access: "read only",
        schema: "exe",
        end: "commit",
        programs: [
          {
            program: program([statement("select n from generate_series(1, 3) n", ["body"], [], { isMultiRow })]),
            values: [],
          },
        ],
      });
    expect(await rows(true)).toEqual([{ body: "1\n2\n3" }]);
    expect(await rows(false)).toEqual([{ body: "1" }]);
  });

  test("G-FIL-7 session variables fill their slots; a missing one is an error before any statement runs", async () => {
    const slots: readonly Slot[] = [
      { session: "x-session-user-id" },
      { session: "x-session-none", optional: true },
      { sessionJson: ["x-hasura-"] },
    ];
    const slotProgram = program([statement("select $1::text, $2::text, $3::json", ["id", "none", "all"], slots)]);
    const execution = {
      access: "read only",
      schema: "exe",
      end: "commit",
      programs: [{ program: slotProgram, values: [] }],
    } as const;
    expect(
      await database.execute({ ...execution, session: { ...anon, variables: { "x-session-user-id": "7" } } }),
    ).toEqual([{ id: "7", none: null, all: '{"x-session-user-id":"7","x-hasura-user-id":"7"}' }]);
    expect(await catchError(database.execute({ ...execution, session: anon }))).toMatchObject({
      code: "missing-session-variable",
      message: 'The session variable "x-session-user-id" is missing',
      path: "$",
    });
  });
});

describe("prepared statements", () => {
  test("R-TX-15c a statement whose result type has changed is prepared again", async () => {
    const read = "select * from exe.shapes limit 1";
    await db.query("insert into exe.shapes values (1)");
    expect(await fetchBody(read)).toBe("1");
    await db.query("alter table exe.shapes alter id type text using id || 'x'");
    expect(await fetchBody(read)).toBe("1x");
    await db.query("alter table exe.shapes alter id type int using 3");
    expect(await run(read, { end: "rollback" })).toEqual([{ body: "3" }]);
    expect(await fetchBody(read)).toBe("3");
  });

  test("R-BND-6 a prepared statement that failed can run again", async () => {
    const divide = "select 10 / $1::int";
    for (const [divisor, outcome] of [
      ["0", "22012"],
      ["5", "2"],
      ["0", "22012"],
      ["2", "5"],
    ] as const) {
      if (outcome === "22012") expect((await catchError(run(divide, { values: [divisor] }))).code).toBe(outcome);
      else expect(await fetchBody(divide, { values: [divisor] })).toBe(outcome);
    }
    expect((await catchError(run("select no_such_column"))).code).toBe("42703");
    expect((await catchError(run("select no_such_column"))).code).toBe("42703");
  });

  test.skipIf(!capabilities.realServer)(
    "R-BND-6 a connection keeps a limited number of prepared statements",
    async () => {
      const pool = open();
      // The first statement has no name.
      for (let i = 0; i < 600; i++) expect(await fetchBody(`select ${i >> 1}`, { pool })).toBe(String(i >> 1));
      const preparedCount = Number(
        await fetchBody("select count(*) from pg_prepared_statements where name like 'relapi%'", { pool }),
      );
      expect(preparedCount).toBeGreaterThan(100);
      expect(preparedCount).toBeLessThanOrEqual(250);
      expect(await fetchBody("select 0", { pool })).toBe("0");
    },
  );

  test.skipIf(!capabilities.realServer)(
    "R-BND-6 no statement is prepared without the setting dbPreparedStatements",
    async () => {
      const pool = open({ dbPreparedStatements: false });
      expect(await fetchBody("select count(*) from pg_prepared_statements where name like 'relapi%'", { pool })).toBe(
        "0",
      );
      expect(await fetchBody("select $1::int + 1", { pool, values: ["1"] })).toBe("2");
    },
  );

  test("R-TX-15 statements that user-defined code deallocates are prepared again, and no pooler is suspected", async () => {
    const pool = open();
    const count = "select count(*) from pg_prepared_statements where name like 'relapi%' and statement = $1";
    const read = "select 'kept'";
    warnings.length = 0;
    for (let turn = 0; turn < 3; turn++) {
      for (let i = 0; i < 2; i++) expect(await fetchBody(read, { pool })).toBe("kept");
      if (capabilities.realServer) expect(await fetchBody(count, { pool, values: [read] })).toBe("1");
      await fetchBody("deallocate all", { pool });
      await fetchBody("deallocate all", { pool, isProven: true }); // without the clean-up, which would notice
      expect(await fetchBody(read, { pool })).toBe("kept");
    }
    expect(warnings).toEqual([]);
  });

  test.skipIf(!capabilities.realServer)(
    "R-TX-15 a name that is already prepared is replaced, and no pooler is suspected",
    async () => {
      const pool = open();
      const text = "select 'mine'";
      const name = `relapi_${createHash("sha256")
        .update(JSON.stringify(["sea_anon", text]))
        .digest("base64url")
        .slice(0, 22)}`;
      // Another user of the pooler's connection could do this; nothing here cleans it up.
      await fetchBody(`prepare "${name}" as select 'theirs'`, { pool, isProven: true });
      warnings.length = 0;
      for (let i = 0; i < 4; i++) expect(await fetchBody(text, { pool, isProven: true })).toBe("mine");
      expect(
        await fetchBody("select statement from pg_prepared_statements where name = $1", { pool, values: [name] }),
      ).toBe(text);
      expect(warnings).toEqual([]);
    },
  );
});

describe("connections", () => {
  test("R-ADM-5 waiting for a connection ends after its timeout", async () => {
    const pool = open({ dbPoolAcquisitionTimeout: 0.3 });
    let finish: (() => void) | undefined;
    const snapshot = pool.snapshot(() => new Promise<void>((resolve) => (finish = resolve)));
    await until(() => finish !== undefined, "the snapshot has the connection");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const failure = catchError(run("select 1", { pool }));
    await until(() => pool.counts().waiting === 1, "a second transaction waits for the connection");
    await vi.advanceTimersByTimeAsync(299);
    expect(pool.counts()).toMatchObject({ waiting: 1, timeouts: 0 });
    await vi.advanceTimersByTimeAsync(1);
    expect(await failure).toMatchObject({ code: "pool-timeout", status: 504 });
    vi.useRealTimers();
    expect(pool.counts()).toMatchObject({ max: 1, available: 0, waiting: 0, timeouts: 1 });
    finish!();
    await snapshot;
    expect(await fetchBody("select 1", { pool, isProven: true, access: "read only" })).toBe("1");
    expect(pool.counts()).toMatchObject({ available: 1 });
  });

  test("R-ADM-5 waiting requests are served in order", async () => {
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4].map((n) => run(`select ${n} from pg_sleep(0.02)`).then(() => order.push(n))));
    expect(order).toEqual([1, 2, 3, 4]);
  });

  test("R-ERR-1 an unreachable database is a connection error with Retry-After", async () => {
    const pool = open({ database: undefined, databaseUrl: "postgres://nobody:topsecret@127.0.0.1:1/none" });
    const error = await catchError(run("select 1", { pool }));
    expect(error).toMatchObject({ code: "connection-failed", status: 503, headers: [["Retry-After", "1"]] });
    expect(String(error.details)).toContain("ECONNREFUSED");
    expect(JSON.stringify([error, String(error), String(error.details)])).not.toContain("topsecret");
  });

  test("R-ERR-1 requests that waited for a connection that failed to open get the same error", async () => {
    const pool = open({ database: undefined, databaseUrl: "postgres://nobody@127.0.0.1:1/none", dbPool: 1 });
    const errors = await Promise.all([1, 2, 3].map(() => catchError(run("select 1", { pool }))));
    expect(errors.map((error) => error.code)).toEqual(["connection-failed", "connection-failed", "connection-failed"]);
    expect(pool.counts()).toMatchObject({ available: 1, waiting: 0, timeouts: 0 });
  });

  test("R-SC-1b a snapshot is read-only and has an empty search path", async () => {
    const rows = await database.snapshot(async (query) =>
      query<{ path: string; ro: string; j: unknown }>({
        parts: [
          "select current_setting('search_path') as path, current_setting('transaction_read_only') as ro, '{\"a\":[1]}'::json as j",
        ],
      } as never),
    );
    expect(rows).toEqual([{ path: "", ro: "on", j: { a: [1] } }]);
    await expect(
      database.snapshot(async (query) => query({ parts: ["create table x ()"] } as never)),
    ).rejects.toMatchObject({ code: "25006" });
    expect((await settings())["user"]).toBe("sea_anon");
  });
});

describe.skipIf(!capabilities.realServer)("a server", () => {
  const backends = async (name: string): Promise<number> =>
    Number(
      (
        await db.query<{ n: string }>(
          "select count(*) as n from pg_stat_activity where application_name = $1 and datname = current_database()",
          [name],
        )
      )[0]?.n,
    );
  const withApplicationName = (name: string): RelApiOptions => ({
    databaseUrl: `${db.options.databaseUrl}?application_name=${name}`,
  });

  test("R-ADM-5 connections name the product", async () => {
    expect(await fetchBody("select application_name from pg_stat_activity where pid = pg_backend_pid()")).toBe(
      "relapi",
    );
  });

  test("R-ADM-5 connections that serve no requests name their purpose, unless the connection string has a name", async () => {
    const purposes = ["relapi listener", "relapi replication"];
    const openBackgroundConnections = async (options: RelApiOptions): Promise<() => Promise<void>> => {
      const pool = open(options);
      const stop = pool.listen("exe_purpose", () => undefined);
      const replication = await pool.openReplication();
      return async () => {
        stop();
        await replication.end();
        await pool.close(0);
      };
    };
    const end = await openBackgroundConnections({});
    for (const name of purposes) await until(async () => (await backends(name)) === 1, `there is a ${name}`);
    const endNamed = await openBackgroundConnections(withApplicationName("relapi_purpose"));
    await until(async () => (await backends("relapi_purpose")) === 2, "both have the name of the string");
    for (const name of purposes) expect(await backends(name)).toBe(1);
    await Promise.all([end(), endNamed()]);
  });

  test("R-STR-5 a statement is cancelled when its client disconnects, and its connection is used again", async () => {
    const pool = open(withApplicationName("relapi_gone"));
    const pid = await fetchBody("select pg_backend_pid()", { pool });
    let leave: () => void = silent;
    const running = catchError(
      run("select pg_sleep(600)", {
        pool,
        onDisconnect: (listener) => {
          leave = listener;
          return silent;
        },
      }),
    );
    await until(
      async () =>
        (
          await db.query(
            "select from pg_stat_activity where pid = $1 and query like '%pg_sleep(600)%' and state = 'active'",
            [pid],
          )
        ).length > 0,
      "the statement runs",
    );
    leave();
    expect(await running).toMatchObject({ code: "request-cancelled", status: 499 });
    expect(await fetchBody("select pg_backend_pid()", { pool })).toBe(pid);
  });

  test("R-ADM-5 a write does not run if its client disconnects while the write waits for a connection", async () => {
    const pool = open();
    const first = run("select 1", { pool });
    let leave: () => void = silent;
    const second = catchError(
      run("insert into exe.notes values (77, 'x')", { pool, onDisconnect: (listener) => ((leave = listener), silent) }),
    );
    leave();
    await first;
    expect((await second).code).toBe("request-cancelled");
    expect(await count("id = 77")).toBe(0);
  });

  test("R-TX-6 the statement_timeout of a role applies to its statement only", async () => {
    const roles = new Map<string, Partial<Role>>([["sea_anon", { settings: [["statement_timeout", "150ms"]] }]]);
    const pool = open({}, { roles: roles as Map<string, Role>, loginRole: "postgres" });
    expect(await catchError(run("select pg_sleep(600)", { pool }))).toMatchObject({ code: "57014", status: 500 });
    expect(await fetchBody("select 1", { pool, session: admin })).toBe("1");
  });

  test("R-SC-5 a terminated backend fails its request and is replaced", async () => {
    const pool = open(withApplicationName("relapi_ended"));
    expect(
      await catchError(run("select pg_terminate_backend(pg_backend_pid())", { pool, session: admin })),
    ).toMatchObject({ status: 503, headers: [["Retry-After", "1"]] });
    for (let i = 0; i < 2; i++) expect(await fetchBody("select 1", { pool })).toBe("1");
    expect(pool.counts().prepared).toBeGreaterThan(0);
    await db.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'relapi_ended'");
    // Prepared statements are counted until the end of their connection is noticed.
    await until(() => pool.counts().prepared === 0, "the end of the idle connection is noticed");
    expect(await fetchBody("select 1", { pool })).toBe("1");
  });

  test("R-SC-4 renewing replaces a busy connection once it is free", async () => {
    const pool = open({ dbPool: 2 });
    // Without cleaning (R-TX-13) a connection is free as soon as it has answered.
    const proven = { pool, isProven: true, access: "read only" } as const;
    const pid = () => fetchBody("select pg_backend_pid()", proven);
    const before = await pid();
    expect(await pid()).toBe(before);
    const busy = pid();
    pool.renew();
    expect(await busy).toBe(before);
    expect(await pid()).not.toBe(before);
  });

  test("R-ADM-5 the pool closes idle connections and old connections", async () => {
    for (const [name, limit] of [
      ["relapi_idle", { dbPoolMaxIdletime: 60 }],
      ["relapi_old", { dbPoolMaxIdletime: 3600, dbPoolMaxLifetime: 60 }],
    ] as const) {
      vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
      const pool = open({ ...withApplicationName(name), ...limit });
      expect(await fetchBody("select 1", { pool, isProven: true, access: "read only" })).toBe("1");
      await vi.advanceTimersByTimeAsync(50_000);
      expect(await backends(name)).toBe(1);
      await vi.advanceTimersByTimeAsync(20_000);
      await until(async () => (await backends(name)) === 0, `no connection of ${name} is left`);
      expect(await fetchBody("select 1", { pool, isProven: true, access: "read only" })).toBe("1");
      vi.useRealTimers();
    }
  });

  test("R-ADM-5 the pool opens no more connections than DB_POOL", async () => {
    const pool = open({ ...withApplicationName("relapi_many"), dbPool: 3 });
    const client = await db.connect();
    await client.query("begin; lock table exe.shapes in access exclusive mode");
    const all = Promise.all(Array.from({ length: 12 }, () => run("select count(*) from exe.shapes", { pool })));
    const waitingLocksQuery = "select from pg_locks where relation = 'exe.shapes'::regclass and not granted";
    await until(async () => (await db.query(waitingLocksQuery)).length === 3, "three transactions wait for the table");
    expect(pool.counts()).toMatchObject({ inUse: 3, available: 0, waiting: 9 });
    await client.query("commit");
    await client.end();
    await all;
    expect(await backends("relapi_many")).toBe(3);
  });

  test("R-HST-8 reads go to the replicas in turn, and writes go to the primary", async () => {
    const replica = (name: string) => `${db.options.databaseUrl}?application_name=${name}`;
    const pool = open({ databaseReplicaUrls: [replica("relapi_r1"), replica("relapi_r2")] });
    const applicationName = (mayUseReplica: boolean) =>
      fetchBody("select application_name from pg_stat_activity where pid = pg_backend_pid()", { pool, mayUseReplica });
    const places = [
      await applicationName(true),
      await applicationName(true),
      await applicationName(true),
      await applicationName(true),
    ];
    expect(places.sort()).toEqual(["relapi_r1", "relapi_r1", "relapi_r2", "relapi_r2"]);
    expect(await applicationName(false)).toBe("relapi");
  });

  test("R-HST-1 a connection string may be a list of name=value pairs", async () => {
    const url = new URL(db.options.databaseUrl as string);
    const pool = open({
      databaseUrl: `host=${url.hostname} port=${url.port || "5432"} user='${url.username}' password='it\\'s' dbname = ${url.pathname.slice(1)} application_name='a b'`,
    });
    expect(
      await fetchBody("select application_name from pg_stat_activity where pid = pg_backend_pid()", { pool }),
    ).toBe("a b");
  });

  test("R-HST-3 encryption follows sslmode as in libpq, and is preferred without sslmode", async () => {
    const urls = (text: string, environment = {}) => parseHosts(text, environment).urls[0];
    expect(urls("postgres://u@h/d")).toEqual([
      "postgres://u@h/d",
      "postgres://u@h/d?sslmode=require&uselibpqcompat=true",
    ]);
    expect(urls("postgres://u@h/d?sslmode=prefer&application_name=a")).toEqual(
      ["require", "disable"].map((mode) => `postgres://u@h/d?&application_name=a&sslmode=${mode}&uselibpqcompat=true`),
    );
    expect(urls("host=h dbname=d sslmode=allow")).toEqual(
      ["disable", "require"].map((mode) => `postgres://h/d?&sslmode=${mode}&uselibpqcompat=true`),
    );
    expect(urls("postgres://u@h/d?sslmode=require")).toEqual(["postgres://u@h/d?sslmode=require&uselibpqcompat=true"]);
    expect(urls("postgres:///d?host=/tmp")).toEqual(["postgres:///d?host=/tmp"]);
    expect(urls("postgres://u@h/d?ssl=true")).toEqual(["postgres://u@h/d?ssl=true"]);
    expect(urls("postgres://u@h/d", { PGSSLMODE: "require" })).toEqual([
      "postgres://u@h/d?sslmode=require&uselibpqcompat=true",
    ]);
    for (const [message, code] of [
      ['no pg_hba.conf entry for host "10.0.0.1", user "u", database "d", no encryption', "28000"],
      ["SSL connection is required", "08P01"],
      ["The server does not support SSL connections", undefined],
    ] as const)
      expect(mayConcernEncryption(message, code)).toBe(true);
    expect(mayConcernEncryption('password authentication failed for user "u"', "28P01")).toBe(false);
    expect(mayConcernEncryption("connect ECONNREFUSED 127.0.0.1:1", undefined)).toBe(false);
  });

  test.skipIf(!capabilities.realServer)(
    "R-HST-3 each sslmode that allows plain connections reaches servers with and without encryption",
    async () => {
      for (const mode of ["disable", "allow", "prefer"]) {
        const pool = open({ databaseUrl: `${db.options.databaseUrl}?sslmode=${mode}` });
        expect(await fetchBody("select 1", { pool })).toBe("1");
        expect(await fetchBody("select 2", { pool })).toBe("2");
      }
    },
  );

  test("R-SC-5 notifications arrive, also after the loss of the listening connection", async () => {
    const pool = open();
    const payloads: string[] = [];
    let reconnects = 0;
    const stop = pool.listen(
      "exe_channel",
      (payload) => payloads.push(payload),
      () => reconnects++,
    );
    const listening = () =>
      db.query<{ pid: number }>(
        "select pid from pg_stat_activity where query ilike 'listen \"exe_channel\"' and datname = current_database()",
      );
    await until(async () => (await listening()).length === 1, "the channel is listened to");
    await db.query("select pg_notify('exe_channel', 'one')");
    await until(() => payloads.length === 1, "the first notification is heard");
    await db.query("select pg_terminate_backend($1)", [(await listening())[0]?.pid]);
    await until(() => reconnects === 1, "the channel is listened to again");
    await db.query("select pg_notify('exe_channel', 'two')");
    await until(() => payloads.length === 2, "the second notification is heard");
    expect(payloads).toEqual(["one", "two"]);
    stop();
  });
});
