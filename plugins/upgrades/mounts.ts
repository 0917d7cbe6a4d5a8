/** Where an api is mounted: what is left of the path of an upgrade request, which no router has seen. */
import { trimEndOf, type AnyServer } from "../../core/index.ts";

/** The path, then what is left of it below each possible mount. */
export const pathsOf = (path: string): readonly string[] => {
  const paths = [path];
  for (let slash = path.indexOf("/", 1); slash !== -1; slash = path.indexOf("/", slash + 1))
    paths.push(path.slice(slash));
  return paths;
};

/** `/v1/graphql` of `/db/v1/graphql` below `/db`. */
export const pathBelow = (mount: string, path: string): readonly string[] => {
  const prefix = trimEndOf(mount, "/");
  if (prefix === "") return [path];
  return path.toLowerCase().startsWith(`${prefix.toLowerCase()}/`) ? [path.slice(prefix.length)] : [];
};

const DEEPEST = 8;

/** An entry of the stack of an Express router, or of a connect application. */
interface Layer {
  readonly handle?: unknown;
  /** Express: whether the layer is for the path. */
  readonly match?: unknown;
  readonly path?: unknown;
  /** connect: the mount. */
  readonly route?: unknown;
}

/** What is left of the path where the server's listeners are the api, or an Express application, a router or a connect
 *  application with it in its stack; undefined: it is nowhere in view. */
export const pathsTo = (
  isApi: (listener: unknown) => boolean,
  server: AnyServer,
  path: string,
): readonly string[] | undefined => {
  const found: string[] = [];
  const visit = (listener: unknown, rests: readonly string[], depth: number): boolean => {
    if (isApi(listener)) {
      found.push(...rests);
      return true;
    }
    if (typeof listener !== "function" || depth > DEEPEST) return false;
    const router = memberOf(listener, "router") ?? memberOf(listener, "_router");
    let isThere = typeof router === "function" && router !== listener && visit(router, rests, depth + 1);
    const stack = memberOf(listener, "stack");
    if (Array.isArray(stack))
      for (const layer of stack as readonly (Layer | null)[])
        if (
          layer !== null &&
          visit(
            layer.handle,
            rests.flatMap((rest) => restOf(layer, rest)),
            depth + 1,
          )
        )
          isThere = true;
    return isThere;
  };
  return server.listeners("request").filter((listener) => visit(listener, [path], 0)).length > 0 ? found : undefined;
};

/** Express 4 throws when its router is read. */
const memberOf = (of: object, name: string): unknown => {
  try {
    return (of as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
};

/** As the router does. Newer routers return what they matched; older ones store it on the layer, where the next match
 *  overwrites it. */
const restOf = (layer: Layer, path: string): readonly string[] => {
  if (typeof layer.route === "string") return pathBelow(layer.route, path);
  if (typeof layer.match !== "function") return [path];
  let found: unknown;
  try {
    found = layer.match(path);
  } catch {
    return []; // malformed percent-escape
  }
  if (found === false || found === undefined || found === null) return [];
  const matched = found === true ? layer.path : (found as { readonly path?: unknown }).path;
  const rest = path.slice(typeof matched === "string" ? matched.replace(/\/$/, "").length : 0);
  return rest === "" ? ["/"] : rest.startsWith("/") ? [rest] : [];
};
