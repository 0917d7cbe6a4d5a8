/** Compiles the rows that steps of a sequence have written, which transaction settings store for later steps. */
import { buildNameKey, type ColumnPair, type QualifiedName } from "../model/model.ts";
import { quoteIdentifier, joinSql, quoteLiteral, sql, type Sql } from "./fragment.ts";
import { planInvalid, quoteQualifiedName, type Compiler } from "./scope.ts";

const STEP = "relapi.step_";

/** Returns the setting in which a step of a sequence stores its rows, as an array of the row type in text form. The
 *  text form keeps all information of a row. */
export const compileStepSetting = (step: number): Sql => quoteLiteral(`${STEP}${step}`);

/** Compiles the rows that a step wrote, as an array of the relation's row type. */
const compileStepRows = (step: number, relation: QualifiedName): Sql =>
  sql`pg_catalog.current_setting(${compileStepSetting(step)})::${quoteQualifiedName(relation)}[]`;

/** Compiles a FROM item with a row per step, `_n (step)`, and its stored `rows`. The item is one expression, whatever
 *  the number of steps. */
const compileRowsByStep = (steps: readonly number[], relation: QualifiedName): Sql =>
  sql`pg_catalog.unnest(${quoteLiteral(`{${steps.join(",")}}`)}::int4[]) as _n (step), lateral (select pg_catalog.current_setting(${quoteLiteral(STEP)} || _n.step)::${quoteQualifiedName(relation)}[] as rows) as _l`;

/** Compiles the rows that steps on one relation wrote, step by step, as a FROM item without its alias. */
export const compileWrittenRows = (steps: readonly number[], relation: QualifiedName): Sql => {
  const [first, ...otherSteps] = steps;
  if (first === undefined) throw planInvalid("a read of written rows without steps");
  if (otherSteps.length === 0) return sql`pg_catalog.unnest(${compileStepRows(first, relation)})`;
  return sql`(select _w.* from ${compileRowsByStep(steps, relation)}, lateral pg_catalog.unnest(_l.rows) as _w)`;
};

/** Compiles the current state of the rows that these steps wrote. `key` is the key of the relation. @rule X-SEQ-4 */
export const compileCurrentRows = (steps: readonly number[], relation: QualifiedName, key: readonly string[]): Sql => {
  const conditions = key.map((column) => sql`_r.${quoteIdentifier(column)} = _k.${quoteIdentifier(column)}`);
  return sql`(select _r.* from ${compileWrittenRows(steps, relation)} as _k join ${quoteQualifiedName(relation)} as _r on ${joinSql(conditions, " and ")})`;
};

/** Compiles the number of written rows in the steps that count. `relations` has the relation of each step. */
export const compileWrittenCount = (relations: readonly QualifiedName[], uncountedSteps: ReadonlySet<number>): Sql => {
  const byRelation = new Map<string, number[]>();
  relations.forEach((relation, step) => {
    if (uncountedSteps.has(step)) return;
    const steps = byRelation.get(buildNameKey(relation));
    if (steps === undefined) byRelation.set(buildNameKey(relation), [step]);
    else steps.push(step);
  });
  const counts = [...byRelation.values()].map((steps) => {
    const [first = 0] = steps;
    // The index is the number of a step, and each step has a relation.
    const relation = relations[first] as QualifiedName;
    return steps.length === 1
      ? sql`cardinality(${compileStepRows(first, relation)})`
      : sql`(select sum(cardinality(_l.rows)) from ${compileRowsByStep(steps, relation)})`;
  });
  return counts.length === 0 ? sql`0` : sql`(${joinSql(counts, " + ")})`;
};

/** Compiles the rows that an earlier step stored. `use` is the verb for the error of a step that comes too early. */
export const compileEarlierRows = (compiler: Compiler, step: number, use: string): Sql => {
  const relation = compiler.stepRelations?.[step];
  if (relation === undefined) throw planInvalid(`step ${step} must come before the step that ${use} it`);
  return compileStepRows(step, relation);
};

/** Compiles the number of rows that an earlier step stored. */
export const compileStepRowCount = (compiler: Compiler, step: number): Sql =>
  sql`cardinality(${compileEarlierRows(compiler, step, "counts")})`;

/** Compiles the condition that an earlier step wrote a row. */
export const compileWroteRows = (compiler: Compiler, step: number): Sql =>
  sql`${compileStepRowCount(compiler, step)} > 0`;

/** Compiles the condition that an earlier step stored a row with the same values. @rule X-SEQ-1 */
export const compileIsAmongRows = (
  compiler: Compiler,
  step: number,
  columns: readonly ColumnPair[],
  row: string,
): Sql => {
  const stepRow = compiler.alias("_w");
  const conditions = columns.map(
    ([column, writtenColumn]) => sql`${quoteIdentifier(stepRow, writtenColumn)} = ${quoteIdentifier(row, column)}`,
  );
  return sql`exists (select 1 from pg_catalog.unnest(${compileEarlierRows(compiler, step, "uses")}) as ${quoteIdentifier(stepRow)} where ${joinSql(conditions, " and ")})`;
};
