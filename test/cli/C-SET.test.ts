/** Settings that are misspelt, not served, or name what the database does not have; when the demo may start. */
import { describe, expect, test } from "vitest";
import { knownVariables } from "../../presets/environment.ts";
import { strayVariables, type Stray } from "../../presets/misspelt.ts";
import { capabilities, testDatabase } from "../support/database.ts";
import { relapi, type Environment } from "./run.ts";

const textsOf = (environment: Environment): readonly string[] =>
  strayVariables(environment, knownVariables()).map(({ text }: Stray) => text);

test.each([
  ["DATABSE_URL", "DATABASE_URL"],
  ["JWT_SECERT", "JWT_SECRET"],
  ["PGRST_DB_ANNON_ROLE", "PGRST_DB_ANON_ROLE"],
  ["HASURA_GRAPHQL_ADMIN_SECRT", "HASURA_GRAPHQL_ADMIN_SECRET"],
  ["ANON_ROL", "ANON_ROLE"],
  ["DB_SCHEMA", "DB_SCHEMAS"],
])("C-SET-1 %s is told to mean %s", (name, meant) => {
  expect(textsOf({ [name]: "x" })).toEqual([`${name} is not a setting; did you mean ${meant}?`]);
});

test("C-SET-1 names that have nothing to do with settings are left alone", () => {
  const names =
    "PATH HOME USER HOSTNAME SHELL LANG NODE_ENV NODE_OPTIONS PGUSER LOGNAME EDITOR npm_config_cache PWD TERM CI";
  expect(textsOf(Object.fromEntries(names.split(" ").map((name) => [name, "x"])))).toEqual([]);
  expect(textsOf(Object.fromEntries([...knownVariables()].map((name) => [name, "x"])))).toEqual([]);
  expect(textsOf({ PGRST_APP_SETTINGS_X: "1", APP_SETTINGS_Y: "2" })).toEqual([]);
});

test("C-SET-2 settings of the engines that are not served are told, with what to do", () => {
  expect(textsOf({ HASURA_GRAPHQL_AUTH_HOOK: "x", PGRST_DB_POOL_AUTOMATIC_RECOVERY: "x" })).toEqual([
    "HASURA_GRAPHQL_AUTH_HOOK is not served: write an auth scheme: docs/guides/write-an-auth-scheme.md",
    "PGRST_DB_POOL_AUTOMATIC_RECOVERY is not served: the pool always recovers: leave it out",
  ]);
  expect(textsOf({ HASURA_GRAPHQL_SOMETHING_NEW_ALTOGETHER: "x" })).toEqual([
    "HASURA_GRAPHQL_SOMETHING_NEW_ALTOGETHER is not served: see docs/reference/settings.md",
  ]);
});

describe("the demo", () => {
  const remedy = "no DATABASE_URL: the demo starts only without any setting of a database; set DATABASE_URL";
  test.each([
    [
      { DATABSE_URL: "postgres://x" },
      `relapi: DATABSE_URL is not a setting; did you mean DATABASE_URL?\nrelapi: ${remedy}\n`,
    ],
    [{ PGRST_DB_SCHEMAS: "x" }, `relapi: PGRST_DB_SCHEMAS is set, and DATABASE_URL is not\nrelapi: ${remedy}\n`],
    [{ PGHOST: "x" }, `relapi: PGHOST is set, and DATABASE_URL is not\nrelapi: ${remedy}\n`],
    [
      { NODE_ENV: "production" },
      "relapi: no DATABASE_URL: the demo does not start with NODE_ENV=production; set DATABASE_URL\n",
    ],
  ])("C-SET-4 does not start with %j", async (environment, stderr) => {
    expect(await relapi([], { PORT: "0", ...environment })).toEqual({ code: 1, stdout: "", stderr });
  });

  test("C-SET-4 starts without, and says so", async () => {
    const { code, stderr, stdout } = await relapi([], { PORT: "0" }, "Try:");
    expect(code).toBe(0);
    expect(stderr).toContain("relapi: no DATABASE_URL: starting the embedded demo database\n");
    expect(stdout).toContain("on the embedded demo database, in memory");
  });
});

describe.skipIf(!capabilities.realServer)("the start on a server", async () => {
  const { databaseUrl = "" } = (await testDatabase()).options;
  const good = { DATABASE_URL: databaseUrl, DB_SCHEMAS: "sea", ANON_ROLE: "sea_anon", PORT: "0", HOST: "127.0.0.1" };

  test("C-SET-1 C-SET-2 what is odd is told once, by several workers too", async () => {
    const { stderr } = await relapi(
      [],
      { ...good, JWT_SECERT: "x", HASURA_GRAPHQL_ENABLE_CONSOLE: "true", WORKERS: "2" },
      "Try:",
    );
    expect(stderr.split("\n").filter((line) => line.startsWith("relapi: "))).toEqual([
      "relapi: HASURA_GRAPHQL_ENABLE_CONSOLE is not served: there is no console; GraphiQL is at /v1/graphql",
      "relapi: JWT_SECERT is not a setting; did you mean JWT_SECRET?",
    ]);
  });

  test("C-SET-3 a role and a function that do not exist are a line each", async () => {
    const environment = { ...good, ANON_ROLE: "sea_annon", DB_PRE_REQUEST: "sea.nothere" };
    const { stderr } = await relapi([], environment, "sea.nothere");
    expect(stderr).toContain('warn ANON_ROLE is "sea_annon", a role that does not exist; did you mean "sea_anon"?\n');
    expect(stderr).toContain('warn DB_PRE_REQUEST is "sea.nothere", a function that does not exist');
  });

  test.each([
    ["a user", databaseUrl.replace(/\/\/[^@]*@/, "//no_such_role@"), "no_such_role"],
    ["a database", databaseUrl.replace(/\/[^/]*$/, "/no_such_db"), "no_such_db"],
  ])("C-SET-5 a login with %s that does not exist ends the start with one line", async (_, url, name) => {
    const { code, stdout, stderr } = await relapi([], { ...good, DATABASE_URL: url });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).toContain(`\\"${name}\\" does not exist`);
    expect(stderr).toContain("check user, password and database of DATABASE_URL");
  });

  test("C-SET-5 a server that is away is tried again, a line for each attempt", async () => {
    const { stderr } = await relapi(
      [],
      { ...good, DATABASE_URL: "postgres://x@127.0.0.1:1/x" },
      /(failed to load[^]*){2}/,
    );
    const lines = stderr.trim().split("\n");
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toContain("ECONNREFUSED");
  });
});
