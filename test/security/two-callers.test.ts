/**
 * Two callers on one connection: statements prepared for the first must give the second the same result as without
 * them. Both callers send every request, in both orders, and the responses are compared with those of an API that
 * prepares nothing.
 */
import { describe, expect, test } from "vitest";
import { asAdmin, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { bearer } from "../support/tokens.ts";
import { testDatabase } from "../support/database.ts";

/** A role that may execute functions that others may not. */
const OWNER_ROLE = "sea_clerk";
const OTHER_ROLE = "sea_anon";

const SCHEMA = `
  create schema duo; create schema closed;
  create table closed.vault (id int primary key, word text); insert into closed.vault values (1, 'vaulted');
  create table duo.author (id int primary key, name text); insert into duo.author values (1, 'Ada'), (2, 'Bo');
  create table duo.note (id int primary key, author_id int references duo.author, text text); insert into duo.note values (1, 1, 'one'), (2, 2, 'two');

  create function duo.secret() returns text language sql stable as $$ select 'secret'::text $$;
  create function duo.secret_of(n int) returns text language sql stable as $$ select 'secret ' || n $$;
  create function duo.secrets() returns setof duo.author language sql stable as $$ select * from duo.author $$;
  create function duo.secrets_of(n int) returns setof duo.author language sql stable as $$ select * from duo.author where id > n $$;
  create function duo.told(n int) returns text language plpgsql stable as $$ begin return 'told ' || n; end $$;
  create function duo.passed_on(n int) returns text language plpgsql stable as $$ begin return duo.secret_of(n); end $$;
  create function duo.passed_rows() returns setof duo.author language plpgsql stable as $$ begin return query select * from duo.secrets(); end $$;
  create function duo.passed_field(duo.author) returns text language plpgsql stable as $$ declare word text; begin select duo.secret() into word; return word; end $$;
  create function duo.hidden(duo.note) returns text language sql stable as $$ select 'hidden ' || $1.id $$;
  create function duo.hidden_authors(duo.note) returns setof duo.author language sql stable as $$ select * from duo.author where id = $1.author_id $$;
  create function duo.vaulted(duo.note) returns setof duo.author language sql stable as $$ select id, word from closed.vault $$;
  create function duo.asks() returns text language sql stable as $$ select current_setting('request.jwt.claims', true)::json ->> 'sub' $$;

  create view duo.told_notes as select id, text, duo.secret() as word from duo.note;
  create view duo.own_notes with (security_invoker) as select id, duo.secret() as word from duo.note;
  create table duo.stamp (id int primary key, word text default duo.secret());
  create view duo.stamps as select * from duo.stamp;
  create table duo.checked (id int primary key, word text check (word <> duo.secret()));

  create domain duo.shade as text;
  create function duo.shade_json(duo.shade) returns json language sql stable as $$ select to_json('shade of ' || $1::text) $$;
  create function duo.shade_of(text) returns duo.shade language sql stable as $$ select upper($1)::duo.shade $$;
  create cast (duo.shade as json) with function duo.shade_json(duo.shade) as implicit;
  create cast (text as duo.shade) with function duo.shade_of(text) as implicit;
  create table duo.paint (id int primary key, shade duo.shade); insert into duo.paint values (1, 'RED');

  create table duo.diary (id int primary key, owner text, word text); insert into duo.diary values (1, 'ada', 'a'), (2, 'bo', 'b');
  create policy mine on duo.diary using (owner = duo.asks());

  create function duo.act_as(who text) returns setof duo.author language plpgsql volatile as $$ begin perform set_config('role', who, true); return query select * from duo.author; end $$;
  create table duo.actor (id int primary key, role text, note_id int references duo.note);
  create function duo.acting() returns trigger language plpgsql as $$ begin perform set_config('role', new.role, true); return new; end $$;
  create trigger acting before insert on duo.actor for each row execute function duo.acting();
  create function duo.before() returns void language plpgsql as $$
    declare who text := current_setting('request.headers', true)::json ->> 'x-act-as';
    begin if who is not null then perform set_config('role', who, true); end if; end $$;
  create function duo.prepared() returns setof text language sql stable as $$ select statement from pg_prepared_statements $$;

  create schema shut; grant usage on schema shut to ${OWNER_ROLE};
  create type shut.mood as enum ('fair');
  create table shut.page (id int primary key, author_id int references duo.author); insert into shut.page values (1, 1);
  create table duo.day (id int primary key, mood shut.mood); insert into duo.day values (1, 'fair');
  grant all on all tables in schema shut to ${OWNER_ROLE}, ${OTHER_ROLE};
  grant usage on schema closed to ${OWNER_ROLE}; grant select on closed.vault to ${OWNER_ROLE};
  grant usage on schema duo to ${OWNER_ROLE}, ${OTHER_ROLE};
  grant all on all tables in schema duo to ${OWNER_ROLE}, ${OTHER_ROLE};
  revoke execute on all functions in schema duo from public;
  grant execute on all functions in schema duo to ${OWNER_ROLE};
  grant execute on function duo.asks(), duo.before(), duo.act_as(text), duo.prepared(), duo.passed_on(int), duo.passed_rows(), duo.passed_field(duo.author) to ${OTHER_ROLE};
  revoke insert on duo.note from ${OTHER_ROLE}`;

/** Enough executions for PostgreSQL to choose a generic plan. */
const TIMES = 7;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const get = (path: string, headers?: Record<string, string>): Request => ({
  method: "GET",
  path: `/api${path}`,
  ...(headers === undefined ? {} : { headers }),
});
const write = (method: string, path: string, body?: unknown): Request => ({
  method,
  path: `/api${path}`,
  body,
  headers: { prefer: "tx=rollback, return=representation" },
});
const gql = (query: string): Request => ({ method: "POST", path: "/v1/graphql", body: { query } });

const REST: readonly Request[] = [
  get("/rpc/secret"),
  get("/rpc/secret_of?n=1"),
  { method: "POST", path: "/api/rpc/secret_of", body: { n: 2 } },
  get("/rpc/secrets"),
  get("/rpc/secrets_of?n=1&select=name&order=id"),
  get("/rpc/secrets_of?n=0&limit=1", { prefer: "count=exact" }),
  get("/rpc/told?n=1"),
  get("/rpc/passed_on?n=1"),
  get("/rpc/passed_rows?select=name"),
  get("/author?select=name,passed_field"),
  get("/note?select=id,hidden"),
  get("/note?select=id&hidden=eq.hidden%201"),
  get("/note?select=id&order=hidden"),
  get("/note?select=id,hidden_authors(name)"),
  get("/note?select=id,hidden_authors()&hidden_authors.name=eq.Ada&hidden_authors=not.is.null"),
  get("/note?select=id,vaulted(name)"),
  get("/author?select=name,note(hidden)"),
  get("/author?select=name,...note(hidden)"),
  get("/note?select=hidden,count()"),
  get("/told_notes"),
  get("/told_notes", { prefer: "count=estimated" }),
  get("/told_notes", { accept: "text/csv" }),
  get("/told_notes", { accept: "application/vnd.pgrst.plan+json" }),
  get("/own_notes"),
  get("/paint"),
  get("/paint?shade=eq.red"),
  get("/note?select=id"),
  get("/page?select=id", { "accept-profile": "shut" }),
  get("/page?select=id", { "accept-profile": "shut", accept: "text/csv" }),
  {
    ...write("POST", "/page", { id: 2 }),
    headers: { "content-profile": "shut", prefer: "tx=rollback, return=representation" },
  },
  write("POST", "/day", { id: 2, mood: "fair" }),
  write("POST", "/stamp", { id: 1 }),
  {
    ...write("POST", "/stamp?columns=id,word", { id: 1 }),
    headers: { prefer: "tx=rollback, return=representation, missing=default" },
  },
  write("POST", "/stamps", { id: 1 }),
  write("POST", "/checked", { id: 1, word: "x" }),
  write("POST", "/paint", { id: 2, shade: "blue" }),
  write("PATCH", "/note?id=eq.1&select=hidden", { text: "x" }),
  write("DELETE", "/note?hidden=eq.hidden%201"),
  write("POST", "/note", { id: 9 }),
  get("/"),
];

const GRAPHQL: readonly Request[] = [
  gql("{ duo_note { id hidden } }"),
  gql('{ duo_note(where: {hidden: {_eq: "hidden 1"}}) { id } }'),
  gql("{ duo_note { id hidden_authors { name } } }"),
  gql("{ duo_secrets { name } }"),
  gql("{ duo_passed_rows { name } }"),
  gql("{ duo_author { name passed_field } }"),
  gql("{ duo_secrets_of(args: {n: 1}) { name } }"),
  gql("{ duo_told_notes { word } }"),
  gql("{ duo_told_notes_aggregate { aggregate { max { word } } } }"),
  gql("{ duo_own_notes { word } }"),
  gql("{ duo_note { id } }"),
  gql("mutation { insert_duo_stamp_one(object: {id: 5}) { word } }"),
  gql(
    "mutation { insert_duo_stamp(objects: [{id: 6}]) { returning { word } } delete_duo_stamp(where: {id: {_eq: 6}}) { returning { word } } }",
  ),
  gql('mutation { insert_duo_author_one(object: {id: 7, name: "x", notes: {data: [{id: 70}]}}) { notes { hidden } } }'),
  gql('mutation { insert_duo_checked_one(object: {id: 5, word: "x"}) { word } }'),
];

const database = await testDatabase();
await database.query(SCHEMA);

const OPTIONS: StartOptions = {
  dbSchemas: ["duo", "shut"],
  dbPool: 1,
  dbPlanEnabled: true,
  dbAggregatesEnabled: true,
  dbChannelEnabled: false,
};

const startWarm = (options: StartOptions = {}): Promise<TestApi> => startApi({ ...OPTIONS, ...options });
/** The same API without anything cached on the connection. */
const startCold = (options: StartOptions = {}): Promise<TestApi> =>
  startWarm({ dbPreparedStatements: false, ...options });

const ask = async (
  api: TestApi,
  role: string,
  { method, path, body, headers }: Request,
  claims: Readonly<Record<string, string>> = {},
) => {
  const credentials = path.startsWith("/v1") ? asAdmin(role, claims) : bearer({ role, ...claims });
  const answer = await api.request(method, path, {
    headers: { ...headers, ...credentials },
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, text: answer.text.replaceAll(`127.0.0.1:${api.port}`, "host") };
};

const ROLLED_BACK: StartOptions = { dbTxEnd: "rollback-allow-override" };

let sharedApi: Promise<TestApi> | undefined;
/** One API for all tests with these options, because its connection caches nothing. */
const startColdRolledBack = (): Promise<TestApi> => (sharedApi ??= startCold(ROLLED_BACK));

interface Caller {
  readonly role: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const asCaller = (request: Request, { headers }: Caller): Request => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

/** Each of two callers gets its own result after the other one's requests. Each order has its own server. */
const compare = async (
  requests: readonly Request[],
  callers: readonly [Caller, Caller],
  options: StartOptions = {},
): Promise<void> => {
  const cold = await (options === ROLLED_BACK ? startColdRolledBack() : startCold(options));
  for (const [first, second] of [callers, [callers[1], callers[0]]] as const) {
    const warm = await startWarm(options);
    for (const request of requests) {
      for (const [caller, times] of [
        [first, TIMES],
        [second, 2],
      ] as const) {
        const expected = await ask(cold, caller.role, asCaller(request, caller));
        for (let i = 0; i < times; i++)
          expect({ request, caller, ...(await ask(warm, caller.role, asCaller(request, caller))) }).toEqual({
            request,
            caller,
            ...expected,
          });
      }
    }
    await warm.close();
  }
  if (options !== ROLLED_BACK) await cold.close();
};

/** The requests that both callers may send. */
const COMMON: ReadonlySet<Request> = new Set(
  ["/api/note?select=id", "/api/"]
    .flatMap((path) => REST.filter((request) => request.path === path))
    .concat(GRAPHQL.filter(({ body }) => JSON.stringify(body).includes("{ duo_note { id } }"))),
);

test("R-TX-11 the requests of these tests have different responses for the two roles", async () => {
  const cold = await startColdRolledBack();
  const misjudgements: unknown[] = [];
  for (const request of [...REST, ...GRAPHQL]) {
    for (const role of [OWNER_ROLE, OTHER_ROLE]) {
      const { status, text } = await ask(cold, role, request);
      const isRejected = status >= 400 || text.includes('"errors"');
      if (isRejected !== (role === OTHER_ROLE && !COMMON.has(request)))
        misjudgements.push([role, request.method, request.path, request.body, text.slice(0, 200)]);
    }
  }
  expect(misjudgements).toEqual([]);
});

describe("R-TX-11 plans of one role are not used for another", () => {
  const callers = [{ role: OWNER_ROLE }, { role: OTHER_ROLE }] as const;

  test("R-TX-11 R-TX-14 REST requests of two roles share no plan", () => compare(REST, callers, ROLLED_BACK), 120_000);

  test(
    "R-TX-11 R-TX-14 GraphQL requests of two roles share no plan",
    () => compare(GRAPHQL, callers, ROLLED_BACK),
    120_000,
  );

  test(
    "R-TX-11 calls of the pre-request function by two roles share no plan",
    () => compare([get("/author?select=id"), get("/")], callers, { dbPreRequest: "duo.secret" }),
    60_000,
  );
});

describe("R-TX-12 a role that the transaction switches", () => {
  const acting = (role: string, actAs?: string): Caller => ({
    role,
    ...(actAs === undefined ? {} : { headers: { "x-act-as": actAs } }),
  });
  const someRequests = [
    ...REST.slice(0, 5),
    ...REST.slice(7, 10),
    get("/told_notes"),
    write("POST", "/stamp", { id: 1 }),
    get("/note?select=id"),
  ];

  test.each([
    [acting(OTHER_ROLE, OWNER_ROLE), acting(OTHER_ROLE)],
    [acting(OWNER_ROLE, OTHER_ROLE), acting(OWNER_ROLE)],
    [acting(OWNER_ROLE), acting(OTHER_ROLE, OWNER_ROLE)],
  ] as const)(
    "R-TX-12 the pre-request function switches the role: %j and %j",
    (caller, otherCaller) =>
      compare(someRequests, [caller, otherCaller], { dbPreRequest: "duo.before", ...ROLLED_BACK }),
    120_000,
  );

  test(
    "R-TX-12 an earlier field of a mutation switches the role",
    () =>
      compare(
        [OWNER_ROLE, OTHER_ROLE].flatMap((role) => [
          gql(`mutation { duo_act_as(args: {who: "${role}"}) { id } insert_duo_stamp_one(object: {id: 5}) { word } }`),
          gql("mutation { insert_duo_stamp_one(object: {id: 5}) { word } }"),
        ]),
        [{ role: OWNER_ROLE }, { role: OTHER_ROLE }],
        ROLLED_BACK,
      ),
    60_000,
  );

  test(
    "R-TX-12 a trigger switches the role before the next step of a nested insert",
    () =>
      compare(
        [OWNER_ROLE, OTHER_ROLE].map((role, i) =>
          gql(
            `mutation { insert_duo_note_one(object: {id: ${20 + i}, actors: {data: [{id: 1, role: "${role}"}]}}) { hidden } }`,
          ),
        ),
        [{ role: OWNER_ROLE }, { role: OTHER_ROLE }],
        ROLLED_BACK,
      ),
    60_000,
  );

  test("R-TX-12 no statement after user-defined code in the same transaction is prepared", async () => {
    const fetchStatements = async (api: TestApi): Promise<string[]> =>
      (await api.get("/api/rpc/prepared", { headers: bearer({ role: OWNER_ROLE }) })).json() as string[];
    const api = await startWarm({ ...ROLLED_BACK, dbPreRequest: "duo.before" });
    const switchingRequest = asCaller(get("/told_notes"), { role: OTHER_ROLE, headers: { "x-act-as": OWNER_ROLE } });
    for (let i = 0; i < 3; i++) expect((await ask(api, OTHER_ROLE, switchingRequest)).status).toBe(200);
    const texts = await fetchStatements(api);
    expect(texts.filter((text) => text.includes("told_notes"))).toEqual([]);
    expect(texts.filter((text) => text.includes("before"))).not.toEqual([]);
    await api.close();
  });
});

describe("R-TX-11 plans after changes of the database", () => {
  const compareAfterChange = async (change: string, request: Request, role: string, undo: string): Promise<void> => {
    const [warm, cold] = [await startWarm(ROLLED_BACK), await startColdRolledBack()];
    for (const statement of [change, undo]) {
      for (let i = 0; i < TIMES; i++) expect(await ask(warm, role, request)).toEqual(await ask(cold, role, request));
      const before = await ask(warm, role, request);
      await database.query(statement);
      const after = await ask(warm, role, request);
      expect(after).toEqual(await ask(cold, role, request));
      expect(after).not.toEqual(before);
    }
    await warm.close();
  };

  test.each([
    [
      "a revoked EXECUTE grant",
      `revoke execute on function duo.secret() from ${OWNER_ROLE}`,
      get("/rpc/secret"),
      OWNER_ROLE,
      `grant execute on function duo.secret() to ${OWNER_ROLE}`,
    ],
    [
      "a revoked EXECUTE grant on the function of a view",
      `revoke execute on function duo.secret() from ${OWNER_ROLE}`,
      get("/told_notes"),
      OWNER_ROLE,
      `grant execute on function duo.secret() to ${OWNER_ROLE}`,
    ],
    [
      "a column",
      `revoke select on duo.author from ${OTHER_ROLE}`,
      get("/author?select=name"),
      OTHER_ROLE,
      `grant select on duo.author to ${OTHER_ROLE}`,
    ],
    [
      "a function",
      "create or replace function duo.secret() returns text language sql stable as $$ select 'other'::text $$",
      get("/told_notes"),
      OWNER_ROLE,
      "create or replace function duo.secret() returns text language sql stable as $$ select 'secret'::text $$",
    ],
    [
      "row policies",
      "alter table duo.diary enable row level security",
      get("/diary"),
      OTHER_ROLE,
      "alter table duo.diary disable row level security",
    ],
    [
      "a default",
      "alter table duo.stamp alter word set default 'plain'",
      write("POST", "/stamp", { id: 1 }),
      OWNER_ROLE,
      "alter table duo.stamp alter word set default duo.secret()",
    ],
  ] as const)(
    "R-TX-11 a plan is replaced after a change of the database: %s",
    (_what, change, request, role, undo) => compareAfterChange(change, request, role, undo),
    60_000,
  );

  test("R-TX-11 callers of one role under row policies share a plan and not their rows", async () => {
    await database.query("alter table duo.diary enable row level security");
    const [warm, cold] = [await startWarm(), await startCold()];
    for (const sub of ["ada", "bo", "ada"]) {
      for (let i = 0; i < TIMES; i++)
        expect(await ask(warm, OTHER_ROLE, get("/diary"), { sub })).toEqual(
          await ask(cold, OTHER_ROLE, get("/diary"), { sub }),
        );
      expect((await ask(warm, OTHER_ROLE, get("/diary"), { sub })).text).toContain(`"owner":"${sub}"`);
    }
    await database.query("alter table duo.diary disable row level security");
    await warm.close();
    await cold.close();
  });
});
