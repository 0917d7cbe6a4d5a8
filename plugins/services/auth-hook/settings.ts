/** Settings of `auth-hook`. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

const { flag, httpUrl, oneOf, wholeNumber } = settingKinds;

const MAX_SECONDS = 3600;

export const authHookSettings = [
  defineSetting({
    name: "authHook",
    environment: ["AUTH_HOOK", "HASURA_GRAPHQL_AUTH_HOOK"],
    kind: httpUrl,
    description: "the URL of the webhook that identifies each caller without the admin secret (X-HOOK-1)",
    whenUnset: "no webhook is asked",
    isSecret: true,
    isFixed: true,
  }),
  defineSetting({
    name: "authHookMode",
    environment: ["AUTH_HOOK_MODE", "HASURA_GRAPHQL_AUTH_HOOK_MODE"],
    kind: oneOf(["get", "post"]),
    default: "get",
    description:
      "how the webhook receives the headers of the caller: `get` as headers, `post` as JSON (X-HOOK-2, X-HOOK-3)",
    isFixed: true,
  }),
  defineSetting({
    name: "authHookSendRequestBody",
    environment: ["AUTH_HOOK_SEND_REQUEST_BODY", "HASURA_GRAPHQL_AUTH_HOOK_SEND_REQUEST_BODY"],
    kind: flag,
    default: true,
    description: "`false`: the webhook does not receive the GraphQL request in mode `post` (X-HOOK-3)",
    isFixed: true,
  }),
  defineSetting({
    name: "authHookTimeout",
    environment: ["AUTH_HOOK_TIMEOUT"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 10,
    unit: "seconds",
    description: "the time after which a webhook without a complete answer counts as failed (X-HOOK-8)",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof authHookSettings> {}
}
