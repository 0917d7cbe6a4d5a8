import { definePlugin, findRelation } from "../../core/index.ts";

/** `Prefer: order=key`: rows are in the order of their primary key if the request has no order, so that pages do not
 *  overlap. */
export const keyOrder = definePlugin({
  name: "key-order",
  preferences: [
    {
      name: "order",
      values: ["key"],
      plan: (plan, _value, { model }) => {
        if (plan.kind !== "read" || plan.orderBy !== undefined || !("relation" in plan.from)) return plan;
        const key = findRelation(model, plan.from.relation)?.primaryKey ?? [];
        if (key.length === 0 || plan.output.some((output) => output.kind === "aggregate")) return plan;
        return { ...plan, orderBy: key.map((name) => ({ expression: { kind: "column", name } })) };
      },
    },
  ],
});
