import { definePlugin, defineSetting, RelApiError, settingKinds, type ValuesOf } from "../../core/index.ts";

const settings = [
  defineSetting({
    name: "slowAfter",
    environment: ["SLOW_AFTER"],
    kind: settingKinds.wholeNumber(1),
    default: 500,
    description: "milliseconds after which an answer counts as slow and is logged",
  }),
  defineSetting({
    name: "bannedRoles",
    environment: ["BANNED_ROLES"],
    kind: settingKinds.listOf("names of roles"),
    default: [],
    description: "roles whose requests are rejected",
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof settings> {}
}

/** Logs slow answers, and rejects the requests of some roles. */
export const slowRequests = definePlugin({
  name: "slow-requests",
  settings,
  apply: (_hooks, context) =>
    context.addStep({
      name: "slow-requests",
      afterAuthorize: ({ session }) => {
        if (!context.options.bannedRoles.includes(session.role)) return undefined;
        throw new RelApiError({ code: "role-banned", status: 403, message: "Requests of this role are rejected" });
      },
      afterResponse: ({ method, path }, { durationMs, status, session }) => {
        if (durationMs < context.options.slowAfter) return;
        context.logger.warn("slow answer", { method, path, status, role: session?.role, ms: Math.round(durationMs) });
      },
    }),
});
