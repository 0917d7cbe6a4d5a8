/** Decides whether the embedded demo may start in place of a database. */
import { presetError } from "../../core/index.ts";
import type { Environment, EnvironmentSettings } from "./environment.ts";
import type { Stray } from "./misspelt.ts";

/** Variables that show that a database is intended: settings of this server, of PostgREST, of Hasura and of libpq. */
const OF_A_DATABASE =
  /^(?:PGRST_DB_|HASURA_GRAPHQL_(?:METADATA_)?DATABASE_URL$|DB_|DATABASE_|PG(?:HOST|HOSTADDR|PORT|DATABASE|USER|PASSWORD|PASSFILE|SERVICE|SERVICEFILE)$)/;

/** A connection string under any name: `POSTGRES_URL`, `PG_DATABASE_URL`. */
const CONNECTION_STRING = /^\s*postgres(?:ql)?:\/\//i;

/**
 * The notice to print when the demo starts. Undefined if a database is configured. @throws RelApiError `preset` if the
 * demo must not start @rule C-SET-4
 */
export const demoNotice = (
  { options, server }: EnvironmentSettings,
  environment: Environment,
  strays: readonly Stray[],
): string | undefined => {
  if (options.databaseUrl !== undefined || options.database !== undefined || server.dataDir !== undefined)
    return undefined;
  const set = (name: string): boolean => (environment[name] ?? "") !== "";
  const named = [
    ...strays
      .filter(({ meant = "" }) => /DATABASE_URL$|DB_URI$/.test(meant) || OF_A_DATABASE.test(meant))
      .map(({ text }) => text),
    ...Object.keys(environment)
      .filter((name) => set(name) && strays.every((stray) => stray.name !== name))
      .filter((name) => OF_A_DATABASE.test(name) || CONNECTION_STRING.test(environment[name] ?? ""))
      .filter((name) => !name.startsWith("TEST_")) // variables for test suites, such as this project's
      .sort()
      .slice(0, 1)
      .map((name) => `${name} is set, and DATABASE_URL is not`),
  ];
  if (named.length > 0)
    throw presetError(
      `${named.join("\n")}\nno DATABASE_URL: the demo starts only without any setting of a database; set DATABASE_URL (postgres:// without a host takes the PG… variables)`,
    );
  if (environment["NODE_ENV"] === "production")
    throw presetError("no DATABASE_URL: the demo does not start with NODE_ENV=production; set DATABASE_URL");
  return "no DATABASE_URL: starting the embedded demo database";
};
