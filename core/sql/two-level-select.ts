/** Splits reads into two levels: first the rows of the page, then their embeds and objects. In one level, PostgreSQL
 *  computes embeds and objects for rows that `offset` and `distinct on` exclude. It also joins flat embeds before the
 *  sort, and sorts in one process. */
import type { Registry } from "../plugin.ts";
import { findRelationship, type Relation } from "../model/model.ts";
import type { Embed, Expression, OrderBy, Output, Predicate, Read } from "../plan/plan.ts";
import { findNeededColumns } from "./returning-columns.ts";
import type { Compiler } from "./scope.ts";

interface Page {
  /** The rows of the page, with the columns that the second level needs. */
  readonly rows: Read;
  /** The second level, which reads the rows of the page. */
  readonly outer: Read;
}

/** Returns the value of an embed that a term of an order refers to. */
export const findEmbeddedValue = (expression: Expression): Extract<Expression, { kind: "embedded" }> | undefined => {
  if (expression.kind === "ordering") return findEmbeddedValue(expression.value);
  return expression.kind === "embedded" ? expression : undefined;
};

/** Returns whether a term of the order refers to the embed with that id. */
export const ordersByEmbed = (orderBy: readonly OrderBy[] | undefined, id: string): boolean =>
  orderBy !== undefined && orderBy.some(({ expression }) => findEmbeddedValue(expression)?.embed === id);

/** Returns whether a condition, at any depth, tests the embed with that id. */
export const testsEmbed = (predicate: Predicate | undefined, id: string): boolean => {
  if (predicate === undefined) return false;
  if (predicate.kind === "and" || predicate.kind === "or")
    return predicate.predicates.some((part) => testsEmbed(part, id));
  if (predicate.kind === "not") return testsEmbed(predicate.predicate, id);
  return predicate.kind === "embedded" && predicate.embed === id;
};

/** Returns the embeds, including those inside objects. */
const collectEmbeds = (outputs: readonly Output[]): readonly Embed[] =>
  outputs.flatMap((output) =>
    output.kind === "embed" ? [output] : output.kind === "object" ? collectEmbeds(output.outputs) : [],
  );

/** Returns whether the embed's columns belong to the parent's row. */
export const isFlatEmbed = ({ embeds }: Registry, { mode }: Embed): boolean =>
  embeds.some((spec) => spec.mode === mode && spec.isFlat === true);

/** Returns whether the embed has exactly one row for each row of the parent, whatever the tables contain. */
const hasOneRowPerParent = (relation: Relation, { via }: Embed): boolean => {
  const relationship = "relationship" in via ? findRelationship(relation, via.relationship) : undefined;
  return relationship !== undefined && relationship.isManual !== true && relationship.routine === undefined;
};

/** Removes the conditions of embeds, because the first level has tested these conditions. */
const withoutConditions = (outputs: readonly Output[]): readonly Output[] =>
  outputs.flatMap((output): readonly Output[] => {
    if (output.kind === "object") return [{ ...output, outputs: withoutConditions(output.outputs) }];
    if (output.kind !== "embed") return [output];
    return output.isHidden === true ? [] : [output.join === "inner" ? { ...output, join: "left" } : output];
  });

/** Splits a read into two levels. Returns undefined if one level is as fast, or if two levels would change the result.
 *  `isNested` is true if the rows belong to one parent. @rule X-PLN-2 X-PLN-3 */
export const splitPage = (
  { registry, model }: Pick<Compiler, "registry" | "model">,
  relation: Relation | undefined,
  read: Read,
  isNested: boolean,
): Page | undefined => {
  const { output: outputs, orderBy = [], limit, offset, cap, distinctOn = [], ...unlimitedRead } = read;
  const leavesOut = offset !== undefined || distinctOn.length > 0;
  const isSorted = orderBy.length > 0 && (limit !== undefined || cap !== undefined);
  if (relation === undefined || !("relation" in read.from) || (!leavesOut && !isSorted)) return undefined;
  const embeds = collectEmbeds(outputs).filter(({ isHidden }) => isHidden !== true);
  const flatEmbeds = embeds.filter((embed) => isFlatEmbed(registry, embed));
  const isPlain = embeds.length === 0 && !outputs.some(({ kind }) => kind === "object");
  if (isPlain || (isNested && !leavesOut && flatEmbeds.length === 0)) return undefined;
  if (
    !flatEmbeds.every((embed) => hasOneRowPerParent(relation, embed)) ||
    orderBy.some(({ expression }) => findEmbeddedValue(expression) !== undefined)
  )
    return undefined;
  const { where: _where, ...unfilteredRead } = unlimitedRead;
  const outer: Read = {
    ...unfilteredRead,
    output: withoutConditions(outputs),
    // The second level sorts again after a join, because the join may change the order of the rows.
    ...(flatEmbeds.length === 0 ? {} : { orderBy }),
  };
  const neededColumns = findNeededColumns(relation, outer, model);
  if (neededColumns.isWholeRow && !outputs.some(({ kind }) => kind === "all")) return undefined;
  const columns: readonly Output[] = neededColumns.isWholeRow
    ? [{ kind: "all" }]
    : [...neededColumns.columns].map((name) => ({ kind: "value", as: name, value: { kind: "column", name } }));
  const conditions = outputs.flatMap((output): readonly Output[] =>
    output.kind === "embed" && (output.join === "inner" || testsEmbed(read.where, output.id))
      ? [{ ...output, isHidden: true }]
      : [],
  );
  return { rows: { ...read, output: [...columns, ...conditions] }, outer };
};
