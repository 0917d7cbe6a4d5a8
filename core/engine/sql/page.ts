/** Reads in two levels: the rows of the page first, then what stands beside them. In one level PostgreSQL computes
 *  embeds and objects for rows that `offset` and `distinct on` leave out, joins flat embeds before it sorts, and sorts in
 *  one process. */
import type { Registry } from "../../plugin.ts";
import { relationshipOf, type Relation } from "../model/model.ts";
import type { Embed, Expression, OrderBy, Output, Predicate, Read } from "../plan/plan.ts";
import { needsOf } from "./needs.ts";
import type { Compiler } from "./scope.ts";

export interface Page {
  /** The rows of the page, with the columns that the second level needs. */
  readonly rows: Read;
  /** What is made of them. */
  readonly beside: Read;
}

/** The embed that a term of an order looks into. */
const embedOf = (by: Expression): string | undefined => {
  if (by.kind === "ordering") return embedOf(by.of);
  return by.kind === "embedded" ? by.embed : undefined;
};

export const ordersByEmbed = (orderBy: readonly OrderBy[] | undefined, id: string): boolean =>
  orderBy !== undefined && orderBy.some(({ by }) => embedOf(by) === id);

export const testsEmbed = (predicate: Predicate | undefined, id: string): boolean => {
  if (predicate === undefined) return false;
  if (predicate.kind === "and" || predicate.kind === "or") return predicate.of.some((part) => testsEmbed(part, id));
  if (predicate.kind === "not") return testsEmbed(predicate.of, id);
  return predicate.kind === "embedded" && predicate.embed === id;
};

/** Those of values built from several, too. */
const embedsOf = (outputs: readonly Output[]): readonly Embed[] =>
  outputs.flatMap((output) =>
    output.kind === "embed" ? [output] : output.kind === "object" ? embedsOf(output.of) : [],
  );

/** Its columns are those of the parent. */
export const isFlat = ({ embeds }: Registry, { mode }: Embed): boolean =>
  embeds.some((spec) => spec.mode === mode && spec.isFlat === true);

/** It has one row for each row of the parent, whatever is in the tables. */
const keepsRows = (relation: Relation, { via }: Embed): boolean => {
  const relationship = "relationship" in via ? relationshipOf(relation, via.relationship) : undefined;
  return relationship !== undefined && relationship.isManual !== true && relationship.routine === undefined;
};

/** Conditions on embeds hold in the first level. */
const withoutConditions = (outputs: readonly Output[]): readonly Output[] =>
  outputs.flatMap((output): readonly Output[] => {
    if (output.kind === "object") return [{ ...output, of: withoutConditions(output.of) }];
    if (output.kind !== "embed") return [output];
    return output.isHidden === true ? [] : [output.join === "inner" ? { ...output, join: "left" } : output];
  });

/** Undefined: one level is as good, or says something else. `isNested`: its rows are those of one parent.
 *  @rule X-PLN-2 X-PLN-3 */
export const pageOf = (
  { registry, model }: Pick<Compiler, "registry" | "model">,
  relation: Relation | undefined,
  read: Read,
  isNested: boolean,
): Page | undefined => {
  const { output, orderBy = [], limit, offset, cap, distinctOn = [], ...others } = read;
  const leavesOut = offset !== undefined || distinctOn.length > 0;
  const isSorted = orderBy.length > 0 && (limit !== undefined || cap !== undefined);
  if (relation === undefined || !("relation" in read.from) || (!leavesOut && !isSorted)) return undefined;
  const embeds = embedsOf(output).filter(({ isHidden }) => isHidden !== true);
  const joined = embeds.filter((embed) => isFlat(registry, embed));
  const isPlain = embeds.length === 0 && !output.some(({ kind }) => kind === "object");
  if (isPlain || (isNested && !leavesOut && joined.length === 0)) return undefined;
  if (!joined.every((embed) => keepsRows(relation, embed)) || orderBy.some(({ by }) => embedOf(by) !== undefined))
    return undefined;
  const { where: _where, ...unfiltered } = others;
  const beside: Read = {
    ...unfiltered,
    output: withoutConditions(output),
    // a join may turn the rows around
    ...(joined.length === 0 ? {} : { orderBy }),
  };
  const needed = needsOf(relation, beside, model);
  if (needed.isWholeRow && !output.some(({ kind }) => kind === "all")) return undefined;
  const columns: readonly Output[] = needed.isWholeRow
    ? [{ kind: "all" }]
    : [...needed.columns].map((name) => ({ kind: "value", as: name, value: { kind: "column", name } }));
  const conditions = output.flatMap((one): readonly Output[] =>
    one.kind === "embed" && (one.join === "inner" || testsEmbed(read.where, one.id))
      ? [{ ...one, isHidden: true }]
      : [],
  );
  return { rows: { ...read, output: [...columns, ...conditions] }, beside };
};
