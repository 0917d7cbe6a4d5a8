/** Runs any GraphQL query as a live query, on every transport that supports live queries:
 *  `query @live { album { title } }`. With `@live(patch: true)`, changes are sent as patches. @rule G-LIV-1 G-LIV-2 */
import { definePlugin, type PluginContext } from "../../../core/index.ts";
import { gqlDirectivesHook, type ValidatedDocument } from "../../graphql/api.ts";
import { livePatchesService, type LivePatcher, type LiveResult } from "../api.ts";
import { directiveSettings } from "../settings.ts";

const DESCRIPTION = "sends the result again whenever it changes; with patch, only the changes, as JSON Patch";

/** Runs queries with `@live` as live queries. */
export const liveDirective = definePlugin({
  name: "live-directive",
  settings: directiveSettings,
  requires: ["graphql", "live-queries"],
  apply: (_hooks, context) => {
    if (!context.options.liveDirective) return;
    const defaults: Record<string, boolean> = context.registry.has("live-patches")
      ? { if: true, patch: false }
      : { if: true };
    context
      .use(gqlDirectivesHook)
      .tap("live-directive", (directives) => [
        ...directives,
        { name: "live", description: DESCRIPTION, on: ["query", "subscription"], arguments: defaults },
      ]);
  },
});

export interface LiveDirectiveRequest {
  /** True if changes may be sent as patches. */
  readonly isPatched: boolean;
}

const WHOLE_RESULTS: LiveDirectiveRequest = { isPatched: false };
const PATCHED_RESULTS: LiveDirectiveRequest = { isPatched: true };

/** Reads the directive of a document. Undefined if the operation is to be answered once. @throws the errors of binding
 *  the directive's variables @rule G-LIV-1 G-LIV-2 */
export const readLiveDirective = (document: ValidatedDocument): LiveDirectiveRequest | undefined => {
  const { operation, directives } = document;
  const plain = operation === "subscription" ? WHOLE_RESULTS : undefined;
  if (operation === "mutation" || !directives.includes("live")) return plain;
  const args = document.bind().directives.get("live");
  if (args?.["if"] !== true) return plain;
  return args["patch"] === true ? PATCHED_RESULTS : WHOLE_RESULTS;
};

/** Opens a patcher for a subscriber that requests patches. Undefined if the subscriber requests no patches, or if no
 *  plugin provides them. */
export const openPatcher = (context: PluginContext, { isPatched }: LiveDirectiveRequest): LivePatcher | undefined =>
  isPatched ? context.use(livePatchesService)?.open() : undefined;

/** Encodes a result as the whole response or as a patch. The function must be called when the response is sent, because
 *  it advances the patcher. @rule X-PAT-2 */
export const encodePayload = (result: LiveResult, patcher: LivePatcher | undefined): string => {
  const { text, isError } = result;
  if (patcher === undefined) return isError ? text : `{"data":${text}}`;
  const message = patcher.next(result);
  if (message === undefined) return text;
  const { version, patch } = message;
  return patch === undefined
    ? `{"data":${text},"extensions":{"live":{"version":${version}}}}`
    : `{"extensions":{"live":{"version":${version},"patch":${patch}}}}`;
};
