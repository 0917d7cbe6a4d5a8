/**
 * Settings that are misspelt, not served, or name objects that the database does not have; and the rules of the demo.
 */
import { describe, expect, test } from "vitest";
import { listKnownVariables } from "../../presets/server/environment.ts";
import { unsupportedAdvice } from "../../presets/server/unsupported-settings.ts";
import { findUnknownVariables, type UnknownVariable } from "../../presets/server/unknown-variables.ts";
import { capabilities, testDatabase } from "../support/database.ts";
import { jwtSecret, signToken } from "../support/tokens.ts";
import { temporaryFile } from "../support/temporary-files.ts";
import { relapi, start, startUntil, type Environment } from "./run.ts";

const listMessages = (environment: Environment): readonly string[] =>
  findUnknownVariables(environment, listKnownVariables()).map(({ message }: UnknownVariable) => message);

test.each([
  ["DATABSE_URL", "DATABASE_URL"],
  ["JWT_SECERT", "JWT_SECRET"],
  ["PGRST_DB_ANNON_ROLE", "PGRST_DB_ANON_ROLE"],
  ["HASURA_GRAPHQL_ADMIN_SECRT", "HASURA_GRAPHQL_ADMIN_SECRET"],
  ["ANON_ROL", "ANON_ROLE"],
  ["DB_SCHEMA", "DB_SCHEMAS"],
])("C-SET-1 the unknown variable %s is reported with the suggestion %s", (name, suggestion) => {
  expect(listMessages({ [name]: "x" })).toEqual([`${name} is not a setting; did you mean ${suggestion}?`]);
});

test("C-SET-1 unrelated names are not reported", () => {
  const names =
    "PATH HOME USER HOSTNAME SHELL LANG NODE_ENV NODE_OPTIONS PGUSER LOGNAME EDITOR npm_config_cache PWD TERM CI";
  expect(listMessages(Object.fromEntries(names.split(" ").map((name) => [name, "x"])))).toEqual([]);
  expect(listMessages(Object.fromEntries([...listKnownVariables()].map((name) => [name, "x"])))).toEqual([]);
  expect(listMessages({ PGRST_APP_SETTINGS_X: "1", APP_SETTINGS_Y: "2" })).toEqual([]);
});

/** The settings of PostgREST 12 to 16 and of Hasura v2, by their reference pages. */
const ENGINES = {
  PGRST_: `admin-server-config-enabled admin-server-host admin-server-port admin-server-unix-socket client-error-verbosity db-aggregates-enabled
    db-anon-role db-channel db-channel-enabled db-config db-extra-search-path db-hoisted-tx-settings db-max-rows
    db-plan-enabled db-pool db-pool-acquisition-timeout db-pool-automatic-recovery db-pool-max-idletime
    db-pool-max-lifetime db-pool-timeout db-pre-config db-pre-request db-prepared-statements db-root-spec db-schema
    db-schemas db-timezone-enabled db-tx-end db-uri db-use-legacy-gucs jwt-aud jwt-cache-max-entries
    jwt-cache-max-lifetime jwt-role-claim-key jwt-secret jwt-secret-is-base64 log-level log-query max-rows openapi-mode
    openapi-security-active openapi-server-proxy-uri pre-request raw-media-types role-claim-key root-spec
    secret-is-base64 server-cors-allowed-origins server-host server-port server-proxy-uri server-reuseport
    server-timing-enabled server-trace-header server-unix-socket server-unix-socket-mode url-use-legacy-target-names`,
  HASURA_GRAPHQL_: `admin-internal-errors admin-secret admin-secrets async-actions-fetch-batch-size
    async-actions-fetch-interval auth-hook auth-hook-mode auth-hook-send-request-body
    backwards-compat-null-in-nonnullable-variables bigquery-string-numeric-input cache-max-entry-ttl
    close-websockets-on-metadata-change configured-header-precedence connection-compression
    connections-per-read-replica console-assets-dir cors-domain database-url default-naming-convention dev-mode
    disable-cors disable-native-query-validation dynamic-secrets-allowed-path-prefix enable-allowlist
    enable-apollo-federation enable-console enable-log-compression enable-maintenance-mode enable-metadata-query-logging
    enable-persisted-queries enable-query-tracing enable-remote-schema-permissions enable-telemetry
    enable-triggers-error-log-level enabled-apis enabled-log-types events-fetch-batch-size events-fetch-interval
    events-http-pool-size experimental-features graceful-shutdown-timeout infer-function-permissions jwt-secret
    jwt-secrets live-queries-multiplexed-batch-size live-queries-multiplexed-refetch-interval log-level max-cache-size
    max-total-header-length metadata-database-extensions-schema metadata-database-url metadata-dir
    metrics-enable-high-cardinality-labels metrics-secret migrations-dir no-of-retries persisted-queries-ttl
    pg-conn-lifetime pg-connections pg-ssl-certificate-path pg-stripes pg-timeout pool-timeout query-plan-cache-size
    rate-limit-redis-tls-hostname rate-limit-redis-url rate-limit-redis-use-tls read-replica-url read-replica-urls
    redis-timeout redis-tls-hostname redis-tls-shared-ca-store-path redis-url remote-schema-prioritize-data
    remote-schema-skip-nulls schema-sync-poll-interval server-host server-port sso-providers
    streaming-queries-multiplexed-batch-size streaming-queries-multiplexed-refetch-interval stringify-numeric-types
    stripes-per-read-replica tx-isolation unauthorized-role use-prepared-statements v1-boolean-null-collapse
    websocket-connection-init-timeout websocket-keepalive ws-read-cookie`,
};
const engineNames = Object.entries(ENGINES).flatMap(([prefix, names]) =>
  names.split(/\s+/).map((name) => prefix + name.toUpperCase().replaceAll("-", "_")),
);

test("C-SET-2 every setting of the engines is either served or has advice", () => {
  const knownVariables = listKnownVariables();
  expect(engineNames.filter((name) => knownVariables.has(name) === unsupportedAdvice.has(name))).toEqual([]);
});

test("C-SET-2 the advice names only settings that exist", () => {
  const knownVariables = listKnownVariables();
  const advisedNames = [...unsupportedAdvice.values()].flatMap((advice) =>
    [...advice.matchAll(/\bset ([A-Z_0-9]+)/g)].map((match) => match[1] as string),
  );
  expect(advisedNames.filter((name) => !knownVariables.has(name))).toEqual([]);
});

test("C-SET-2 settings of the engines that are not served are reported with advice", () => {
  expect(listMessages({ HASURA_GRAPHQL_MIGRATIONS_DIR: "x", PGRST_DB_POOL_AUTOMATIC_RECOVERY: "x" })).toEqual([
    "HASURA_GRAPHQL_MIGRATIONS_DIR is not served: see docs/guides/move-from-hasura.md",
    "PGRST_DB_POOL_AUTOMATIC_RECOVERY is not served: see docs/guides/move-from-postgrest.md",
  ]);
  expect(listMessages({ PGRST_MAX_ROWS: "x" })).toEqual(["PGRST_MAX_ROWS is not served: set DB_MAX_ROWS"]);
  expect(listMessages({ HASURA_GRAPHQL_SOMETHING_NEW_ALTOGETHER: "x" })).toEqual([
    "HASURA_GRAPHQL_SOMETHING_NEW_ALTOGETHER is not served: see docs/reference/settings.md",
  ]);
});

describe("the demo", () => {
  const remedy =
    "no DATABASE_URL: the demo starts only if no setting of a database is set; set DATABASE_URL (postgres:// without a host uses the PG… variables), or DATA_DIR for a demo in a folder";
  test.each([
    [
      { DATABSE_URL: "postgres://x" },
      `relapi: DATABSE_URL is not a setting; did you mean DATABASE_URL?\nrelapi: ${remedy}\n`,
    ],
    [{ PGRST_DB_SCHEMAS: "x" }, `relapi: PGRST_DB_SCHEMAS is set, and DATABASE_URL is not\nrelapi: ${remedy}\n`],
    ...["PGHOST", "PGUSER", "PGSERVICE", "DATABASE_NAME", "DB_POOL"].map((name): [Environment, string] => [
      { [name]: "10" },
      `relapi: ${name} is set, and DATABASE_URL is not\nrelapi: ${remedy}\n`,
    ]),
    [{ POSTGRES_URL: "postgres://x" }, `relapi: POSTGRES_URL is set, and DATABASE_URL is not\nrelapi: ${remedy}\n`],
    [
      { NODE_ENV: "production" },
      "relapi: no DATABASE_URL: the demo does not start with NODE_ENV=production; set DATABASE_URL\n",
    ],
  ])("C-SET-4 the demo does not start with %j", async (environment, stderr) => {
    expect(await relapi([], { PORT: "0", ...environment })).toEqual({ code: 1, stdout: "", stderr });
    expect(await relapi(["types"], environment)).toEqual({ code: 1, stdout: "", stderr }); // C-SET-4b
  });

  test("C-SET-4b check says that it checks the demo", async () => {
    const notice = "relapi: no DATABASE_URL: starting the embedded demo database\n";
    expect(await relapi(["check"], { PORT: "0", ANON_ROLE: "anon" })).toMatchObject({ code: 0, stderr: notice });
    expect(await relapi(["check"], { PORT: "0", ANON_ROLE: "no_such_role" })).toMatchObject({
      code: 1,
      stderr: `${notice}error: ANON_ROLE is "no_such_role", a role that does not exist\n`,
    });
  });
});

describe.skipIf(!capabilities.realServer)("the start on a server", async () => {
  const database = await testDatabase();
  const { databaseUrl = "" } = database.options;
  const good = { DATABASE_URL: databaseUrl, DB_SCHEMAS: "sea", ANON_ROLE: "sea_anon", PORT: "0", HOST: "127.0.0.1" };

  test("C-SET-1 C-SET-2 unknown settings are reported once, also with several workers", async () => {
    const environment = { ...good, JWT_SECERT: "x", HASURA_GRAPHQL_ENABLE_CONSOLE: "true", WORKERS: "2" };
    const { stderr } = await startUntil(/Try:/, [], environment);
    expect(stderr.split("\n").filter((line) => line.startsWith("relapi: "))).toEqual([
      "relapi: HASURA_GRAPHQL_ENABLE_CONSOLE is not served: see docs/guides/move-from-hasura.md",
      "relapi: JWT_SECERT is not a setting; did you mean JWT_SECRET?",
    ]);
  });

  test.each([
    ["an origin that is none", { CORS_ALLOWED_ORIGINS: "foo" }, /^relapi: invalid CORS_ALLOWED_ORIGINS "foo"/],
    ["a secret that is too short", { JWT_SECRET: "x" }, /^relapi: jwtSecret \(JWT_SECRET\) is a secret of 1 byte:/],
    ["a secret in no file", { JWT_SECRET: "@/no/file" }, /^relapi: JWT_SECRET names the file "\/no\/file"/],
    [
      "a certificate that is not there",
      { DATABASE_URL: `${databaseUrl}?sslmode=verify-full&sslrootcert=/no/ca.pem` },
      /^relapi: DATABASE_URL names the file "\/no\/ca\.pem" \(sslrootcert\), which does not exist$/m,
    ],
    ["two ports that are one", { PORT: "4400", ADMIN_PORT: "4400" }, /^relapi: ADMIN_PORT and PORT are both 4400/],
  ])("C-SET-3 C-SET-6 C-SET-7 %s stops the start with one line", async (_, environment, message) => {
    const { code, stdout, stderr } = await relapi([], { ...good, ...environment });
    expect([code, stdout, stderr.trim().split("\n").length]).toEqual([1, "", 1]);
    expect(stderr).toMatch(message);
  });

  test("C-SET-3 missing metadata stops the start with one line", async () => {
    const { code, stdout, stderr } = await start([], { ...good, METADATA: "/no/metadata" }).end();
    expect([code, stdout, stderr.trim().split("\n").length]).toEqual([1, "", 1]);
    expect(stderr).toMatch(/metadata \/no\/metadata cannot be read/);
  });

  test("C-SET-3 a missing role, schema and function are logged, and work once they are created", async () => {
    const role = `c_set_late_${process.pid}`;
    const environment = { ...good, ANON_ROLE: role, DB_SCHEMAS: "sea,late", DB_PRE_REQUEST: "sea.late_check" };
    const running = start([], environment);
    await running.untilPrinted(/late_check", a function that does not exist/);
    expect(running.output()).toContain(`warn ANON_ROLE is "${role}", a role that does not exist\n`);
    expect(running.output()).toContain('warn schema "late" is exposed but does not exist\n');
    const [, url = ""] = await running.untilPrinted(/REST +(http\S+)/);
    expect((await fetch(`${url}/ports?select=id`)).status).toBe(401);
    await database.query(`
      create role ${role}; create schema late; create table late.things as select 1 as id;
      grant usage on schema sea, late to ${role}; grant select on late.things, sea.ports to ${role};
      create function sea.late_check() returns void language sql as '';
      notify pgrst`);
    await running.untilPrinted(/(schema loaded[^]*){2}/);
    expect((await fetch(`${url}/ports?select=id`)).status).toBe(200);
    expect(await (await fetch(`${url}/things`, { headers: { "accept-profile": "late" } })).json()).toEqual([{ id: 1 }]);
    const { code, stderr } = await running.stop();
    expect([code, stderr.match(/does not exist/g)?.length]).toEqual([0, 3]);
    await database.query(
      `drop schema late cascade; drop function sea.late_check; drop owned by ${role}; drop role ${role}`,
    );
  });

  test("C-SET-6 the connection string and the secret may be in files", async () => {
    const environment = {
      ...good,
      DATABASE_URL: `@${temporaryFile("url", `${databaseUrl}\n`)}`,
      PGRST_JWT_SECRET: `@${temporaryFile("secret", `${jwtSecret}\n`)}`,
    };
    const running = start([], environment);
    const [, url = ""] = await running.untilPrinted(/REST +(http\S+)/);
    const headers = { authorization: `Bearer ${signToken({ role: "sea_clerk" })}` };
    expect((await fetch(`${url}/ports?select=id&limit=1`, { headers })).status).toBe(200);
    expect((await running.stop()).code).toBe(0);
  });

  test("C-SET-3 a missing role and a missing function are reported in a line each", async () => {
    const environment = { ...good, ANON_ROLE: "sea_annon", DB_PRE_REQUEST: "sea.nothere" };
    const { stderr } = await startUntil(/sea\.nothere/, [], environment);
    expect(stderr).toContain('warn ANON_ROLE is "sea_annon", a role that does not exist; did you mean "sea_anon"?\n');
    expect(stderr).toContain('warn DB_PRE_REQUEST is "sea.nothere", a function that does not exist');
  });

  test.each([
    ["a user", databaseUrl.replace(/\/\/[^@]*@/, "//no_such_role@"), "no_such_role"],
    ["a database", databaseUrl.replace(/\/[^/]*$/, "/no_such_db"), "no_such_db"],
  ])("C-SET-5 a login with %s that does not exist ends the start with one line", async (_, url, name) => {
    const { code, stdout, stderr } = await start([], { ...good, DATABASE_URL: url }).end();
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).toContain(`\\"${name}\\" does not exist`);
    expect(stderr).toContain("check user, password and database of DATABASE_URL");
  });

  test("C-SET-5 an unreachable server is tried again, with a line for each attempt", async () => {
    const environment = { ...good, DATABASE_URL: "postgres://x@127.0.0.1:1/x" };
    const { stderr } = await startUntil(/(?:failed to load.*\n[^]*){2}/, [], environment);
    for (const line of stderr.trim().split("\n")) expect(line).toContain("ECONNREFUSED");
  });
});
