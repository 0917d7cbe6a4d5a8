/** The commands of `relapi` and their options. */
import { Command, CommanderError } from "commander";
import { nearestNames, presetError, VERSION } from "../../core/index.ts";
import { readEnvironment, type EnvironmentSettings } from "../environment.ts";
import { withConfigFile } from "./config-file.ts";
import { giveUp } from "./faults.ts";
import { runServer } from "./serve-command.ts";

interface GlobalOptions {
  readonly config?: string;
}

interface ServeOptions {
  readonly port?: string;
}

/** What a command runs with: the environment, the file of `--config`, and what its own options set. They go into the
 *  process's environment, where the settings of plugins and the workers look for them. */
const settingsOf = (command: Command, more: Readonly<Record<string, string>> = {}): EnvironmentSettings => {
  const { config } = command.optsWithGlobals<GlobalOptions>();
  if (config !== undefined) Object.assign(process.env, withConfigFile(config, process.env));
  Object.assign(process.env, more);
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
  throw presetError(
    `unknown command "${word}"${near === undefined ? "" : `; did you mean "${near}"?`}\nrelapi --help lists the commands`,
  );
};

const buildProgram = (): Command => {
  const program = new Command("relapi")
    .description("REST and GraphQL APIs from a PostgreSQL database.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print what a command does and its options")
    .option("-c, --config <file>", "read settings from a JSON, YAML or PostgREST configuration file")
    .addHelpText("after", "\nSettings come from the environment: DATABASE_URL, ANON_ROLE, JWT_SECRET, PORT, …")
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, "relapi: ")),
    })
    .showHelpAfterError("relapi: --help lists the options")
    .exitOverride();
  program
    .command("serve", { isDefault: true })
    .description("serve the database over HTTP (the default)")
    .option("-p, --port <number>", "listen on this port")
    .allowExcessArguments()
    .action(async ({ port }: ServeOptions, command: Command) => {
      refuseUnknownCommand(program, command.args);
      await runServer(settingsOf(command, port === undefined ? {} : { PORT: port }));
    });
  program
    .command("live-triggers")
    .description("print the SQL that installs the triggers of live queries")
    .action(async (_, command: Command) => {
      const { buildLiveTriggers } = await import("../live-triggers.ts");
      print(await buildLiveTriggers(settingsOf(command).options));
    });
  program
    .command("types")
    .description("print the database as a TypeScript type for typed REST clients")
    .action(async (_, command: Command) => {
      const { printTypes } = await import("./types-command.ts");
      print(await printTypes(settingsOf(command)));
    });
  return program;
};

/** @rule C-CLI-1 C-CLI-2 */
export const runCommandLine = async (words: readonly string[]): Promise<void> => {
  try {
    await buildProgram().parseAsync(words, { from: "user" });
  } catch (error) {
    // the library has printed what was wrong, or what was asked for
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else giveUp(error);
  }
};
