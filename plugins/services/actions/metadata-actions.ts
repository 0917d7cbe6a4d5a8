/** Serves the actions of the metadata: `{ login(name: "Ada") { token } }` calls the webhook of the action `login`. */
import { definePlugin, memoize, writeJson, type Model } from "../../../core/index.ts";
import type { GqlBuild, GqlField, GqlFieldContext, GqlFields } from "../../graphql/api.ts";
import { copyProblems, getMetadataFacts, METADATA_PROBLEMS } from "../../metadata/api.ts";
import { corsAllowedOrigins } from "../../shared/settings.ts";
import { createProblemLog } from "../webhook/problem-log.ts";
import { addDeliveries, buildBackgroundPlan, buildDelivery, isServedIn } from "./asynchronous.ts";
import { buildActionCall, createActionCaller } from "./call.ts";
import { mayCall, type ReportProblem } from "./definitions.ts";
import { createActionTypes } from "./graphql-types.ts";
import { readWebhookActions, type WebhookActions } from "./metadata.ts";

const PART = "actions";
const WORDS = { action: "action", custom_types: "custom type", relationship: "relationship of a custom type" };

// only the tap below writes this part
const getActions = (model: Model): WebhookActions | undefined => model.pluginFacts[PART] as WebhookActions | undefined;

/** Serves the actions and custom types of the metadata. @rule X-ACT-1 … X-ACT-8 X-ACT-15 */
export const metadataActions = definePlugin({
  name: "metadata-actions",
  settings: [corsAllowedOrigins],
  requires: ["metadata-loader", "catalog-introspection", "graphql-queries", "webhooks"],
  before: ["metadata", "events"], // these taps report the metadata problems and deliver actions
  apply: (hooks, context) => {
    const call = createActionCaller(
      context,
      createProblemLog((action, reason) => context.logger.error("an action failed", { action, reason })),
    );
    hooks.introspect.tapPromise("metadata-actions", async (model, { warn }) => {
      const { "metadata-actions": raw } = getMetadataFacts(model);
      if (raw === undefined) return model;
      const problems = copyProblems(model);
      const report: ReportProblem = (type, name, reason) => {
        warn(`metadata: ${WORDS[type]} ${name}: ${reason}; ignored`);
        const problem = type === "relationship" ? "custom_types" : type;
        problems.push({ type: problem, name, reason: `${WORDS[type]} ${name}: ${reason}` });
      };
      const actions = readWebhookActions(raw, model, context.registry.has("events"), report, (name, reason) =>
        warn(`metadata: action ${name}: ${reason}; ignored`),
      );
      const deliveries = actions.actions
        .filter(({ isAsynchronous }) => isAsynchronous)
        .map((action) =>
          buildDelivery(context, {
            name: action.field.name,
            timeoutMs: action.timeoutMs,
            call: async ({ id, createdAt, input, sessionVariables, headers, document }, signal) => {
              const payload = {
                id,
                created_at: createdAt,
                input,
                session_variables: sessionVariables,
                request_query: document,
              };
              return writeJson(await call(action, actions.types, { payload, headers, signal }));
            },
          }),
        );
      const pluginFacts = { ...model.pluginFacts, [PART]: actions, [METADATA_PROBLEMS]: problems };
      return addDeliveries({ ...model, pluginFacts }, deliveries);
    });

    const getTypes = memoize((build: GqlBuild) =>
      createActionTypes(build, getActions(build.schema.model)?.types ?? new Map()),
    );
    hooks.buildGqlField.tap("metadata-actions", (fields: GqlFields, { scope, model, build }: GqlFieldContext) => {
      const served = getActions(model);
      if (served === undefined || served.actions.length === 0) return fields;
      const added: Record<string, GqlField> = {};
      for (const action of served.actions) {
        const { field, isAsynchronous } = action;
        if (!isServedIn(scope, field, isAsynchronous) || !mayCall(field, build.access)) continue;
        const types = getTypes(build);
        const config = isAsynchronous ? types.buildAsynchronousField(scope, field) : types.buildField(field);
        if (config === undefined) continue;
        const toPlan: GqlField["toPlan"] = isAsynchronous
          ? buildBackgroundPlan(context, field.name, action.forwardsHeaders, scope)
          : { kind: "custom", run: (request) => call(action, served.types, buildActionCall(context, action, request)) };
        added[field.name] = { config, toPlan };
      }
      return { ...added, ...fields }; // a field of a table takes precedence
    });
  },
});
