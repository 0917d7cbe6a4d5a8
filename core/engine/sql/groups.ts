/** Objects in the rows of a grouped read: the groups in a level of their own, the objects around it. A subquery among the
 *  aggregates of a level keeps PostgreSQL from aggregating in parallel, and runs for each group. */
import type { Output, Read } from "../plan/plan.ts";
import { ident, literal, sql, type Sql } from "./fragment.ts";

interface Member {
  readonly as: string;
  readonly sql: Sql;
}

const FLAT: ReadonlySet<string> = new Set(["value", "constant", "aggregate"]);

const isFlat = (output: Output): boolean =>
  output.kind === "object" ? output.of.every(isFlat) : FLAT.has(output.kind);

/** Objects, and nothing that is more than one column. */
export const hasObjects = ({ output }: Read): boolean =>
  output.some(({ kind }) => kind === "object") && output.every(isFlat);

/** `row`: alias of the groups. `objectOf`: makes an object of its members. @rule X-PLN-3 */
export const flattenGroups = (
  read: Read,
  row: string,
  objectOf: (members: readonly Member[]) => Sql,
): { readonly groups: Read; readonly members: readonly Member[] } => {
  const flat: Output[] = [];
  const memberOf = (output: Output): Member => {
    const as = "as" in output ? output.as : "";
    if (output.kind === "object") return { as, sql: objectOf(output.of.map(memberOf)) };
    if (output.kind === "constant") return { as, sql: sql`${literal(output.value)}::text` };
    const name = `g${flat.length}`;
    flat.push({ ...output, as: name } as Output); // a value or an aggregate
    return { as, sql: ident(row, name) };
  };
  const members = read.output.map(memberOf);
  return { groups: { ...read, output: flat }, members };
};
