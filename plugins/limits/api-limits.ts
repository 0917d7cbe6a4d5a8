/** Applies Hasura's `api_limits`, and additional limits of the same form: depth, size and duration of an operation, by
 *  role. */
import { definePlugin, RelApiError, type Session } from "../../core/index.ts";
import { checkGqlDocumentHook } from "../graphql/api.ts";
import { apiLimitsService, type ApiLimits } from "./api.ts";
import { createRoleLimits, kindsOf, mayLimit } from "./by-role.ts";
import { apiLimitSettings } from "./settings.ts";

const exceeded = (kind: string, message: string): RelApiError =>
  new RelApiError({
    code: `${kind}-limit-exceeded`,
    status: 400,
    message,
    path: "$",
    facts: { limit: "apiLimits" },
  });

/** @rule G-LIM-8 */
export const apiLimits = definePlugin({
  name: "api-limits",
  requires: ["graphql"],
  settings: apiLimitSettings,
  apply: (_hooks, context) => {
    if (!mayLimit(context.options)) return;
    const limits = createRoleLimits(context, kindsOf("api-limits"));
    context.use(checkGqlDocumentHook).tap("api-limits", (_text, session, document, sender) => {
      const of = limits.of(session);
      const { depth = Infinity, nodes = Infinity, batch = Infinity, aliases = Infinity, rootFields = Infinity } = of;
      const { batchSize = 1 } = sender ?? {};
      if (batchSize > batch) throw exceeded("batch", `the batch has ${batchSize} operations, more than ${batch}`);
      if (document.levels > depth)
        throw exceeded("depth", `the operation has a depth of ${document.levels}, more than ${depth}`);
      if (document.nodes > nodes)
        throw exceeded("node", `the operation has ${document.nodes} nodes, more than ${nodes}`);
      if (document.rootFields > rootFields)
        throw exceeded("root-field", `the operation has ${document.rootFields} root fields, more than ${rootFields}`);
      if (document.aliases > aliases)
        throw exceeded("alias", `the operation has ${document.aliases} aliases, more than ${aliases}`);
    });
    const service: ApiLimits = {
      secondsOf: (session: Session) => limits.of(session).seconds,
      timeExceeded: (seconds) => exceeded("time", `the operation took longer than ${seconds} seconds`),
    };
    context.offer(apiLimitsService, { current: () => (limits.isUsed ? service : undefined) });
  },
});
