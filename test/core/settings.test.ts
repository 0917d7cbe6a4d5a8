/**
 * Settings as texts: environment variables, their aliases, and the messages of rejected values; the process of the
 * standalone server.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { collectSettings } from "../../core/index.ts";
import { resolveOptions } from "../../core/settings/resolve-options.ts";
import { fullCompat } from "../../presets/index.ts";
import { readEnvironment, type Environment } from "../../presets/server/environment.ts";
import { startBusyServer, waitingForLocks } from "../cli/busy-server.ts";
import { relapi, start, type RunningProgram } from "../cli/run.ts";
import { capabilities, testDatabase } from "../support/database.ts";
import { freePort } from "../support/ports.ts";
import { until } from "../support/until.ts";
import { temporaryFolder } from "../support/temporary-files.ts";

const settings = collectSettings(fullCompat({}));
const url = "postgres://user:pa55word@127.0.0.1:5432/db";

const rejection = (environment: Environment): string => {
  try {
    readEnvironment(environment);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

describe("environment variables", () => {
  test("C-SET-4 without variables the server listens on port 3000 and uses the embedded database", () => {
    expect(readEnvironment({ PATH: "/bin", HOME: "/" })).toEqual({
      options: { logLevel: "info" },
      server: { port: 3000, preset: "full-compat", unixSocketMode: 0o660, workers: 1, shutdownDelay: 0 },
    });
  });

  test("X-SET-1 each variable is parsed by its kind", () => {
    const { options, server } = readEnvironment({
      DATABASE_URL: url,
      COMPAT_MODE: "true",
      DB_SCHEMAS: "sea, land",
      DB_EXTRA_SEARCH_PATH: "",
      ANON_ROLE: "guest",
      JWT_SECRET: "0123456789",
      DB_POOL: "3",
      DB_TX_END: "rollback-allow-override",
      DATABASE_REPLICA_URLS: `${url}1,${url}2`,
      CORS_ALLOWED_ORIGINS: "https://a, https://b",
      LOG_LEVEL: "crit",
      ADMIN_SECRETS: '["a","b"]',
      APP_SETTINGS_REGION: "north",
      DB_MAX_ROWS: "0",
      HOST: "!6",
      PORT: "0",
      SERVER_UNIX_SOCKET_MODE: "0600",
      ADMIN_PORT: "3001",
      WORKERS: "4",
    });
    expect(options).toEqual({
      databaseUrl: url,
      compatMode: true,
      dbSchemas: ["sea", "land"],
      dbExtraSearchPath: [],
      anonRole: "guest",
      jwtSecret: "0123456789",
      dbPool: 3,
      dbTxEnd: "rollback-allow-override",
      databaseReplicaUrls: [`${url}1`, `${url}2`],
      corsAllowedOrigins: ["https://a", "https://b"],
      logLevel: "silent",
      adminSecrets: ["a", "b"],
      appSettings: { region: "north" },
      dbMaxRows: 0,
    });
    expect(server).toEqual({
      host: "::",
      port: 0,
      preset: "full-compat",
      unixSocketMode: 0o600,
      adminPort: 3001,
      workers: 4,
      shutdownDelay: 0,
    });
  });

  test("X-SET-1 the first name of a setting takes precedence, and an empty variable counts as unset", () => {
    const read = (environment: Environment) => readEnvironment(environment).options.anonRole;
    expect(read({ HASURA_GRAPHQL_UNAUTHORIZED_ROLE: "h" })).toBe("h");
    expect(read({ HASURA_GRAPHQL_UNAUTHORIZED_ROLE: "h", PGRST_DB_ANON_ROLE: "p" })).toBe("p");
    expect(read({ HASURA_GRAPHQL_UNAUTHORIZED_ROLE: "h", PGRST_DB_ANON_ROLE: "p", ANON_ROLE: "o" })).toBe("o");
    expect(read({ HASURA_GRAPHQL_UNAUTHORIZED_ROLE: "h", PGRST_DB_ANON_ROLE: "", ANON_ROLE: "" })).toBe("h");
    expect(
      readEnvironment({ PGRST_APP_SETTINGS_A: "1", PGRST_APP_SETTINGS_B: "2", APP_SETTINGS_A: "3" }).options
        .appSettings,
    ).toEqual({ a: "3", b: "2" });
  });

  test("X-SET-3 every setting of the reference page is read, under every name", () => {
    const page = readFileSync(fileURLToPath(new URL("../../docs/reference/settings.md", import.meta.url)), "utf8");
    const rows = page.split("\n").filter((line) => line.startsWith("| `"));
    const documentedNames = rows.flatMap((row) => {
      const [, nameCell = "", aliasCell = ""] = row.split("|");
      const names = (cell: string): readonly string[] =>
        [...cell.matchAll(/`([A-Z_]+[A-Z])`/g)].map((match) => match[1] as string);
      return [...names(nameCell), ...names(aliasCell)];
    });
    expect(documentedNames.length).toBeGreaterThan(90);
    const ignoredNames = documentedNames.filter(
      (name) =>
        name !== "ANON_ROLE" &&
        rejection({ [name]: "\u0001 no such value" }) === "" &&
        JSON.stringify(readEnvironment({ [name]: "\u0001 no such value" })) === JSON.stringify(readEnvironment({})),
    );
    expect(ignoredNames).toEqual([]);
  });

  test("X-SET-1 experimental features set the options of their names, and a setting takes precedence", () => {
    const read = (flags: string, environment: Environment = {}) => {
      const { options } = readEnvironment({ HASURA_GRAPHQL_EXPERIMENTAL_FEATURES: flags, ...environment });
      return { ...options, logLevel: undefined };
    };
    expect(read("naming_convention, no_null_unbound_variable_default,disable_postgres_arrays")).toEqual({
      noNullUnboundVariableDefault: true,
      disablePostgresArrays: true,
    });
    expect(read("inherited_roles,streaming_subscriptions")).toEqual({});
    expect(read("disable_postgres_arrays", { DISABLE_POSTGRES_ARRAYS: "false" })).toEqual({
      disablePostgresArrays: false,
    });
    expect(rejection({ EXPERIMENTAL_FEATURES: "naming_convention,fast" })).toMatch(
      /^invalid EXPERIMENTAL_FEATURES "naming_convention,fast": expected a list of .*naming_convention.*, separated by commas$/,
    );
  });

  test("X-SET-2 no two settings share an option or a variable", () => {
    const options = settings.map((setting) => setting.name);
    expect(new Set(options).size).toBe(options.length);
    const names = settings.flatMap((setting) => setting.environment ?? []);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each([
    [{ COMPAT_MODE: "maybe" }, 'invalid COMPAT_MODE "maybe": expected true or false'],
    [{ PORT: "80a" }, 'invalid PORT "80a": expected a whole number from 0 to 65535'],
    [{ PGRST_SERVER_PORT: "70000" }, 'invalid PGRST_SERVER_PORT "70000": expected a whole number from 0 to 65535'],
    [{ DB_POOL: "0" }, 'invalid DB_POOL "0": expected a whole number from 1 to 10000'],
    [{ DB_MAX_ROWS: "-1" }, 'invalid DB_MAX_ROWS "-1": expected a whole number of at least 0'],
    [
      { DB_TX_END: "maybe" },
      'invalid DB_TX_END "maybe": expected one of commit, commit-allow-override, rollback, rollback-allow-override',
    ],
    [
      { HASURA_GRAPHQL_LOG_LEVEL: "loud" },
      'invalid HASURA_GRAPHQL_LOG_LEVEL "loud": expected one of silent, error, warn, info, debug',
    ],
    [{ SERVER_UNIX_SOCKET_MODE: "999" }, 'invalid SERVER_UNIX_SOCKET_MODE "999": expected a file mode from 600 to 777'],
    [{ SERVER_TRACE_HEADER: "a b" }, 'invalid SERVER_TRACE_HEADER "a b": expected a header name'],
    [
      { OPENAPI_SERVER_PROXY_URI: "ftp://x" },
      'invalid OPENAPI_SERVER_PROXY_URI "ftp://x": expected an http or https URL',
    ],
    [
      { WORKERS: "2" },
      'WORKERS is "2" without DATABASE_URL: the embedded database supports one process, so set DATABASE_URL or unset WORKERS',
    ],
    [
      { DATA_DIR: "/x", DATABASE_URL: url },
      "DATA_DIR and DATABASE_URL are both set: DATA_DIR is the folder of the embedded database, so unset one of them",
    ],
  ])("C-SET-3 %j is rejected in one line", (environment, line) => {
    expect(rejection(environment)).toBe(line);
  });

  test("X-TYP-2 an option that is undefined has the effect of no option", () => {
    const undefinedOptions = Object.fromEntries(settings.map(({ name }) => [name, undefined]));
    expect(resolveOptions(undefinedOptions, settings)).toStrictEqual(resolveOptions({}, settings));
  });

  test("C-SET-3 all wrong settings are reported at once", () => {
    expect(rejection({ PORT: "x", DB_POOL: "y" }).split("\n")).toHaveLength(2);
  });

  test("X-SET-2 the value of a secret is never printed", () => {
    const secrets: Environment = {
      DATABASE_URL: "mysql://root:pa55word@db/x",
      ADMIN_SECRETS: "pa55word",
      DATABASE_REPLICA_URLS: "pa55word",
    };
    expect(rejection(secrets)).not.toContain("pa55word");
    expect(rejection(secrets)).toContain(
      "invalid DATABASE_URL: expected a connection string, postgres://user:password@host:5432/database or host=... dbname=...",
    );
    expect(settings.filter((setting) => setting.isSecret === true).map((setting) => setting.name)).toEqual([
      "databaseUrl",
      "databaseDirectUrl",
      "databaseReplicaUrls",
      "rateLimitRedisUrl",
      "busUrl",
      "adminSecret",
      "adminSecrets",
      "authHook",
      "jwtSecret",
    ]);
  });
});

const folder = temporaryFolder();
const run = (environment: Environment): RunningProgram => start([], environment);

const readPort = (running: RunningProgram): number =>
  Number(/REST +http:\/\/[^:]+:(\d+)\/api/.exec(running.output())?.[1]);

interface HttpResponse {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
  readonly connection: string | undefined;
}

const get = (options: object): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    const outgoing = request(options, (incoming) => {
      let body = "";
      incoming.on("data", (chunk) => (body += String(chunk)));
      incoming.on("end", () =>
        resolve({
          status: incoming.statusCode ?? 0,
          body,
          retryAfter: incoming.headers["retry-after"],
          connection: incoming.headers.connection,
        }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end();
  });

describe("the standalone server", () => {
  test("C-SET-3 a wrong setting ends the server with one line and exit code 1", async () => {
    expect(await relapi([], { PORT: "x", JWT_SECRET: "too short", ANON_ROLE: "a" })).toEqual({
      code: 1,
      stdout: "",
      stderr: 'relapi: invalid PORT "x": expected a whole number from 0 to 65535\n',
    });
  });

  test("C-CLI-4 a data folder that is in use or cannot be made ends the server with one line", async () => {
    const dataDir = join(folder, "mine");
    const first = run({ PORT: "0", DATA_DIR: dataDir });
    await first.untilPrinted(/Try:/);
    const second = await relapi([], { PORT: "0", DATA_DIR: dataDir });
    expect([second.code, second.stdout]).toEqual([1, ""]);
    expect(second.stderr).toMatch(
      new RegExp(`^relapi: \\S+ is in use by process ${first.pid}: an embedded database belongs to one process .*\\n$`),
    );
    expect((await first.stop()).code).toBe(0);
    const odd = await relapi([], { PORT: "0", DATA_DIR: "/dev/null/data" });
    expect([odd.code, odd.stdout]).toEqual([1, ""]);
    expect(odd.stderr).toMatch(/^relapi: cannot create the data folder: .*\n$/);
  });

  test("R-ADM-4 C-SET-4 without settings the server is the demo, says so, and SIGTERM ends it", async () => {
    const server = run({ PORT: "0" });
    await server.untilPrinted(/Try:/);
    const port = readPort(server);
    expect(server.output()).toContain(
      `on the embedded demo database, in memory\n  REST       http://127.0.0.1:${port}/api\n`,
    );
    const commands = [...server.output().matchAll(/curl '([^']+)'/g)].map((match) => match[1] as string);
    expect(commands).toHaveLength(3);
    for (const command of commands.slice(0, 2)) {
      const { status, body } = await get(
        new URL(command).searchParams.size > 0
          ? { port, path: command.slice(command.indexOf("/api")) }
          : { port, path: "/" },
      );
      expect([command, status]).toEqual([command, 200]);
      expect(JSON.parse(body)).toHaveLength(3);
    }
    const { code, stderr } = await server.stop();
    expect(code).toBe(0);
    expect(stderr).toContain("relapi: no DATABASE_URL: starting the embedded demo database\n");
  });

  test("C-CLI-5 a port in use is reported in a line, with advice", async () => {
    const otherServer = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => otherServer.once("listening", resolve));
    const { port } = otherServer.address() as AddressInfo;
    const { databaseUrl } = (await testDatabase()).options;
    const server = run({
      PORT: String(port),
      HOST: "127.0.0.1",
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    });
    expect((await server.end()).code).toBe(1);
    const demo = databaseUrl === undefined ? "relapi: no DATABASE_URL: starting the embedded demo database\n" : "";
    expect(server.output()).toBe(
      `${demo}relapi: port ${port} is in use: end the program that listens there, or choose another port with --port or PORT\n`,
    );
    otherServer.close();
  });

  describe.skipIf(!capabilities.realServer)("with a PostgreSQL server", () => {
    const onServer = async (environment: Environment = {}): Promise<Environment> => ({
      DATABASE_URL: (await testDatabase()).options.databaseUrl,
      DB_SCHEMAS: "sea",
      ANON_ROLE: "sea_anon",
      PORT: "0",
      HOST: "127.0.0.1",
      ...environment,
    });

    test("R-SC-3 R-ADM-4 the server replaces a stale socket file, reloads the schema on SIGUSR1, and ends after the delay", async () => {
      const db = await testDatabase();
      const socket = join(folder, "relapi.sock");
      for (const end of ["SIGKILL", "SIGTERM"] as const) {
        const server = run(
          await onServer({ SERVER_UNIX_SOCKET: socket, SERVER_UNIX_SOCKET_MODE: "600", SHUTDOWN_DELAY: "1" }),
        );
        await server.untilPrinted(/Try:/);
        expect(statSync(socket).mode & 0o777).toBe(0o600);
        expect(await get({ socketPath: socket, path: "/api/ports?select=name&limit=1" })).toMatchObject({
          status: 200,
          body: '[{"name":"Oslo"}]',
        });
        if (end === "SIGTERM") {
          await db.query("create table sea.made_later (id int); grant select on sea.made_later to sea_anon");
          process.kill(server.pid, "SIGUSR1");
          const isServed = async (): Promise<boolean> =>
            (await get({ socketPath: socket, path: "/api/made_later" })).status === 200;
          await until(isServed, "the table is served");
        }
        expect((await server.stop(end)).code).toBe(end === "SIGTERM" ? 0 : null);
      }
      await db.query("drop table sea.made_later");
      const plain = join(folder, "file");
      writeFileSync(plain, "");
      const processResult = await relapi([], await onServer({ SERVER_UNIX_SOCKET: plain }));
      expect([processResult.code, processResult.stdout]).toEqual([1, ""]);
      expect(processResult.stderr).toContain(`SERVER_UNIX_SOCKET is "${plain}", which exists and is not a socket`);
    });

    test("R-ADM-4 requests longer than the grace period are cancelled and answered 503, and the exit code shows it", async () => {
      const { running: server, answer, release } = await startBusyServer(await onServer({ SHUTDOWN_GRACE: "1" }));
      const exit = server.stop();
      const { status, ...response } = await answer.then(async (incoming) => ({
        status: incoming.status,
        body: await incoming.text(),
      }));
      expect([status, JSON.parse(response.body).code]).toEqual([503, "PGRST001"]);
      expect((await exit).code).toBe(3);
      expect(server.output()).toContain(
        'cancelling the requests that did not end within the grace period {"count":1,"seconds":1}',
      );
      await until(async () => (await waitingForLocks()) === 0, "the statement is cancelled");
      await release();
    });

    test("R-ADM-4 before the server stops accepting it is not ready, for as long as load balancers need to notice", async () => {
      const adminPort = await freePort();
      const server = run(await onServer({ SHUTDOWN_DELAY: "3600", ADMIN_PORT: String(adminPort) }));
      await server.untilPrinted(/Try:/);
      const port = readPort(server);
      const readiness = async (): Promise<number> => (await get({ port: adminPort, path: "/ready" })).status;
      expect(await readiness()).toBe(200);
      const exit = server.stop();
      await until(async () => (await readiness()) === 500, "it is not ready any more");
      const answer = await get({ port, path: "/api/ports?limit=1" });
      expect([answer.status, answer.connection]).toEqual([200, "close"]);
      await server.stop(); // a second signal skips the delay
      expect((await exit).code).toBe(1);
    });

    test("R-SC-6 the server listens while the database is unreachable, and answers 503 with Retry-After", async () => {
      const server = run({
        DATABASE_URL: "postgres://x@127.0.0.1:1/x",
        ANON_ROLE: "x",
        SERVER_UNIX_SOCKET: join(folder, "away.sock"),
      });
      await server.untilPrinted(/failed to load the schema/);
      const { status, body, retryAfter } = await get({ socketPath: join(folder, "away.sock"), path: "/api/x" });
      expect([status, JSON.parse(body).code]).toEqual([503, "PGRST002"]);
      expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
      expect((await server.stop()).code).toBe(0);
    });

    test("X-MET-6 several workers share the port, and a worker that dies is replaced", async () => {
      const adminPort = await freePort();
      const server = run(await onServer({ WORKERS: "2", ADMIN_PORT: String(adminPort) }));
      await server.untilPrinted(/Try:/);
      const port = readPort(server);
      expect((await get({ port, path: "/api/ports" })).status).toBe(200);
      // A worker that ends before it listens would end them all.
      const metrics = async (): Promise<string> => (await get({ port: adminPort, path: "/metrics" })).body;
      await until(async () => /^relapi_workers 2$/m.test(await metrics()), "two workers listen");
      const workers = (): readonly number[] =>
        spawnSync("ps", ["-o", "pid=", "--ppid", String(server.pid)])
          .stdout.toString()
          .split("\n")
          .map(Number)
          .filter((pid) => pid > 0);
      const before = workers();
      expect(before).toHaveLength(2);
      process.kill(before[0] as number, "SIGKILL");
      await until(() => workers().filter((pid) => pid !== before[0]).length === 2, "a worker has come in its place");
      expect((await get({ port, path: "/api/ports" })).status).toBe(200);
      await server.untilPrinted(new RegExp(`\\(process ${before[0]}\\) ended by SIGKILL: starting a new one`));
      expect((await server.stop()).code).toBe(0);
    });
  });
});
