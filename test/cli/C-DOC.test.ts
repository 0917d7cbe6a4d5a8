/** Commands that print what the server would say: documents, settings, plans, advice; and the project of `init`. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildSchema } from "graphql";
import { describe, expect, test } from "vitest";
import { callsPerRow } from "../../presets/cli/doctor-command.ts";
import { capabilities, testDatabase } from "../support/database.ts";
import { relapi, temporaryFolder } from "./run.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe.skipIf(!capabilities.realServer)("on a server", async () => {
  const database = await testDatabase();
  const environment = { DATABASE_URL: database.options.databaseUrl, DB_SCHEMAS: "sea", ANON_ROLE: "sea_anon" };
  const music = { ...environment, DB_SCHEMAS: "public" };

  test("C-DOC-1 openapi prints everything, or what a role may do", async () => {
    const all = JSON.parse((await relapi(["openapi"], environment)).stdout);
    expect([all.swagger, all.host, all.basePath]).toEqual(["2.0", "localhost:3000", "/api"]);
    expect(Object.keys(all.paths)).toContain("/vessels");
    const none = JSON.parse((await relapi(["openapi", "--role", "pg_monitor"], environment)).stdout);
    expect(Object.keys(none.paths)).not.toContain("/vessels");
  });

  test("C-DOC-2 schema prints SDL, of the administrator or of a role", async () => {
    const admin = buildSchema((await relapi(["schema"], music)).stdout);
    expect(admin.getQueryType()?.getFields()).toHaveProperty("artist");
    expect(admin.getMutationType()?.getFields()).toHaveProperty("insert_artist");
    const reader = buildSchema((await relapi(["schema", "--role", "music_reader"], music)).stdout);
    expect(reader.getQueryType()?.getFields()).toHaveProperty("artist");
    expect(reader.getMutationType()?.getFields() ?? {}).not.toHaveProperty("insert_artist");
  });

  test("C-DOC-1 C-DOC-2 C-EXP-1 a role that nobody knows", async () => {
    for (const words of [["openapi"], ["schema"], ["explain", "/vessels"]])
      expect(await relapi([...words, "--role", "sea_annon"], environment)).toEqual({
        code: 1,
        stdout: "",
        stderr: 'relapi: there is no role "sea_annon"; did you mean "sea_anon"?\n',
      });
  });

  test("C-DOK-1 C-DOK-2 C-DOK-3 C-DOK-4 doctor", async () => {
    await database.query(`
      create schema ward;
      create table ward.doctors (id int primary key);
      create table ward.patients (
        id int primary key, doctor_id int references ward.doctors, owner text, nurse_id int references ward.doctors
      );
      create index on ward.patients (nurse_id);
      alter table ward.patients enable row level security;
      create policy slow on ward.patients using (owner = current_setting('request.user', true));
      create policy fast on ward.patients using (id = (select current_setting('request.id', true)::int));
      create view ward.open_view as select id from ward.patients;
      create view ward.safe_view with (security_invoker = true) as select id from ward.patients;
      create function ward.anybody(n int) returns int language sql security definer as 'select n';
      create function ward.nobody() returns int language sql as 'select 1';
      revoke execute on function ward.nobody() from public;
    `);
    const { code, stdout } = await relapi(["doctor"], { ...environment, DB_SCHEMAS: "ward" });
    expect(code).toBe(0);
    expect(stdout.trim().split("\n")).toEqual([
      expect.stringMatching(
        /^danger: ward\.open_view reads ward\.patients as "\w+", past the row policies: alter view/,
      ),
      "danger: ward.anybody(n integer) may be called by everybody, and runs as its owner: revoke execute on function ward.anybody(n integer) from public",
      'slow: policy "slow" on ward.patients calls current_setting() for each row: write (select current_setting(…))',
      "slow: foreign key patients_doctor_id_fkey has no index: create index on ward.patients (doctor_id)",
      "slow: policy slow has no index: create index on ward.patients (owner)",
    ]);
    expect((await relapi(["doctor", "--strict"], { ...environment, DB_SCHEMAS: "ward" })).code).toBe(1);
    await database.query("drop schema ward cascade; create schema ward");
    expect(await relapi(["doctor", "--strict"], { ...environment, DB_SCHEMAS: "ward" })).toEqual({
      code: 0,
      stdout: "nothing found\n",
      stderr: "",
    });
    await database.query("drop schema ward");
  });
});

test.each([
  ["(owner = current_setting('a'::text, true))", ["current_setting"]],
  ["(owner = ( SELECT current_setting('a'::text, true) AS current_setting))", []],
  ["(owner = ( SELECT (NULLIF(current_setting('a'::text, true), ''::text))::integer AS x))", []],
  ["((id = ( SELECT auth.uid() AS uid)) AND (auth.role() = 'x'::text))", ["auth.role"]],
  ["(EXISTS ( SELECT 1 FROM t WHERE (t.owner = auth.uid())))", ["auth.uid"]],
  ["(owner = CURRENT_USER)", []],
])("C-DOK-1 calls per row of %s", (expression, calls) => {
  expect(callsPerRow(expression)).toEqual(calls);
});

describe("settings", () => {
  test("C-DOC-3 dump-config prints every setting, secrets masked", async () => {
    const { code, stdout } = await relapi(["dump-config"], {
      DATABASE_URL: "postgres://me:pa55word@h/d",
      ADMIN_SECRET: "pa55word",
      PGRST_DB_SCHEMAS: "a,b",
      PORT: "81",
      APP_SETTINGS_KEY: "pa55word",
    });
    expect(code).toBe(0);
    expect(stdout).not.toContain("pa55word");
    const lines = stdout.trim().split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "DATABASE_URL=***",
        "ADMIN_SECRET=***",
        "DB_SCHEMAS=a,b",
        "PORT=81",
        "DB_POOL=10",
        "# ANON_ROLE=",
        "APP_SETTINGS_KEY=***",
      ]),
    );
    expect(lines.length).toBeGreaterThan(80);
  });
});

describe("init", () => {
  test("C-INI-1 writes a project whose test passes, without a network", { timeout: 90_000 }, async () => {
    const folder = join(temporaryFolder(), "My Shop");
    const { code, stdout } = await relapi(["init", folder]);
    expect(code).toBe(0);
    expect(stdout).toContain(`Next: cd ${folder} && npm install && npm test`);
    expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name).toBe("my-shop");
    for (const file of ["Dockerfile", "plugins/starts-with.js", ".env.example", "README.md"])
      expect(existsSync(join(folder, file))).toBe(true);
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(root, join(folder, "node_modules/relapi"));
    for (const name of ["express", "graphql"])
      symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
    const { NODE_OPTIONS: _, ...environment } = process.env;
    const run = await promisify(execFile)(process.execPath, ["--test"], { cwd: folder, env: environment });
    expect(run.stdout).toMatch(/# pass 3\n# fail 0/);
  });

  test("C-INI-2 overwrites nothing", async () => {
    const folder = temporaryFolder();
    await relapi(["init", join(folder, "x")]);
    expect(await relapi(["init", folder])).toEqual({
      code: 1,
      stdout: "",
      stderr: `relapi: "${folder}" is not empty: name a folder that is, or that does not exist\n`,
    });
    expect((await relapi(["init"])).stderr).toContain("missing required argument 'folder'");
  });
});
