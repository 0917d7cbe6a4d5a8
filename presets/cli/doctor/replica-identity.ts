/** Finds tables whose changes rerun more live lists than necessary. */
import { inlineInteger, sql, type PluginContext } from "../../../core/index.ts";
import { changeFeedService } from "../../../plugins/live/api.ts";
import { compileSchemaList } from "../../server/checks.ts";
import { queryCatalog, type Finding } from "./finding.ts";

/** The number of rows, updated or deleted since the statistics began, from which on a table is reported. */
const MANY_CHANGES = 10_000;

/** Finds tables whose log lacks the keys that lists need. Most lists are filtered by a foreign key. The log contains
 *  the old value of that column only if it contains the whole old row. @rule C-DOK-12 */
export const findMissingLogKeys = async (context: PluginContext): Promise<readonly Finding[]> => {
  if (context.use(changeFeedService) === undefined) return [];
  const rows = await queryCatalog<{ readonly relation: string }>(
    context,
    sql`
      select pg_catalog.format('%I.%I', schema.nspname, relation.relname) as relation
      from pg_catalog.pg_class relation
      join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
      join pg_catalog.pg_stat_all_tables known on known.relid = relation.oid
      where schema.nspname in ${compileSchemaList(context)} and relation.relkind = 'r' and relation.relreplident <> 'f'
        and relation.relpersistence = 'p' and pg_catalog.current_setting('wal_level') = 'logical'
        and known.n_tup_upd + known.n_tup_del >= ${inlineInteger(MANY_CHANGES)}
        and exists (
          select from pg_catalog.pg_constraint key where key.conrelid = relation.oid and key.contype = 'f'
            and not exists (
              select from pg_catalog.pg_index identity
              where identity.indrelid = relation.oid
                and case relation.relreplident when 'd' then identity.indisprimary else identity.indisreplident end
                and (identity.indkey::int2[])[0:identity.indnkeyatts - 1] @> key.conkey
            )
        )
      order by 1`,
  );
  return rows.map(({ relation }) => ({
    level: "note",
    finding: `the change feed lacks the foreign keys of changed rows of ${relation}`,
    reason: "each update and each delete runs all live lists of the table, which is slow if there are many",
    fix: `alter table ${relation} replica identity full`,
  }));
};
