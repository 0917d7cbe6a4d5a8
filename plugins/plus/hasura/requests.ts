/** Requests of the metadata API: `{"type": "pg_track_table", "args": {…}}`. @rule P-HAS-1 P-HAS-3 */
import { isJsonObject, RelApiError, getNumberText, type Json, type Logger } from "../../../core/index.ts";
import { commands } from "./commands.ts";
import { removeObject, readEntry, normalizeMetadata, type Arguments, type Command, type Entry } from "./document.ts";
import type { Change, Editor } from "./editor.ts";
import { createEventHandlers } from "./event-commands.ts";
import { keyMissing, metadataError, kindUnexpected } from "./errors.ts";
import { normalizeForExport } from "./normalize-export.ts";
import { isListCommand, runListCommand } from "./list-commands.ts";
import { encodeProblem } from "./inconsistent-metadata.ts";
import { introspectRemoteSchema, renewRemoteSchema, renewRemoteSchemas } from "./remote-schema-commands.ts";
import { createScheduleHandlers } from "./schedule-commands.ts";
import type { EventsService, RemoteSchemaControl, ScheduledEventsService } from "../../services/api.ts";

interface CommandRequest extends Arguments {
  readonly type: string;
  readonly version: number;
  readonly resourceVersion?: number;
}

const MAX_BULK_DEPTH = 5;

const readWholeNumber = (value: Json | undefined, key: string, at: string): number | undefined => {
  if (value === undefined || value === null) return undefined;
  const number = Number(getNumberText(value) ?? Number.NaN);
  if (!Number.isSafeInteger(number)) throw kindUnexpected(key, "a whole number", at);
  return number;
};

/** Returns the request that a JSON body represents. @throws RelApiError `parse-failed` */
const parseRequest = (body: Json, at: string): CommandRequest => {
  if (!isJsonObject(body)) throw metadataError("parse-failed", "expected an object", at);
  const { type, args = {} } = body;
  if (type === undefined) throw keyMissing("type", at);
  if (typeof type !== "string") throw kindUnexpected("type", "a string", at);
  const resourceVersion = readWholeNumber(body["resource_version"], "resource_version", at);
  // The arguments of a bulk request are a list.
  const list = Array.isArray(args) ? { args: { items: args } } : { args: readEntry(args) };
  if (!Array.isArray(args) && !isJsonObject(args)) throw kindUnexpected("args", "an object or a list", at);
  return {
    type,
    version: readWholeNumber(body["version"], "version", at) ?? 1,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...list,
    path: at === "$" ? "$.args" : `${at}.args`,
  };
};

const parseItems = ({ args, path }: CommandRequest): readonly CommandRequest[] => {
  const { items } = args;
  if (!Array.isArray(items)) throw metadataError("parse-failed", "expected a list", path);
  return items.map((item: Json, i) => parseRequest(item, `${path}[${i}]`));
};

const commandUnknown = ({ type, path }: CommandRequest): RelApiError =>
  metadataError("parse-failed", `unknown metadata command "${type}"`, path.replace(/args$/, "type"));

const SUCCESS: Json = { message: "success" };

/** Adds the command to errors about unreadable arguments of a database command. @rule P-HAS-9 */
const toCommandError = (error: unknown, type: string): unknown => {
  const command = /^pg_(.*)$/.exec(type)?.[1];
  if (command === undefined || !(error instanceof RelApiError) || error.code !== "parse-failed") return error;
  const message = `Error when parsing command ${command}.\nInternal error message: ${error.message}`;
  return metadataError("parse-failed", message, error.path ?? "$.args");
};

/** Reports a key of the arguments that the command does not read. */
type ReportUnknownKey = (type: string, path: string) => void;

/** Runs a command, and reports the arguments that it does not read, such as `retry_config`. @rule P-HAS-9b */
const runCommand = (command: Command, document: Entry, request: CommandRequest, report: ReportUnknownKey): Entry => {
  const { args, path, type } = request;
  const read = new Set<string | symbol>(["cascade"]);
  const watchedArgs = new Proxy(args, {
    get: (target, key, receiver) => {
      read.add(key);
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  const changedDocument = command(document, { ...request, args: watchedArgs });
  for (const key of Object.keys(args)) if (!read.has(key)) report(type, `${path}.${key}`);
  return changedDocument;
};

/** Returns the change that a request makes. Returns undefined if the request makes no change, or several. */
const buildChange = (request: CommandRequest, report: ReportUnknownKey): Change | undefined => {
  const { type, args, path, resourceVersion } = request;
  const common = { path, ...(resourceVersion === undefined ? {} : { version: resourceVersion }) };
  if (type === "replace_metadata") {
    const isEnvelope = isJsonObject(args["metadata"]);
    // The condition has checked the type.
    const metadata = normalizeMetadata(isEnvelope ? (args["metadata"] as Entry) : args);
    const isLenient = args["allow_inconsistent_metadata"] === true;
    return { apply: () => metadata, allowedProblems: isLenient ? "any" : "none", ...common };
  }
  const command = commands.get(type);
  if (command === undefined) return undefined;
  return {
    apply: (document) => {
      try {
        return runCommand(command, document, request, report);
      } catch (error) {
        throw toCommandError(error, type);
      }
    },
    allowedProblems: "known",
    cascades: args["cascade"] === true,
    isDrop: /^(?:pg_)?(?:drop|untrack|remove_remote)_/.test(type),
    isRename: /^pg_(?:rename_|set_.*_customization$)/.test(type),
    ...common,
  };
};

/** Returns the change that a request makes. @throws RelApiError if the request makes no change, or several */
const requireChange = (request: CommandRequest, report: ReportUnknownKey): Change => {
  const change = buildChange(request, report);
  if (change === undefined) throw commandUnknown(request);
  return change;
};

const isBulk = (type: string): boolean => type === "bulk" || type === "bulk_atomic" || type === "concurrent_bulk";

/** Returns the changes of requests that only change metadata. Returns undefined if one of the requests does anything
 *  else. */
const buildChanges = (
  requests: readonly CommandRequest[],
  depth: number,
  report: ReportUnknownKey,
): readonly Change[] | undefined => {
  const changes: Change[] = [];
  for (const request of requests) {
    const nestedChanges =
      isBulk(request.type) && depth > 0 ? buildChanges(parseItems(request), depth - 1, report) : undefined;
    const change = buildChange(request, report);
    if (nestedChanges === undefined && change === undefined) return undefined;
    changes.push(...(nestedChanges ?? []), ...(change === undefined ? [] : [change]));
  }
  return changes;
};

/** Combines changes into one that applies them in order. */
const combineChanges = (changes: readonly Change[], path: string): Change => {
  const version = changes.find((change) => change.version !== undefined)?.version;
  const strictest = (["none", "known"] as const).find((allowedProblems) =>
    changes.some((change) => change.allowedProblems === allowedProblems),
  );
  return {
    apply: (document) => changes.reduce((next, change) => change.apply(next), document),
    allowedProblems: strictest ?? "any",
    cascades: changes.some((change) => change.cascades === true),
    isDrop: changes.every((change) => change.isDrop === true),
    ...(version === undefined ? {} : { version }),
    path,
    parts: changes,
  };
};

/** Splits changes where those that allow any problem begin or end, so that each group is checked by its own rule. */
const groupByLeniency = (changes: readonly Change[]): readonly (readonly Change[])[] => {
  const groups: Change[][] = [];
  for (const change of changes) {
    const group = groups.at(-1);
    const isLenient = group?.[0]?.allowedProblems === "any";
    if (group !== undefined && isLenient === (change.allowedProblems === "any")) group.push(change);
    else groups.push([change]);
  }
  return groups;
};

/** The services whose state some requests read or change. Undefined if the preset leaves the plugin out. */
interface AdministeredServices {
  readonly remotes: RemoteSchemaControl | undefined;
  readonly events: EventsService | undefined;
  readonly schedules: ScheduledEventsService | undefined;
}

/** Runs a request and returns its response. @throws RelApiError */
export const answerRequest = async (
  body: Json,
  editor: Editor,
  encode: (error: unknown) => Json,
  { remotes, events, schedules }: AdministeredServices,
  logger: Pick<Logger, "warn">,
): Promise<Json> => {
  const reportedPaths = new Set<string>();
  const report: ReportUnknownKey = (type, path) => {
    // A change may be applied several times.
    if (!reportedPaths.has(path)) logger.warn("a metadata command has an unknown argument; ignored", { type, path });
    reportedPaths.add(path);
  };

  const describeConsistency = async (): Promise<Entry> => {
    const problems = editor.problems();
    const { document } = await editor.current();
    return {
      is_consistent: problems.length === 0,
      inconsistent_objects: problems.map((problem) => encodeProblem(problem, document)),
    };
  };

  /** The requests that write no metadata. */
  const handlers: Readonly<Record<string, (request: CommandRequest) => Promise<Json>>> = {
    export_metadata: async ({ version: requestedVersion }) => {
      const { document, version } = await editor.current();
      const metadata = normalizeForExport(document);
      return requestedVersion === 2 ? { resource_version: version, metadata } : metadata;
    },
    introspect_remote_schema: (request) => introspectRemoteSchema(remotes, request),
    reload_remote_schema: async (request) => {
      await renewRemoteSchema(remotes, request);
      await editor.reload();
      return SUCCESS;
    },
    reload_metadata: async (request) => {
      await renewRemoteSchemas(remotes, request);
      await editor.reload();
      return { message: "success", ...(await describeConsistency()) };
    },
    get_inconsistent_metadata: async () => describeConsistency(),
    drop_inconsistent_metadata: async ({ path }) => {
      const problems = editor.problems();
      if (problems.length > 0)
        await editor.change({
          apply: (document) => problems.reduce(removeObject, document),
          allowedProblems: "any",
          path,
        });
      return SUCCESS;
    },
    ...createEventHandlers(events),
    ...createScheduleHandlers(schedules, async () => (await editor.current()).document),
    // The command line sends this request first.
    get_catalog_state: async () => ({
      id: "00000000-0000-0000-0000-000000000000",
      cli_state: {},
      console_state: {},
    }),
  };

  const runObjectList = async (request: CommandRequest): Promise<Json> => {
    const { version, resourceVersion, path } = request;
    try {
      return await runListCommand(
        request,
        editor,
        (type, from) => requireChange({ type, version, ...from }, report),
        (changes) => ({
          ...combineChanges(changes, path),
          ...(resourceVersion === undefined ? {} : { version: resourceVersion }),
        }),
      );
    } catch (error) {
      throw toCommandError(error, request.type);
    }
  };

  const runRequest = async (request: CommandRequest, depth: number): Promise<Json> => {
    const { type, version } = request;
    if (isBulk(type) || type === "bulk_keep_going") return runBulk(request, depth);
    if (isListCommand(type)) return runObjectList(request);
    const change = buildChange(request, report);
    if (change !== undefined) {
      await editor.change(change);
      return type === "replace_metadata" && version === 2 ? describeConsistency() : SUCCESS;
    }
    const handler = Object.hasOwn(handlers, type) ? handlers[type] : undefined;
    if (handler === undefined) throw commandUnknown(request);
    return handler(request);
  };

  const runBulk = async (request: CommandRequest, depth: number): Promise<Json> => {
    if (depth === 0) throw metadataError("not-supported", `more than ${MAX_BULK_DEPTH} levels of bulk`, request.path);
    const items = parseItems(request);
    const keepsGoing = request.type === "bulk_keep_going";
    const changes = buildChanges(items, depth, report);
    if (changes !== undefined && changes.length > 0) {
      try {
        await editor.change(...groupByLeniency(changes).map((group) => combineChanges(group, request.path)));
        return items.map(() => SUCCESS);
      } catch (error) {
        // Each request then runs in its own transaction.
        if (!keepsGoing || !(error instanceof RelApiError)) throw error;
      }
    }
    if (request.type === "bulk_atomic" && changes === undefined)
      throw metadataError("not-supported", "bulk_atomic takes changes of the metadata only", request.path);
    const results: Json[] = [];
    for (const item of items) {
      try {
        results.push(await runRequest(item, depth - 1));
      } catch (error) {
        if (!keepsGoing || !(error instanceof RelApiError)) throw error;
        results.push(encode(error));
      }
    }
    return results;
  };

  return runRequest(parseRequest(body, "$"), MAX_BULK_DEPTH);
};
