/** The commands of `relapi` and their options. */
import { Command, CommanderError } from "commander";
import { nearestNames, VERSION } from "../../core/index.ts";
import { readEnvironment, type EnvironmentSettings } from "../environment.ts";
import type { ExplainOptions } from "./explain/explain-command.ts";
import { endWithReader, giveUp, tellFaults } from "./faults.ts";
import { runServer } from "./serve-command.ts";

interface GlobalOptions {
  readonly config?: string;
  readonly preset?: string;
}

interface ServeOptions {
  readonly port?: string;
}

/** Loaded where a file is given: most servers have none, and its parser is large. */
let configFile: typeof import("./config-file.ts") | undefined;

/** What a command runs with: the environment, the file of `--config`, and what its own options set. They go into the
 *  process's environment, where the settings of plugins and the workers look for them. */
const settingsOf = (command: Command, more: Readonly<Record<string, string>> = {}): EnvironmentSettings => {
  const { config, preset } = command.optsWithGlobals<GlobalOptions>();
  if (config !== undefined && configFile !== undefined)
    Object.assign(process.env, configFile.withConfigFile(config, process.env));
  Object.assign(process.env, more, preset === undefined ? {} : { PRESET: preset });
  return readEnvironment(process.env);
};

const print = (text: string): void => {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
};

/** The server is the default command, so it is also given what is no command. */
const refuseUnknownCommand = (program: Command, words: readonly string[]): void => {
  const [word] = words;
  if (word === undefined) return;
  const names = program.commands.map((command) => command.name());
  const [near] = nearestNames(word, names);
  program.error(`relapi: unknown command "${word}"${near === undefined ? "" : `; did you mean "${near}"?`}`, {
    exitCode: WRONG_USE,
    code: "relapi.unknownCommand",
  });
};

const buildProgram = (): Command => {
  const program = new Command("relapi")
    .description("REST and GraphQL APIs from a PostgreSQL database.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print what a command does and its options")
    .option("-c, --config <file>", "read settings from a JSON, YAML or PostgREST configuration file")
    .option("--preset <name>", "what is served: full-compat (the default), or plus")
    .addHelpText("after", "\nSettings come from the environment: DATABASE_URL, ANON_ROLE, JWT_SECRET, PORT, …")
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, "relapi: ")),
    })
    .showHelpAfterError("relapi: --help lists the options")
    .exitOverride()
    .hook("preAction", async (command) => {
      if (command.opts<GlobalOptions>().config !== undefined) configFile = await import("./config-file.ts");
    });
  program
    .command("serve", { isDefault: true })
    .description("serve the database over HTTP (the default)")
    .option("-p, --port <number>", "listen on this port")
    .allowExcessArguments()
    .action(async ({ port }: ServeOptions, command: Command) => {
      refuseUnknownCommand(program, command.args);
      await runServer(settingsOf(command, port === undefined ? {} : { PORT: port }));
    });
  addQuestions(program);
  addDocuments(program);
  program
    .command("init")
    .description("write an Express project: a preset, a plugin, a test, a Dockerfile")
    .argument("<folder>", "an empty or new folder")
    .action(async (folder: string) => {
      const { initProject } = await import("./init-command.ts");
      print(initProject(folder));
    });
  return program;
};

interface StrictOption {
  readonly strict?: boolean;
}

interface JsonOption {
  readonly json?: boolean;
}

const collect = (given: string, before: readonly string[] = []): readonly string[] => [...before, given];

interface RoleOption {
  readonly role?: string;
}

/** Commands that say how things are; the exit code tells scripts. */
const addQuestions = (program: Command): void => {
  program
    .command("check")
    .description("check settings, connection, roles, metadata and policies: exit code 1 and a line for each fault")
    .option("--strict", "count warnings as faults")
    .action(async ({ strict = false }: StrictOption, command: Command) => {
      const { check, printCheck } = await import("./check-command.ts");
      process.exitCode = printCheck(await check(() => settingsOf(command)), strict);
    });
  program
    .command("doctor")
    .description("look for what slows or endangers the database behind the API, and print what mends it")
    .option("--strict", "exit code 1 if there is anything")
    .option("--json", "print a JSON document")
    .action(async ({ strict = false, json = false }: StrictOption & JsonOption, command: Command) => {
      const { diagnose, findingText } = await import("./doctor/doctor-command.ts");
      const findings = await diagnose(settingsOf(command));
      const text = findings.length === 0 ? "nothing found" : findings.map(findingText).join("\n");
      print(json ? JSON.stringify(findings, null, 2) : text);
      if (strict && findings.length > 0) process.exitCode = 1;
    });
  program
    .command("explain")
    .description("run a request, keep nothing of it, and print statement, plan and what takes rows away")
    .argument(
      "<request>",
      "'/album?select=title', 'PATCH /album?id=eq.1', '{ album { title } }', @file, or - for stdin",
    )
    .option("-X, --method <method>", "of a REST path (default: GET, with a body POST)")
    .option("-d, --body <body>", "of a REST path: text, @file, or - for stdin")
    .option("-H, --header <header>", "'Prefer: return=representation'; may be repeated", collect)
    .option("--variables <json>", "of a GraphQL document: a JSON object, @file, or -")
    .option("--operation <name>", "of a GraphQL document with several")
    .option("--role <role>", "as this role (default: the administrator)")
    .option("--claims <json>", "as a caller with a token of these claims: a JSON object, @file, or -")
    .option("--analyze", "run each statement once more, and print measured times and rows")
    .option("--no-counts", "do not count the rows that each condition takes away")
    .option("--json", "print a JSON document")
    .action(async (request: string, { json, ...words }: ExplainOptions & JsonOption, command: Command) => {
      const { explain } = await import("./explain/explain-command.ts");
      const { reportText } = await import("./explain/report.ts");
      const explained = await explain(settingsOf(command), request, words);
      const text = json === true ? JSON.stringify(explained, null, 2) : reportText(explained);
      if (text !== "") print(text);
      if (explained.error !== undefined) tellFaults(`the request failed: ${explained.error}`);
    });
};

/** Commands that print a document. */
const addDocuments = (program: Command): void => {
  program
    .command("types")
    .description("print the database as a TypeScript type for typed REST clients")
    .action(async (_, command: Command) => {
      const { printTypes } = await import("./types-command.ts");
      print(await printTypes(settingsOf(command)));
    });
  program
    .command("openapi")
    .description("print the OpenAPI document")
    .option("--role <role>", "what this role may do (default: everything)")
    .action(async ({ role }: RoleOption, command: Command) => {
      const { printOpenapi } = await import("./documents-command.ts");
      print(await printOpenapi(settingsOf(command), role));
    });
  program
    .command("schema")
    .description("print the GraphQL schema (SDL)")
    .option("--role <role>", "what this role sees (default: the administrator)")
    .action(async ({ role }: RoleOption, command: Command) => {
      const { printGraphqlSchema } = await import("./documents-command.ts");
      print(await printGraphqlSchema(settingsOf(command), role));
    });
  program
    .command("dump-config")
    .description("print every setting as it would be in force, secrets masked")
    .action(async (_, command: Command) => {
      const { dumpConfig } = await import("./dump-config.ts");
      print(dumpConfig(settingsOf(command)));
    });
  program
    .command("live-triggers")
    .description("print the SQL that installs the triggers of live queries")
    .action(async (_, command: Command) => {
      const { buildLiveTriggers } = await import("../live-triggers.ts");
      print(await buildLiveTriggers(settingsOf(command).options));
    });
};

/** The exit code for words that mean nothing; that of faults is 1. */
const WRONG_USE = 2;

/** @rule C-CLI-1 C-CLI-2 */
export const runCommandLine = async (words: readonly string[]): Promise<void> => {
  process.stdout.on("error", endWithReader);
  try {
    await buildProgram().parseAsync(words, { from: "user" });
  } catch (error) {
    // the library has printed what was wrong, or what was asked for
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : WRONG_USE;
    else giveUp(error);
  }
};
