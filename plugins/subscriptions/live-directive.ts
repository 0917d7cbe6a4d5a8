/** `query @live { album { title } }`: any query of GraphQL as a live query, on every transport that has those; with
 *  `@live(patch: true)`, changes as patches. @rule G-LIV-1 G-LIV-2 */
import { definePlugin, type PluginContext } from "../../core/index.ts";
import { gqlDirectivesHook, type GqlRequest, type ValidatedDocument } from "../graphql/api.ts";
import { livePatchesService, type LivePatcher, type LiveResult } from "./api.ts";
import { directiveSettings } from "./settings.ts";

const DESCRIPTION = "answers again whenever the result has changed; with patch, what has changed as JSON Patch";

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

export interface LiveAsked {
  /** Changes may be sent as patches. */
  readonly isPatched: boolean;
}

const WHOLE: LiveAsked = { isPatched: false };
const PATCHED: LiveAsked = { isPatched: true };

/** Undefined: it is answered once. @throws what binding its variables throws @rule G-LIV-1 G-LIV-2 */
export const liveAsked = (document: ValidatedDocument, request: GqlRequest): LiveAsked | undefined => {
  const { operation, directives } = document;
  const plain = operation === "subscription" ? WHOLE : undefined;
  if (operation === "mutation" || !directives.includes("live")) return plain;
  const given = document.bind(request.variables).directives.get("live");
  if (given?.["if"] !== true) return plain;
  return given["patch"] === true ? PATCHED : WHOLE;
};

/** For one subscriber that asks for patches; undefined: it asks for none, or no plugin makes them. */
export const patcherFor = (context: PluginContext, { isPatched }: LiveAsked): LivePatcher | undefined =>
  isPatched ? context.use(livePatchesService)?.open() : undefined;

/** The response that a result is: the whole one, or what has changed. Call it when it is sent. @rule X-PAT-2 */
export const payloadOf = (result: LiveResult, patcher: LivePatcher | undefined): string => {
  const { text, isError } = result;
  if (patcher === undefined) return isError ? text : `{"data":${text}}`;
  const message = patcher.next(result);
  if (message === undefined) return text;
  const { version, patch } = message;
  return patch === undefined
    ? `{"data":${text},"extensions":{"live":{"version":${version}}}}`
    : `{"extensions":{"live":{"version":${version},"patch":${patch}}}}`;
};
