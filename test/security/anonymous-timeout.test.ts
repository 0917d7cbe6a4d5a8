/** Callers without a credential have a time limit, unless somebody has set another one. */
import { expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, capabilities, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { bearer } from "../support/tokens.ts";

const role = `anonymous_timeout_${process.pid}`;
const database = await (async () => {
  const api = await startApi(forGraphql());
  await api.sql(`
    create role ${role} nologin; grant ${role} to current_user;
    grant usage on schema public to ${role};
    create table stone (id int primary key); insert into stone values (1); grant select on stone to ${role};
    create function patience() returns text language sql stable as $$ select current_setting('statement_timeout') $$;
    create function own_patience() returns text language sql stable set statement_timeout = '77s'
      as $$ select current_setting('statement_timeout') $$;
    create function nap(s stone) returns text language sql stable as $$ select pg_sleep(600)::text $$;
    grant execute on all functions in schema public to ${role}`);
  return api.database;
})();

const start = (options: StartOptions = {}): Promise<TestApi> =>
  startApi(forGraphql({ on: database, anonRole: role, compatMode: false, ...options }));

/** What a statement of an anonymous caller sees; of others where there are headers. */
const patience = async (api: TestApi, headers = {}): Promise<unknown> =>
  (await api.get("/api/rpc/patience", { headers })).json();

test("R-LIM-9 ten seconds unless set, for callers of the anonymous role alone, however they come to it", async () => {
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

test("R-LIM-9 what the role, the role in the database, the database and a function set goes before", async () => {
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
  // it takes no effect on a switch of roles, and is meant all the same
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

test.skipIf(!capabilities.realServer)("R-LIM-9 what the login role and the connection set goes before", async () => {
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
});

test.skipIf(!capabilities.realServer)(
  "R-LIM-9 G-LIM-12 what takes longer is refused, with limit and value",
  async () => {
    const api = await start({ anonStatementTimeout: 1 });
    const rest = await api.get("/api/stone?select=id,nap");
    expect([rest.status, rest.json()]).toEqual([
      500,
      {
        code: "57014",
        details: null,
        hint: "The limit is the setting anonStatementTimeout: 1 seconds.",
        message: "canceling statement due to statement timeout",
      },
    ]);
    const document = { query: "{ stone { nap } }" };
    const metadata = {
      version: 3,
      sources: [
        {
          name: "default",
          kind: "postgres",
          configuration: {},
          tables: [
            {
              table: "stone",
              computed_fields: [{ name: "nap", definition: { function: "nap" } }],
              select_permissions: [{ role, permission: { columns: ["id"], computed_fields: ["nap"], filter: {} } }],
            },
          ],
        },
      ],
    };
    // rights by the metadata: the statement runs as the login role
    const byMetadata = await start({ anonStatementTimeout: 1, metadata });
    for (const each of [api, byMetadata]) {
      const answer = await each.post("/v1/graphql", { body: document });
      expect([answer.status, answer.json()]).toEqual([
        200,
        {
          errors: [
            {
              message: "the operation took longer than 1 seconds",
              extensions: { path: "$", code: "time-limit-exceeded" },
            },
          ],
        },
      ]);
    }
    // the limit of the metadata's api_limits goes before, longer or shorter
    const limited = await start({
      anonStatementTimeout: 1,
      metadata: { ...metadata, api_limits: { time_limit: { global: 2 } } },
    });
    expect((await limited.post("/v1/graphql", { body: document })).json().errors[0].message).toBe(
      "the operation took longer than 2 seconds",
    );
  },
);

test("R-LIM-9 the role goes with the file", async () => {
  await database.query(`drop owned by ${role}; drop role ${role}`);
  expect(await database.query("select from pg_roles where rolname = $1", [role])).toEqual([]);
});
