/** Event handlers in TypeScript: `eventHandlers({ "public.order": { insert: async ({ row }) => … } })`. */
import { definePlugin, defineService, type JsonObject, type Plugin, type QualifiedName } from "../../../core/index.ts";
import { DEFAULT_RULES, MAX_RULES, readRules } from "../queue/delivery.ts";
import { handlersInvalid } from "./errors.ts";
import { OPERATIONS, type EventTrigger, type RowOperation, type StoredEvent } from "./event-trigger.ts";
import { readTraceParent } from "./trace.ts";

/** A change of a row, as a handler receives it. Each change arrives at least once, so a handler that must not act
 *  twice has to store the `id`. @rule X-EVT-6 @experimental */
export interface RowEvent<Row = JsonObject> {
  /** A UUID that is the same in each attempt. */
  readonly id: string;
  /** The name of the event trigger, such as `public.order.insert`. */
  readonly trigger: string;
  readonly table: QualifiedName;
  /** `MANUAL` is an event that an administrator created. */
  readonly operation: StoredEvent["operation"];
  /** The row after the change, or the deleted row. */
  readonly row: Row;
  /** The row before an update. */
  readonly old: Row | undefined;
  /** The session variables of the caller by `x-session-` name. Undefined if the change came from outside of the api. */
  readonly session: Readonly<Record<string, string>> | undefined;
  /** The header `traceparent` of the request that made the change. Undefined without `TRACING`. */
  readonly traceParent: string | undefined;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  readonly createdAt: Date;
  /** The signal that is aborted when the time limit of the attempt has passed, or when the process ends. */
  readonly signal: AbortSignal;
}

/** Receives an event. The event is delivered when the promise resolves, and is tried again when the promise rejects.
 *  @experimental */
// Rows have the type that the application gives them.
export type EventHandler<Row = any> = (event: RowEvent<Row>) => unknown;

/** A handler with the rules of its trigger. @rule X-EVT-2 @experimental */
export interface EventHandlerOptions<Row = any> {
  readonly handle: EventHandler<Row>;
  /** The columns whose changes call the handler of updates. By default, a change of any column calls the handler. */
  readonly columns?: readonly string[];
  /** Delivers the events of a row one after another, in the order of the changes. The table needs a primary key. */
  readonly ordered?: boolean;
  /** The number of attempts after the first one; by default 10. */
  readonly retryCount?: number;
  /** The time between two attempts; by default 10 seconds. */
  readonly intervalSeconds?: number;
  /** The time limit of one attempt; by default 60 seconds. */
  readonly timeoutSeconds?: number;
}

/** The handlers of one table. @experimental */
export type TableEventHandlers = Readonly<Partial<Record<RowOperation, EventHandler | EventHandlerOptions>>>;

/** The triggers of `eventHandlers`, for the plugin `events`. */
export const eventHandlersService = defineService<readonly EventTrigger[]>("event-handlers");

/** Calls functions of the application for changes of rows. The keys of `on` are tables with their schema:
 *  `public.order`. @throws RelApiError `preset` for a key or an option that is not valid @rule X-EVT-2 @experimental */
export const eventHandlers = (on: Readonly<Record<string, TableEventHandlers>>): Plugin => {
  if (typeof on !== "object" || on === null)
    throw handlersInvalid("the argument", "is not an object whose keys are tables");
  const triggers = Object.entries(on).flatMap(([table, handlers]) => readTable(table, handlers));
  return definePlugin({
    name: "event-handlers",
    requires: ["events"],
    apply: (_hooks, context) => context.offer(eventHandlersService, triggers),
  });
};

const MAX_NAME_LENGTH = 100;

const readTable = (key: string, handlers: TableEventHandlers): readonly EventTrigger[] => {
  const [, schema, name] = /^([^.]+)\.(.+)$/.exec(key) ?? [];
  if (schema === undefined || name === undefined || key.includes("\u0000"))
    throw handlersInvalid(`"${key}"`, 'is not a table with its schema, such as "public.order"');
  if (typeof handlers !== "object" || handlers === null)
    throw handlersInvalid(`"${key}"`, "has no handlers: { insert: async ({ row }) => … }");
  return Object.entries(handlers).map(([operation, handler]) => {
    const location = `"${key}".${operation}`;
    if (!OPERATIONS.some((knownOperation) => knownOperation === operation))
      throw handlersInvalid(location, "is unknown: use insert, update or delete");
    const trigger = `${key}.${operation}`;
    if (trigger.length > MAX_NAME_LENGTH)
      throw handlersInvalid(location, `has more than ${MAX_NAME_LENGTH} characters`);
    return readHandler(trigger, { schema, name }, operation as RowOperation, handler, location); // checked above
  });
};

const isListOfNames = (columns: unknown): boolean =>
  Array.isArray(columns) && columns.length > 0 && columns.every((name) => typeof name === "string");

const readHandler = (
  name: string,
  table: QualifiedName,
  operation: RowOperation,
  handler: EventHandler | EventHandlerOptions | undefined,
  location: string,
): EventTrigger => {
  const options = typeof handler === "function" ? { handle: handler } : handler;
  if (typeof options !== "object" || options === null || typeof options.handle !== "function")
    throw handlersInvalid(location, "is neither a function nor an object with the function handle");
  const { handle, columns, ordered: isOrdered = false, ...rules } = options;
  const retry = readRules(rules, DEFAULT_RULES, MAX_RULES, (reason) => handlersInvalid(location, reason));
  if (columns !== undefined && operation !== "update")
    throw handlersInvalid(location, "has columns, which only update supports");
  if (columns !== undefined && !isListOfNames(columns))
    throw handlersInvalid(location, "has columns that are not a list of column names");
  if (typeof isOrdered !== "boolean")
    throw handlersInvalid(location, "has a value of ordered that is neither true nor false");
  return {
    name,
    table,
    isOrdered,
    operations: { [operation]: columns === undefined ? {} : { listenedColumns: columns } },
    retry,
    allowsManual: true,
    deliver: async (event, signal) => {
      await handle(buildRowEvent(event, signal));
      return {};
    },
  };
};

const parseRow = (text: string | null): JsonObject | undefined =>
  text === null ? undefined : (JSON.parse(text) as JsonObject); // the database wrote an object

const buildRowEvent = (event: StoredEvent, signal: AbortSignal): RowEvent => {
  const { id, trigger, table, operation, traceParent, createdAt } = event;
  const [old, newRow] = [parseRow(event.oldRow), parseRow(event.newRow)];
  return {
    id,
    trigger,
    table,
    operation,
    row: newRow ?? old ?? {},
    old: newRow === undefined ? undefined : old,
    session: parseSession(event.session),
    traceParent: readTraceParent(traceParent),
    attempt: event.tries + 1,
    createdAt,
    signal,
  };
};

/** Returns undefined for a text that is not a JSON object. SQL of the application may have set such a text. */
export const parseSession = (text: string | null): Readonly<Record<string, string>> | undefined => {
  try {
    const session: unknown = JSON.parse(text ?? "null");
    // Session variables are strings.
    return typeof session === "object" && session !== null ? (session as Readonly<Record<string, string>>) : undefined;
  } catch {
    return undefined;
  }
};
