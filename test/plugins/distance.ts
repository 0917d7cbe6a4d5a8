import { definePlugin, joinSql, sql } from "../../core/index.ts";

/** `?order=place.distance("(1,2)")` and `order_by: { place_distance: { from: "(1,2)" } }`: nearest first. */
export const distance = definePlugin({
  name: "distance",
  orderings: [
    {
      name: "distance",
      types: ["point"],
      operands: [{ name: "from" }],
      description: "by the distance from a point",
      compile: (column, operands) => sql`(${column} <-> ${joinSql(operands)})`,
      builtIn: ["<->"],
    },
  ],
});
