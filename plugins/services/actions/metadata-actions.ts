/** Serves the actions of the metadata: `{ login(name: "Ada") { token } }` calls the webhook of the action `login`. */
import { definePlugin, writeJson, type Model } from "../../../core/index.ts";
import type { GqlField, GqlFieldContext, GqlFields, GqlScope } from "../../graphql/api.ts";
import { createProblemReport, getMetadataFacts, METADATA_PROBLEMS } from "../../metadata/api.ts";
import { corsAllowedOrigins } from "../../shared/settings.ts";
import { createProblemLog } from "../webhook/problem-log.ts";
import { addDeliveries, buildBackgroundPlan, buildDelivery } from "./asynchronous.ts";
import { buildActionCall, createActionCaller } from "./call.ts";
import type { ReportProblem } from "./definitions.ts";
import { createFieldBuilder } from "./fields.ts";
import { readWebhookActions, type WebhookActions } from "./metadata.ts";

const PART = "actions";
const NO_ACTIONS: WebhookActions = { types: new Map(), actions: [] };
const WORDS = { action: "action", custom_types: "custom type", relationship: "relationship of a custom type" };

// Only the tap below writes this part.
const getActions = (model: Model): WebhookActions => (model.pluginFacts[PART] ?? NO_ACTIONS) as WebhookActions;

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
    hooks.introspect.tapPromise("metadata-actions", async (model, introspection) => {
      const { "metadata-actions": rawActions } = getMetadataFacts(model);
      if (rawActions === undefined) return model;
      const { problems, report: reportProblem } = createProblemReport(model, introspection);
      const report: ReportProblem = (type, name, reason) =>
        reportProblem(
          { type: type === "relationship" ? "custom_types" : type, name },
          `${WORDS[type]} ${name}`,
          reason,
        );
      const actions = readWebhookActions(rawActions, model, context.registry.has("events"), report, (name, reason) =>
        introspection.warn(`metadata: action ${name}: ${reason}; ignored`),
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

    const buildFields = createFieldBuilder((model) => {
      const { types, actions } = getActions(model);
      const served = actions.map((action) => ({
        ...action,
        buildPlan: (scope: GqlScope): GqlField["toPlan"] =>
          action.isAsynchronous
            ? buildBackgroundPlan(context, action.field.name, action.forwardsHeaders, scope)
            : { kind: "custom", run: (request) => call(action, types, buildActionCall(context, action, request)) },
      }));
      return { types, actions: served };
    });
    hooks.buildGqlField.tap("metadata-actions", (fields: GqlFields, field: GqlFieldContext) => ({
      ...buildFields(field),
      ...fields, // a field of a table takes precedence
    }));
  },
});
