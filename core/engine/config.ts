/** The current options: those of the preset, overridden by the settings stored in the database. */
import { isRelApiError } from "../kernel/errors.ts";
import type { Query } from "./database/database.ts";
import type { Logger, RelApiOptions, ResolvedOptions } from "../kernel/options.ts";
import { resolveOptions } from "../kernel/options.ts";
import { readSetting, SETTINGS, type Setting } from "../kernel/settings.ts";
import { ident, join, literal, sql, value } from "./sql/fragment.ts";

export interface Config {
  /** Another object after each change. */
  current(): ResolvedOptions;
  /** Reads the database's settings; what is wrong is logged and leaves all of them as they were. @rule R-SC-4 */
  load(query: Query): Promise<ResolvedOptions>;
  take(options: ResolvedOptions): void;
}

/** `check` throws on options that cannot be in force. */
export const createConfig = (
  preset: RelApiOptions,
  fixed: ResolvedOptions,
  logger: Logger,
  check: (options: ResolvedOptions) => void,
): Config => {
  let options = fixed;
  let read = "{}";
  return {
    current: () => options,
    load: async (query) => {
      if (!fixed.dbConfig) return options;
      try {
        const kept = await readKept(query, fixed.dbPreConfig);
        const text = JSON.stringify(kept);
        if (text === read) return options;
        const next = resolveOptions({ ...preset, ...kept });
        check(next);
        read = text;
        return next;
      } catch (error) {
        if (!isRelApiError(error) || error.code !== "preset") throw error;
        logger.error("invalid settings in the database; keeping the previous settings", { reason: error.message });
        return options;
      }
    },
    take: (next) => {
      options = next;
    },
  };
};

/** Connections, the listener and the log are made from these, once. */
const FIXED: ReadonlySet<keyof RelApiOptions> = new Set<keyof RelApiOptions>([
  "databaseUrl",
  "dbPool",
  "dbPoolAcquisitionTimeout",
  "dbPoolMaxLifetime",
  "dbPoolMaxIdletime",
  "dbPreparedStatements",
  "dbChannel",
  "dbChannelEnabled",
  "dbConfig",
  "dbPreConfig",
  "logLevel",
  "logQuery",
  "jwtCacheMaxEntries",
  "serverTimingEnabled",
]);

const PREFIX = "PGRST_";

/** `pgrst.db_schemas`, by the name that the setting has as an environment variable there. */
const KEPT: ReadonlyMap<string, Setting> = new Map(
  SETTINGS.filter((setting) => !FIXED.has(setting.option)).flatMap((setting) =>
    setting.names
      .filter((name) => name.startsWith(PREFIX))
      .map((name): [string, Setting] => [`pgrst.${name.slice(PREFIX.length).toLowerCase()}`, setting]),
  ),
);

/** `ALTER ROLE <login role> [IN DATABASE …] SET pgrst.<name>`, then what the function of `dbPreConfig` sets.
 *  @throws RelApiError `preset` on a value that is not accepted */
const readKept = async (query: Query, preConfig: string | undefined): Promise<RelApiOptions> => {
  const rows = [...(await query<KeptRow>(ROLE_SETTINGS))];
  if (preConfig !== undefined && preConfig !== "") {
    await query(sql`select ${qualifiedName(preConfig)}()`);
    rows.push(
      ...(await query<KeptRow>(
        sql`select name, current_setting(name, true) as value from unnest(array[${join([...KEPT.keys()].map(literal))}]) as name`,
      )),
    );
  }
  const options: Record<string, unknown> = {};
  for (const { name, value: text } of rows) {
    const setting = KEPT.get(name);
    if (setting === undefined || text === null || (text === "" && setting.isEmptyMeant !== true)) continue;
    options[setting.option] = readSetting(name, text, setting.kind, setting.isSecret);
  }
  return options as RelApiOptions; // each value was read by its setting's kind
};

interface KeptRow {
  readonly name: string;
  readonly value: string | null;
}

const qualifiedName = (name: string) => {
  const dot = name.indexOf(".");
  return dot === -1 ? ident(name) : ident(name.slice(0, dot), name.slice(dot + 1));
};

/** Those of the database come last and win. */
const ROLE_SETTINGS = sql`
  select split_part(setting, '=', 1) as name, substr(setting, strpos(setting, '=') + 1) as value
  from pg_catalog.pg_db_role_setting as kept, unnest(kept.setconfig) as setting
  where kept.setrole = (select oid from pg_catalog.pg_roles where rolname = current_user)
    and kept.setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
    and setting like ${value("pgrst.%")}
  order by kept.setdatabase`;
