/** `subscription @live(patch: true) { album { title } }`, `GET /album?live=patch`: after the first result, what has
 *  changed of it as JSON Patch (RFC 6902). `relapi/live-client` puts it together again. @rule X-PAT-1 … X-PAT-8 */
import { definePlugin, memoize } from "../../core/index.ts";
import { livePatchesService, type LivePatcher, type LiveResult } from "../subscriptions/api.ts";
import { diff } from "./diff.ts";
import { createKeeper, type Kept, type Keeper } from "./kept.ts";
import { patchSettings } from "./settings.ts";

export const livePatches = definePlugin({
  name: "live-patches",
  settings: patchSettings,
  requires: ["live-queries"],
  apply: (_hooks, context) => {
    const keeper = createKeeper(() => context.options);
    context.counters.watch("live-patch-bytes", () => keeper.bytes);
    const patchOf = createPatches();
    context.offer(livePatchesService, { open: () => createPatcher(keeper, patchOf) });
  },
});

/** Undefined: the whole result is better. */
type PatchOf = (before: string, result: LiveResult, text: string) => string | undefined;

/** Subscribers of one live query get the same results, as the same objects: what changed between two of them is found
 *  once, by their whole texts, and forgotten with the newer one. */
const createPatches = (): PatchOf => {
  const patchesOf = memoize((_result: LiveResult) => new Map<string, string | undefined>());
  return (before, result, text) => {
    const byText = patchesOf(result);
    if (!byText.has(before)) byText.set(before, diff(before, text));
    return byText.get(before);
  };
};

const createPatcher = ({ keep, release }: Keeper, patchOf: PatchOf): LivePatcher => {
  let version = 0;
  let sent: Kept | undefined;
  let isClosed = false;
  return {
    next: (result) => {
      const before = sent;
      release(before); // makes room for this one
      sent = result.isError || isClosed ? undefined : keep(result);
      if (result.isError) return undefined;
      version++;
      const patch = before === undefined || sent === undefined ? undefined : patchOf(before.text, result, sent.text);
      return patch === undefined ? { version } : { version, patch };
    },
    close: () => {
      isClosed = true;
      release(sent);
      sent = undefined;
    },
  };
};
