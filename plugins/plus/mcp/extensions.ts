/** Tables and functions that extensions have brought along: of little use to clients, and often more than all others. */
import { sql, type IntrospectContext, type Model, type Relation, type Routine } from "../../../core/index.ts";

const PART = "mcp-of-extensions";

/** The model with their oids, for `isOfExtension`. */
export const withExtensionMembers = async (
  model: Model,
  { query }: Pick<IntrospectContext, "query">,
): Promise<Model> => {
  const rows = await query<{ readonly oid: string }>(
    sql`select objid::text as oid from pg_catalog.pg_depend where deptype = 'e'
      and classid in ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_class'::pg_catalog.regclass)`,
  );
  return { ...model, parts: { ...model.parts, [PART]: new Set(rows.map(({ oid }) => Number(oid))) } };
};

/** Whether an extension has brought it along. */
export const isOfExtension = ({ parts }: Model, { oid }: Relation | Routine): boolean =>
  ((parts[PART] ?? new Set()) as ReadonlySet<number>).has(oid); // only the function above writes it
