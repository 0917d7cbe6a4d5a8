/** Commands that print documents and settings of the server. */
import { buildSchema } from "graphql";
import { describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { relapi } from "./run.ts";

describe.skipIf(!capabilities.realServer)("with a PostgreSQL server", async () => {
  const database = await testDatabase();
  const environment = { DATABASE_URL: database.options.databaseUrl, DB_SCHEMAS: "sea", ANON_ROLE: "sea_anon" };
  const music = { ...environment, DB_SCHEMAS: "public" };

  test("C-DOC-1 openapi prints every relation or those that a role may use", async () => {
    const all = JSON.parse((await relapi(["openapi"], environment)).stdout);
    expect([all.swagger, all.host, all.basePath]).toEqual(["2.0", "localhost:3000", "/api"]);
    expect(Object.keys(all.paths)).toContain("/vessels");
    const roleDocument = JSON.parse((await relapi(["openapi", "--role", "pg_monitor"], environment)).stdout);
    expect(Object.keys(roleDocument.paths)).not.toContain("/vessels");
  });

  test("C-DOC-1 R-PATH-1 the base path is the first prefix of the server", async () => {
    const { stdout } = await relapi(["openapi"], { ...environment, REST_PREFIXES: "/rest/v1/,/api" });
    expect(JSON.parse(stdout).basePath).toBe("/rest/v1");
  });

  test("C-DOC-2 schema prints the SDL of the administrator or of a role", async () => {
    const admin = buildSchema((await relapi(["schema"], music)).stdout);
    expect(admin.getQueryType()?.getFields()).toHaveProperty("artist");
    expect(admin.getMutationType()?.getFields()).toHaveProperty("insert_artist");
    const reader = buildSchema((await relapi(["schema", "--role", "music_reader"], music)).stdout);
    expect(reader.getQueryType()?.getFields()).toHaveProperty("artist");
    expect(reader.getMutationType()?.getFields() ?? {}).not.toHaveProperty("insert_artist");
  });

  test("C-DOC-1 C-DOC-2 an unknown role is rejected", async () => {
    for (const words of [["openapi"], ["schema"]])
      expect(await relapi([...words, "--role", "sea_annon"], environment)).toEqual({
        code: 1,
        stdout: "",
        stderr: 'relapi: there is no role "sea_annon"; did you mean "sea_anon"?\n',
      });
  });
});

describe("settings", () => {
  test("C-DOC-3 dump-config prints every setting, with masked secrets", async () => {
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
