/** Reads JSON objects as values of `hstore`, because responses contain `hstore` values as objects. @rule R-BODY-10
 *  G-TYP-41 */
import { findBaseType, type Model, type PgType } from "../model/model.ts";
import { trustedSql, quoteIdentifier, sql, type Sql } from "./fragment.ts";

/** Returns the `hstore` type if the given type is `hstore` or a domain over `hstore`. */
export const findHstoreType = (model: Model, type: number): PgType | undefined => {
  const base = findBaseType(model, type);
  return base?.name === "hstore" && base.kind === "base" ? base : undefined;
};

/** Compiles the conversion of JSON: of an object, or of a string in the syntax of `hstore`. */
export const compileHstoreFromJson = (
  { schema, sqlName }: PgType,
  json: Sql,
): Sql => sql`case pg_catalog.json_typeof(${json})
  when 'object' then (
    select coalesce(${quoteIdentifier(schema, "hstore")}(pg_catalog.array_agg(_e.key), pg_catalog.array_agg(_e.value)), '')
    from pg_catalog.json_each_text(${json}) as _e
  )
  else (${json} #>> '{}')::${trustedSql(sqlName)}
end`;

/** Compiles the conversion of a text, which is a JSON object or in the syntax of `hstore`. */
export const compileHstoreFromText = (hstore: PgType, text: Sql): Sql =>
  sql`case when ${text} ~ '^\\s*[{]' then ${compileHstoreFromJson(hstore, sql`${text}::json`)} else ${text}::${trustedSql(hstore.sqlName)} end`;
