/** Rows behind a place in an order, as a condition of the plan. */
import {
  columnOf,
  type Expression,
  type OrderBy,
  type Predicate,
  type Relation,
  type ValueRef,
} from "../../../core/index.ts";

/** The order asked for, then the columns of the key that are not in it. */
export const withKey = (order: readonly OrderBy[], { primaryKey }: Relation): readonly OrderBy[] => {
  const isIn = (name: string): boolean =>
    order.some(({ by }) => by.kind === "column" && by.name === name && by.path === undefined);
  return [
    ...order,
    ...primaryKey
      .filter((name) => !isIn(name))
      .map((name): OrderBy => ({ by: { kind: "column", name }, direction: "asc", nulls: "last" })),
  ];
};

export const areNullsLast = ({ direction, nulls }: OrderBy): boolean =>
  (nulls ?? (direction === "desc" ? "first" : "last")) === "last";

export const turned = (term: OrderBy): OrderBy => ({
  by: term.by,
  direction: term.direction === "desc" ? "asc" : "desc",
  nulls: areNullsLast(term) ? "first" : "last",
});

const compare = (left: Expression, operator: string, operand: ValueRef): Predicate => ({
  kind: "compare",
  left,
  operator,
  operand,
});

const isNull = (left: Expression): Predicate => ({ kind: "compare", left, operator: "is", keyword: "null" });

/** `bind`: a value as that of the term. @rule P-RLY-4 */
export const rowsBeyond = (
  order: readonly OrderBy[],
  values: readonly (string | null)[],
  relation: Relation,
  bind: (value: string, of: Expression) => ValueRef,
): Predicate => {
  const known: Predicate[] = []; // equal so far
  const alternatives: Predicate[] = [];
  let bound: readonly Predicate[] = [];
  for (const [i, term] of order.entries()) {
    const { by } = term;
    const value = values[i] ?? null;
    const operator = term.direction === "desc" ? "lt" : "gt";
    const follow: Predicate[] = [];
    if (value === null) {
      if (!areNullsLast(term)) follow.push({ kind: "not", of: isNull(by) });
      known.push(isNull(by));
    } else {
      const operand = bind(value, by);
      const mayBeNull = by.kind !== "column" || by.path !== undefined || columnOf(relation, by.name)?.notNull !== true;
      follow.push(compare(by, operator, operand));
      if (areNullsLast(term) && mayBeNull) follow.push(isNull(by));
      // says nothing new, but is what an index can begin at
      else if (i === 0) bound = [compare(by, `${operator}e`, operand)];
      known.push(compare(by, "eq", operand));
    }
    const before = known.slice(0, -1);
    for (const one of follow) alternatives.push({ kind: "and", of: [...before, one] });
  }
  return { kind: "and", of: [...(alternatives.length > 1 ? bound : []), { kind: "or", of: alternatives }] };
};
