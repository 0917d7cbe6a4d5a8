/** The examples of docs/reference/hooks.md, unchanged. */
import { createHash } from "node:crypto";
import { SyncBailHook } from "tapable";
import { WebSocketServer } from "ws";
import {
  definePlugin,
  defineCacheQuestion,
  mapPlan,
  RelApiError,
  sql,
  Stage,
  defineService,
  defineHook,
  type Ask,
  type Session,
} from "../../../core/index.ts";
import { checkGqlDocumentHook, findGqlDocumentHook, gqlDirectivesHook } from "../../../plugins/graphql/api.ts";
import { readParametersHook } from "../../../plugins/rest/api.ts";
import { watchChangesHook } from "../../../plugins/live/api.ts";
import { takeUpgradeHook } from "../../../plugins/live/api.ts";

export const rowEstimates = definePlugin({
  name: "row-estimates",
  apply: (hooks) => {
    hooks.introspect.tapPromise("row-estimates", async (model, { query }) => {
      const rows = await query<{ oid: number; rows: number }>(
        sql`select oid::int4 as oid, reltuples as rows from pg_catalog.pg_class`,
      );
      return {
        ...model,
        pluginFacts: {
          ...model.pluginFacts,
          "row-estimates": new Map(rows.map(({ oid, rows: count }) => [oid, count])),
        },
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
  apply: (_hooks, context) => {
    context.use(watchChangesHook).tap("every-minute", (_interest, changed) => {
      const timer = setInterval(changed, 60_000);
      return () => clearInterval(timer);
    });
  },
});

export const echoSockets = definePlugin({
  name: "echo-sockets",
  requires: ["upgrades"],
  before: ["websocket-transport"],
  apply: (_hooks, context) => {
    const sockets = new WebSocketServer({ noServer: true }); // of the package ws
    context
      .use(takeUpgradeHook)
      .tap({ name: "echo-sockets", rejection: "only /echo" }, ({ request, socket, head, path }) => {
        if (path !== "/echo") return undefined;
        sockets.handleUpgrade(request, socket, head, (client) => client.on("message", (data) => client.send(data)));
        return true;
      });
  },
});

export const storedDocuments = (documents: ReadonlyMap<string, string>) =>
  definePlugin({
    name: "stored-documents",
    requires: ["graphql"],
    apply: (_hooks, context) => {
      context
        .use(findGqlDocumentHook)
        .tap("stored-documents", ({ stored }) => (typeof stored === "string" ? documents.get(stored) : undefined));
      context.use(checkGqlDocumentHook).tap("stored-documents", (document, { role }) => {
        if (role === "music_guest" && ![...documents.values()].includes(document))
          throw new RelApiError({ code: "validation-failed", status: 400, message: "not for guests", path: "$" });
      });
    },
  });

/** `?newest=created_at` */
export const newest = definePlugin({
  name: "newest",
  requires: ["rest"],
  apply: (_hooks, context) => {
    context
      .use(readParametersHook)
      .for("newest")
      .tap("newest", (read, { text, field }) => ({
        ...read,
        orderBy: [{ expression: field(text), direction: "desc" }],
      }));
  },
});

export const confirmed = definePlugin({
  name: "confirmed",
  requires: ["graphql"],
  apply: (_hooks, context) => {
    context
      .use(gqlDirectivesHook)
      .tap("confirmed", (directives) => [
        ...directives,
        { name: "confirmed", description: "the mutation is meant", on: ["mutation"], arguments: { twice: false } },
      ]);
    context.use(checkGqlDocumentHook).tap("confirmed", (_text, _session, { operation, directives }) => {
      if (operation === "mutation" && !directives.includes("confirmed"))
        throw new RelApiError({
          code: "validation-failed",
          status: 400,
          message: "mutations need @confirmed",
          path: "$",
        });
    });
  },
});

export const apiKeySessions = (sessionOfKey: (key: string) => Session) =>
  definePlugin({
    name: "api-key-sessions",
    stage: Stage.early,
    apply: (hooks, context) => {
      const KEY = defineCacheQuestion(
        "key",
        ({ key }: { readonly key: string }) => key,
        (key) => createHash("sha256").update(key).digest("base64"),
      );
      const sessions = context.caches.create({
        name: "api-key-sessions",
        make: (ask: Ask<{ readonly key: string }>) => sessionOfKey(ask(KEY)), // asks only while it makes the value
        estimateBytes: () => 1000,
      });
      hooks.authorize.tap("api-key-sessions", (credentials) => {
        const key = credentials.header("x-api-key");
        return key === undefined ? undefined : sessions.getAndCommit({ key });
      });
    },
  });

export const tidesService = defineService<{ heightAt(port: string): number }>("tides");
export const correctTideHook = defineHook(
  "correctTide",
  "tides",
  () => new SyncBailHook<[port: string, height: number], number | undefined>(["port", "height"]),
);

export const tides = definePlugin({
  name: "tides",
  apply: (_hooks, context) => {
    const correctTide = context.use(correctTideHook);
    context.offer(tidesService, { heightAt: (port) => correctTide.call(port, 3) ?? 3 });
  },
});

export const springTides = definePlugin({
  name: "spring-tides",
  requires: ["tides"],
  apply: (_hooks, context) => {
    context.use(correctTideHook).tap("spring-tides", (port, height) => (port === "Brest" ? height + 4 : undefined));
  },
});

/** `GET /tide/Brest` */
export const tideTable = definePlugin({
  name: "tide-table",
  before: ["rest"],
  apply: (_hooks, context) => {
    context.addSurface({
      name: "rest",
      match: (path) => path.startsWith("/tide/"),
      handle: ({ path }) => {
        const tides = context.use(tidesService);
        return { status: 200, headers: [], body: String(tides?.heightAt(path.slice(6)) ?? "no tides here") };
      },
      encodeError: () => ({ status: 500, headers: [], body: "" }),
    });
  },
});
