/** Whether what was proven of a read still holds, asked of PostgreSQL by the read itself. */
import { relationOf, type Model, type Relation } from "../model/model.ts";
import { ident, literal, toStatement } from "../sql/fragment.ts";
import type { Program } from "../sql/program.ts";

/** The table of that name, as the proof requires it (R-TX-10). `text`: `schema.name`, where either may contain a dot.
 *  Undefined if the name is ambiguous, or its relation is not proven to run no user code. */
const tableNamed = (model: Model, text: string): Relation | undefined => {
  const found: Relation[] = [];
  for (let dot = text.indexOf("."); dot !== -1; dot = text.indexOf(".", dot + 1)) {
    const relation = relationOf(model, { schema: text.slice(0, dot), name: text.slice(dot + 1) });
    if (relation !== undefined) found.push(relation);
  }
  const [only, ...others] = found;
  // what is proven with the model before need not be with this one
  return others.length === 0 && only?.plain !== undefined ? only : undefined;
};

/** The statement with one more column, the last: whether row policies have begun to apply to one of its tables, or a
 *  name is another relation's by now. Undefined if the model does not know all of its relations as tables. */
export const rereadProof = (text: string, { relations }: Program, model: Model): string | undefined => {
  const tables = [...relations].map((each) => tableNamed(model, each));
  if (!tables.every((table) => table !== undefined)) return undefined;
  const doubts = tables.map(({ schema, name, oid }) => {
    const named = `${toStatement(literal(toStatement(ident(schema, name)).text)).text}::pg_catalog.regclass`;
    return `pg_catalog.row_security_active(${named}) or ${named}::pg_catalog.oid operator(pg_catalog.<>) ${oid}::pg_catalog.oid`;
  });
  return `select _read.*, ${doubts.length === 0 ? "false" : doubts.join(" or ")} from (${text}) as _read`;
};
