/** The command line: commands, options, settings files. docs/reference/command-line.md */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { relapi, temporaryFile } from "./run.ts";

const { version } = JSON.parse(readFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8")) as {
  readonly version: string;
};

describe("what it says of itself", () => {
  test("C-CLI-1 --version and --help print and end", async () => {
    expect(await relapi(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    const help = await relapi(["--help"]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    expect(help.stdout).toMatch(/^Usage: relapi \[options\] \[command\]/);
    expect(help.stdout).toContain("serve");
    const serve = await relapi(["serve", "--help"]);
    expect(serve.stdout).toContain("--port <number>");
  });

  test.each([
    [["serv"], 'relapi: unknown command "serv"; did you mean "serve"?\nrelapi: relapi --help lists the commands\n'],
    [["nonsense"], 'relapi: unknown command "nonsense"\nrelapi: relapi --help lists the commands\n'],
    [["--prot", "9"], "relapi: unknown option '--prot'\n(Did you mean --port?)\nrelapi: --help lists the options\n"],
    [["live-triggers", "--foo"], "relapi: unknown option '--foo'\nrelapi: --help lists the options\n"],
    [
      ["live-triggers", "twice"],
      "relapi: too many arguments for 'live-triggers'. Expected 0 arguments but got 1.\nrelapi: --help lists the options\n",
    ],
    [["--port", "x"], 'relapi: invalid PORT "x": expected a whole number from 0 to 65535\n'],
    [["--config"], "relapi: option '-c, --config <file>' argument missing\nrelapi: --help lists the options\n"],
  ])("C-CLI-2 %j is refused", async (words, stderr) => {
    expect(await relapi(words)).toEqual({ code: 1, stdout: "", stderr });
  });
});

describe("settings files", () => {
  test.each([
    ["json", '{"PORT": "x", "dbPool": 0}', ['invalid PORT "x"', 'invalid DB_POOL "0"']],
    ["yaml", "PORT: x\ndbPool: 0\n", ['invalid PORT "x"', 'invalid DB_POOL "0"']],
    ["conf", '# PostgREST\nserver-port = "x"\ndb-pool = 0 # none\n', ['invalid PORT "x"', 'invalid DB_POOL "0"']],
    ["conf", 'db-anon-rol = "x"\n', ['unknown setting "db-anon-rol"', 'did you mean "db-anon-role"?']],
    ["json", '{"anonRolle": "x"}', ['unknown setting "anonRolle"', 'did you mean "anonRole"?']],
    ["yaml", "- a\n", ["holds no settings"]],
    ["json", '{"a": ', ["cannot parse the settings file"]],
  ])("C-CLI-3 faults of a %s file: %s", async (ending, text, said) => {
    const { code, stderr } = await relapi(["--config", temporaryFile(`settings.${ending}`, text)]);
    expect(code).toBe(1);
    for (const part of said) expect(stderr).toContain(part);
  });

  test("C-CLI-3 a file that is not there", async () => {
    const { code, stderr } = await relapi(["-c", "/no/such/file"]);
    expect([code, stderr]).toEqual([
      1,
      `relapi: cannot read the settings file "/no/such/file": ENOENT: no such file or directory, open '/no/such/file'\n`,
    ]);
  });

  describe.skipIf(!capabilities.realServer)("on a server", () => {
    const url = async (): Promise<string> => (await testDatabase()).options.databaseUrl ?? "";

    test.each([
      [
        "settings.conf",
        (db: string) => `db-uri = "${db}"\ndb-schema = "sea, land"\ndb-anon-role = "sea_anon"\nserver-port = 1\n`,
      ],
      [
        "settings.json",
        (db: string) =>
          JSON.stringify({
            databaseUrl: db,
            dbSchemas: ["sea", "land"],
            anonRole: "sea_anon",
            port: 1,
            logQuery: false,
          }),
      ],
      [
        "settings.yaml",
        (db: string) => `DATABASE_URL: ${db}\nPGRST_DB_SCHEMAS: [sea, land]\nanonRole: sea_anon\nPORT: 1\n`,
      ],
    ])("C-CLI-1 C-CLI-3 %s is read, the environment and --port win", async (name, write) => {
      const { code, stdout } = await relapi(
        ["serve", "--config", temporaryFile(name, write(await url())), "--port", "0"],
        { HOST: "127.0.0.1", PGRST_DB_SCHEMAS: "sea" },
        "Try:",
      );
      expect(code).toBe(0);
      expect(stdout).toContain("on your database");
      expect(stdout).toMatch(/REST {7}http:\/\/127\.0\.0\.1:[1-9]\d{3,}\/api/);
    });

    test("C-CLI-4 live-triggers prints SQL", async () => {
      const { code, stdout } = await relapi(["live-triggers"], { DATABASE_URL: await url(), DB_SCHEMAS: "sea" });
      expect(code).toBe(0);
      expect(stdout).toContain("create or replace trigger");
    });
  });

  test("C-CLI-4 a command that needs a database says so", async () => {
    expect(await relapi(["live-triggers"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "relapi: live-triggers requires DATABASE_URL: the embedded database is polled\n",
    });
  });
});
