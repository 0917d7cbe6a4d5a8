import { nameKey, type ColumnPair, type Model, type QualifiedName } from "../model/model.ts";
import type { ValueRef } from "../plan/plan.ts";
import { catalogText, ident, join, literal, slot, sql, type Sql } from "./fragment.ts";
import { badPlan, quoteQualifiedName, type Compiler } from "./scope.ts";
import { memoize } from "../../kernel/memoize.ts";

const STEP = "relapi.step_";

/** Returns the setting in which a step of a sequence stores its rows, as an array of the row type in text form. The
 *  text form keeps all information of a row. */
export const compileStepSetting = (step: number): Sql => literal(`${STEP}${step}`);

/** Compiles the rows that a step wrote, as an array of the relation's row type. */
const compileStepRows = (step: number, relation: QualifiedName): Sql =>
  sql`pg_catalog.current_setting(${compileStepSetting(step)})::${quoteQualifiedName(relation)}[]`;

/** Compiles a FROM item with a row per step, `_n (step)`, and its stored `rows`. The item is one expression, whatever
 *  the number of steps. */
const compileRowsByStep = (steps: readonly number[], relation: QualifiedName): Sql =>
  sql`pg_catalog.unnest(${literal(`{${steps.join(",")}}`)}::int4[]) as _n (step), lateral (select pg_catalog.current_setting(${literal(STEP)} || _n.step)::${quoteQualifiedName(relation)}[] as rows) as _l`;

/** Compiles the rows that steps on one relation wrote, step by step, as a FROM item without its alias. */
export const compileWrittenRows = (steps: readonly number[], relation: QualifiedName): Sql => {
  const [first, ...more] = steps;
  if (first === undefined) throw badPlan("a read of written rows without steps");
  if (more.length === 0) return sql`pg_catalog.unnest(${compileStepRows(first, relation)})`;
  return sql`(select _w.* from ${compileRowsByStep(steps, relation)}, lateral pg_catalog.unnest(_l.rows) as _w)`;
};

/** Compiles the current state of the rows that these steps wrote. `key` is the key of the relation. @rule X-SEQ-4 */
export const compileCurrentRows = (steps: readonly number[], relation: QualifiedName, key: readonly string[]): Sql => {
  const same = key.map((column) => sql`_r.${ident(column)} = _k.${ident(column)}`);
  return sql`(select _r.* from ${compileWrittenRows(steps, relation)} as _k join ${quoteQualifiedName(relation)} as _r on ${join(same, " and ")})`;
};

/** Compiles the number of written rows in the steps that count. `relations` has the relation of each step. */
export const compileWrittenCount = (relations: readonly QualifiedName[], uncounted: ReadonlySet<number>): Sql => {
  const byRelation = new Map<string, number[]>();
  relations.forEach((relation, step) => {
    if (uncounted.has(step)) return;
    const steps = byRelation.get(nameKey(relation));
    if (steps === undefined) byRelation.set(nameKey(relation), [step]);
    else steps.push(step);
  });
  const counts = [...byRelation.values()].map((steps) => {
    const [first = 0] = steps;
    // the index is the number of a step, and each step has a relation
    const relation = relations[first] as QualifiedName;
    return steps.length === 1
      ? sql`cardinality(${compileStepRows(first, relation)})`
      : sql`(select sum(cardinality(_l.rows)) from ${compileRowsByStep(steps, relation)})`;
  });
  return counts.length === 0 ? sql`0` : sql`(${join(counts, " + ")})`;
};

const compileEarlierRows = (compiler: Compiler, step: number, use: string): Sql => {
  const relation = compiler.stepRelations?.[step];
  if (relation === undefined) throw badPlan(`step ${step} must come before the step that ${use} it`);
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
  const left = compiler.alias("_w");
  const same = columns.map(([own, written]) => sql`${ident(left, written)} = ${ident(row, own)}`);
  return sql`exists (select 1 from pg_catalog.unnest(${compileEarlierRows(compiler, step, "uses")}) as ${ident(left)} where ${join(same, " and ")})`;
};

/** Applies the declared function of that name. Returns the fragment unchanged without a name. */
export const applyFunction = (
  { registry, model }: Compiler,
  fragment: Sql,
  name: string | undefined,
  operands?: readonly Sql[],
): Sql => {
  if (name === undefined) return fragment;
  const declared = registry.functions.get(name);
  if (declared === undefined) throw badPlan(`no plugin declares the function "${name}"`);
  return declared.compile(fragment, model, operands);
};

/** Compiles a bound value. Without `type`, the database infers it from the position. @rule R-FLT-3 G-OP-36 */
export const compileValue = (compiler: Compiler, ref: ValueRef): Sql => {
  if ("param" in ref)
    return ref.type === "jsonb"
      ? compileJson(compiler, ref, ref.type)
      : applyFunction(compiler, slot({ param: ref.param }, ref.type), ref.apply);
  if ("session" in ref) {
    if (ref.session === true) return slot({ sessionJson: compiler.registry.sessionPrefixes }, ref.type);
    return applyFunction(
      compiler,
      slot({ session: ref.session, optional: ref.missing === "null" }, ref.type),
      ref.apply,
    );
  }
  if ("constant" in ref) return applyFunction(compiler, slot({ fixed: ref.constant }, ref.type), ref.apply);
  return sql`((${compileEarlierRows(compiler, ref.step, "uses")})[1]).${ident(ref.column)}`;
};

/** Compiles a JSON text whose strings the statement reads: rows, arguments, a document. */
export const compileJson = (compiler: Compiler, ref: ValueRef, type: "json" | "jsonb" | undefined): Sql =>
  "param" in ref
    ? applyFunction(compiler, slot({ param: ref.param, isJson: true }, type), ref.apply)
    : compileValue(compiler, type === undefined ? ref : { ...ref, type });

/** Compiles the name of a type for a cast: one that the catalog wrote, or letters, digits, `_`, `$` and blanks
 *  (R-LEX-7). */
export const compileTypeName = (compiler: Compiler, name: string): Sql => {
  if (collectCatalogNames(compiler.model).has(name) || /^[\p{L}\p{N}_$ ]+$/u.test(name)) return catalogText(name);
  throw badPlan(`"${name}" is not a type name`);
};

const collectCatalogNames = memoize(({ types, relations }: Model): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const type of types.values()) names.add(type.sqlName);
  for (const relation of relations.values()) for (const column of relation.columns) names.add(column.sqlType);
  return names;
});
