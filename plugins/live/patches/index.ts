/** Sends changes of a live query as JSON Patch (RFC 6902) after the first result:
 *  `subscription @live(patch: true) { album { title } }`, `GET /album?live=patch`. `relapi/live-client` applies the
 *  patches. @rule X-PAT-1 … X-PAT-8 */
import { definePlugin, memoize } from "../../../core/index.ts";
import { livePatchesService, type LivePatcher, type LiveResult } from "../api.ts";
import { diff } from "./diff.ts";
import { createResultStore, type StoredResult, type ResultStore } from "./result-store.ts";
import { patchSettings } from "../settings.ts";

/** Sends changed results of live queries as JSON Patch. */
export const livePatches = definePlugin({
  name: "live-patches",
  settings: patchSettings,
  requires: ["live-queries"],
  apply: (_hooks, context) => {
    const resultStore = createResultStore(() => context.options);
    context.counters.watch("live-patch-bytes", () => resultStore.bytes);
    const findPatch = createPatchFinder();
    context.offer(livePatchesService, { open: () => createPatcher(resultStore, findPatch) });
  },
});

/** Finds the patch between two results. Undefined if sending the whole result is better. */
type FindPatch = (before: string, result: LiveResult, text: string) => string | undefined;

/** Creates a function that finds patches. Subscribers of one live query receive the same result objects. So the patch
 *  between two results is computed once, and garbage-collected with the newer result. */
const createPatchFinder = (): FindPatch => {
  const getPatches = memoize((_result: LiveResult) => new Map<string, string | undefined>());
  return (before, result, text) => {
    const byText = getPatches(result);
    if (!byText.has(before)) byText.set(before, diff(before, text));
    return byText.get(before);
  };
};

const createPatcher = ({ store: keep, release }: ResultStore, findPatch: FindPatch): LivePatcher => {
  let version = 0;
  let sentResult: StoredResult | undefined;
  let isClosed = false;
  return {
    next: (result) => {
      const previousResult = sentResult;
      release(previousResult); // releasing the old result frees memory for the new result
      sentResult = result.isError || isClosed ? undefined : keep(result);
      if (result.isError) return undefined;
      version++;
      const patch =
        previousResult === undefined || sentResult === undefined
          ? undefined
          : findPatch(previousResult.text, result, sentResult.text);
      return patch === undefined ? { version } : { version, patch };
    },
    close: () => {
      isClosed = true;
      release(sentResult);
      sentResult = undefined;
    },
  };
};
