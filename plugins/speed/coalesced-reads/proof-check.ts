/** Rechecks the proof of a read in PostgreSQL, as part of the read itself. */
import {
  quoteIdentifier,
  quoteLiteral,
  findRelation,
  compileSql,
  type Model,
  type Program,
  type Relation,
} from "../../../core/index.ts";

/** Returns the table of that name, if it meets the proof's conditions (R-TX-10). `text` is `schema.name`, where either
 *  may contain a dot. Undefined if the name is ambiguous, or if reading the relation may run user-defined code. */
const findTable = (model: Model, text: string): Relation | undefined => {
  const foundRelations: Relation[] = [];
  for (let dot = text.indexOf("."); dot !== -1; dot = text.indexOf(".", dot + 1)) {
    const relation = findRelation(model, { schema: text.slice(0, dot), name: text.slice(dot + 1) });
    if (relation !== undefined) foundRelations.push(relation);
  }
  const [table, ...otherTables] = foundRelations;
  // A proof of the previous model need not be valid with this one.
  return otherTables.length === 0 && table?.provenAccess !== undefined ? table : undefined;
};

/** Returns the statement with an additional last column. It is true if row policies now apply to one of its tables, or
 *  if a name now belongs to another relation. Undefined if the model does not know all of its relations as tables. */
export const compileProofCheck = (text: string, { relations }: Program, model: Model): string | undefined => {
  const tables = [...relations].map((relation) => findTable(model, relation));
  if (!tables.every((table) => table !== undefined)) return undefined;
  const conditions = tables.map(({ schema, name, oid }) => {
    const regclass = `${compileSql(quoteLiteral(compileSql(quoteIdentifier(schema, name)).text)).text}::pg_catalog.regclass`;
    return `pg_catalog.row_security_active(${regclass}) or ${regclass}::pg_catalog.oid operator(pg_catalog.<>) ${oid}::pg_catalog.oid`;
  });
  return `select _read.*, ${conditions.length === 0 ? "false" : conditions.join(" or ")} from (${text}) as _read`;
};
