/** Applies Hasura's `api_limits`, and other limits in their format: depth, size and duration of an operation, by
 *  role. */
import { definePlugin, type Session } from "../../core/index.ts";
import { checkGqlDocumentHook } from "../graphql/api.ts";
import { apiLimitsService, type ApiLimits } from "./api.ts";
import { apiLimitExceeded } from "./errors.ts";
import { createRoleLimits, mayHaveLimits } from "./role-limits.ts";
import { apiLimitSettings } from "./settings.ts";
import { formatCount } from "../shared/plural.ts";

/** Limits depth, size and duration of GraphQL operations by role. @rule G-LIM-8 */
export const apiLimits = definePlugin({
  name: "api-limits",
  requires: ["graphql"],
  settings: apiLimitSettings,
  apply: (_hooks, context) => {
    if (!mayHaveLimits(context.options)) return;
    const limits = createRoleLimits(context, "api-limits");
    context.use(checkGqlDocumentHook).tap("api-limits", (_text, session, document, sender) => {
      const depth = limits.findLimit(session, "depth_limit") ?? Infinity;
      const nodes = limits.findLimit(session, "node_limit") ?? Infinity;
      const batch = limits.findLimit(session, "batch_limit") ?? Infinity;
      const aliases = limits.findLimit(session, "alias_limit") ?? Infinity;
      const rootFields = limits.findLimit(session, "root_field_limit") ?? Infinity;
      const { batchSize = 1 } = sender ?? {};
      if (batchSize > batch)
        throw apiLimitExceeded("batch", `the batch has ${formatCount(batchSize, "operation")}, more than ${batch}`);
      if (document.levels > depth)
        throw apiLimitExceeded("depth", `the operation has a depth of ${document.levels}, more than ${depth}`);
      if (document.nodes > nodes)
        throw apiLimitExceeded("node", `the operation has ${formatCount(document.nodes, "node")}, more than ${nodes}`);
      if (document.rootFields > rootFields)
        throw apiLimitExceeded(
          "root-field",
          `the operation has ${formatCount(document.rootFields, "root field")}, more than ${rootFields}`,
        );
      if (document.aliases > aliases)
        throw apiLimitExceeded(
          "alias",
          `the operation has ${formatCount(document.aliases, "alias", "aliases")}, more than ${aliases}`,
        );
    });
    const service: ApiLimits = {
      findTimeLimitSeconds: (session: Session) => limits.findLimit(session, "time_limit"),
      createTimeExceededError: (seconds) =>
        apiLimitExceeded("time", `the operation took longer than ${formatCount(seconds, "second")}`),
    };
    context.offer(apiLimitsService, { current: () => (limits.isUsed ? service : undefined) });
  },
});
