/** Finds missing and duplicate indexes. */
import { inlineInteger, sql, type PluginContext } from "../../../core/index.ts";
import { compileSchemaList } from "../../server/checks.ts";
import { queryCatalog, quoteName, type Finding } from "./finding.ts";

interface IndexRow {
  readonly relation: string;
  readonly isPartitioned: boolean;
  readonly keys: readonly string[] | null;
  readonly policies: readonly string[] | null;
  readonly columns: string;
}

/** The number of distinct values up to which even an index scan reads a large part of the table. */
const FEW_VALUES = 20;

/** Finds foreign keys and columns of policies without a suitable index. A suitable index starts with the columns, in
 *  any order, and has no condition. @rule C-DOK-2 */
export const findMissingIndexes = async (context: PluginContext): Promise<readonly Finding[]> => {
  const rows = await queryCatalog<IndexRow>(
    context,
    sql`
    with wanted as (
      select conrelid as relation, conname as key, null::name as policy, conkey as columns
      from pg_catalog.pg_constraint where contype = 'f' and conparentid = 0
      union all
      select policy.polrelid, null, policy.polname, array[used.refobjsubid::int2]
      from pg_catalog.pg_policy policy
      join pg_catalog.pg_depend used on used.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass
        and used.objid = policy.oid and used.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        and used.refobjid = policy.polrelid and used.refobjsubid > 0
      join pg_catalog.pg_attribute read on read.attrelid = policy.polrelid and read.attnum = used.refobjsubid
      where policy.polcmd <> 'a' and read.atttypid <> 'pg_catalog.bool'::pg_catalog.regtype
        and not exists (
          select from pg_catalog.pg_stats known
          join pg_catalog.pg_class counted on counted.oid = policy.polrelid
          join pg_catalog.pg_namespace schema on schema.oid = counted.relnamespace
          where known.schemaname = schema.nspname and known.tablename = counted.relname
            and known.attname = read.attname and known.n_distinct between 1 and ${inlineInteger(FEW_VALUES)})
    )
    select pg_catalog.format('%I.%I', schema.nspname, relation.relname) as relation,
      relation.relkind = 'p' as "isPartitioned",
      pg_catalog.json_agg(distinct wanted.key) filter (where wanted.key is not null) as keys,
      pg_catalog.json_agg(distinct wanted.policy) filter (where wanted.policy is not null) as policies,
      (select pg_catalog.string_agg(pg_catalog.quote_ident(attribute.attname), ', ' order by key.place)
        from pg_catalog.unnest(wanted.columns) with ordinality key (number, place)
        join pg_catalog.pg_attribute attribute on attribute.attrelid = wanted.relation and attribute.attnum = key.number
      ) as columns
    from wanted
    join pg_catalog.pg_class relation on relation.oid = wanted.relation
    join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
    where schema.nspname in ${compileSchemaList(context)} and not relation.relispartition
      and not exists (
        select from pg_catalog.pg_index index
        where index.indrelid = wanted.relation and index.indpred is null and index.indisvalid
          and (index.indkey::int2[])[0:pg_catalog.cardinality(wanted.columns) - 1] @> wanted.columns
      )
    group by 1, 2, wanted.relation, wanted.columns
    order by 1, wanted.columns`,
  );
  return rows.map(({ relation, isPartitioned, keys, policies, columns }): Finding => {
    const indexTarget = `${relation} (${columns})`;
    const policyNames = (policies ?? []).map((name) => `policy ${quoteName(name)}`).join(", ");
    const keyFindings =
      keys === null
        ? []
        : [{ finding: `foreign key ${keys.join(", ")} has no index on ${indexTarget}`, reasons: [EMBEDS, DELETES] }];
    const policyFindings =
      policies === null
        ? []
        : [
            {
              finding:
                keys === null
                  ? `${indexTarget} has no index, and ${policyNames} reads it`
                  : `which ${policyNames} reads too`,
              reasons: ["each read under the policy"],
            },
          ];
    const observations = [...keyFindings, ...policyFindings];
    return {
      level: "slow",
      finding: observations.map((observation) => observation.finding).join(", "),
      reason: `${joinReasons(observations.flatMap(({ reasons }) => reasons))} reads the whole table`,
      // Partitioned tables do not support `concurrently`.
      fix: `create index ${isPartitioned ? "" : "concurrently "}on ${indexTarget}`,
    };
  });
};

const EMBEDS = "each embed along the key";
const DELETES = "each delete of a row that it refers to";

const joinReasons = (parts: readonly string[]): string =>
  [parts.slice(0, -1).join(", "), ...parts.slice(-1)].filter((part) => part !== "").join(" and ");

interface DuplicateIndexRow {
  readonly relation: string;
  readonly index: string;
  readonly equalIndex: string;
}

/** Finds indexes that enforce no constraint and are superfluous beside an equal index. @rule C-DOK-9 */
export const findDuplicateIndexes = async (context: PluginContext): Promise<readonly Finding[]> => {
  const rows = await queryCatalog<DuplicateIndexRow>(
    context,
    sql`
      select distinct on (duplicate_index.oid) pg_catalog.format('%I.%I', schema.nspname, relation.relname) as relation,
        pg_catalog.format('%I.%I', index_schema.nspname, duplicate_index.relname) as index,
        pg_catalog.format('%I.%I', index_schema.nspname, equal_index.relname) as "equalIndex"
      from pg_catalog.pg_index duplicate_definition
      join pg_catalog.pg_index equal_definition on equal_definition.indrelid = duplicate_definition.indrelid
        and equal_definition.indexrelid <> duplicate_definition.indexrelid
        and equal_definition.indkey::text = duplicate_definition.indkey::text
        and equal_definition.indclass::text = duplicate_definition.indclass::text
        and equal_definition.indcollation::text = duplicate_definition.indcollation::text
        and equal_definition.indoption::text = duplicate_definition.indoption::text
        and equal_definition.indexprs::text is not distinct from duplicate_definition.indexprs::text
        and equal_definition.indpred::text is not distinct from duplicate_definition.indpred::text
      join pg_catalog.pg_class duplicate_index on duplicate_index.oid = duplicate_definition.indexrelid
      join pg_catalog.pg_class equal_index on equal_index.oid = equal_definition.indexrelid
        and equal_index.relam = duplicate_index.relam
      join pg_catalog.pg_namespace index_schema on index_schema.oid = duplicate_index.relnamespace
      join pg_catalog.pg_class relation on relation.oid = duplicate_definition.indrelid
      join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
      where schema.nspname in ${compileSchemaList(context)} and not duplicate_definition.indisunique
        and not duplicate_index.relispartition
        and (equal_definition.indisunique or equal_index.oid < duplicate_index.oid)
      order by duplicate_index.oid, equal_definition.indisunique desc, equal_index.oid`,
  );
  return rows.map(({ relation, index, equalIndex }) => ({
    level: "slow",
    finding: `index ${index} on ${relation} is like ${equalIndex}`,
    reason: "every write keeps both up to date, and reads need one",
    fix: `drop index ${index}`,
  }));
};
