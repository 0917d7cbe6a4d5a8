/** Compiles values: bound ones, values of JSON texts, and the type names of casts. */
import type { Model } from "../model/model.ts";
import type { ValueRef } from "../plan/plan.ts";
import { trustedSql, quoteIdentifier, bindSlot, sql, type Sql } from "./fragment.ts";
import { planInvalid, type Compiler } from "./scope.ts";
import { compileEarlierRows } from "./step-rows.ts";
import { memoize } from "../kernel/memoize.ts";

/** Applies the declared function of that name. Returns the fragment unchanged without a name. */
export const applyFunction = (
  { registry, model }: Compiler,
  fragment: Sql,
  name: string | undefined,
  operands?: readonly Sql[],
): Sql => {
  if (name === undefined) return fragment;
  const planFunction = registry.functions.get(name);
  if (planFunction === undefined) throw planInvalid(`no plugin declares the function "${name}"`);
  return planFunction.compile(fragment, model, operands);
};

/** Compiles a bound value. Without `type`, the database infers it from the position. @rule R-FLT-3 G-OP-36 */
export const compileValue = (compiler: Compiler, ref: ValueRef): Sql => {
  if ("param" in ref)
    return ref.type === "jsonb"
      ? compileJson(compiler, ref, ref.type)
      : applyFunction(compiler, bindSlot({ param: ref.param }, ref.type), ref.apply);
  if ("session" in ref) {
    if (ref.session === true) return bindSlot({ sessionJson: compiler.registry.sessionPrefixes }, ref.type);
    return applyFunction(
      compiler,
      bindSlot({ session: ref.session, optional: ref.missing === "null" }, ref.type),
      ref.apply,
    );
  }
  if ("constant" in ref) return applyFunction(compiler, bindSlot({ fixed: ref.constant }, ref.type), ref.apply);
  return sql`((${compileEarlierRows(compiler, ref.step, "uses")})[1]).${quoteIdentifier(ref.column)}`;
};

/** Compiles a JSON text whose strings the statement reads: rows, arguments, a document. */
export const compileJson = (compiler: Compiler, ref: ValueRef, type: "json" | "jsonb" | undefined): Sql =>
  "param" in ref
    ? applyFunction(compiler, bindSlot({ param: ref.param, isJson: true }, type), ref.apply)
    : compileValue(compiler, type === undefined ? ref : { ...ref, type });

/** Compiles the name of a type for a cast: one that the catalog wrote, or letters, digits, `_`, `$` and blanks
 *  (R-LEX-7). */
export const compileTypeName = (compiler: Compiler, name: string): Sql => {
  if (collectCatalogNames(compiler.model).has(name) || /^[\p{L}\p{N}_$ ]+$/u.test(name)) return trustedSql(name);
  throw planInvalid(`"${name}" is not a type name`);
};

const collectCatalogNames = memoize(({ types, relations }: Model): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const type of types.values()) names.add(type.sqlName);
  for (const relation of relations.values()) for (const column of relation.columns) names.add(column.sqlType);
  return names;
});
