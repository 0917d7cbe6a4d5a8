/**
 * The capabilities of the database under test. Tests that need another capability are skipped: `test.skipIf(!capabilities.postgis)(...)`.
 */
import type { Client } from "pg";

export interface Capabilities {
  /** True if schema `atlas` exists. */
  readonly postgis: boolean;
  /** True if relation `atlas.tiles` exists. */
  readonly raster: boolean;
  /** True if the database is a PostgreSQL server, with several connections, timeouts, cancellation, login roles and
   *  psql. */
  readonly realServer: boolean;
  /** True if `wal_level` is logical. */
  readonly logicalReplication: boolean;
  /** True if relation `sea.engine_plates` exists. */
  readonly foreignTables: boolean;
  /** The major version. */
  readonly version: number;
}

/** Reads the capabilities of a database with the fixtures. */
export const loadCapabilities = async (client: Client, realServer: boolean): Promise<Capabilities> => {
  const { rows } = await client.query<{
    postgis: boolean;
    raster: boolean;
    logical: boolean;
    foreign: boolean;
    version: number;
  }>(`
    select to_regclass('atlas.spots') is not null as postgis,
      to_regclass('atlas.tiles') is not null as raster,
      current_setting('wal_level') = 'logical' as logical,
      to_regclass('sea.engine_plates') is not null as foreign,
      current_setting('server_version_num')::int / 10000 as version`);
  const row = rows[0]!; // a select without from has one row
  return {
    postgis: row.postgis,
    raster: row.raster,
    realServer,
    logicalReplication: realServer && row.logical,
    foreignTables: row.foreign,
    version: row.version,
  };
};
