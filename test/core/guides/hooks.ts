/** The examples of docs/reference/hooks.md, as they stand there. */
import { definePlugin, mapPlan, sql } from "../../../core/index.ts";

export const rowEstimates = definePlugin({
  name: "row-estimates",
  apply: (hooks) => {
hooks.introspect.tapPromise("row-estimates", async (model, { query }) => {
  const rows = await query<{ oid: number; rows: number }>(sql`select oid::int4 as oid, reltuples as rows from pg_catalog.pg_class`);
  return { ...model, parts: { ...model.parts, "row-estimates": new Map(rows.map(({ oid, rows: count }) => [oid, count])) } };
});
  },
});

export const rowLimit = definePlugin({
  name: "row-limit",
  apply: (hooks) => {
hooks.transformPlan.tap("row-limit", (plan, { model, session }) =>
  session.isAnonymous === true ? mapPlan(plan, model, { read: (read) => ({ ...read, cap: Math.min(read.cap ?? 100, 100) }) }) : plan,
);
  },
});

export const likeUuid = definePlugin({
  name: "like-uuid",
  requires: ["text-operators"],
  apply: (hooks) => {
hooks.compileFilter.for("like").tap("like-uuid", (_, { type, column, operand }) => (type?.name === "uuid" ? sql`${column}::text like ${operand}` : undefined));
  },
});

export const everyMinute = definePlugin({
  name: "every-minute",
  requires: ["live-queries"],
  before: ["poll-changes"],
  apply: (hooks) => {
hooks.watchChanges.tap("every-minute", (_interest, changed) => {
  const timer = setInterval(changed, 60_000);
  return () => clearInterval(timer);
});
  },
});
