import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { relApi, type RelApiOptions } from "../../core/index.ts";
import { buildImages } from "../../plugins/database/embedded/build-image.ts";
import { embedded } from "../../plugins/database/index.ts";
import type { EmbeddedDatabase, EmbeddedOptions } from "../../plugins/database/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { until } from "../support/until.ts";

const endless = "select count(*) from generate_series(1, 1000000000000000) as n";

let folder: string;
let sharedDatabase: EmbeddedDatabase;
let pool: pg.Pool;
/** The log lines of the shared database so far. */
const sharedLines: string[] = [];

beforeAll(async () => {
  await buildImages();
  folder = mkdtempSync(join(tmpdir(), "relapi-embedded-"));
  sharedDatabase = embedded({ image: "empty", extensions: ["pg_trgm"], log: (line) => sharedLines.push(line) });
  pool = openPool(sharedDatabase);
});

afterAll(async () => {
  await pool.end();
  await sharedDatabase.close();
  rmSync(folder, { recursive: true, force: true });
});

function openPool(database: EmbeddedDatabase): pg.Pool {
  const newPool = new pg.Pool({ stream: database.stream, max: 5 });
  newPool.on("error", () => {}); // idle clients are notified of restarts and closing
  return newPool;
}

/** A database for one test, closed after it. */
function start(options: EmbeddedOptions = {}): { database: EmbeddedDatabase; pool: pg.Pool; lines: string[] } {
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const database = embedded({ image: "empty", statementTimeout: 0, log, ...options });
  const ownPool = openPool(database);
  onTestFinished(async () => {
    await ownPool.end().catch(() => {});
    await database.close();
  });
  return { database, pool: ownPool, lines };
}

async function connect(database: EmbeddedDatabase = sharedDatabase, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ stream: database.stream, ...options });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end().catch(() => {}));
  return client;
}

const catchErrorCode = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

describe("protocol", () => {
  it("R-EDB-1 clients use simple and extended queries, binary results and values of 20 MB", async () => {
    const client = await connect();
    expect(
      ((await client.query("select 1 as a; select 2 as b")) as unknown as pg.QueryResult[]).map(({ rows }) => rows),
    ).toEqual([[{ a: 1 }], [{ b: 2 }]]);
    expect((await client.query("select $1::int + 1 as sum", [41])).rows).toEqual([{ sum: 42 }]);
    const bytes = await client.query({ text: "select '\\x0102'::bytea as b", binary: true } as pg.QueryConfig);
    expect(bytes.rows[0]).toEqual({ b: Buffer.from([1, 2]) });
    const large = "é".repeat(10 * 1024 * 1024);
    expect((await client.query("select octet_length($1) as length, $1 as text", [large])).rows).toEqual([
      { length: 20 * 1024 * 1024, text: large },
    ]);
  });

  it("R-EDB-1 many rows arrive completely and in order", async () => {
    const { rows } = await pool.query("select n, repeat('x', n % 100) as x from generate_series(1, 50000) as n");
    expect(rows.length).toBe(50_000);
    expect(rows.every((row, index) => row.n === index + 1 && row.x.length === row.n % 100)).toBe(true);
  });

  it("R-EDB-1 a transaction sent at once is answered statement by statement", async () => {
    const client = await connect(sharedDatabase, { pipeline: true } as pg.ClientConfig);
    const results = await Promise.all([
      client.query("begin read only"),
      client.query({ name: "settings", text: "select set_config($1, $2, true)", values: ["session.user_id", "7"] }),
      client.query({ name: "read", text: "select current_setting('session.user_id') as id", values: [] }),
      client.query("commit"),
      client.query({ name: "read", text: "select current_setting('session.user_id') as id", values: [] }),
    ]);
    expect(results.map(({ command, rows }) => [command, rows])).toEqual([
      ["BEGIN", []],
      ["SELECT", [{ set_config: "7" }]],
      ["SELECT", [{ id: "7" }]],
      ["COMMIT", []],
      ["SELECT", [{ id: "" }]],
    ]);
  });

  it("R-EDB-1 an error in the middle of a pipeline fails the later messages, and the client continues", async () => {
    const client = await connect(sharedDatabase, { pipeline: true } as pg.ClientConfig);
    const queries = [
      client.query("begin"),
      client.query("select 1 / $1::int", [0]),
      client.query("select $1::int as n", [1]),
      client.query("commit"),
      client.query("select $1::int as n", [2]),
    ];
    const results = await Promise.allSettled(queries);
    expect(
      results.map((result) => (result.status === "fulfilled" ? result.value.command : result.reason.code)),
    ).toEqual(["BEGIN", "22012", "25P02", "ROLLBACK", "SELECT"]);
    expect((await queries[4])?.rows).toEqual([{ n: 2 }]);
  });

  it("R-EDB-1 messages cut at any byte are joined, and messages of one buffer are split", async () => {
    const stream = sharedDatabase.stream();
    const received: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => received.push(chunk));
    const text = (): string => Buffer.concat(received).toString("latin1");
    const untilReady = (count: number): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (text().split("Z\0\0\0\x05I").length - 1 >= count) resolve();
          else stream.once("data", look);
        };
        look();
      });
    const startup = Buffer.from("\0\0\0\x23\0\x03\0\0user\0anybody\0database\0any\0\0", "latin1");
    startup.writeInt32BE(startup.length, 0);
    stream.write(Buffer.from("\0\0\0\x08\x04\xd2\x16\x2f", "latin1")); // SSLRequest
    for (const byte of startup) stream.write(Buffer.of(byte));
    await untilReady(1);
    expect(text().startsWith("NR\0\0\0\x08\0\0\0\0")).toBe(true); // no encryption, then AuthenticationOk
    const query = (sql: string): Buffer => {
      const message = Buffer.from(`Q\0\0\0\0${sql}\0`);
      message.writeInt32BE(message.length - 1, 1);
      return message;
    };
    const messages = Buffer.concat([query("select 'first'"), query("select 'second'")]);
    for (let offset = 0; offset < messages.length; offset += 3) stream.write(messages.subarray(offset, offset + 3));
    await untilReady(3);
    stream.write(messages);
    await untilReady(5);
    expect(text().match(/first|second/g)).toEqual(["first", "second", "first", "second"]);
    stream.end(Buffer.from("X\0\0\0\x04", "latin1"));
    await new Promise((resolve) => stream.once("close", resolve));
  });

  it("R-EDB-1 COPY FROM STDIN is rejected, and the connection and statements that only mention the word work", async () => {
    const client = await connect();
    await client.query("create temporary table copied (a int)");
    expect(await catchErrorCode(client.query("copy copied from stdin"))).toBe("57014");
    expect(await catchErrorCode(client.query({ text: "copy copied from stdin", values: [] }))).toBe("57014");
    // The second time it is executed without being parsed.
    for (const name of ["copy", "copy"])
      expect(await catchErrorCode(client.query({ name, text: "copy copied from stdin" }))).toBe("57014");
    expect((await client.query("select 'stdin' as word")).rows).toEqual([{ word: "stdin" }]);
    expect((await client.query("select $1 as word /* stdin */", ["x"])).rows).toEqual([{ word: "x" }]);
    expect((await client.query("select count(*)::int as n from copied")).rows).toEqual([{ n: 0 }]);
  });

  it("R-EDB-1 a recursion that is too deep gets the error of PostgreSQL", async () => {
    await pool.query("create function deeper(n int) returns int language plpgsql as 'begin return deeper(n + 1); end'");
    expect(await catchErrorCode(pool.query("select deeper(1)"))).toBe("54001");
    expect(await catchErrorCode(pool.query(`select ${"1+".repeat(20_000)}1`))).toBe("54001");
    expect(await catchErrorCode(pool.query("select $1::json", ["[".repeat(2_000_000)]))).toMatch(/54001|22P02/);
    expect((await pool.query("select 1 as n")).rows).toEqual([{ n: 1 }]);
  });
});

describe("many clients, one backend", () => {
  it("R-EDB-2 two clients may use one name for different statements", async () => {
    const [first, second] = await Promise.all([connect(), connect()]);
    const ask = (client: pg.Client, text: string): Promise<pg.QueryResult> =>
      client.query({ name: "same", text, values: [1] });
    const longName = "n".repeat(62);
    for (let round = 0; round < 3; round += 1) {
      expect((await ask(first, "select $1::int as one")).rows).toEqual([{ one: 1 }]);
      expect((await ask(second, "select $1::int as two")).rows).toEqual([{ two: 1 }]);
      expect((await first.query({ name: `${longName}a`, text: "select 'a' as x", values: [] })).rows).toEqual([
        { x: "a" },
      ]);
      expect((await first.query({ name: `${longName}b`, text: "select 'b' as x", values: [] })).rows).toEqual([
        { x: "b" },
      ]);
    }
  });

  it("R-EDB-2 a client waits while another client is in a transaction", async () => {
    await pool.query("create table account (id int primary key, amount int)");
    const [first, second] = await Promise.all([connect(), connect()]);
    const order: string[] = [];
    await first.query("begin");
    await first.query("insert into account values (1, 10)");
    const outside = second
      .query("select count(*)::int as n from account")
      .then(({ rows }) => order.push(`two sees ${rows[0].n}`));
    await first.query("insert into account values (2, 20)");
    order.push("one inserts");
    await first.query("rollback");
    await outside;
    expect(order).toEqual(["one inserts", "two sees 0"]);
  });

  it("R-EDB-2 each client gets the results of its own statements", async () => {
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, n) =>
        pool.query({ name: `n${n % 7}`, text: `select $1::int as n, ${n % 7} as name`, values: [n] }),
      ),
    );
    expect(answers.every(({ rows }, n) => rows[0].n === n && rows[0].name === n % 7)).toBe(true);
  });

  it("R-EDB-1 notifications reach every listening client, also after another listener has left", async () => {
    const [listener, leaver, notifier] = await Promise.all([connect(), connect(), connect()]);
    const notifications: (string | undefined)[] = [];
    const next = (): Promise<void> => new Promise((resolve) => listener.once("notification", () => resolve()));
    listener.on("notification", ({ channel, payload }) => notifications.push(`${channel} ${payload}`));
    await listener.query("listen news");
    await leaver.query("listen news");
    const first = next();
    await notifier.query("notify news, 'one'");
    await first;
    await leaver.end();
    const second = next();
    await notifier.query("begin");
    await notifier.query("select pg_notify('news', 'two')");
    await notifier.query("commit");
    await second;
    const third = next();
    await listener.query("notify news, 'three'");
    await third;
    expect(notifications).toEqual(["news one", "news two", "news three"]);
  });

  it("R-EDB-2 a client that ends leaves no transaction, role or statement behind", async () => {
    await pool.query("create table left_behind (id int); create role guest; grant guest to current_user");
    const client = await connect();
    await client.query({ name: "kept", text: "select 1", values: [] });
    await client.query("set role guest");
    await client.query("reset role");
    await client.query("begin");
    await client.query("insert into left_behind values (1)");
    await client.query("set role guest");
    await client.end();
    const { rows } = await pool.query(
      "select current_user::text as who, (select count(*)::int from left_behind) as n, (select count(*)::int from pg_prepared_statements where name like '%kept') as kept",
    );
    expect(rows).toEqual([{ who: "postgres", n: 0, kept: 0 }]);
  });

  it("R-EDB-2 a client whose connection breaks in the middle of a statement leaves nothing behind", async () => {
    await pool.query("create table broken (id int)");
    const client = await connect();
    await client.query("begin");
    const running = client.query("insert into broken select n from generate_series(1, 100000) as n");
    (
      client as unknown as { connection: { stream: NodeJS.ReadWriteStream & { destroy(): void } } }
    ).connection.stream.destroy();
    await expect(running).rejects.toThrow();
    expect((await pool.query("select count(*)::int as n from broken")).rows).toEqual([{ n: 0 }]);
  });
});

describe("life of a database", () => {
  it("R-EDB-3 clients can connect during an endless statement, and restart() ends it", async () => {
    await pool.query("create table gone (id int)");
    const running = catchErrorCode(pool.query(endless));
    // The statement has no end: timers fire and clients connect while it runs.
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    await connect();
    await sharedDatabase.restart();
    expect(await running).toContain("restarted");
    expect((await pool.query("select to_regclass('gone') as gone")).rows).toEqual([{ gone: null }]);
  });

  it("R-EDB-3 R-EDB-4 a statement ends after its statement_timeout, and the folder keeps what was committed", async () => {
    const { pool: ownPool, lines } = start({
      dataDir: join(folder, "ended"),
      loadScript: "create table kept (id int)",
    });
    await ownPool.query("insert into kept values (1)");
    const client = await ownPool.connect();
    client.on("error", () => {});
    await client.query("begin");
    await client.query("insert into kept values (2)");
    await client.query("set local statement_timeout = '100ms'");
    const running = catchErrorCode(client.query(endless));
    const waiting = catchErrorCode(ownPool.query("select 1"));
    expect(await running).toBe("57014");
    client.release(true);
    expect(await waiting).toMatch(/no error|exceeded its time limit/);
    expect((await ownPool.query("select id from kept")).rows).toEqual([{ id: 1 }]);
    expect(lines).toEqual([expect.stringMatching(/time limit.* can only end it by a restart$/)]);
  });

  it("R-EDB-3 a statement without statement_timeout gets the limit of the option", async () => {
    const { pool: ownPool, lines } = start({ statementTimeout: 3, loadScript: "create table kept (id int)" });
    await ownPool.query("insert into kept values (1)");
    expect(await catchErrorCode(ownPool.query(endless))).toBe("57014");
    expect((await ownPool.query("select id from kept")).rows).toEqual([]);
    expect(lines).toEqual([expect.stringMatching(/restart with its initial data$/)]);
  });

  it("R-EDB-3 a timeout applies only to its own statement", async () => {
    const { pool: ownPool, lines } = start();
    const client = await ownPool.connect();
    await client.query("set statement_timeout = '2s'");
    await client.query("select 1");
    await client.query("set statement_timeout = '0'");
    // The statement takes longer than the timeout of the statement before.
    await client.query("select pg_sleep(2.2)");
    await client.query("set statement_timeout = '1h'");
    await client.query("select pg_sleep(2.2)");
    client.release();
    // PostgreSQL's timer that flushes statistics 10 s after a write does not count either.
    await ownPool.query("create table written as select 1 as id");
    await ownPool.query("set statement_timeout = '0'; select pg_sleep(10.5)");
    expect(lines).toEqual([]);
  });

  it("R-EDB-4 the database starts again after PostgreSQL has ended", async () => {
    const client = await connect();
    const before = sharedLines.length;
    const clientError = new Promise((resolve) => client.once("error", resolve));
    const { stream } = (client as unknown as { connection: { stream: NodeJS.WritableStream } }).connection;
    stream.write(Buffer.from("y\0\0\0\x04S\0\0\0\x04", "latin1")); // not a message of the protocol: PostgreSQL exits
    expect(String(await clientError)).toContain("has stopped");
    expect((await pool.query("select 1 as n")).rows).toEqual([{ n: 1 }]);
    expect(sharedLines.slice(before)).toEqual([expect.stringMatching(/restarting with its initial data$/)]);
  });

  it("R-EDB-4 an interrupted first start is repeated, and the folder keeps its data for one process at a time", async () => {
    const dataDir = join(folder, "kept");
    mkdirSync(join(dataDir, "cluster"), { recursive: true });
    writeFileSync(join(dataDir, "cluster", "PG_VERSION"), "18\n");
    writeFileSync(join(dataDir, "relapi.lock"), JSON.stringify({ pid: 2 ** 22 + 1, startedAt: "1", isFilled: false }));
    const first = start({ dataDir, loadScript: "create table kept (id int)" });
    await first.pool.query("insert into kept values (1)");
    expect(() => embedded({ dataDir })).toThrow(/is in use by process/);
    await first.pool.end();
    await first.database.close();
    expect(existsSync(join(dataDir, "relapi.lock"))).toBe(false);

    const second = start({ dataDir, loadScript: "create table kept (id int)" });
    await second.pool.query("insert into kept values (2)");
    await second.database.restart(); // as after a crash
    expect((await second.pool.query("select id from kept order by id")).rows).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it("R-EDB-5 a dump is the image of another database, with several extensions", async () => {
    const names = ["ltree", "pg_trgm", "citext", "hstore", "pgcrypto", "unaccent", "uuid-ossp"];
    const { database, pool: ownPool } = start({
      extensions: names,
      loadScript:
        names.map((name) => `create extension "${name}";`).join("\n") + "create table word as select 'relapi' as word",
    });
    await ownPool.query("insert into word values ('relay')");
    const path = join(folder, "own.image");
    writeFileSync(path, await database.dump());
    const uses = `select 'a.b'::ltree ~ 'a.*'::lquery as ltree, 'relapi' % 'relaxi' as pg_trgm, 'A'::citext = 'a' as citext, 'a=>1'::hstore -> 'a' as hstore,
      encode(digest('', 'sha1'), 'hex') as pgcrypto, unaccent('é') as unaccent, uuid_nil()::text as uuid`;
    const expected = {
      ltree: true,
      pg_trgm: true,
      citext: true,
      hstore: "1",
      pgcrypto: "da39a3ee5e6b4b0d3255bfef95601890afd80709",
      unaccent: "e",
      uuid: "00000000-0000-0000-0000-000000000000",
    };
    expect((await ownPool.query(uses)).rows).toEqual([expected]);
    // If PGlite linked this many extensions while it starts, nearly every start would fail, so one start suffices.
    const imagePool = start({ image: path, extensions: names }).pool;
    expect((await imagePool.query(uses)).rows).toEqual([expected]);
    expect((await imagePool.query("select word from word where word % 'relaxi' order by 1")).rows).toEqual([
      { word: "relapi" },
      { word: "relay" },
    ]);
  });

  it("R-EDB-5 each database of a process begins with its own image and script", async () => {
    const loadScript = "create table note (id int primary key); insert into note values (1)";
    for (const expected of [[{ id: 1 }], [{ id: 1 }]]) {
      const { pool: ownPool } = start({ loadScript });
      expect((await ownPool.query("select id from note order by id")).rows).toEqual(expected);
      await ownPool.query("insert into note values (2)");
    }
  });

  it("R-EDB-5 a failed start reports its cause", async () => {
    expect(() => embedded({ image: join(folder, "none.image") })).toThrow(/there is no database image .*none\.image/);
    await expect(start({ extensions: ["no_such_thing"] }).database.ready).rejects.toThrow(
      /extension "no_such_thing" is not part of PGlite/,
    );
    const { database, pool: ownPool } = start({ loadScript: "create table a (id int); selct 1" });
    await expect(database.ready).rejects.toThrow(/syntax error at or near "selct"/);
    await expect(ownPool.query("select 1")).rejects.toThrow(/selct/);
  });

  it("R-EDB-4 the write-ahead log takes less than 80 MB", async () => {
    // Messages are only in the log, so that it grows with little work.
    const { rows: startRows } = await pool.query("select pg_current_wal_lsn() as at");
    for (let round = 0; round < 4; round += 1) {
      await pool.query(
        "select pg_logical_emit_message(true, 'filler', repeat('x', 1000000)) from generate_series(1, 40)",
      );
    }
    const { rows } = await pool.query(
      `select (pg_wal_lsn_diff(pg_current_wal_lsn(), $1) / 1024 / 1024)::int as written,
        (select (sum(size) / 1024 / 1024)::int from pg_ls_waldir()) as kept`,
      [startRows[0].at],
    );
    expect(rows[0].written).toBeGreaterThan(140);
    expect(rows[0].kept).toBeLessThan(80);
  });
});

describe("behind an API", () => {
  /** Backreferences make its time grow with the ninth power of a name's length. */
  const evilPattern = "(.)*".repeat(9) + "\\1\\2\\3\\4\\5\\6\\7\\8\\9[^ -~]";

  async function serve(options: RelApiOptions) {
    const api = relApi(fullCompat({ anonRole: "anon", logLevel: "silent", liveQueryInterval: 100, ...options }));
    const server = createServer(api);
    await api.ready;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(async () => {
      server.close();
      server.closeAllConnections();
      await api.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = async (path: string, init?: RequestInit) => {
      const response = await fetch(url + path, init);
      return [response.status, await response.json()];
    };
    const gql = (query: string) =>
      ask("/v1/graphql", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query }),
      });
    return { url, ask, gql };
  }

  it("R-EDB-3 R-LIM-9b an endless request of an anonymous caller ends, and other requests and live queries continue", async () => {
    const database = embedded({ image: "demo", log: () => {} });
    const ownPool = openPool(database);
    onTestFinished(() => ownPool.end());
    const { url, ask, gql } = await serve({ database, anonStatementTimeout: 5, dbPoolAcquisitionTimeout: 600 });
    const answer = [200, [{ name: "AC/DC" }]];
    const first = "/api/artist?artist_id=eq.1&select=name";

    const live = new AbortController();
    onTestFinished(() => live.abort());
    const subscription = "subscription { artist_by_pk(artist_id: 1) { name } }";
    const response = await fetch(`${url}/v1/graphql`, {
      method: "POST",
      headers: { accept: "text/event-stream", "content-type": "application/json" },
      body: JSON.stringify({ query: subscription }),
      signal: live.signal,
    });
    let streamText = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) streamText += Buffer.from(chunk as Uint8Array).toString();
    })();
    reading.catch(() => {}); // the test ends the statement
    await until(() => streamText.includes("AC/DC"), "the live query has its first result");

    const endlessAnswer = ask(`/api/artist?name=${encodeURIComponent(`match.${evilPattern}`)}`);
    const otherAnswers = Promise.all([ask(first), ask(first), gql("{ artist_by_pk(artist_id: 1) { name } }")]);
    expect(await endlessAnswer).toEqual([
      500,
      {
        code: "57014",
        message: "canceling statement due to statement timeout",
        details: null,
        hint: "The limit is the setting anonStatementTimeout: 5 seconds.",
      },
    ]);
    expect(await otherAnswers).toEqual([answer, answer, [200, { data: { artist_by_pk: { name: "AC/DC" } } }]]);
    const pattern = JSON.stringify(evilPattern);
    expect(await gql(`{ artist(where: { name: { _regex: ${pattern} } }) { name } }`)).toEqual([
      200,
      { errors: [expect.objectContaining({ extensions: { path: "$", code: "time-limit-exceeded" } })] },
    ]);
    expect(await ask(first)).toEqual(answer);

    await ownPool.query("update artist set name = 'changed' where artist_id = 1");
    await until(() => streamText.includes("changed"), "the live query has the changed row");
  });
});

describe("the demo database", () => {
  let demoPool: pg.Pool;
  const lines: string[] = [];

  beforeAll(async () => {
    const database = embedded({ image: "demo", log: (line) => lines.push(line) });
    demoPool = openPool(database);
    return async () => {
      await demoPool.end();
      await database.close();
    };
  });

  it("R-EDB-6 the demo has all of its tracks, and its start logs nothing", async () => {
    expect((await demoPool.query("select count(*)::int as n from track")).rows).toEqual([{ n: 3503 }]);
    expect(lines).toEqual([]);
  });

  it("R-EDB-6 tables, views and functions of the demo have comments, and the demo has each kind of type", async () => {
    const uncommentedObjects = await demoPool.query(`
      select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v') and obj_description(c.oid, 'pg_class') is null
      union all
      select p.proname from pg_proc p
      where p.pronamespace = 'public'::regnamespace and obj_description(p.oid, 'pg_proc') is null
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`);
    expect(uncommentedObjects.rows).toEqual([]);
    const kinds = await demoPool.query(`
      select
        exists (select from pg_constraint where contype = 'f' and conrelid = confrelid) as self,
        exists (select from pg_type where typtype = 'e' and typnamespace = 'public'::regnamespace) as enum,
        exists (select from pg_type where typtype = 'd' and typnamespace = 'public'::regnamespace) as domain,
        (select array_agg(distinct format_type(atttypid, null) order by format_type(atttypid, null)) from pg_attribute join pg_class c on c.oid = attrelid
          where c.relnamespace = 'public'::regnamespace and format_type(atttypid, null) in ('jsonb', 'text[]', 'ltree')) as types`);
    expect(kinds.rows).toEqual([{ self: true, enum: true, domain: true, types: ["jsonb", "ltree", "text[]"] }]);
  });

  it("R-EDB-6 the roles of the demo see and change only the rows that they may", async () => {
    const queryAs = async (role: string, userId: string, text: string): Promise<pg.QueryResult> => {
      const client = await demoPool.connect();
      try {
        await client.query("begin");
        await client.query("select set_config('role', $1, true), set_config('session.user_id', $2, true)", [
          role,
          userId,
        ]);
        return await client.query(text);
      } finally {
        await client.query("rollback");
        client.release();
      }
    };
    expect((await queryAs("anon", "", "select revenue from sales_by_country where country_code = 'CZ'")).rows).toEqual([
      { revenue: "90.24" },
    ]);
    expect(
      (
        await queryAs(
          "anon",
          "",
          "select name from artist a where exists (select from bestsellers(a)) and name = 'AC/DC'",
        )
      ).rows.length,
    ).toBe(1);
    expect(await catchErrorCode(queryAs("anon", "", "select * from invoice"))).toBe("42501");
    expect(await catchErrorCode(queryAs("anon", "", "select email from employee"))).toBe("42501");
    expect((await queryAs("shopper", "5", "select distinct customer_id from invoice")).rows).toEqual([
      { customer_id: 5 },
    ]);
    expect((await queryAs("shopper", "", "select * from invoice")).rows).toEqual([]);
    expect((await queryAs("shopper", "5", "update customer set phone = 'x' returning customer_id")).rows).toEqual([
      { customer_id: 5 },
    ]);
    expect((await queryAs("shopper", "5", "select customer_id, total from purchase(array[1, 2, 2])")).rows).toEqual([
      { customer_id: 5, total: "2.97" },
    ]);
    expect(await catchErrorCode(queryAs("shopper", "5", "select * from purchase(array[0])"))).toBe("23503");
    expect(await catchErrorCode(queryAs("shopper", "", "select * from purchase(array[1])"))).toBe("42501");
    expect(
      (await queryAs("shopper", "5", "insert into playlist (name) values ('mine') returning owner_id")).rows,
    ).toEqual([{ owner_id: 5 }]);
    expect(await catchErrorCode(queryAs("shopper", "5", "insert into playlist_track values (1, 3503)"))).toMatch(
      /42501|23505/,
    );
    expect((await queryAs("clerk", "3", "select distinct support_rep_id from customer")).rows).toEqual([
      { support_rep_id: 3 },
    ]);
    expect((await queryAs("clerk", "3", "insert into artist (name) values ('New') returning artist_id")).rows).toEqual([
      { artist_id: 276 },
    ]);
    expect(
      (await queryAs("anon", "", "select count(*)::int as n from genre g, subgenres(g) where g.path = 'music.rock'"))
        .rows[0].n,
    ).toBe(5);
    expect((await queryAs("anon", "", "select name from search_track('\"smells like\"')")).rows.length).toBeGreaterThan(
      0,
    );
  });
});
