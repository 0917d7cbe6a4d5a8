/** Builds programs that run a read once for each object of a list, in one statement. */
import { catalogText, flattenFragment, ident, join, slot, sql, toStatement } from "./fragment.ts";
import { createProgram, type Program, type ProgramStatement } from "./program.ts";

/** The alias of the objects. It is longer than the aliases that the compiler derives from relation names. */
const OBJECTS = "_relapi_objects";
const NUMBER = "n";

/** Returns a program that runs the read for each object of a JSON list. The first `keyCount` values of the read are the
 *  members `k0`, `k1`, … of an object, and the value after them is the list. The column `body` is a JSON array with the
 *  body for each object, in their order. The read must cast its values. */
export const createBatchProgram = (program: Program, keyCount: number): Program => {
  const [statement] = program.statements;
  if (statement?.fragment === undefined || program.statements.length !== 1 || program.checks.length > 0)
    throw new TypeError("only a read of one statement runs for a list of objects");
  const read = flattenFragment(statement.fragment).map((chunk) => {
    if (typeof chunk === "string") return catalogText(chunk);
    const { slot: source } = chunk;
    return "param" in source && source.param < keyCount ? ident(OBJECTS, `k${source.param}`) : slot(source);
  });
  const names = Array.from({ length: keyCount }, (_, i) => ident(`k${i}`));
  const objects = sql`rows from (pg_catalog.json_to_recordset(${slot({ param: keyCount }, "json")}) as (${join(names.map((name) => sql`${name} text`))})) with ordinality as ${ident(OBJECTS)} (${join([...names, ident(NUMBER)])})`;
  const fragment = sql`select '[' || pg_catalog.string_agg(coalesce(_b.body::text, 'null'), ',' order by ${ident(OBJECTS, NUMBER)}) || ']' as body from ${objects} left join lateral (${join(read, "")}) as _b on true`;
  const batchStatement: ProgramStatement = { ...toStatement(fragment), columns: ["body"], fragment };
  const { relations, isOpenEnded, isProven, plan, plansEachTime } = program;
  return createProgram([batchStatement], {
    relations,
    isOpenEnded,
    isProven,
    ...(plan === undefined ? {} : { plan }),
    ...(plansEachTime === undefined ? {} : { plansEachTime }),
  });
};
