/**
 * Live queries of two callers of one role: each must get its own result of the same query, on every transport, in
 * either order, and after changes too.
 */
import { describe, expect, test } from "vitest";
import { openEvents } from "../support/live.ts";
import { asAdmin, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { watchExecutions } from "../support/context.ts";
import { testDatabase } from "../support/database.ts";
import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret, bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";

const ROLE = "sea_anon";

const SCHEMA = `
  create schema duo;
  create function duo.asks() returns text language sql stable as $$
    select coalesce(nullif(current_setting('session.user_id', true), ''), current_setting('request.jwt.claims', true)::json ->> 'sub') $$;
  create function duo.told() returns text language plpgsql stable as $$ begin return duo.asks(); end $$;
  create table duo.note (id int primary key, owner text, text text); insert into duo.note values (1, 'ada', 'one'), (2, 'bo', 'two');
  create function duo.seen_by(duo.note) returns text language sql stable as $$ select duo.asks() $$;
  create function duo.own_notes(duo.note) returns setof duo.note language sql stable as $$ select * from duo.note where owner = duo.asks() $$;
  create function duo.mine() returns setof duo.note language sql stable as $$ select * from duo.note where owner = duo.asks() $$;
  create function duo.whoami(anyelement) returns text language sql stable as $$ select duo.asks() $$;
  create view duo.note_view as select id, text, duo.asks() as reader from duo.note;
  create view duo.outer_view as select * from duo.note_view;
  create view duo.plain_view as select id, text, current_setting('session.user_id', true) as reader from duo.note;
  create domain duo.shade as text;
  create function duo.shade_json(duo.shade) returns json language sql stable as $$ select to_json($1::text || ' for ' || duo.asks()) $$;
  create cast (duo.shade as json) with function duo.shade_json(duo.shade) as implicit;
  create table duo.paint (id int primary key, note_id int references duo.note, shade duo.shade); insert into duo.paint values (1, 1, 'red');
  create table duo.diary (id int primary key, owner text, word text); insert into duo.diary values (1, 'ada', 'a'), (2, 'bo', 'b');
  alter table duo.diary enable row level security;
  create policy mine on duo.diary using (owner = duo.asks());
  create table duo.later (id int primary key, owner text, word text); insert into duo.later values (1, 'ada', 'a'), (2, 'bo', 'b');
  create policy mine on duo.later using (owner = duo.told());
  create type duo.mood as enum ('fair', 'foul');
  create table duo.day (id int primary key, word varchar, mood duo.mood); insert into duo.day values (1, 'ada', 'fair'), (2, 'bo', 'foul');
  create function duo.before() returns void language plpgsql as $$ begin perform set_config('duo.who', duo.asks(), true); end $$;
  create table duo.counted (id int primary key, n int); insert into duo.counted values (1, 0);
  grant usage on schema duo to ${ROLE};
  grant all on all tables in schema duo to ${ROLE}`;

const database = await testDatabase();
await database.query(SCHEMA);

const OPTIONS: StartOptions = {
  dbSchemas: ["duo"],
  dbPool: 1,
  dbChannelEnabled: false,
  liveQueryInterval: 50,
};

/** A live query that is open. */
interface Open {
  readonly answers: readonly unknown[];
  close(): void | Promise<void>;
}

interface Transport {
  readonly name: string;
  open(api: TestApi, user: string, query: string): Promise<Open>;
  /** The caller's result of the same query as an ordinary request. */
  askOnce(api: TestApi, user: string, query: string): Promise<unknown>;
}

const adminAs = (user: string) => asAdmin(ROLE, { "user-id": user });

const askGraphql: Transport["askOnce"] = async (api, user, query) =>
  (await api.gql(query, {}, adminAs(user))) as unknown;

const overSocket = (name: string, path: string, protocol: string, start: string): Transport => ({
  name,
  open: async (api, user, query) => {
    const socket = await openSocket(api, { path, protocols: [protocol] });
    await socket.init({ headers: adminAs(user) });
    const answers: unknown[] = [];
    socket.socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { id?: string; payload?: unknown };
      if (message.id === "1") answers.push(message.payload);
    });
    socket.send({ id: "1", type: start, payload: { query: `subscription ${query}` } });
    return { answers, close: socket.close };
  },
  askOnce: askGraphql,
});

const overEvents = async (api: TestApi, path: string, options: Parameters<typeof openEvents>[2]): Promise<Open> => {
  const stream = await openEvents(api, path, options);
  return {
    get answers() {
      return stream.events.map(({ data }) => JSON.parse(data) as unknown);
    },
    close: stream.close,
  };
};

const GRAPHQL: readonly Transport[] = [
  overSocket("graphql-transport-ws", "/v1/graphql/ws", "graphql-transport-ws", "subscribe"),
  overSocket("graphql-ws", "/v1/graphql", "graphql-ws", "start"),
  {
    name: "events of GraphQL",
    open: (api, user, query) =>
      overEvents(api, "/v1/graphql", {
        method: "POST",
        headers: { "x-session-admin-secret": adminSecret, "x-session-role": ROLE, "x-session-user-id": user },
        body: { query: `subscription ${query}` },
      }),
    askOnce: askGraphql,
  },
];

const REST: Transport = {
  name: "events of REST",
  open: (api, user, path) => overEvents(api, `/api${path}`, { headers: bearer({ role: ROLE, sub: user }) }),
  askOnce: async (api, user, path) =>
    (await api.get(`/api${path}`, { headers: bearer({ role: ROLE, sub: user }) })).json(),
};

const last = ({ answers }: Open): unknown => answers.at(-1);

/** Compares both callers in turn, and again after a change. */
const compare = async (
  api: TestApi,
  { open, askOnce }: Transport,
  query: string,
  differ: boolean,
  change: string,
): Promise<void> => {
  for (const users of [
    ["ada", "bo"],
    ["bo", "ada"],
  ]) {
    const streams: Open[] = [];
    const agree = async (): Promise<void> => {
      const expected = await Promise.all(users.map((user) => askOnce(api, user, query)));
      expect(JSON.stringify(expected)).not.toContain("error");
      expect(JSON.stringify(expected[0]) !== JSON.stringify(expected[1])).toBe(differ);
      const agrees = (stream: Open, i: number): boolean => JSON.stringify(last(stream)) === JSON.stringify(expected[i]);
      await until(() => streams.every(agrees), "each caller has the expected result").catch(() =>
        expect({ query, users, answers: streams.map(last) }).toEqual({ query, users, answers: expected }),
      );
    };
    for (const user of users) {
      const stream = await open(api, user, query);
      streams.push(stream);
      await until(() => stream.answers.length > 0, "a first answer");
    }
    await agree();
    await database.query(change);
    await agree();
    // No message in between contained the other caller's result.
    for (const [i, stream] of streams.entries()) {
      const otherResult = JSON.stringify(await askOnce(api, users[1 - i]!, query));
      if (differ) expect(stream.answers.map((answer) => JSON.stringify(answer))).not.toContain(otherResult);
      await stream.close();
    }
  }
};

const CHANGE =
  "update duo.note set text = text || '!'; update duo.paint set shade = shade::text || '!'; update duo.diary set word = word || '!'; update duo.later set word = word || '!'; update duo.day set word = word";

const QUERIES: readonly (readonly [graphql: string | undefined, rest: string | undefined, differ: boolean])[] = [
  ["{ duo_note(order_by: {id: asc}) { id text } }", "/note?select=id,text&order=id", false],
  ["{ duo_note { id seen_by } }", "/note?select=id,seen_by", true],
  ["{ duo_note(order_by: {id: asc}) { id own_notes { text } } }", "/note?select=id,own_notes(text)&order=id", true],
  ['{ duo_note(where: {seen_by: {_eq: "ada"}}) { id } }', "/note?select=id&seen_by=eq.ada", true],
  ["{ duo_mine { id text } }", undefined, true],
  ["{ duo_note_view(order_by: {id: asc}) { id reader } }", "/note_view?order=id", true],
  ["{ duo_outer_view(order_by: {id: asc}) { id reader } }", "/outer_view?order=id", true],
  ["{ duo_plain_view(order_by: {id: asc}) { reader } }", undefined, true],
  ["{ duo_paint { shade } }", "/paint", true],
  [undefined, "/note?select=id,paint(shade)&id=eq.1", true],
  ["{ duo_diary { word } }", "/diary", true],
  ["{ duo_diary_aggregate { aggregate { max { word } } } }", undefined, true],
];

describe("G-SUB-10 rows of each caller", async () => {
  const api = await startApi(OPTIONS);

  for (const transport of GRAPHQL)
    for (const [query, , differ] of QUERIES)
      if (query !== undefined)
        test(`G-SUB-10 each caller receives only their own rows over ${transport.name}: ${query}`, () =>
          compare(api, transport, query, differ, CHANGE));

  for (const [, path, differ] of QUERIES)
    if (path !== undefined)
      test(`G-SUB-10 each caller receives only their own rows over ${REST.name}: ${path}`, () =>
        compare(api, REST, path, differ, CHANGE));

  test("G-SUB-10 a function of any row, selected as a column, is rejected or answered for each caller", async () => {
    const [ada, bo] = await Promise.all(
      ["ada", "bo"].map((user) => REST.askOnce(api, user, "/note?select=whoami&limit=1")),
    );
    if ("code" in (ada as object)) return;
    expect(ada).not.toEqual(bo);
    await compare(api, REST, "/note?select=whoami&limit=1", true, CHANGE);
  });

  test("G-SUB-10 user-defined operators and casts are evaluated for each caller", async () => {
    await database.query(`create function duo.same(varchar, varchar) returns boolean language sql stable as $$ select $1::text = duo.asks() $$;
      create operator duo.= (function = duo.same, leftarg = varchar, rightarg = varchar);
      create function duo.mood_json(duo.mood) returns json language sql stable as $$ select to_json(duo.asks()) $$;
      create cast (duo.mood as json) with function duo.mood_json(duo.mood)`);
    await api.reload();
    await compare(api, GRAPHQL[0]!, '{ duo_day(where: {word: {_eq: "x"}}) { id } }', true, CHANGE);
    await compare(api, REST, "/day?select=mood&id=eq.1", true, CHANGE);
    await database.query("drop operator duo.= (varchar, varchar); drop cast (duo.mood as json)");
    await api.reload();
  });

  test.each([GRAPHQL[0]!, GRAPHQL[1]!, GRAPHQL[2]!, REST])(
    "G-SUB-11 row policies that are switched on or off take effect while live queries run: $name",
    async (transport) => {
      const query = transport === REST ? "/later?select=word&order=id" : "{ duo_later(order_by: {id: asc}) { word } }";
      const streams = await Promise.all(["ada", "bo"].map((user) => transport.open(api, user, query)));
      const agree = async (): Promise<void> => {
        const expected = await Promise.all(
          ["ada", "bo"].map(async (user) => JSON.stringify(await transport.askOnce(api, user, query))),
        );
        const agrees = (stream: Open, i: number): boolean => JSON.stringify(last(stream)) === expected[i];
        await until(() => streams.every(agrees), "each caller has the expected result").catch(() =>
          expect(streams.map((stream) => JSON.stringify(last(stream)))).toEqual(expected),
        );
      };
      await agree();
      const before = streams.map(({ answers }) => answers.length);
      await database.query("alter table duo.later enable row level security; update duo.later set word = word || '?'");
      await agree();
      const otherResults = await Promise.all(
        ["bo", "ada"].map(async (user) => JSON.stringify(await transport.askOnce(api, user, query))),
      );
      for (const [i, stream] of streams.entries())
        expect(stream.answers.slice(before[i]).map((answer) => JSON.stringify(answer))).not.toContain(otherResults[i]);
      await database.query("alter table duo.later disable row level security; update duo.later set word = word || '.'");
      await agree();
      await api.reload();
      await agree();
      for (const stream of streams) await stream.close();
    },
  );

  test("G-SUB-10 several root fields are evaluated with the session variables of each caller", async () => {
    const query = "@_multiple_top_level_fields { a: duo_note(order_by: {id: asc}) { text } b: duo_mine { id } }";
    await compare(
      api,
      {
        ...GRAPHQL[0]!,
        askOnce: (testApi, user, text) => askGraphql(testApi, user, text.replace("@_multiple_top_level_fields ", "")),
      },
      query,
      true,
      CHANGE,
    );
  });
});

test("G-SUB-10 the pre-request function is evaluated for each caller", async () => {
  await database.query(
    "create view duo.remembered as select current_setting('duo.who', true) as who; grant select on duo.remembered to sea_anon",
  );
  const api = await startApi({ ...OPTIONS, dbPreRequest: "duo.before" });
  await compare(api, GRAPHQL[0]!, "{ duo_remembered { who } }", true, CHANGE);
  await compare(api, REST, "/note?select=id", false, CHANGE);
  await api.close();
});

describe("G-SUB-10 proven statements are shared", () => {
  const runs = new Set<string>();
  const counting = watchExecutions(({ session, programs }) => {
    runs.add(JSON.stringify([session.variables, programs.map(({ values }) => values)]));
  });

  const SUBSCRIBERS = 30;

  /** The distinct runs that a change causes, regardless of their repetitions. */
  const countRuns = async (api: TestApi, query: string, role: string): Promise<number> => {
    const streams = await Promise.all(
      Array.from({ length: SUBSCRIBERS }, async (_, i) => {
        const socket = await openSocket(api);
        await socket.init({ headers: asAdmin(role, { "user-id": `user-${i}` }) });
        socket.send({ id: "1", type: "subscribe", payload: { query: `subscription ${query}` } });
        await socket.next((message) => message.type === "next");
        return socket;
      }),
    );
    runs.clear();
    await database.query("update duo.counted set n = n + 1");
    for (const socket of streams)
      expect((await socket.next((message) => message.type === "next")).payload.data).toBeDefined();
    for (const socket of streams) await socket.close();
    return runs.size;
  };

  test("G-SUB-10 callers of one role share a statement unless it depends on the caller", async () => {
    const api = await startApi({ ...OPTIONS, parts: [counting] });
    expect(await countRuns(api, "{ duo_counted { n } }", ROLE)).toBeLessThan(4);
    await database.query(
      "create view duo.counted_view as select n from duo.counted; grant select on duo.counted_view to sea_anon",
    );
    await api.reload();
    expect(await countRuns(api, "{ duo_counted_view { n } }", ROLE)).toBeGreaterThanOrEqual(SUBSCRIBERS);
    await api.close();
  });

  test("G-SUB-10 under metadata, callers share a statement with their variables as values", async () => {
    const filter = { _or: [{ owner: { _eq: "X-Session-User-Id" } }, { owner: { _eq: "nobody" } }] };
    const tables = [
      table("duo.note", { select_permissions: permissions({ reader: { columns: ["id", "text", "owner"], filter } }) }),
      table("duo.counted", {
        select_permissions: permissions({
          reader: { columns: ["n"], filter: { _or: [{ id: { _eq: 1 } }, { id: { _is_null: true } }] } },
        }),
      }),
    ];
    const api = await startApi({ ...OPTIONS, parts: [counting], metadata: buildMetadataDocument(tables) });
    const asReader = async (user: string) => {
      const socket = await openSocket(api);
      await socket.init({ headers: asAdmin("reader", { "user-id": user }) });
      socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { duo_note { owner } }" } });
      return { user, socket };
    };
    const readers = await Promise.all(["ada", "bo", "ada", "nobody"].map(asReader));
    for (const { user, socket } of readers) {
      const message = await socket.next();
      expect(message.payload).toEqual({ data: { duo_note: user === "nobody" ? [] : [{ owner: user }] } });
      await socket.close();
    }
    expect(await countRuns(api, "{ duo_counted { n } }", "reader")).toBeLessThan(4);
    await api.close();
  });
});
