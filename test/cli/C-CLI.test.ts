/** The command line without a database: commands, options, settings files (docs/reference/command-line.md). */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { program, relapi, start, type Environment } from "./run.ts";
import { temporaryFile } from "../support/temporary-files.ts";

const { version } = JSON.parse(readFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8")) as {
  readonly version: string;
};

describe("help and version", () => {
  test("C-CLI-1 --version and --help print and exit", async () => {
    expect(await relapi(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    const help = await relapi(["--help"]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    expect(help.stdout).toMatch(/^Usage: relapi \[options\] \[command\]/);
    expect(help.stdout).toContain("serve");
    const serve = await relapi(["serve", "--help"]);
    expect(serve.stdout).toContain("--port <number>");
  });

  const COMMANDS: Readonly<Record<string, RegExp>> = {
    serve: /-p, --port <number>/,
    check: /--strict/,
    doctor: /--strict.*[^]*--json/,
    explain: /<request>[^]*--method <method>[^]*--body <body>[^]*--variables <json>[^]*--claims <json>[^]*--json/,
    types: /typed REST clients/,
    openapi: /--role <role>/,
    schema: /--role <role>/,
    "dump-config": /with secrets masked/,
    "live-triggers": /live queries/,
    events: /install[^]*remove[^]*status/,
    init: /--js/,
  };

  test("C-CLI-1 --help lists every command", async () => {
    const { stdout } = await relapi(["--help"]);
    const names = [...stdout.matchAll(/^ {2}([a-z][a-z-]*)[ [<].* {2}\S/gm)].map((match) => match[1]);
    expect(names.filter((name) => name !== "help").sort()).toEqual(Object.keys(COMMANDS).sort());
  });

  test.each(Object.entries(COMMANDS))(
    "C-CLI-1 %s --help lists its options, without a database",
    async (name, expected) => {
      const { code, stdout, stderr } = await relapi([name, "--help"]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(new RegExp(`^Usage: relapi ${name}`));
      expect(stdout).toMatch(expected);
    },
  );

  test("C-CLI-9 --preset overrides PRESET, and an unknown name is an error", async () => {
    const presetLine = (words: readonly string[], environment: Environment = {}) =>
      relapi(["dump-config", ...words], environment).then(({ stdout }) => /^PRESET=.*$/m.exec(stdout)?.[0]);
    expect(await presetLine([])).toBe("PRESET=full-compat");
    expect(await presetLine([], { PRESET: "plus" })).toBe("PRESET=plus");
    expect(await presetLine(["--preset", "full-compat"], { PRESET: "plus" })).toBe("PRESET=full-compat");
    const errorLine = 'relapi: invalid PRESET "plsu": expected one of full-compat, plus\n';
    expect(await relapi(["check", "--preset", "plsu"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(errorLine.slice(8)),
    });
    expect(await relapi(["--preset", "plsu"])).toMatchObject({ code: 1, stderr: errorLine });
  });

  test("C-CLI-1 help COMMAND prints the same text", async () => {
    expect(await relapi(["help", "check"])).toEqual(await relapi(["check", "--help"]));
  });

  const HINT = "relapi: --help lists the options\n";
  test.each([
    [["serv"], `relapi: unknown command "serv"; did you mean "serve"?\n${HINT}`],
    [["typs"], `relapi: unknown command "typs"; did you mean "types"?\n${HINT}`],
    [["nonsense"], `relapi: unknown command "nonsense"\n${HINT}`],
    [["--prot", "9"], `relapi: unknown option '--prot'\n(Did you mean --port?)\n${HINT}`],
    [["check", "--stict"], `relapi: unknown option '--stict'\n(Did you mean --strict?)\n${HINT}`],
    [["live-triggers", "--foo"], `relapi: unknown option '--foo'\n${HINT}`],
    [
      ["live-triggers", "twice"],
      `relapi: too many arguments for 'live-triggers'. Expected 0 arguments but got 1.\n${HINT}`,
    ],
    [["explain"], `relapi: missing required argument 'request'\n${HINT}`],
    [["init", "a", "b"], `relapi: too many arguments for 'init'. Expected 1 argument but got 2.\n${HINT}`],
    [["--config"], `relapi: option '-c, --config <file>' argument missing\n${HINT}`],
  ])("C-CLI-2 %j is rejected, with exit code 2", async (words, stderr) => {
    expect(await relapi(words)).toEqual({ code: 2, stdout: "", stderr });
  });

  test("C-CLI-1 C-CLI-4 a wrong value is an error with exit code 1", async () => {
    const stderr = 'relapi: invalid PORT "x": expected a whole number from 0 to 65535\n';
    expect(await relapi(["--port", "x"])).toEqual({ code: 1, stdout: "", stderr });
    expect(await relapi(["dump-config", "--port", "1"])).toMatchObject({ code: 2, stdout: "" });
  });
});

test.each([
  [["--version"], 0],
  [["--port", "x"], 1],
  [["serv"], 2],
])("C-CLI-1 C-CLI-2 C-CLI-4 the program %j prints and ends as the function does, with %d", async (words, code) => {
  const result = await start(words).end();
  expect(result).toEqual(await relapi(words));
  expect(result.code).toBe(code);
});

describe("at a terminal", () => {
  /** The output of the program as a terminal shows it, until the program ends. */
  const atTerminal = async (words: string, environment: Environment = {}): Promise<string> => {
    const { stdout } = spawnSync("script", ["-qec", `${process.execPath} ${program} ${words}`, "/dev/null"], {
      env: { PATH: process.env["PATH"], ...environment },
      encoding: "utf8",
    });
    return stdout.replaceAll("\r", "");
  };
  const hasScript = spawnSync("script", ["--version"]).error === undefined;

  test.skipIf(!hasScript)(
    "C-CLI-7 the server reports that it is starting before it has read its settings",
    async () => {
      const wrong = 'relapi: invalid PORT "x": expected a whole number from 0 to 65535\n';
      expect(await atTerminal("", { PORT: "x" })).toBe(`relapi: starting\n${wrong}`);
      expect(await atTerminal("serve --port x")).toBe(`relapi: starting\n${wrong}`);
      expect(await atTerminal("", { PORT: "x", LOG_LEVEL: "silent" })).toBe(wrong);
      expect(await atTerminal("--version")).toBe(`${version}\n`);
    },
  );

  test("C-CLI-7 nothing is loaded before the first line of output", () => {
    expect(readFileSync(program, "utf8")).not.toMatch(/^(?:import|export)\b.*\bfrom\b/m);
  });
});

describe("settings files", () => {
  test.each([
    ["json", '{"PORT": "x", "dbPool": 0}', ['invalid PORT "x"', 'invalid DB_POOL "0"']],
    ["yaml", "PORT: x\ndbPool: 0\n", ['invalid PORT "x"', 'invalid DB_POOL "0"']],
    ["conf", '# PostgREST\nserver-port = "x"\ndb-pool = 0 # none\n', ['invalid PORT "x"', 'invalid DB_POOL "0"']],
    ["conf", 'db-anon-rol = "x"\n', ['unknown setting "db-anon-rol"', 'did you mean "db-anon-role"?']],
    ["json", '{"anonRolle": "x"}', ['unknown setting "anonRolle"', 'did you mean "anonRole"?']],
    ["conf", "db-pool = 3\n# fine\ndb-uri postgres\n", ['settings.conf:3: expected name = "value"']],
    [
      "conf",
      'db-uri = "$(NO_SUCH_VARIABLE)"\n',
      ['settings.conf:1: the environment has no variable "NO_SUCH_VARIABLE"'],
    ],
    [
      "conf",
      'jwt-secret = "@/no/secret"\ndb-uri = "postgres://x"\n',
      ['names the file "/no/secret", which cannot be read'],
    ],
    ["yaml", "- a\n", ["contains no settings"]],
    ["json", '{"a": ', ["cannot parse the settings file"]],
    // The file is small until its aliases are resolved.
    [
      "yaml",
      "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nmetadata: [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
      ["cannot parse the settings file", "settings.yaml"],
    ],
  ])("C-CLI-3 an invalid %s file is rejected: %s", async (ending, text, messageParts) => {
    const { code, stderr } = await relapi(["--config", temporaryFile(`settings.${ending}`, text)]);
    expect(code).toBe(1);
    for (const part of messageParts) expect(stderr).toContain(part);
  });

  test("C-CLI-3 settings files have PostgREST's format with comments, quotes, escapes, variables, files and old names", async () => {
    const secret = temporaryFile("secret", "a secret of thirty-two characters\n");
    const file = temporaryFile(
      "postgrest.conf",
      [
        "# the database",
        "",
        'db-uri       = "postgres://$(SOME_USER)@h/d"   # with a comment',
        'db-schema = "api, other"',
        "db-pool = 7",
        "db-pool-timeout = 9",
        'db-pre-request = "a\\"b\\\\c"',
        `jwt-secret = "@${secret}"`,
        "jwt-secret-is-base64 = false",
        "db-anon-role = web_anon",
        'app.settings.Region = "north # $$5"',
        "db-pool-automatic-recovery = true",
        'raw-media-types = "image/png"',
        "compat-mode = true",
        'rest-prefixes = "/api,/rest/v1"',
        "",
      ].join("\n"),
    );
    const { code, stdout } = await relapi(["dump-config", "-c", file], { SOME_USER: "me", PGRST_DB_POOL: "8" });
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual(
      expect.arrayContaining([
        "DATABASE_URL=***",
        "DB_SCHEMAS=api,other",
        "DB_POOL=8",
        "DB_POOL_MAX_IDLETIME=9",
        'DB_PRE_REQUEST=a"b\\c',
        "JWT_SECRET=***",
        "ANON_ROLE=web_anon",
        "APP_SETTINGS_REGION=***",
        "COMPAT_MODE=true",
        "REST_PREFIXES=/api,/rest/v1",
      ]),
    );
    const result = await relapi(["check", "-c", file], {
      SOME_USER: "me",
      PGRST_DB_URI: "postgres://x@127.0.0.1:1/x",
    });
    expect(result.stderr).toMatch(/^warning: PGRST_DB_POOL_AUTOMATIC_RECOVERY is not served: see docs\/guides/m);
    expect(result.stderr).toMatch(/^warning: PGRST_RAW_MEDIA_TYPES is not served: see docs\/guides/m);
  });

  test("C-CLI-3 a missing settings file is an error", async () => {
    const { code, stderr } = await relapi(["-c", "/no/such/file"]);
    expect([code, stderr]).toEqual([
      1,
      `relapi: cannot read the settings file "/no/such/file": ENOENT: no such file or directory, open '/no/such/file'\n`,
    ]);
  });

  test("C-CLI-4 a command that needs a database reports it, also if the database is unreachable", async () => {
    const unreachableDatabase = { DATABASE_URL: "postgres://x@127.0.0.1:1/x" };
    const result = await relapi(["live-triggers"], unreachableDatabase);
    expect(result).toEqual(await relapi(["openapi"], unreachableDatabase));
    expect([result.code, result.stderr]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
    expect(await relapi(["live-triggers"])).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "relapi: live-triggers requires DATABASE_URL: the embedded database needs no triggers, because it is polled\n",
    });
  });
});
