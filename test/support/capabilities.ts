/** What the database under test can do; a test of something else is skipped: `test.skipIf(!capabilities.postgis)(...)`.
 *  */
import type { Client } from "pg";

export interface Capabilities {
  /** Schema `atlas` is there. */
  readonly postgis: boolean;
  /** Relation `atlas.tiles` is there. */
  readonly raster: boolean;
  /** A PostgreSQL server: several connections at once, timeouts, cancel, login roles, psql. */
  readonly realServer: boolean;
  /** `wal_level` is logical. */
  readonly logicalReplication: boolean;
  /** Relation `sea.engine_plates` is there. */
  readonly foreignTables: boolean;
  /** Major version. */
  readonly version: number;
}

/** Reads them in a database that holds the fixtures. */
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
