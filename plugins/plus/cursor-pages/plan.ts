/** What pages by cursor add to plans: the key behind the order, and the values of both beside each row. */
import {
  columnOf,
  relationOf,
  type Expression,
  type Model,
  type OrderBy,
  type Output,
  type Plan,
  type Read,
  type Registry,
  type Relation,
} from "../../../core/index.ts";
import { pageImpossible } from "./errors.ts";

/** Output names that no column of a select has: what stands behind is not part of the row. */
export const KEY = "\u0001key";
export const CAP = "\u0001cap";

/** The function that makes a value the text that filters read. */
export const KEY_TEXT = "cursor-key-text";

const isAggregated = ({ embeds }: Registry, outputs: readonly Output[]): boolean =>
  outputs.some(
    (output) =>
      output.kind === "aggregate" ||
      (output.kind === "embed" &&
        embeds.some(({ mode, isFlat }) => mode === output.mode && isFlat === true) &&
        isAggregated({ embeds } as Registry, output.read.output)),
  );

/** A value that a filter can be compared with. @rule P-CUR-4 */
const checkTerm = (model: Model, relation: Relation, by: Expression): void => {
  if (by.kind !== "column" && by.kind !== "computed")
    throw pageImpossible(
      "The order looks into related rows or computes a distance",
      "Order by columns of the rows themselves",
    );
  const type = by.kind === "column" ? columnOf(relation, by.name)?.type : undefined;
  const last = by.path?.[by.path.length - 1];
  if (last !== undefined && last.arrow !== "->>")
    throw pageImpossible("The order ends in a JSON value", "Order by its text: ->> instead of ->");
  if (last === undefined && type !== undefined && model.representations.has(type))
    throw pageImpossible("The order has a column that is shown as something else than it is stored as");
};

const isColumn = ({ by }: OrderBy, name: string): boolean =>
  by.kind === "column" && by.name === name && by.path === undefined;

const reversed = ({ by, direction = "asc", nulls }: OrderBy): OrderBy => ({
  by,
  direction: direction === "asc" ? "desc" : "asc",
  nulls: (nulls ?? (direction === "asc" ? "last" : "first")) === "last" ? "first" : "last",
});

/** @rule P-CUR-1 P-CUR-3 P-CUR-4 */
export const planPage = (plan: Plan, model: Model, registry: Registry, isBackward: boolean): Read => {
  const relation = plan.kind === "read" && "relation" in plan.from ? relationOf(model, plan.from.relation) : undefined;
  if (plan.kind !== "read" || relation === undefined) throw pageImpossible("It does not read rows of a table");
  if (isAggregated(registry, plan.output)) throw pageImpossible("Its rows are aggregates");
  const asked = plan.orderBy ?? [];
  for (const { by } of asked) checkTerm(model, relation, by);
  const order: readonly OrderBy[] = [
    ...asked,
    ...relation.primaryKey
      .filter((name) => !asked.some((term) => isColumn(term, name)))
      .map((name): OrderBy => ({ by: { kind: "column", name }, direction: "asc" })),
  ];
  return {
    ...plan,
    orderBy: isBackward ? order.map(reversed) : order,
    output: [
      ...plan.output,
      ...order.map(({ by }, i): Output => ({
        kind: "value",
        as: `${KEY}${i}`,
        value: { kind: "apply", function: KEY_TEXT, of: by },
      })),
    ],
  };
};

/** The limit that permissions and settings leave tells whether there may be more. */
export const tellCap = (plan: Plan): Plan =>
  plan.kind !== "read" || plan.cap === undefined
    ? plan
    : { ...plan, output: [...plan.output, { kind: "constant", as: CAP, value: String(plan.cap) }] };
