/** The commands of `relapi` and their options. */
import type { WriteStream } from "node:tty";
import { Command, CommanderError, type OutputConfiguration } from "commander";
import { buildSuggestion, VERSION } from "../../core/index.ts";
import { buildDemoNotice } from "../server/checks.ts";
import {
  listKnownVariables,
  readEnvironment,
  type Environment,
  type EnvironmentSettings,
} from "../server/environment.ts";
import { findUnknownVariables } from "../server/unknown-variables.ts";
import type { ExplainOptions } from "./explain/explain-command.ts";
import { runServer } from "./serve-command.ts";
import { print, printErrors, write, type Terminal } from "./terminal.ts";

interface GlobalOptions {
  readonly config?: string;
  readonly preset?: string;
}

interface ServeOptions {
  readonly port?: string;
}

interface InitOptions {
  readonly js?: boolean;
}

/** The context of one command line. */
interface CommandContext {
  readonly program: Command;
  readonly terminal: Terminal;
  /** Returns the environment with the file of `--config` and the values of the command's own options. */
  loadEnvironment(command: Command, commandVariables?: Environment): Promise<Environment>;
  loadSettings(command: Command): Promise<EnvironmentSettings>;
  /** Loads the settings of a command that reads a database. Prints a notice if that is the demo. @throws RelApiError
   *  `preset` if the demo must not start @rule C-SET-4 */
  loadDatabaseSettings(command: Command): Promise<EnvironmentSettings>;
  /** Sets an exit code other than 0. */
  setExitCode(exitCode: number): void;
}

/** Rejects unknown commands, which the parser passes to the default command, the server. */
const rejectUnknownCommand = (program: Command, words: readonly string[]): void => {
  const [word] = words;
  if (word === undefined) return;
  const names = program.commands.map((command) => command.name());
  program.error(`relapi: unknown command "${word}"${buildSuggestion(word, names)}`, {
    exitCode: USAGE_ERROR,
    code: "relapi.unknownCommand",
  });
};

/** Creates the parser with the options of all commands. `output` collects its texts. */
const createCommandLine = (output: OutputConfiguration): Command =>
  new Command("relapi")
    .description("REST and GraphQL APIs from a PostgreSQL database.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print what a command does and its options")
    .option("-c, --config <file>", "read settings from a JSON, YAML or PostgREST configuration file")
    .option("--preset <name>", "the features to serve: full-compat (the default), or plus")
    .addHelpText("after", "\nSettings come from the environment: DATABASE_URL, ANON_ROLE, JWT_SECRET, PORT, …")
    .configureOutput({
      ...output,
      outputError: (text, writeText) => writeText(text.replace(/^error: /, "relapi: ")),
    })
    .showHelpAfterError("relapi: --help lists the options")
    .exitOverride();

const addCommands = (run: CommandContext): void => {
  const { program, terminal, loadEnvironment } = run;
  program
    .command("serve", { isDefault: true })
    .description("serve the database over HTTP (the default)")
    .option("-p, --port <number>", "listen on this port")
    .allowExcessArguments()
    .action(async ({ port }: ServeOptions, command: Command) => {
      rejectUnknownCommand(program, command.args);
      const env = await loadEnvironment(command, port === undefined ? {} : { PORT: port });
      const { stdout, stderr } = terminal;
      run.setExitCode(await runServer({ env, stdout, stderr }));
    });
  addCheckCommands(run);
  addDocumentCommands(run);
  addEventCommands(run);
  program
    .command("init")
    .description("write an Express project in TypeScript: a preset, a plugin, a test, a Dockerfile")
    .argument("[folder]", "an empty or new folder", ".")
    .option("--js", "write JavaScript")
    .action(async (folder: string, { js = false }: InitOptions) => {
      const { initProject } = await import("./init-command.ts");
      await print(terminal, initProject(folder, js ? "js" : "ts"));
    });
};

interface StrictOption {
  readonly strict?: boolean;
}

interface JsonOption {
  readonly json?: boolean;
}

const appendOption = (option: string, before: readonly string[] = []): readonly string[] => [...before, option];

interface RoleOption {
  readonly role?: string;
}

/** Adds the commands whose exit code reports the result of checks. */
const addCheckCommands = (run: CommandContext): void => {
  const { program, terminal, loadEnvironment, loadDatabaseSettings, setExitCode } = run;
  program
    .command("check")
    .description(
      "check settings, connection, roles, metadata and policies; print a line for each error, and exit with code 1",
    )
    .option("--strict", "count warnings as errors")
    .action(async ({ strict = false }: StrictOption, command: Command) => {
      const { checkSettings: check, printCheck } = await import("./check-command.ts");
      const checkResult = await check(terminal.env, () => loadEnvironment(command));
      setExitCode(await printCheck(terminal, checkResult, strict));
    });
  program
    .command("doctor")
    .description("look for missing indexes, slow policies and dangerous rights, and print the SQL that fixes them")
    .option("--strict", "exit code 1 if anything is found")
    .option("--json", "print a JSON document")
    .action(async ({ strict = false, json = false }: StrictOption & JsonOption, command: Command) => {
      const { diagnose, formatFinding: findingText } = await import("./doctor/doctor-command.ts");
      const findings = await diagnose(await loadDatabaseSettings(command));
      const text = findings.length === 0 ? "nothing found" : findings.map(findingText).join("\n");
      await print(terminal, json ? JSON.stringify(findings, null, 2) : text);
      if (strict && findings.length > 0) setExitCode(1);
    });
  program
    .command("explain")
    .description("run a request, roll it back, and print its statement, its plan and the conditions that remove rows")
    .argument(
      "<request>",
      "'/album?select=title', 'PATCH /album?id=eq.1', '{ album { title } }', @file, or - for stdin",
    )
    .option("-X, --method <method>", "of a REST path (default: GET, with a body POST)")
    .option("-d, --body <body>", "of a REST path: text, @file, or - for stdin")
    .option("-H, --header <header>", "'Prefer: return=representation'; may be repeated", appendOption)
    .option("--variables <json>", "of a GraphQL document: a JSON object, @file, or -")
    .option("--operation <name>", "of a GraphQL document with several")
    .option("--role <role>", "as this role (default: the administrator)")
    .option("--claims <json>", "as a caller with a token of these claims: a JSON object, @file, or -")
    .option("--analyze", "run each statement once more, and print measured times and rows")
    .option("--no-counts", "do not count the rows that each condition removes")
    .option("--json", "print a JSON document")
    .action(async (request: string, { json, ...words }: ExplainOptions & JsonOption, command: Command) => {
      const { explainRequest: explain } = await import("./explain/explain-command.ts");
      const { formatReport: reportText } = await import("./explain/report.ts");
      const explainedRequest = await explain(await loadDatabaseSettings(command), request, words, terminal);
      const text = json === true ? JSON.stringify(explainedRequest, null, 2) : reportText(explainedRequest);
      if (text !== "") await print(terminal, text);
      if (explainedRequest.error === undefined) return;
      await printErrors(terminal, `the request failed: ${explainedRequest.error}`);
      if (words.role === undefined && words.claims === undefined)
        await printErrors(
          terminal,
          "it ran with the rights of the login role: choose a caller with --role or --claims",
        );
      setExitCode(1);
    });
};

/** Adds commands that print a document. */
const addDocumentCommands = (run: CommandContext): void => {
  const { program, terminal, loadSettings, loadDatabaseSettings } = run;
  program
    .command("types")
    .description("print the database as a TypeScript type for typed REST clients")
    .action(async (_, command: Command) => {
      const { printTypes } = await import("./database-types.ts");
      await print(terminal, await printTypes(await loadDatabaseSettings(command)));
    });
  program
    .command("openapi")
    .description("print the OpenAPI document")
    .option("--role <role>", "only the operations that this role may use (default: all)")
    .action(async ({ role }: RoleOption, command: Command) => {
      const { printOpenapi } = await import("./documents-command.ts");
      await print(terminal, await printOpenapi(await loadDatabaseSettings(command), role));
    });
  program
    .command("schema")
    .description("print the GraphQL schema (SDL)")
    .option("--role <role>", "only the fields that this role may use (default: the administrator)")
    .action(async ({ role }: RoleOption, command: Command) => {
      const { printGraphqlSchema } = await import("./documents-command.ts");
      await print(terminal, await printGraphqlSchema(await loadDatabaseSettings(command), role));
    });
  program
    .command("dump-config")
    .description("print the value of every setting, with secrets masked")
    .action(async (_, command: Command) => {
      const { dumpConfig } = await import("./dump-config.ts");
      await print(terminal, dumpConfig(await loadSettings(command)));
    });
  program
    .command("live-triggers")
    .description("print the SQL that installs the triggers of live queries")
    .action(async (_, command: Command) => {
      const { buildLiveTriggers } = await import("./live-triggers-command.ts");
      await print(terminal, await buildLiveTriggers(await loadSettings(command)));
    });
};

/** Adds the commands of event triggers. */
const addEventCommands = ({ program, terminal, loadSettings, setExitCode }: CommandContext): void => {
  const events = program.command("events").description("install, remove or list the event triggers of the database");
  events
    .command("install")
    .description("install the triggers of the metadata, and the schema and functions that they need")
    .action(async (_, command: Command) => {
      const { installEvents } = await import("./events-command.ts");
      await print(terminal, await installEvents(await loadSettings(command)));
    });
  events
    .command("remove")
    .description("remove event triggers from their tables")
    .argument("[triggers...]", "the names of event triggers (default: all)")
    .action(async (triggers: readonly string[], _, command: Command) => {
      const { removeEvents } = await import("./events-command.ts");
      await print(terminal, await removeEvents(await loadSettings(command), triggers));
    });
  events
    .command("status")
    .description("list event triggers and count their events: exit code 1 if a trigger is not installed")
    .action(async (_, command: Command) => {
      const { describeEvents } = await import("./events-command.ts");
      const { text, isComplete } = await describeEvents(await loadSettings(command));
      await print(terminal, text);
      if (!isComplete) setExitCode(1);
    });
};

/** The exit code for invalid arguments. The exit code for errors is 1. */
const USAGE_ERROR = 2;

/** The width of help texts outside of a terminal. */
const HELP_COLUMNS = 80;

/** Runs a command line. @returns the exit code @rule C-CLI-1 C-CLI-2 */
export const runCommandLine = async (words: readonly string[], terminal: Terminal): Promise<number> => {
  const { env, stdout, stderr } = terminal;
  let [out, err] = ["", ""];
  const program = createCommandLine({
    writeOut: (text) => void (out += text),
    writeErr: (text) => void (err += text),
    getOutHelpWidth: () => (stdout as Partial<WriteStream>).columns ?? HELP_COLUMNS,
    getErrHelpWidth: () => (stderr as Partial<WriteStream>).columns ?? HELP_COLUMNS,
  });
  const loadCommandEnvironment = async (command: Command, commandVariables: Environment = {}): Promise<Environment> => {
    const { config, preset } = command.optsWithGlobals<GlobalOptions>();
    // The file is loaded only with a settings file, because its parser is large and most servers have no file.
    const environment = config === undefined ? env : (await import("./config-file.ts")).addConfigFile(config, env);
    return { ...environment, ...commandVariables, ...(preset === undefined ? {} : { PRESET: preset }) };
  };
  const loadDatabaseSettings = async (command: Command): Promise<EnvironmentSettings> => {
    const environment = await loadCommandEnvironment(command);
    const settings = readEnvironment(environment);
    const notice = buildDemoNotice(settings, environment, findUnknownVariables(environment, listKnownVariables()));
    if (notice !== undefined) await printErrors(terminal, notice);
    return settings;
  };
  let exitCode = 0;
  addCommands({
    program,
    terminal,
    loadEnvironment: loadCommandEnvironment,
    loadSettings: async (command) => readEnvironment(await loadCommandEnvironment(command)),
    loadDatabaseSettings,
    setExitCode: (code) => void (exitCode = code),
  });
  try {
    await program.parseAsync(words, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // The parser has already written its error or help text to `out`.
    await write(stdout, out);
    await write(stderr, err);
    return error.exitCode === 0 ? 0 : USAGE_ERROR;
  }
};
