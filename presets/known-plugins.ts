/** Lists the names of all plugins and options of the package, and the aliases of the settings of core, which all presets share. `.ci/write-declarations.mjs`
 *  fills both lists in `dist` during the build, so that `minimal` need not load all plugins. */

/** The names of all plugins. A plugin may be ordered `before` a plugin that the preset leaves out. */
export const knownPlugins: readonly string[] = [];

/** The option names of all plugins. Presets accept them even if they leave the plugin out. */
export const knownOptions: readonly string[] = [];

/**
 * The names that PostgREST and Hasura give to core's settings as environment variables. Plugins declare their own
 * aliases.
 */
const aliases: Readonly<Record<string, readonly string[]>> = {
  dbSchemas: ["PGRST_DB_SCHEMAS"],
  dbExtraSearchPath: ["PGRST_DB_EXTRA_SEARCH_PATH"],
  dbPool: ["PGRST_DB_POOL"],
  dbPoolAcquisitionTimeout: ["PGRST_DB_POOL_ACQUISITION_TIMEOUT"],
  dbPoolMaxLifetime: ["PGRST_DB_POOL_MAX_LIFETIME"],
  dbPoolMaxIdletime: ["PGRST_DB_POOL_MAX_IDLETIME"],
  dbPreparedStatements: ["PGRST_DB_PREPARED_STATEMENTS"],
  dbPreRequest: ["PGRST_DB_PRE_REQUEST"],
  logLevel: ["PGRST_LOG_LEVEL", "HASURA_GRAPHQL_LOG_LEVEL"],
  logQuery: ["PGRST_LOG_QUERY"],
  serverTimingEnabled: ["PGRST_SERVER_TIMING_ENABLED"],
};

export const packageNames = { knownPlugins, knownOptions, aliases };
