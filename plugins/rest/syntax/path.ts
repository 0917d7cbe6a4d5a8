/** `/vessels`, `/rpc/fleet_weight`, `/`: what a path below the REST root names. */
import type { ResolvedOptions } from "../../../core/index.ts";
import { pathInvalid, rootDisabled } from "../errors.ts";
import { decodePercent } from "./query-string.ts";

export interface Location {
  readonly kind: "root" | "relation" | "routine";
  /** Decoded; "" at the root. */
  readonly name: string;
  /** Functions: schema where the setting of the root names one. */
  readonly schema?: string;
  /** As received, without prefix. @rule R-PATH-9 */
  readonly path: string;
}

/** The path below the REST root, or undefined where the surface does not reach. @rule R-PATH-1 R-PATH-2 */
export const belowRoot = ({ restPath, compatMode }: ResolvedOptions, path: string): string | undefined => {
  if (restPath !== "" && path.startsWith(restPath)) {
    const rest = path.slice(restPath.length);
    if (rest === "" || rest.startsWith("/")) return rest;
  }
  return compatMode || restPath === "" ? path : undefined;
};

/** @throws RelApiError `path-invalid`, `root-disabled` @rule R-PATH-4 R-PATH-5 R-PATH-6 R-PATH-8 */
export const locate = (options: ResolvedOptions, path: string): Location => {
  const below = belowRoot(options, path) ?? path;
  if (below === "" || below === "/") return locateRoot(options);
  const [empty, first = "", second, ...more] = below.split("/");
  if (empty !== "" || more.length > 0) throw pathInvalid();
  if (second === undefined) return { kind: "relation", name: decodePercent(first), path: below };
  if (first !== "rpc") throw pathInvalid();
  return { kind: "routine", name: decodePercent(second), path: below };
};

/** `dbRootSpec` is a function name, with its schema or without. */
const locateRoot = ({ dbRootSpec, openapiMode }: ResolvedOptions): Location => {
  if (dbRootSpec !== undefined) {
    const dot = dbRootSpec.indexOf(".");
    return {
      kind: "routine",
      name: dbRootSpec.slice(dot + 1),
      schema: dot === -1 ? undefined : dbRootSpec.slice(0, dot),
      path: "/",
    };
  }
  if (openapiMode === "disabled") throw rootDisabled();
  return { kind: "root", name: "", path: "/" };
};
