/** `subscription @live(patch: true) { album { title } }`, `GET /album?live=patch`: after the first result, what has
 *  changed of it as JSON Patch (RFC 6902). `relapi/live-client` puts it together again. @rule X-PAT-1 … X-PAT-6 */
import { definePlugin } from "../../core/index.ts";
import type { LivePatcher, LivePatchesService, LiveResult } from "../subscriptions/api.ts";
import { diff } from "./diff.ts";
import { patchSettings } from "./settings.ts";

export const livePatches = definePlugin({
  name: "live-patches",
  settings: patchSettings,
  requires: ["live-queries"],
  apply: (_hooks, context) => {
    const patchOf = createPatches(() => context.options.maxLivePatchBytes);
    context.offer<LivePatchesService>("live-patches", { open: () => createPatcher(patchOf) });
  },
});

const isLarger = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);

/** Undefined: the whole result is better. */
type PatchOf = (before: string, result: LiveResult) => string | undefined;

/** Subscribers of one live query get the same results, as the same objects: what changed between two of them is found
 *  once, by their whole texts, and forgotten with the newer one. */
const createPatches = (maxBytes: () => number): PatchOf => {
  const made = new WeakMap<LiveResult, Map<string, string | undefined>>();
  return (before, result) => {
    if (isLarger(before, maxBytes()) || isLarger(result.text, maxBytes())) return undefined;
    let byText = made.get(result);
    if (byText === undefined) made.set(result, (byText = new Map()));
    if (!byText.has(before)) byText.set(before, diff(before, result.text));
    return byText.get(before);
  };
};

const createPatcher = (patchOf: PatchOf): LivePatcher => {
  let version = 0;
  let sent: string | undefined;
  return {
    next: (result) => {
      const before = sent;
      sent = result.isError ? undefined : result.text;
      if (result.isError) return undefined;
      version++;
      const patch = before === undefined ? undefined : patchOf(before, result);
      return patch === undefined ? { version } : { version, patch };
    },
  };
};
