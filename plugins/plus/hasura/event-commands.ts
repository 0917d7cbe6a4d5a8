/** Commands of the metadata API for event triggers and their events. @rule P-HAS-1 P-HAS-11 */
import { getNumberText, writeJson, type Json } from "../../../core/index.ts";
import type { EventsService, ListWindow, LoggedAttempt, LoggedEvent } from "../../services/api.ts";
import {
  changeObject,
  changeSource,
  objectMissing,
  omitUndefined,
  pickArguments,
  readEntry,
  readListOrEmpty,
  removeEntry,
  replaceEntry,
  requireText,
  type Arguments,
  type Commands,
  type Entry,
} from "./document.ts";
import { metadataError, keyMissing, kindUnexpected } from "./errors.ts";
import { createAddCommand, createChangeCommand, type ListedKind } from "./listed-objects.ts";

const TRIGGER: ListedKind = {
  changeOwner: (document, from, change) => changeObject(document, from, "table", change),
  lists: ["event_triggers"],
  key: "name",
  description: "event trigger",
  mayReplace: ({ args }) => args["replace"] === true,
};

const hasTrigger = (table: Entry, name: string): boolean =>
  readListOrEmpty(table["event_triggers"]).some((trigger) => readEntry(trigger)["name"] === name);

/** Changes the table that has the event trigger, because the command does not name the table. */
const changeTableOfTrigger: ListedKind["changeOwner"] = (document, from, change) => {
  const name = requireText(from, "name");
  return changeSource(document, from, (source) =>
    replaceEntry(
      source,
      "tables",
      (table) => hasTrigger(table, name),
      (table) => change(readEntry(table)),
    ),
  );
};

const DEFINITION = ["enable_manual", "insert", "update", "delete"] as const;

const createTrigger = createAddCommand(TRIGGER, (from) => ({
  definition: { enable_manual: false, ...pickArguments(from, ...DEFINITION) },
  retry_conf: from.args["retry_conf"] ?? {},
  ...pickArguments(
    from,
    "webhook",
    "webhook_from_env",
    "headers",
    "request_transform",
    "response_transform",
    "cleanup_config",
    "trigger_on_replication",
    "ordered",
  ),
}));

/** Commands that change the metadata. */
export const eventTriggerCommands: Commands = [
  ["pg_create_event_trigger", createTrigger],
  ["pg_delete_event_trigger", createChangeCommand({ ...TRIGGER, changeOwner: changeTableOfTrigger }, removeEntry)],
];

type Handler = (request: Arguments) => Promise<Json>;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export const readUuid = (from: Arguments, key: string): string => {
  const id = requireText(from, key);
  if (!UUID.test(id)) throw kindUnexpected(key, "a UUID", from.path);
  return id;
};

const readCount = ({ args, path }: Arguments, key: string, byDefault: number, max: number): number => {
  const argument = args[key];
  if (argument === undefined || argument === null) return byDefault;
  const number = Number(getNumberText(argument) ?? Number.NaN);
  if (!Number.isInteger(number) || number < 0 || number > max)
    throw kindUnexpected(key, `a whole number from 0 to ${max}`, path);
  return number;
};

export const readWindow = (from: Arguments, prefix = ""): ListWindow => ({
  limit: readCount(from, `${prefix}limit`, DEFAULT_LIMIT, MAX_LIMIT),
  offset: readCount(from, `${prefix}offset`, 0, Number.MAX_SAFE_INTEGER),
});

const writeEvent = (event: LoggedEvent): Json => ({
  id: event.id,
  schema_name: event.table.schema,
  table_name: event.table.name,
  trigger_name: event.trigger,
  payload: {
    op: event.operation,
    data: { old: event.old, new: event.new },
    session_variables: event.session,
    trace_context: event.traceContext,
  },
  delivered: event.status === "delivered",
  error: event.status === "dead",
  tries: event.tries,
  created_at: event.createdAt.toISOString(),
  locked: event.isLocked,
  next_retry_at: event.status === "pending" && event.tries > 0 ? event.nextTryAt.toISOString() : null,
  archived: false,
});

const writeAttempt = (attempt: LoggedAttempt): Json => ({
  id: attempt.id,
  event_id: attempt.eventId,
  trigger_name: attempt.trigger,
  status: attempt.status,
  response: omitUndefined({ body: attempt.response, error: attempt.error }),
  created_at: attempt.startedAt.toISOString(),
});

/** Returns the commands that read or repeat events. */
export const createEventHandlers = (events: EventsService | undefined): Readonly<Record<string, Handler>> => {
  /** Returns the event trigger that the arguments name.
   *  @throws RelApiError if the preset has no events, or no such trigger */
  const findTrigger = (
    from: Arguments,
  ): { readonly events: EventsService; readonly name: string; readonly allowsManual: boolean } => {
    const name = requireText(from, "name");
    const trigger = events?.findTrigger(name);
    if (events === undefined || trigger === undefined) throw objectMissing(`event trigger "${name}"`, from.path);
    return { events, name, allowsManual: trigger.allowsManual };
  };
  return {
    pg_invoke_event_trigger: async (from) => {
      const { events, name, allowsManual } = findTrigger(from);
      const { payload } = from.args;
      if (payload === undefined) throw keyMissing("payload", from.path);
      if (!allowsManual)
        throw metadataError("not-supported", `event trigger "${name}" does not have enable_manual`, from.path);
      return { event_id: await events.invoke(name, writeJson(payload)) };
    },
    pg_redeliver_event: async (from) => {
      const id = readUuid(from, "event_id");
      if ((await events?.redeliver(id)) !== true)
        throw metadataError("not-exists", "there is no such event that could be delivered again now", from.path);
      return { message: "success" };
    },
    pg_get_event_logs: async (from) => {
      const { events, name } = findTrigger(from);
      const { status = null } = from.args;
      if (status !== null && status !== "pending" && status !== "processed")
        throw kindUnexpected("status", "pending or processed", from.path);
      const filter = status === null ? undefined : status === "pending" ? "pending" : "ended";
      return (await events.loadEvents(name, readWindow(from), filter)).map(writeEvent);
    },
    pg_get_event_invocation_logs: async (from) => {
      const { events, name } = findTrigger(from);
      return (await events.loadAttempts(name, readWindow(from))).map(writeAttempt);
    },
    pg_get_event_by_id: async (from) => {
      const id = readUuid(from, "event_id");
      const event = await events?.loadEvent(id);
      const attempts = event && (await events?.loadEventAttempts(id, readWindow(from, "invocation_log_")));
      return {
        event: event === undefined ? null : writeEvent(event),
        invocations: (attempts ?? []).map(writeAttempt),
      };
    },
  };
};
