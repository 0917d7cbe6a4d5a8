/** Reads settings that the database stores for the login role:
 *  `alter role authenticator set pgrst.db_schemas = 'sea'`. */
import {
  definePlugin,
  parseSetting,
  type OptionSource,
  type RelApiOptions,
  type Setting,
} from "../../../core/index.ts";
import { quoteIdentifier, joinSql, quoteLiteral, sql, bindValue } from "../../../core/sql/fragment.ts";
import { storeSettings } from "../settings.ts";

type Query = Parameters<OptionSource["read"]>[0];

interface StoredRow {
  readonly name: string;
  readonly value: string | null;
}

/** Reads the settings that the database stores for the login role. @rule R-SC-4 */
export const databaseSettings = definePlugin({
  name: "database-settings",
  settings: storeSettings,
  apply: (_hooks, context) => {
    const { dbConfig, dbPreConfig } = context.options;
    if (!dbConfig) return;
    const storable = indexStorableSettings(context.settings);
    context.addOptionSource({
      name: "the database",
      read: (query) => loadStoredSettings(query, storable, dbPreConfig),
    });
  },
});

const PREFIX = "PGRST_";

/** Returns the settings that the database can store, by stored name, such as `pgrst.db_schemas`. Such a setting has a
 *  variable `PGRST_…` and is not fixed (`isFixed`). */
const indexStorableSettings = (settings: readonly Setting[]): ReadonlyMap<string, Setting> =>
  new Map(
    settings
      .filter(({ isFixed }) => isFixed !== true)
      .flatMap((setting) =>
        (setting.environment ?? [])
          .filter((name) => name.startsWith(PREFIX))
          .map((name): [string, Setting] => [`pgrst.${name.slice(PREFIX.length).toLowerCase()}`, setting]),
      ),
  );

/** Reads `ALTER ROLE <login role> [IN DATABASE …] SET pgrst.<name>`, and then the settings that the function of
 *  `pgrst.db_pre_config` or `dbPreConfig` sets. @throws RelApiError `preset` on a value that is not accepted */
const loadStoredSettings = async (
  query: Query,
  knownSettings: ReadonlyMap<string, Setting>,
  dbPreConfig: string | undefined,
): Promise<RelApiOptions> => {
  const rows = [...(await query<StoredRow>(ROLE_SETTINGS))];
  const preConfig = rows.findLast(({ name }) => name === "pgrst.db_pre_config")?.value ?? dbPreConfig;
  if (preConfig !== undefined && preConfig !== "") {
    await query(sql`select ${parseQualifiedName(preConfig)}()`);
    rows.push(
      ...(await query<StoredRow>(
        sql`select name, current_setting(name, true) as value from unnest(array[${joinSql([...knownSettings.keys()].map(quoteLiteral))}]) as name`,
      )),
    );
  }
  const options: Record<string, unknown> = {};
  for (const { name, value: text } of rows) {
    const setting = knownSettings.get(name);
    if (setting === undefined || text === null || (text === "" && setting.acceptsEmpty !== true)) continue;
    options[setting.name] = parseSetting(name, text, setting.kind, setting.isSecret);
  }
  return options as RelApiOptions; // each value was read by the kind of its setting
};

const parseQualifiedName = (name: string) => {
  const dot = name.indexOf(".");
  return dot === -1 ? quoteIdentifier(name) : quoteIdentifier(name.slice(0, dot), name.slice(dot + 1));
};

/** Selects the settings of the role. Those for this database come last, because they take precedence. */
const ROLE_SETTINGS = sql`
  select split_part(setting, '=', 1) as name, substr(setting, strpos(setting, '=') + 1) as value
  from pg_catalog.pg_db_role_setting as entry, unnest(entry.setconfig) as setting
  where entry.setrole = (select oid from pg_catalog.pg_roles where rolname = current_user)
    and entry.setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
    and setting like ${bindValue("pgrst.%")}
  order by entry.setdatabase`;
