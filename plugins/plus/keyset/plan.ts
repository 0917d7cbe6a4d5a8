/**
 * Adds cursor pages to plans: the key after the order, the start position, and the order values that the rows do not
 * show.
 */
import {
  findBaseType,
  findColumn,
  findRelation,
  type Expression,
  type Model,
  type OrderBy,
  type Output,
  type Plan,
  type Predicate,
  type Read,
  type Registry,
  type Relation,
  type ValueRef,
} from "../../../core/index.ts";
import { isOrderedByColumn, reverseOrder, addKeyToOrder } from "./keyset.ts";
import { pageImpossible } from "./errors.ts";
import { isFilterName } from "./order.ts";

/** The prefix of output names that the page needs and the response does not show. */
export const HIDDEN_KEY_PREFIX = "cursor page key ";

const isAggregated = ({ embeds }: Registry, outputs: readonly Output[]): boolean =>
  outputs.some(
    (output) =>
      output.kind === "aggregate" ||
      (output.kind === "embed" &&
        embeds.some(({ mode, isFlat }) => mode === output.mode && isFlat === true) &&
        isAggregated({ embeds } as Registry, output.read.output)),
  );

/** Rejects a term whose value cannot be compared with a filter. @rule P-CUR-4 */
const checkTerm = (model: Model, relation: Relation, expression: Expression): void => {
  if (expression.kind !== "column" && expression.kind !== "computed")
    throw pageImpossible(
      "The order looks into related rows or computes a distance",
      "Order by columns of the rows themselves",
    );
  const type = expression.kind === "column" ? findColumn(relation, expression.name)?.type : undefined;
  const last = expression.path?.[expression.path.length - 1];
  if (last !== undefined && last.arrow !== "->>")
    throw pageImpossible("The order ends in a JSON value", "Order by its text: ->> instead of ->");
  if (last === undefined && type !== undefined && model.representations.has(type))
    throw pageImpossible("The order has a column that is shown as something else than it is stored as");
};

const FIRST_USER_OID = 16384;
const NAME_BYTES = 63;

/** Returns the expression without its mask: a permission hides the shown value and the order value in the same rows. */
const removeMask = (expression: Expression): Expression =>
  expression.kind === "masked" ? expression.value : expression;

/** Returns the member of a row's JSON that has the value as text that filters accept. Returns undefined if the row does
 *  not show it. */
export const findMember = (model: Model, { from, output }: Read, term: Expression): string | undefined => {
  const relation = "relation" in from ? findRelation(model, from.relation) : undefined;
  const expression = removeMask(term);
  if (relation === undefined || expression.kind !== "column" || expression.path !== undefined) return undefined;
  const declaredType = findColumn(relation, expression.name)?.type ?? 0;
  const type = findBaseType(model, declaredType);
  // The JSON values "null" and "text" would be read as other values.
  if (type?.name === "jsonb") return undefined;
  const isPlain = type?.kind === "enum" || (type?.kind === "base" && type.oid < FIRST_USER_OID);
  if (!isPlain || type.category === "A" || model.representations.has(declaredType)) return undefined;
  for (const member of output) {
    if (member.kind === "all") return expression.name;
    if (member.kind !== "value" || member.as.startsWith(HIDDEN_KEY_PREFIX) || Buffer.byteLength(member.as) > NAME_BYTES)
      continue;
    const value = removeMask(member.value);
    if (value.kind === "column" && value.path === undefined && value.name === expression.name) return member.as;
  }
  return undefined;
};

const isPlainFilterTerm = ({ expression }: OrderBy): boolean =>
  (expression.kind === "column" || expression.kind === "computed") &&
  expression.path === undefined &&
  isFilterName(expression.kind === "column" ? expression.name : expression.routine.name);

const comparesTerm = (predicate: Predicate | undefined, { expression }: OrderBy): boolean =>
  predicate?.kind === "compare" &&
  predicate.left.kind === expression.kind &&
  (expression.kind !== "column" || isOrderedByColumn({ expression: predicate.left }, expression.name));

/** Finds the position that `encodePosition` has written: the last conditions, one per term, before the logic trees of
 *  the request; or the last tree. */
const findPosition = (
  where: Predicate | undefined,
  order: readonly OrderBy[],
): { readonly position: readonly Predicate[]; readonly otherPredicates: readonly Predicate[] } => {
  const parts = where === undefined ? [] : where.kind === "and" ? where.predicates : [where];
  if (!order.every(isPlainFilterTerm)) {
    const last = parts[parts.length - 1];
    return last?.kind === "and"
      ? { position: last.predicates, otherPredicates: parts.slice(0, -1) }
      : { position: parts, otherPredicates: [] };
  }
  let start = parts.length - order.length;
  while (start >= 0 && !order.every((term, i) => comparesTerm(parts[start + i], term))) start--;
  if (start < 0) throw pageImpossible("Its filters cannot be read");
  const end = start + order.length;
  return { position: parts.slice(start, end), otherPredicates: [...parts.slice(0, start), ...parts.slice(end)] };
};

const readPositionValues = (position: readonly Predicate[]): readonly (ValueRef | null)[] =>
  // `encodePosition` writes no other conditions.
  position.map((predicate) =>
    predicate.kind === "compare" && predicate.operand !== undefined ? (predicate.operand as ValueRef) : null,
  );

/**
 * Plans a page. With `position`, it begins after or ends before that position; with `last`, it ends with the last row.
 * @rule P-CUR-1 P-CUR-2 P-CUR-3 P-CUR-4
 */
export const planPage = (
  plan: Plan,
  model: Model,
  registry: Registry,
  position: "behind" | "before" | "last" | undefined,
): Read => {
  const relation =
    plan.kind === "read" && "relation" in plan.from ? findRelation(model, plan.from.relation) : undefined;
  if (plan.kind !== "read" || relation === undefined) throw pageImpossible("It does not read rows of a table");
  const reservedOutput = plan.output.find((output) => "as" in output && output.as.startsWith(HIDDEN_KEY_PREFIX));
  if (reservedOutput !== undefined)
    throw pageImpossible(`Names that begin with "${HIDDEN_KEY_PREFIX}" are those of the page itself`);
  if (isAggregated(registry, plan.output)) throw pageImpossible("Its rows are aggregates");
  const requestedOrder = plan.orderBy ?? [];
  for (const { expression } of requestedOrder) checkTerm(model, relation, expression);
  const forward = addKeyToOrder(requestedOrder, relation);
  const orderBy = position === "before" || position === "last" ? forward.map(reverseOrder) : forward;
  const hiddenOutputs = orderBy.flatMap(({ expression }, i): readonly Output[] =>
    findMember(model, plan, expression) === undefined
      ? [{ kind: "value", as: `${HIDDEN_KEY_PREFIX}${i}`, value: expression }]
      : [],
  );
  const page: Read = { ...plan, orderBy, output: [...plan.output, ...hiddenOutputs] };
  if (position === undefined || position === "last") return page;
  const { position: keysetPosition, otherPredicates } = findPosition(plan.where, orderBy);
  return {
    ...page,
    where: {
      kind: "and",
      predicates: [...otherPredicates, { kind: "keyset", order: orderBy, values: readPositionValues(keysetPosition) }],
    },
  };
};
