/** Builds programs that run a read once for each object of a list, in one statement. */
import { trustedSql, flattenFragment, quoteIdentifier, joinSql, bindSlot, sql, compileSql } from "./fragment.ts";
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
    if (typeof chunk === "string") return trustedSql(chunk);
    const { slot: source } = chunk;
    return "param" in source && source.param < keyCount
      ? quoteIdentifier(OBJECTS, `k${source.param}`)
      : bindSlot(source);
  });
  const names = Array.from({ length: keyCount }, (_, i) => quoteIdentifier(`k${i}`));
  const objects = sql`rows from (pg_catalog.json_to_recordset(${bindSlot({ param: keyCount }, "json")}) as (${joinSql(names.map((name) => sql`${name} text`))})) with ordinality as ${quoteIdentifier(OBJECTS)} (${joinSql([...names, quoteIdentifier(NUMBER)])})`;
  const fragment = sql`select '[' || pg_catalog.string_agg(coalesce(_b.body::text, 'null'), ',' order by ${quoteIdentifier(OBJECTS, NUMBER)}) || ']' as body from ${objects} left join lateral (${joinSql(read, "")}) as _b on true`;
  const batchStatement: ProgramStatement = { ...compileSql(fragment), columns: ["body"], fragment };
  const { relations, isOpenEnded, isProven, plan, plansEachTime } = program;
  return createProgram([batchStatement], {
    relations,
    isOpenEnded,
    isProven,
    ...(plan === undefined ? {} : { plan }),
    ...(plansEachTime === undefined ? {} : { plansEachTime }),
  });
};
