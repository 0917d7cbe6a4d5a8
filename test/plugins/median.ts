import { definePlugin, join, sql } from "../../core/index.ts";

/** `?select=tonnage.median()` and `{ album_aggregate { aggregate { median { sold } } } }`: the middle one of the values. */
export const median = definePlugin({
  name: "median",
  aggregates: [
    {
      name: "median",
      types: ["int2", "int4", "int8", "float4", "float8", "numeric"],
      result: "Float",
      returns: "float8",
      predicate: { type: "float8", result: "float8" },
      compile: (columns) => sql`percentile_cont(0.5) within group (order by ${join(columns)})`,
    },
  ],
});
