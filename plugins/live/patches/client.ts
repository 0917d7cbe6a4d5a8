/** Rebuilds the results of live queries from patches, in browsers and on servers, without dependencies:
 *  `import { createGraphqlPatchApplier, createRestPatchApplier } from "relapi/live-client"`. @rule X-PAT-6 */

/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/** Thrown if a message was lost, or the patch does not fit the last result. The client must subscribe again; the first
 *  result is then whole. */
export class LivePatchError extends Error {
  override readonly name = "LivePatchError";
}

type Container = unknown[] | Record<string, unknown>;

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

const parsePointer = (pointer: string): string[] =>
  pointer === ""
    ? []
    : pointer
        .split("/")
        .slice(1)
        .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

const parseArrayIndex = (list: readonly unknown[], name: string, last: number): number => {
  const index = name === "-" ? list.length : /^(?:0|[1-9]\d*)$/.test(name) ? Number(name) : -1;
  if (index < 0 || index > last) throw new LivePatchError(`there is no element ${name}`);
  return index;
};

const getMember = (container: unknown, name: string): unknown => {
  if (Array.isArray(container)) return container[parseArrayIndex(container, name, container.length - 1)];
  if (!isContainer(container) || !Object.hasOwn(container, name)) throw new LivePatchError(`there is no ${name}`);
  return (container as Record<string, unknown>)[name];
};

const getValueAt = (document: unknown, pointer: string): unknown => parsePointer(pointer).reduce(getMember, document);

/** Sets a member of an object, so that even `__proto__` becomes an ordinary member. */
const setValue = (object: Record<string, unknown>, name: string, value: unknown): void => {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
};

const isDeepEqual = (a: unknown, b: unknown): boolean => {
  if (!isContainer(a) || !isContainer(b)) return a === b;
  const names = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isDeepEqual(getMember(a, name), getMember(b, name)))
  );
};

/** Returns the changed document. Unchanged parts are the same objects as before, and the old document is not modified.
 *  @throws LivePatchError if the patch does not fit */
export const applyPatch = <Document>(document: Document, patch: readonly PatchOperation[]): Document => {
  /** The copies that this call has made, which may be modified. */
  const copies = new Set<object>();
  const copyOnce = (value: unknown): Container => {
    if (!isContainer(value)) throw new LivePatchError("a path leads into a value that has no members");
    if (copies.has(value)) return value;
    const copy: Container = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
    copies.add(copy);
    return copy;
  };
  let root: unknown = document;
  const change = (
    pointer: string,
    applyToMember: (container: Container, name: string) => void,
    replaceRoot?: () => unknown,
  ): void => {
    const parts = parsePointer(pointer);
    const name = parts.pop();
    if (name === undefined) return void (root = replaceRoot?.());
    let container = copyOnce(root);
    root = container;
    for (const part of parts) {
      const child = copyOnce(getMember(container, part));
      if (Array.isArray(container)) container[Number(part)] = child;
      else setValue(container, part, child);
      container = child;
    }
    applyToMember(container, name);
  };
  const putValue = (pointer: string, value: unknown, isNew: boolean): void =>
    change(
      pointer,
      (container, name) => {
        if (!isNew) getMember(container, name);
        if (!Array.isArray(container)) setValue(container, name, value);
        else container.splice(parseArrayIndex(container, name, container.length), isNew ? 0 : 1, value);
      },
      () => value,
    );
  const remove = (pointer: string): void =>
    change(pointer, (container, name) => {
      getMember(container, name);
      if (Array.isArray(container)) container.splice(Number(name), 1);
      else delete container[name];
    });
  for (const operation of patch) {
    const { path } = operation;
    if (operation.op === "remove") remove(path);
    else if (operation.op === "test") {
      if (!isDeepEqual(getValueAt(root, path), operation.value)) throw new LivePatchError(`${path} differs`);
    } else if ("value" in operation) {
      putValue(path, operation.value, operation.op === "add");
    } else {
      const value = getValueAt(root, operation.from);
      if (operation.op === "move") remove(operation.from);
      putValue(path, value, true);
    }
  }
  return root as Document; // the server made the change and knows the type
};

/** The version and the patch that a server sends with a result. */
interface Live {
  readonly version: number;
  readonly patch?: readonly PatchOperation[];
}

/** A GraphQL result as links, exchanges and sinks pass it on. */
interface GraphqlResult {
  readonly data?: any;
  readonly errors?: readonly unknown[];
  readonly extensions?: any;
}

/** The parsed data of an event of `GET …?live=patch`. */
export interface LiveEvent<Rows> extends Live {
  readonly data?: Rows;
}

/** Stores the last result of one subscription, and applies patches to it. */
const createResultUpdater = <Data>(): ((live: Live, completeData: Data) => Data) => {
  let data: Data;
  let version = 0;
  return (live, completeData) => {
    if (live.patch === undefined) data = completeData;
    else if (live.version === version) return data; // some clients deliver a result twice
    else if (version === 0 || live.version !== version + 1)
      throw new LivePatchError(`version ${live.version} does not follow ${version}`);
    else data = applyPatch(data, live.patch);
    version = live.version;
    return data;
  };
};

/** Creates a function for one GraphQL subscription, which receives its results in order and returns each with all its
 *  data. Results without patches are returned unchanged. @throws LivePatchError */
export const createGraphqlPatchApplier = (): (<Result extends GraphqlResult>(result: Result) => Result) => {
  const keep = createResultUpdater<any>();
  return (result) => {
    const live = result.extensions?.live as Live | undefined;
    if (live === undefined || result.errors !== undefined) return result;
    return { ...result, data: keep(live, result.data) };
  };
};

/** Creates a function for one `EventSource` of `…?live=patch`, which receives the data of its events and returns all
 *  rows. @throws LivePatchError */
export const createRestPatchApplier = <Rows = any>(): ((data: string) => Rows) => {
  const keep = createResultUpdater<Rows>();
  return (data) => {
    const event = JSON.parse(data) as LiveEvent<Rows>;
    return keep(event, event.data as Rows); // an event without a patch contains the rows
  };
};
