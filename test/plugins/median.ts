import { definePlugin, joinSql, sql } from "../../core/index.ts";

/** `?select=total.median()` and `{ track_aggregate { aggregate { median { milliseconds } } } }`: the middle value. */
export const median = definePlugin({
  name: "median",
  aggregates: [
    {
      name: "median",
      types: ["int2", "int4", "int8", "float4", "float8", "numeric"],
      result: "Float",
      returns: "float8",
      predicate: { type: "float8", result: "float8" },
      compile: (columns) => sql`percentile_cont(0.5) within group (order by ${joinSql(columns)})`,
    },
  ],
});
