/** The order of a connection. */
import type { OrderBy, Relation } from "../../../core/index.ts";

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

const areNullsLast = ({ direction, nulls }: OrderBy): boolean =>
  (nulls ?? (direction === "desc" ? "first" : "last")) === "last";

export const turned = (term: OrderBy): OrderBy => ({
  by: term.by,
  direction: term.direction === "desc" ? "asc" : "desc",
  nulls: areNullsLast(term) ? "first" : "last",
});
