/** Statements of anonymous callers have a time limit, unless another one is configured. */
import { expect, onTestFinished, test, vi } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, capabilities, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { initSocket, subscribe } from "../support/live.ts";
import { bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { collectMessages } from "../support/logger.ts";
import { buildMetadataDocument } from "../support/metadata-document.ts";

const role = `anonymous_timeout_${process.pid}`;
const database = await testDatabase();
await database.query(`
  create role ${role} nologin; grant ${role} to current_user;
  grant usage on schema public to ${role};
  create table stone (id int primary key); insert into stone values (1); grant select on stone to ${role};
  create function patience() returns text language sql stable as $$ select current_setting('statement_timeout') $$;
  create function own_patience() returns text language sql stable set statement_timeout = '77s'
    as $$ select current_setting('statement_timeout') $$;
  create function nap(s stone) returns text language sql stable as $$ select pg_sleep(600)::text $$;
  grant execute on all functions in schema public to ${role}`);

const start = (options: StartOptions = {}): Promise<TestApi> =>
  startApi(forGraphql({ anonRole: role, compatMode: false, ...options }));

/** The time limit that SQL sees, for an anonymous caller unless there are headers. */
const patience = async (api: TestApi, headers = {}): Promise<unknown> =>
  (await api.get("/api/rpc/patience", { headers })).json();

test("R-LIM-9 by default only callers of the anonymous role have a time limit of ten seconds", async () => {
  const api = await start();
  expect(await patience(api)).toBe("10s");
  expect(await patience(api, bearer({ role }))).toBe("10s");
  expect(await patience(api, asAdmin())).toBe("0");
  expect(await patience(api, bearer({ role: "music_editor" }))).toBe("0");
  expect(await patience(await start({ anonStatementTimeout: 33 }))).toBe("33s");
  expect(await patience(await start({ anonStatementTimeout: 0 }))).toBe("0");
  expect(await patience(await start({ compatMode: true }))).toBe("0");
  expect(await patience(await start({ compatMode: true, anonStatementTimeout: 33 }))).toBe("33s");
  expect(await patience(await start({ parts: [without("anonymous-timeout")] }))).toBe("0");
});

test("R-LIM-9 R-LIM-9a a statement_timeout of the role, the database or a function takes precedence", async () => {
  const api = await start();
  const with_ = async (set: string, reset: string): Promise<unknown> => {
    await api.sql(set);
    try {
      await api.reload();
      return await patience(api);
    } finally {
      await api.sql(reset);
      await api.reload();
    }
  };
  const [{ name } = { name: "" }] = await api.sql<{ name: string }>("select current_database() as name");
  expect(await with_(`alter role ${role} set statement_timeout = '44s'`, `alter role ${role} reset all`)).toBe("44s");
  // PostgreSQL ignores it on a switch of roles, but this setting expresses it.
  expect(
    await with_(
      `alter role ${role} in database "${name}" set statement_timeout = '44s'`,
      `alter role ${role} in database "${name}" reset all`,
    ),
  ).toBe("0");
  if (capabilities.realServer) {
    const set = `alter database "${name}" set statement_timeout = '5s'`;
    expect(await with_(set, `alter database "${name}" reset statement_timeout`)).toBe("5s");
  }
  expect(await patience(api)).toBe("10s");
  expect((await api.get("/api/rpc/own_patience")).json()).toBe("77s");
});

test.skipIf(!capabilities.realServer)(
  "R-LIM-9 R-LIM-9a a statement_timeout of the login role or the connection takes precedence",
  async () => {
    const [{ login } = { login: "" }] = await database.query<{ login: string }>("select current_user as login");
    const url = new URL(database.urlAs(login));
    url.searchParams.set("options", "-c statement_timeout=8s");
    const api = await startApi(
      forGraphql({
        databaseUrl: url.href,
        database: undefined,
        anonRole: role,
        on: { ...database, options: { databaseUrl: url.href } },
      }),
    );
    expect(await patience(api)).toBe("8s");
  },
);

test.skipIf(!capabilities.realServer)(
  "R-LIM-9 G-LIM-12 R-LIM-9b a statement that takes longer is rejected with the limit and its value",
  async () => {
    const api = await start({ anonStatementTimeout: 1 });
    const rest = await api.get("/api/stone?select=id,nap");
    expect([rest.status, rest.json()]).toEqual([
      500,
      {
        code: "57014",
        details: null,
        hint: "The limit is the setting anonStatementTimeout: 1 second.",
        message: "canceling statement due to statement timeout",
      },
    ]);
    const document = { query: "{ stone { nap } }" };
    const metadata = buildMetadataDocument(
      [
        {
          table: "stone",
          computed_fields: [{ name: "nap", definition: { function: "nap" } }],
          select_permissions: [{ role, permission: { columns: ["id"], computed_fields: ["nap"], filter: {} } }],
        },
      ],
      {},
      { configuration: {} },
    );
    // With metadata permissions, the statement runs as the login role.
    const byMetadata = await start({ anonStatementTimeout: 1, metadata });
    for (const testApi of [api, byMetadata]) {
      const answer = await testApi.post("/v1/graphql", { body: document });
      expect([answer.status, answer.json()]).toEqual([
        200,
        {
          errors: [
            {
              message: "the operation took longer than 1 second",
              extensions: { path: "$", code: "time-limit-exceeded" },
            },
          ],
        },
      ]);
    }
    // The limit in the metadata's api_limits takes precedence, whether it is longer or shorter.
    const limitedApi = await start({
      anonStatementTimeout: 1,
      metadata: { ...metadata, api_limits: { time_limit: { global: 2 } } },
    });
    expect((await limitedApi.post("/v1/graphql", { body: document })).json().errors[0].message).toBe(
      "the operation took longer than 2 seconds",
    );
  },
);

test.skipIf(!capabilities.realServer)(
  "G-SUB-17 a live query that exceeded its time limit pauses before it runs again",
  async () => {
    const { logger, lines: statements } = collectMessages("info");
    const api = await start({ anonStatementTimeout: 1, logQuery: true, logger });
    const naps = (): number => statements.filter((text) => text.includes('"nap"(')).length;
    const socket = await initSocket(api, {});
    subscribe(socket, "slow", "subscription { stone { nap } }");
    expect(await socket.next()).toMatchObject({
      id: "slow",
      payload: { errors: [{ extensions: { code: "time-limit-exceeded" } }] },
    });
    // The clock stands still, so that the pause never ends.
    const real = performance.now.bind(performance);
    let nowMs = real();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    onTestFinished(() => clock.mockRestore());
    const before = naps();
    subscribe(socket, "quick", "subscription { stone { id } }");
    const ids = (count: number) => (message: any) => message.payload?.data?.stone?.length === count;
    await socket.next(ids(1));
    await api.sql("insert into stone values (2)");
    await socket.next(ids(2));
    expect(naps()).toBe(before);
    nowMs += 600_000;
    await until(() => naps() > before, "it runs again after the pause");
    await socket.close();
    await api.sql("delete from stone where id = 2");
    await api.close();
  },
);

test("R-LIM-9 the test removes the role of this file", async () => {
  await database.query(`drop owned by ${role}; drop role ${role}`);
  expect(await database.query("select from pg_roles where rolname = $1", [role])).toEqual([]);
});
