/** `relapi check` on set-ups with one error each. */
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { jwtSecret } from "../support/tokens.ts";
import { startPrimary } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { temporaryFile, temporaryFolder } from "../support/temporary-files.ts";
import { relapi, start, type Environment } from "./run.ts";

describe.skipIf(!capabilities.realServer)("check", async () => {
  const database = await testDatabase();
  const { databaseUrl = "" } = database.options;
  const good: Environment = {
    DATABASE_URL: databaseUrl,
    DB_SCHEMAS: "sea",
    ANON_ROLE: "sea_anon",
    JWT_SECRET: jwtSecret,
  };
  const [login, stranger] = [`c_chk_login_${process.pid}`, `c_chk_stranger_${process.pid}`];
  const SETUP = `
    create role ${login} login;
    create role ${stranger};
    create schema leaky;
    create table leaky.notes (id int primary key, owner text);
    create policy mine on leaky.notes using (owner = current_user);
    create schema shut;
    create table shut.notes (id int primary key);
    alter table shut.notes enable row level security;
    create schema hollow;
    create table hollow.notes (id int primary key, owner text);
    create table hollow.gone (id int);
    create function hollow.is_mine(n int) returns bool language plpgsql
      as $$ begin return exists (select from hollow.gone where id = n); end $$;
    alter table hollow.notes enable row level security;
    create policy mine on hollow.notes using (hollow.is_mine(id));
    drop table hollow.gone;
    create schema legacy;
    create table legacy.notes (id int primary key, owner text);
    alter table legacy.notes enable row level security;
    create policy mine on legacy.notes using (owner = current_setting('request.jwt.claim.sub'));
    grant usage on schema sea to ${login}`;
  beforeAll(async () => {
    await database.query(SETUP);
  });
  afterAll(async () => {
    await database.query(`drop owned by ${login}; drop role ${login}; drop role ${stranger}`);
  });
  const metadata = (table: string, tableProperties: object = {}, documentProperties: object = {}): string =>
    temporaryFile(
      "metadata.json",
      JSON.stringify({
        version: 3,
        sources: [
          {
            name: "default",
            kind: "postgres",
            tables: [{ table: { schema: "sea", name: table }, ...tableProperties }],
          },
        ],
        ...documentProperties,
      }),
    );
  const select = (columns: readonly string[], filter: object = {}): object => ({
    select_permissions: [{ role: "viewer", permission: { columns, filter } }],
  });

  test("C-CHK-1 a correct set-up gets one line on stdout", async () => {
    const { code, stdout, stderr } = await relapi(["check"], good);
    expect([code, stderr.split("\n").filter((line) => line.startsWith("error"))]).toEqual([0, []]);
    expect(stdout).toMatch(/^fine: \d+ relations, \d+ functions\n$/);
  });

  const errorCases: readonly (readonly [string, Environment, RegExp])[] = [
    ["a number that is none", { DB_POOL: "many" }, /^error: invalid DB_POOL "many": expected a whole number/],
    ["two settings that exclude each other", { DATA_DIR: "/x" }, /^error: DATA_DIR and DATABASE_URL are both set/],
    ["a secret that is too short", { JWT_SECRET: "short" }, /^error: jwtSecret \(JWT_SECRET\) is a secret of 5 bytes/],
    [
      "a secret that lost its quotes",
      { JWT_SECRET: "{kty: oct}" },
      /^error: jwtSecret \(JWT_SECRET\) looks like JSON but does not parse/,
    ],
    [
      "a key that cannot be read",
      { JWT_SECRET: '{"kty":"RSA","n":"x","e":"AQAB"}' },
      /^error: jwtSecret \(JWT_SECRET\) is (?:a JWK|an RSA key)/,
    ],
    [
      "a secret in a file that is not there",
      { JWT_SECRET: "@/no/secret" },
      /^error: JWT_SECRET names the file "\/no\/secret", which cannot be read: ENOENT/,
    ],
    [
      "an origin that is none",
      { CORS_ALLOWED_ORIGINS: "https://a.example, foo" },
      /^error: invalid CORS_ALLOWED_ORIGINS "https:\/\/a.example, foo": expected origins such as/,
    ],
    [
      "one port for two listeners",
      { PORT: "4400", ADMIN_PORT: "4400" },
      /^error: ADMIN_PORT and PORT are both 4400: choose another port for one of them$/,
    ],
    [
      "permissions of metadata that is not there",
      { METADATA_PERMISSIONS_FOR_REST: "true" },
      /^error: METADATA_PERMISSIONS_FOR_REST is set without METADATA: set both, or unset it$/,
    ],
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
      "a certificate that is none",
      {
        DATABASE_URL: `${databaseUrl}?sslmode=verify-full&sslrootcert=${encodeURIComponent(temporaryFile("ca.pem", "x"))}`,
      },
      /^error: DATABASE_URL names the file ".*ca\.pem" \(sslrootcert\), which does not contain a PEM certificate$/,
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
      /^error: ANON_ROLE is "c_chk_stranger_\d+", which the login role "c_chk_login_\d+" may not become; run: GRANT "c_chk_stranger_\d+" TO "c_chk_login_\d+"$/,
    ],
    [
      "a function that does not exist",
      { DB_PRE_REQUEST: "sea.before_reqest" },
      /^error: DB_PRE_REQUEST is "sea.before_reqest", a function that does not exist; did you mean "sea.before_request"\?$/,
    ],
    ["metadata that is not there", { METADATA: "/no/metadata" }, /^error: metadata \/no\/metadata cannot be read/],
    [
      "metadata that is no YAML",
      { METADATA: temporaryFile("metadata.yaml", "version: 3\nsources: [\n") },
      /^error: metadata .*metadata\.yaml:3:1 cannot be read: /,
    ],
    [
      "a metadata folder without its version",
      { METADATA: temporaryFolder() },
      /^error: metadata .* cannot be read: the folder has no version\.yaml/,
    ],
    [
      "a permission on a column that does not exist",
      { METADATA: metadata("vessels", select(["id", "nam"])) },
      /^error: metadata: .*vessels.*column "nam" does not exist/,
    ],
    [
      "a permission that filters by a column that does not exist",
      { METADATA: metadata("vessels", select(["id"], { nam: { _eq: "x" } })) },
      /^error: metadata: .*vessels.*nam/,
    ],
    ["metadata of a table that does not exist", { METADATA: metadata("vesels") }, /^error: metadata: .*vesels/],
    [
      "policies that are switched off",
      { DB_SCHEMAS: "leaky" },
      /^error: leaky\.notes has row policies that do nothing: ALTER TABLE leaky\.notes ENABLE ROW LEVEL SECURITY$/,
    ],
    [
      "a policy whose function uses a table that is gone",
      { DB_SCHEMAS: "hollow" },
      /^error: policy "mine" on hollow\.notes fails for every row: relation "hollow\.gone" does not exist$/,
    ],
    [
      "a policy that reads a setting that nobody sets",
      { DB_SCHEMAS: "legacy" },
      /^error: policy "mine" on legacy\.notes fails for every row: unrecognized configuration parameter "request\.jwt\.claim\.sub"$/,
    ],
  ];

  test.each(errorCases)(
    "C-CHK-1 C-CHK-2 C-CHK-4 C-SET-6 C-SET-7 check exits with code 1 and a line for %s",
    async (_, environment, line) => {
      const { code, stdout, stderr } = await relapi(["check"], { ...good, ...environment });
      expect([code, stdout]).toEqual([1, ""]);
      const errors = stderr.split("\n").filter((text) => text.startsWith("error"));
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatch(line);
    },
  );

  test("C-CHK-1 check reports all errors at once", async () => {
    const { stderr } = await relapi(["check"], { ...good, ANON_ROLE: "nobody_here", DB_ROOT_SPEC: "nofn" });
    expect(stderr.split("\n").filter((line) => line.startsWith("error"))).toHaveLength(2);
  });

  test.each([
    ["a secret beside the auth hook", `pgrst.jwt_secret = '${jwtSecret}'`, /^error: ignoring tokens: authHook/],
    [
      "a wrong value",
      "pgrst.db_tx_end = 'maybe'",
      /^error: invalid settings in the database; .*invalid pgrst.db_tx_end/,
    ],
    ["a secret that is no key", "pgrst.jwt_secret = 'short'", /^error: invalid token settings; keeping/],
  ])("C-CHK-1a X-HOOK-1a a stored setting is a fault: %s", async (kind, setting, line) => {
    const [{ name }] = (await database.query("select quote_ident(current_database()) as name")) as [{ name: string }];
    await database.query(`alter role current_user in database ${name} set ${setting}`);
    const hook = kind.includes("hook") ? { JWT_SECRET: "", AUTH_HOOK: "http://127.0.0.1:1/" } : {};
    const { code, stderr } = await relapi(["check"], { ...good, ...hook });
    await database.query(`alter role current_user in database ${name} reset all`);
    expect([code, stderr.split("\n").filter((text) => line.test(text))]).toEqual([1, [expect.any(String)]]);
  });

  test("C-CHK-3 with --strict, warnings count as errors", async () => {
    const environment = { ...good, DB_SCHEMAS: "shut" };
    const line = "warning: shut.notes has row-level security and no policy: only its owner sees rows\n";
    expect(await relapi(["check"], environment)).toEqual({
      code: 0,
      stdout: "fine: 1 relation, 0 functions\n",
      stderr: line,
    });
    expect(await relapi(["check", "--strict"], environment)).toEqual({ code: 1, stdout: "", stderr: line });
  });

  /** Errors that only --strict reports. */
  const odd: readonly (readonly [string, Environment, RegExp])[] = [
    [
      "a misspelt variable",
      { CACHE_BITES: "1" },
      /^warning: CACHE_BITES is not a setting; did you mean CACHE_BYTES\?$/,
    ],
    ["a setting that is not served", { PGRST_DB_POOL_AUTOMATIC_RECOVERY: "x" }, /^warning: .* is not served: see/],
    [
      "metadata beside tables and permissions",
      { METADATA: metadata("vessels", {}, { actions: [{ name: "x" }] }) },
      /^warning: metadata: actions is not supported; ignored: the preset plus supports it$/,
    ],
    ["no caller with access", { ANON_ROLE: "", JWT_SECRET: "" }, /^warning: no caller has access: set ANON_ROLE/],
  ];

  test.each(odd)("C-CHK-3 %s is a warning", async (_, environment, line) => {
    const mild = await relapi(["check"], { ...good, ...environment });
    const lines = mild.stderr.trim().split("\n");
    expect([mild.code, lines.filter((text) => line.test(text))]).toEqual([0, [expect.any(String)]]);
    const strict = await relapi(["check", "--strict"], { ...good, ...environment });
    expect([strict.code, strict.stdout]).toEqual([1, ""]);
  });

  test("C-CHK-3 a port in use is reported", async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, "0.0.0.0", resolve));
    const { port } = holder.address() as AddressInfo; // the port is in use
    const { code, stderr } = await relapi(["check", "--strict"], { ...good, PORT: String(port), HOST: "0.0.0.0" });
    holder.close();
    expect([code, stderr.split("\n").filter((line) => line.includes("port"))]).toEqual([
      1,
      [`warning: port ${port} is in use`],
    ]);
  });

  test.skipIf(!hasPostgres)("C-CHK-1 C-SET-5 a wrong password is reported", async () => {
    const server = await startPrimary([], "right");
    try {
      const url = (password: string): string => server.url.replace("//postgres@", `//postgres:${password}@`);
      expect((await relapi(["check"], { DATABASE_URL: url("right"), ANON_ROLE: "postgres" })).code).toBe(0);
      const checkResult = await relapi(["check"], { DATABASE_URL: url("wr0ng"), ANON_ROLE: "postgres" });
      expect([checkResult.code, checkResult.stdout]).toEqual([1, ""]);
      expect(checkResult.stderr).toMatch(/^error: .*password authentication failed for user "postgres".*\n$/);
      const serverResult = await start([], { DATABASE_URL: url("wr0ng"), PORT: "0", HOST: "127.0.0.1" }).end();
      expect([serverResult.code, serverResult.stdout]).toEqual([1, ""]);
      expect(serverResult.stderr).toMatch(/^.*password authentication failed.*\n$/);
      expect(checkResult.stderr + serverResult.stderr).not.toContain("wr0ng");
    } finally {
      await server.stop();
    }
  });

  test("C-CHK-1 a secret is never printed", async () => {
    const { stderr } = await relapi(["check"], { ...good, DATABASE_URL: "postgres://me:pa55word@127.0.0.1:1/x" });
    expect(stderr).not.toContain("pa55word");
  });
});
