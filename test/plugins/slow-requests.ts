import { definePlugin, defineSetting, RelApiError, settingKinds } from "../../core/index.ts";

const slowAfter = defineSetting({
  name: "slowAfter",
  environment: ["SLOW_AFTER"],
  kind: settingKinds.wholeNumber(1),
  default: 500,
  description: "milliseconds after which an answer counts as slow and is logged",
});

const banned = defineSetting({
  name: "bannedRoles",
  environment: ["BANNED_ROLES"],
  kind: settingKinds.listOf("names of roles"),
  default: [],
  description: "roles that are turned away",
});

/** Slow answers are logged, and some roles are turned away. */
export const slowRequests = definePlugin({
  name: "slow-requests",
  settings: [slowAfter, banned],
  apply: (_hooks, context) =>
    context.addStep({
      name: "slow-requests",
      afterAuthorize: ({ session }) => {
        if (!banned.get(context.options).includes(session.role)) return undefined;
        throw new RelApiError({ code: "role-banned", status: 403, message: "This role is turned away" });
      },
      afterResponse: ({ method, path }, { durationMs, status, session }) => {
        if (durationMs < slowAfter.get(context.options)) return;
        context.logger.warn("slow answer", { method, path, status, role: session?.role, ms: Math.round(durationMs) });
      },
    }),
});
