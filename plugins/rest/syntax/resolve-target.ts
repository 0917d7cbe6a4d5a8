/** `/vessels`, `/rpc/fleet_weight`, `/`, and `Accept-Profile: sea`: finds the target of a request. */
import {
  memoize,
  trimEndCharacter,
  decodeUtf8Header,
  type Model,
  type RelApiOptions,
  type ResolvedOptions,
} from "../../../core/index.ts";
import { pathInvalid, rootDisabled, schemaNotExposed } from "../errors.ts";
import type { RequestTarget } from "../request.ts";
import { decodePercent } from "./parameters.ts";

/** The target that the path names. `schema` is set if the setting of the root names one. */
type Location = Pick<RequestTarget, "kind" | "name" | "path"> & { readonly schema?: string };

type PathOptions = Pick<RelApiOptions, "restPrefixes" | "restPath">;

/** Returns the prefixes of REST paths: `["/api/", "/"]` becomes `["/api", ""]`. @rule R-PATH-1 */
export const getRestPrefixes = memoize(({ restPrefixes, restPath = "/api" }: PathOptions): readonly string[] =>
  (restPrefixes ?? [restPath]).map((path) => trimEndCharacter(path, "/")),
);

/** Returns the path below the REST root. Returns undefined if the surface does not serve it. @rule R-PATH-1 R-PATH-2 */
const findPathBelowRoot = (options: ResolvedOptions, path: string): string | undefined => {
  let longestPrefix = options.compatMode ? "" : undefined;
  for (const prefix of getRestPrefixes(options))
    if (path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/"))
      if (longestPrefix === undefined || prefix.length > longestPrefix.length) longestPrefix = prefix;
  return longestPrefix === undefined ? undefined : path.slice(longestPrefix.length);
};

/** Finds the target of a request. `profile` is the value of the header that names a schema. @throws RelApiError
 *  `path-invalid`, `root-disabled`, `schema-not-exposed` @rule R-PATH-4 R-PATH-5 R-PATH-6 R-PATH-8 R-PROF-3 */
export const resolveTarget = (
  options: ResolvedOptions,
  model: Model,
  sentPath: string,
  sentProfile: string | undefined,
): RequestTarget => {
  const { kind, name, path, schema } = parsePath(options, sentPath);
  const profile = readProfile(model, sentProfile);
  return {
    kind,
    model,
    schema: schema ?? profile ?? model.schemas[0] ?? "public",
    isProfileNamed: profile !== undefined || model.schemas.length > 1,
    name,
    path,
  };
};

const parsePath = (options: ResolvedOptions, path: string): Location => {
  const pathBelowRoot = findPathBelowRoot(options, path) ?? path;
  if (pathBelowRoot === "" || pathBelowRoot === "/") return findRootTarget(options);
  const [empty, first = "", second, ...otherSegments] = pathBelowRoot.split("/");
  if (empty !== "" || otherSegments.length > 0) throw pathInvalid();
  if (second === undefined) return { kind: "relation", name: decodePercent(first), path: pathBelowRoot };
  if (first !== "rpc") throw pathInvalid();
  return { kind: "routine", name: decodePercent(second), path: pathBelowRoot };
};

/** Returns the function that `dbRootSpec` names, with or without its schema. */
const findRootTarget = ({ dbRootSpec, openapiMode }: ResolvedOptions): Location => {
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

const READ_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Returns the name of the header that names a schema. @rule R-PROF-1 R-PROF-2 */
export const getProfileHeader = (method: string): string =>
  READ_METHODS.has(method) ? "accept-profile" : "content-profile";

/** Returns the exposed schema that the request names. Returns undefined if the request names no schema. @rule
 *  R-PROF-5 */
const readProfile = (model: Model, profileHeader: string | undefined): string | undefined => {
  if (profileHeader === undefined) return undefined;
  const name = decodeUtf8Header(profileHeader);
  if (!model.schemas.includes(name)) throw schemaNotExposed(name, model.schemas);
  return name;
};
