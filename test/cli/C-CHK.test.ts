/** `relapi check` on set-ups that are broken, each in its own way. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { jwtSecret } from "../support/tokens.ts";
import { relapi, temporaryFile, type Environment } from "./run.ts";

describe.skipIf(!capabilities.realServer)("check", async () => {
  const database = await testDatabase();
  const { databaseUrl = "" } = database.options;
  const good: Environment = {
    DATABASE_URL: databaseUrl,
    DB_SCHEMAS: "sea",
    ANON_ROLE: "sea_anon",
    JWT_SECRET: jwtSecret,
  };
  const [login, stranger] = [`check_login_${process.pid}`, `check_stranger_${process.pid}`];
  const SETUP = `
    create role ${login} login;
    create role ${stranger};
    create schema leaky;
    create table leaky.notes (id int primary key, owner text);
    create policy mine on leaky.notes using (owner = current_user);
    create schema shut;
    create table shut.notes (id int primary key);
    alter table shut.notes enable row level security;
    grant usage on schema sea to ${login}`;
  beforeAll(async () => {
    await database.query(SETUP);
  });
  afterAll(async () => {
    await database.query(`drop owned by ${login}; drop role ${login}; drop role ${stranger}`);
  });
  const metadata = (table: string): string =>
    temporaryFile(
      "metadata.json",
      JSON.stringify({
        version: 3,
        sources: [{ name: "default", kind: "postgres", tables: [{ table: { schema: "sea", name: table } }] }],
      }),
    );

  test("C-CHK-1 a good set-up is fine, in a line on stdout", async () => {
    const { code, stdout, stderr } = await relapi(["check"], good);
    expect([code, stderr.split("\n").filter((line) => line.startsWith("error"))]).toEqual([0, []]);
    expect(stdout).toMatch(/^fine: \d+ relations, \d+ functions\n$/);
  });

  const broken: readonly (readonly [string, Environment, RegExp])[] = [
    ["a number that is none", { DB_POOL: "many" }, /^error: invalid DB_POOL "many": expected a whole number/],
    ["two settings that exclude each other", { DATA_DIR: "/x" }, /^error: DATA_DIR is set beside DATABASE_URL/],
    ["a secret that is too short", { JWT_SECRET: "short" }, /^error: .*(32|bytes|characters)/],
    ["a server that is away", { DATABASE_URL: "postgres://x@127.0.0.1:1/x" }, /^error: .*ECONNREFUSED/],
    [
      "a database that does not exist",
      { DATABASE_URL: databaseUrl.replace(/\/[^/]*$/, "/no_such_db") },
      /^error: .*database "no_such_db" does not exist/,
    ],
    [
      "a login role that does not exist",
      { DATABASE_URL: databaseUrl.replace(/\/\/[^@]*@/, "//no_such_role@") },
      /^error: .*role "no_such_role" does not exist/,
    ],
    [
      "a certificate that is not there",
      { DATABASE_URL: `${databaseUrl}?sslmode=verify-full&sslrootcert=/no/ca.pem` },
      /^error: DATABASE_URL names the file "\/no\/ca\.pem" \(sslrootcert\), which does not exist$/,
    ],
    [
      "a mode of encryption that does not exist",
      { DATABASE_URL: `${databaseUrl}?sslmode=bogus` },
      /^error: DATABASE_URL has sslmode=bogus: expected one of disable, /,
    ],
    ["a schema that does not exist", { DB_SCHEMAS: "sea,see" }, /^error: schema "see" is exposed but does not exist$/],
    [
      "a role that does not exist",
      { ANON_ROLE: "sea_annon" },
      /^error: ANON_ROLE is "sea_annon", a role that does not exist; did you mean "sea_anon"\?$/,
    ],
    [
      "a role that the login role may not become",
      { DATABASE_URL: capabilities.realServer ? database.urlAs(login) : "", ANON_ROLE: stranger },
      /^error: ANON_ROLE is "check_stranger_\d+", which "check_login_\d+" may not become: GRANT "check_stranger_\d+" TO "check_login_\d+"$/,
    ],
    [
      "a function that does not exist",
      { DB_PRE_REQUEST: "sea.before_reqest" },
      /^error: DB_PRE_REQUEST is "sea.before_reqest", a function that does not exist; did you mean "sea.before_request"\?$/,
    ],
    ["metadata that is not there", { METADATA: "/no/metadata" }, /^error: metadata \/no\/metadata cannot be read/],
    ["metadata of a table that does not exist", { METADATA: metadata("vesels") }, /^error: metadata: .*vesels/],
    [
      "policies that are switched off",
      { DB_SCHEMAS: "leaky" },
      /^error: leaky\.notes has row policies that do nothing: ALTER TABLE leaky\.notes ENABLE ROW LEVEL SECURITY$/,
    ],
  ];

  test.each(broken)("C-CHK-1 C-CHK-2 %s: exit code 1 and a line", async (_, environment, line) => {
    const { code, stdout, stderr } = await relapi(["check"], { ...good, ...environment });
    expect([code, stdout]).toEqual([1, ""]);
    const errors = stderr.split("\n").filter((each) => each.startsWith("error"));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(line);
  });

  test("C-CHK-1 all faults are told at once", async () => {
    const { stderr } = await relapi(["check"], { ...good, ANON_ROLE: "nobody_here", DB_ROOT_SPEC: "nofn" });
    expect(stderr.split("\n").filter((line) => line.startsWith("error"))).toHaveLength(2);
  });

  test("C-CHK-3 --strict counts warnings", async () => {
    const shut = { ...good, DB_SCHEMAS: "shut" };
    const line = "warning: shut.notes has row-level security and no policy: only its owner sees rows\n";
    expect(await relapi(["check"], shut)).toEqual({
      code: 0,
      stdout: "fine: 1 relations, 0 functions\n",
      stderr: line,
    });
    expect(await relapi(["check", "--strict"], shut)).toEqual({ code: 1, stdout: "", stderr: line });
  });

  test("C-CHK-1 a secret is never printed", async () => {
    const { stderr } = await relapi(["check"], { ...good, DATABASE_URL: "postgres://me:pa55word@127.0.0.1:1/x" });
    expect(stderr).not.toContain("pa55word");
  });
});
