/** Compiles objects in the rows of a grouped read: the groups are a level of their own, and an outer level builds the
 *  objects. A subquery among the aggregates would prevent parallel aggregation, and run for each group. */
import type { Output, Read } from "../plan/plan.ts";
import { quoteIdentifier, quoteLiteral, sql, type Sql } from "./fragment.ts";

interface Member {
  readonly as: string;
  readonly sql: Sql;
}

const FLAT_KINDS: ReadonlySet<string> = new Set(["value", "constant", "aggregate"]);

const isFlatOutput = (output: Output): boolean =>
  output.kind === "object" ? output.outputs.every(isFlatOutput) : FLAT_KINDS.has(output.kind);

/** Returns whether the read has objects, and no output that consists of several columns. */
export const hasObjects = ({ output }: Read): boolean =>
  output.some(({ kind }) => kind === "object") && output.every(isFlatOutput);

/** Splits the read into groups and objects. `row` is the alias of the groups. `buildGroupObject` builds an object from
 *  the object's members. @rule X-PLN-3 */
export const flattenGroups = (
  read: Read,
  row: string,
  buildGroupObject: (members: readonly Member[]) => Sql,
): { readonly groups: Read; readonly members: readonly Member[] } => {
  const flat: Output[] = [];
  const buildMember = (output: Output): Member => {
    const as = "as" in output ? output.as : "";
    if (output.kind === "object") return { as, sql: buildGroupObject(output.outputs.map(buildMember)) };
    if (output.kind === "constant") return { as, sql: sql`${quoteLiteral(output.value)}::text` };
    const name = `g${flat.length}`;
    // The output is a value or an aggregate, which both have a name.
    flat.push({ ...output, as: name } as Output);
    return { as, sql: quoteIdentifier(row, name) };
  };
  const members = read.output.map(buildMember);
  return { groups: { ...read, output: flat }, members };
};
