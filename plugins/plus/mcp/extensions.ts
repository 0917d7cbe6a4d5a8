/** Finds tables and functions of extensions. They are rarely useful to clients and often outnumber all others. */
import { sql, type IntrospectContext, type Model, type Relation, type Routine } from "../../../core/index.ts";

const MODEL_PART = "mcp-of-extensions";

/** Adds the oids of extension members to the model, for `isOfExtension`. */
export const addExtensionMembers = async (
  model: Model,
  { query }: Pick<IntrospectContext, "query">,
): Promise<Model> => {
  const rows = await query<{ readonly oid: string }>(
    sql`select objid::text as oid from pg_catalog.pg_depend where deptype = 'e'
      and classid in ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_class'::pg_catalog.regclass)`,
  );
  return { ...model, pluginFacts: { ...model.pluginFacts, [MODEL_PART]: new Set(rows.map(({ oid }) => Number(oid))) } };
};

/** Returns whether an extension created the relation or function. */
export const isOfExtension = ({ pluginFacts }: Model, { oid }: Relation | Routine): boolean =>
  // Only `addExtensionMembers` writes this part.
  ((pluginFacts[MODEL_PART] ?? new Set()) as ReadonlySet<number>).has(oid);
