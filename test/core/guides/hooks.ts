/** The examples of docs/reference/hooks.md, as they stand there. */
import { createHash } from "node:crypto";
import { definePlugin, mapPlan, sql, Stage, type Ask, type Question, type Session } from "../../../core/index.ts";

export const rowEstimates = definePlugin({
  name: "row-estimates",
  apply: (hooks) => {
    hooks.introspect.tapPromise("row-estimates", async (model, { query }) => {
      const rows = await query<{ oid: number; rows: number }>(
        sql`select oid::int4 as oid, reltuples as rows from pg_catalog.pg_class`,
      );
      return {
        ...model,
        parts: { ...model.parts, "row-estimates": new Map(rows.map(({ oid, rows: count }) => [oid, count])) },
      };
    });
  },
});

export const rowLimit = definePlugin({
  name: "row-limit",
  apply: (hooks) => {
    hooks.transformPlan.tap("row-limit", (plan, { model, session }) =>
      session.isAnonymous === true
        ? mapPlan(plan, model, { read: (read) => ({ ...read, cap: Math.min(read.cap ?? 100, 100) }) })
        : plan,
    );
  },
});

export const likeUuid = definePlugin({
  name: "like-uuid",
  requires: ["text-operators"],
  apply: (hooks) => {
    hooks.compileFilter
      .for("like")
      .tap("like-uuid", (_, { type, column, operand }) =>
        type?.name === "uuid" ? sql`${column}::text like ${operand}` : undefined,
      );
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

export const apiKeySessions = (sessionOfKey: (key: string) => Session) =>
  definePlugin({
    name: "api-key-sessions",
    stage: Stage.early,
    apply: (hooks, context) => {
      const KEY: Question<{ readonly key: string }, string> = {
        name: "key",
        of: ({ key }) => key,
        key: (sent) => createHash("sha256").update(sent).digest("base64"),
      };
      const sessions = context.caches.create({
        name: "api-key-sessions",
        make: (ask: Ask<{ readonly key: string }>) => sessionOfKey(ask(KEY)), // asks while it makes, never later
        bytesOf: () => 1000,
      });
      hooks.authorize.tap("api-key-sessions", (credentials) => {
        const key = credentials.header("x-api-key");
        return key === undefined ? undefined : sessions.take({ key });
      });
    },
  });
