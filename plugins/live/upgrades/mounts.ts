/** Finds the mount paths of an api, and the rest of an upgrade's path below them, because upgrade requests do not pass
 *  a router. */
import { trimEndCharacter, type AnyServer } from "../../../core/index.ts";

/** Lists the path, followed by its rest below each possible mount path. */
export const listSuffixes = (path: string): readonly string[] => {
  const paths = [path];
  for (let slash = path.indexOf("/", 1); slash !== -1; slash = path.indexOf("/", slash + 1))
    paths.push(path.slice(slash));
  return paths;
};

/** Returns the rest of the path below a mount path: `/v1/graphql` for `/db/v1/graphql` below `/db`. The list is empty
 *  if the path is not below the mount path. */
export const removeMountPath = (mount: string, path: string): readonly string[] => {
  const prefix = trimEndCharacter(mount, "/");
  if (prefix === "") return [path];
  return path.toLowerCase().startsWith(`${prefix.toLowerCase()}/`) ? [path.slice(prefix.length)] : [];
};

const MAX_DEPTH = 8;

/** An entry in the stack of an Express router or a connect application. */
interface Layer {
  readonly handle?: unknown;
  /** The function that decides in Express whether the layer matches the path. */
  readonly match?: unknown;
  readonly path?: unknown;
  /** The mount path of the layer in connect. */
  readonly route?: unknown;
}

/** Finds the rest of the path below each mount path of the api in the server's listeners. An api is found as a
 *  listener, or in the stack of an Express application, a router or a connect application. Undefined if the api is not
 *  found. */
export const findPathsBelowMounts = (
  isApi: (listener: unknown) => boolean,
  server: AnyServer,
  path: string,
): readonly string[] | undefined => {
  const mountPaths: string[] = [];
  const visit = (listener: unknown, remainingPaths: readonly string[], depth: number): boolean => {
    if (isApi(listener)) {
      mountPaths.push(...remainingPaths);
      return true;
    }
    if (typeof listener !== "function" || depth > MAX_DEPTH) return false;
    const router = readMember(listener, "router") ?? readMember(listener, "_router");
    let isThere = typeof router === "function" && router !== listener && visit(router, remainingPaths, depth + 1);
    const stack = readMember(listener, "stack");
    if (Array.isArray(stack))
      for (const layer of stack as readonly (Layer | null)[])
        if (
          layer !== null &&
          visit(
            layer.handle,
            remainingPaths.flatMap((remainingPath) => matchLayer(layer, remainingPath)),
            depth + 1,
          )
        )
          isThere = true;
    return isThere;
  };
  return server.listeners("request").filter((listener) => visit(listener, [path], 0)).length > 0
    ? mountPaths
    : undefined;
};

/** Reads a member. Undefined if the getter throws, because Express 4 throws when its router is read. */
const readMember = (object: object, name: string): unknown => {
  try {
    return (object as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
};

/** Matches a path as the router does. Newer routers return the match; older ones store it on the layer, where the next
 *  match overwrites it. */
const matchLayer = (layer: Layer, path: string): readonly string[] => {
  if (typeof layer.route === "string") return removeMountPath(layer.route, path);
  if (typeof layer.match !== "function") return [path];
  let match: unknown;
  try {
    match = layer.match(path);
  } catch {
    return []; // the path has a malformed percent-escape
  }
  if (match === false || match === undefined || match === null) return [];
  const matchedPath = match === true ? layer.path : (match as { readonly path?: unknown }).path;
  const remainingPath = path.slice(typeof matchedPath === "string" ? matchedPath.replace(/\/$/, "").length : 0);
  return remainingPath === "" ? ["/"] : remainingPath.startsWith("/") ? [remainingPath] : [];
};
