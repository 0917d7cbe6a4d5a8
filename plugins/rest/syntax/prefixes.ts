/** The paths that REST is served under. */
import type { RelApiOptions } from "../../../core/index.ts";

type PathOptions = Pick<RelApiOptions, "restPrefixes" | "restPath">;

const prefixes = new WeakMap<PathOptions, readonly string[]>();

/** What REST paths start with: `["/api/", "/"]` is `["/api", ""]`. @rule R-PATH-1 */
export const restPrefixesOf = (options: PathOptions): readonly string[] => {
  let found = prefixes.get(options);
  if (found === undefined) {
    found = (options.restPrefixes ?? [options.restPath ?? "/api"]).map((path) => path.replace(/\/+$/, ""));
    prefixes.set(options, found);
  }
  return found;
};
