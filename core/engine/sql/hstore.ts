/** Reads JSON objects as values of `hstore`, because responses contain its values in this form. @rule R-BODY-10
 *  G-TYP-41 */
import { findBaseType, type Model, type PgType } from "../model/model.ts";
import { catalogText, ident, sql, type Sql } from "./fragment.ts";

/** Returns the type of the extension for the type itself and for domains over it. */
export const findHstoreType = (model: Model, type: number): PgType | undefined => {
  const base = findBaseType(model, type);
  return base?.name === "hstore" && base.kind === "base" ? base : undefined;
};

/** Reads an object, or a string in the type's own syntax. */
export const compileHstoreFromJson = (
  { schema, sqlName }: PgType,
  json: Sql,
): Sql => sql`case pg_catalog.json_typeof(${json})
  when 'object' then (
    select coalesce(${ident(schema, "hstore")}(pg_catalog.array_agg(_e.key), pg_catalog.array_agg(_e.value)), '')
    from pg_catalog.json_each_text(${json}) as _e
  )
  else (${json} #>> '{}')::${catalogText(sqlName)}
end`;

/** Reads a text in either form. */
export const compileHstoreFromText = (hstore: PgType, text: Sql): Sql =>
  sql`case when ${text} ~ '^\\s*[{]' then ${compileHstoreFromJson(hstore, sql`${text}::json`)} else ${text}::${catalogText(hstore.sqlName)} end`;
