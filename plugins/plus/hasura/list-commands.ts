/** Commands that track or untrack a list of objects. Objects that fail cause warnings, and the other objects take
 *  effect. @rule P-HAS-13 */
import { RelApiError, type Json } from "../../../core/index.ts";
import { formatName, readEntry, readItems, readListOrEmpty, requireName, type Arguments } from "./document.ts";
import type { Change, Editor } from "./editor.ts";
import { metadataError, MetadataApiError } from "./errors.ts";

const LIST_COMMAND = /^pg_((?:un)?track)_(table|function)s$/;

export const isListCommand = (type: string): boolean => LIST_COMMAND.test(type);

interface Item {
  readonly change: Change;
  /** The name of the object in lists of inconsistent objects. */
  readonly name: string;
  /** The source and the name of the object. */
  readonly location: string;
}

/** Rejects a list that names an object twice. */
const checkNames = (items: readonly Item[], kind: string, path: string): void => {
  const names = new Set<string>();
  const repeatedNames = new Set<string>();
  for (const { location } of items) (names.has(location) ? repeatedNames : names).add(location);
  if (repeatedNames.size > 0)
    throw metadataError(
      "bad-request",
      `The following ${kind}s occur more than once in the request: ${[...repeatedNames].join(", ")}`,
      `${path}.${kind}s`,
    );
};

/** Returns the reasons of an error by the names of the inconsistent objects. */
const readReasons = ({ facts }: RelApiError): ReadonlyMap<Json | undefined, string> =>
  new Map(
    readListOrEmpty(facts["internal"] as Json | undefined)
      .map(readEntry)
      .map(({ name, reason }) => [name, String(reason)]),
  );

/**
 * Runs a command such as `pg_track_tables`. `build` returns the change of a command for a single object, and `combine`
 * one change that makes several. @throws RelApiError
 */
export const runListCommand = async (
  request: Arguments & { readonly type: string },
  editor: Editor,
  build: (type: string, from: Arguments) => Change,
  combine: (changes: readonly Change[]) => Change,
): Promise<Json> => {
  const { args, path, type } = request;
  const [, operation = "", kind] = LIST_COMMAND.exec(type) ?? [];
  const single = kind === "function" ? "function" : "table";
  const items = readItems(request, `${single}s`).map((from): Item => {
    const { source: givenSource = "default" } = from.args;
    const source = String(givenSource);
    const name = formatName(requireName(from, single));
    return {
      change: build(`pg_${operation}_${single}`, from),
      name: `${single} ${name} in source ${source}`,
      location: `${source}.${name}`,
    };
  });
  checkNames(items, single, path);

  const isStrict = args["allow_warnings"] === false;
  const warningsForbidden = (internal: Json): Error =>
    metadataError("metadata-warnings", "failed due to metadata warnings", path, internal);
  const warnings: Json[] = [];
  const warn = ({ name }: Item, message: string): void => {
    warnings.push({ code: `${operation}-${single}-failed`, message, name, type: single });
  };

  /** Makes the change. Returns the error if the change does not fit the metadata or the database. */
  const attempt = async (change: Change): Promise<RelApiError | undefined> => {
    try {
      await editor.change(change);
    } catch (error) {
      if (!(error instanceof MetadataApiError) || error.code === "conflict" || error.code === "not-supported")
        throw error;
      return error;
    }
  };
  /** Makes each change that is possible, in any order. */
  const changeSingly = async (open: readonly Item[]): Promise<void> => {
    const failures: [Item, string][] = [];
    for (const item of open) {
      const error = await attempt(item.change);
      if (error !== undefined) failures.push([item, error.message]);
    }
    if (failures.length === open.length) for (const [item, message] of failures) warn(item, message);
    else if (failures.length > 0) await changeSingly(failures.map(([item]) => item));
  };

  // The objects that fail without the database, such as those that are tracked already.
  let { document } = await editor.current();
  let open = items.filter((item) => {
    try {
      document = item.change.apply(document);
      return true;
    } catch (error) {
      if (!(error instanceof MetadataApiError) || error.code === "parse-failed") throw error;
      warn(item, error.message);
      return false;
    }
  });
  while (open.length > 0) {
    if (isStrict && warnings.length > 0) break;
    const error = await attempt(combine(open.map(({ change }) => change)));
    if (error === undefined) break;
    const reasons = readReasons(error);
    const inconsistent = new Set(open.filter(({ name }) => reasons.has(name)));
    if (inconsistent.size === 0) {
      if (isStrict) throw warningsForbidden(error.facts["internal"] as Json);
      await changeSingly(open);
      break;
    }
    for (const item of inconsistent) warn(item, reasons.get(item.name) ?? error.message);
    open = open.filter((item) => !inconsistent.has(item));
  }
  if (isStrict && warnings.length > 0) throw warningsForbidden(warnings);
  if (warnings.length > 0 && warnings.length === items.length)
    throw metadataError("invalid-configuration", `all ${single}s failed to ${operation}`, path, warnings);
  return { message: "success", ...(warnings.length === 0 ? {} : { warnings }) };
};
