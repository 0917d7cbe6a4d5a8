/** Commands of the metadata API for cron triggers and scheduled events. @rule P-HAS-12 */
import { RelApiError, type Json } from "../../../core/index.ts";
import type {
  CountedList,
  ListWindow,
  LoggedScheduledEvent,
  ScheduledEventFilter,
  ScheduledEventsService,
  ScheduledEventStatus,
} from "../../services/api.ts";
import {
  objectMissing,
  omitKeys,
  omitUndefined,
  pickArguments,
  readEntry,
  readListOrEmpty,
  removeEntry,
  requireText,
  type Arguments,
  type Command,
  type Commands,
  type Entry,
} from "./document.ts";
import { metadataError, keyMissing, kindUnexpected } from "./errors.ts";
import { readUuid, readWindow } from "./event-commands.ts";
import { buildTopLevelKind, createAddCommand, createChangeCommand, type ListedKind } from "./listed-objects.ts";

const LIST = "cron_triggers";

const triggerMissing = (name: string, { path }: Arguments): Error =>
  metadataError("not-exists", `cron trigger with name: ${name} does not exist`, path);

const TRIGGER: ListedKind = {
  ...buildTopLevelKind(LIST, "name", "cron trigger"),
  mayReplace: ({ args }) => args["replace"] === true,
  buildTakenError: (name, { path }) =>
    metadataError("already-exists", `cron trigger with name: ${name} already exists`, path),
  buildMissingError: triggerMissing,
};

const addTrigger = createAddCommand(TRIGGER, (from) =>
  pickArguments(
    from,
    "webhook",
    "webhook_from_env",
    "schedule",
    "payload",
    "retry_conf",
    "headers",
    "include_in_metadata",
    "comment",
    "request_transform",
    "response_transform",
  ),
);

const createTrigger: Command = (document, from) => {
  const { args, path } = from;
  requireText(from, "name");
  requireText(from, "schedule");
  if (args["include_in_metadata"] === undefined) throw keyMissing("include_in_metadata", path);
  if (typeof args["include_in_metadata"] !== "boolean") throw kindUnexpected("include_in_metadata", "a boolean", path);
  return addTrigger(document, from);
};

/** Commands that change the metadata. */
export const cronTriggerCommands: Commands = [
  ["create_cron_trigger", createTrigger],
  ["delete_cron_trigger", createChangeCommand(TRIGGER, removeEntry)],
];

type Handler = (request: Arguments) => Promise<Json>;

const STATUSES: readonly ScheduledEventStatus[] = ["scheduled", "locked", "delivered", "error", "dead"];

/** An ISO 8601 time with its zone: `2026-12-24T18:00:00Z`, `2026-12-24T18:00+01:00`. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/;

/** Returns whether the day exists. JavaScript reads February 31 as a day of March. */
const isCalendarDay = (day: string): boolean => new Date(day).toISOString().startsWith(day);

const readTime = (from: Arguments, key: string): Date => {
  const text = requireText(from, key);
  const at = new Date(text);
  if (!TIME.test(text) || Number.isNaN(at.getTime()) || !isCalendarDay(text.slice(0, "2026-12-24".length)))
    throw kindUnexpected(key, "a time in ISO 8601 with its zone, such as 2026-12-24T18:00:00Z", from.path);
  return at;
};

const readIsCron = (from: Arguments): boolean => {
  const type = requireText(from, "type");
  if (type !== "cron" && type !== "one_off") throw kindUnexpected("type", "cron or one_off", from.path);
  return type === "cron";
};

const readStatuses = ({ args, path }: Arguments): readonly ScheduledEventStatus[] | undefined => {
  const { status = null } = args;
  if (status === null) return undefined;
  const list = readListOrEmpty(status);
  const knownStatuses = STATUSES.filter((knownStatus) => list.includes(knownStatus));
  if (!Array.isArray(status) || knownStatuses.length !== new Set(list).size)
    throw kindUnexpected("status", `a list of ${STATUSES.join(", ")}`, path);
  return knownStatuses;
};

const readCounts = ({ args, path }: Arguments): boolean => {
  const { get_rows_count: counts = false } = args;
  if (typeof counts !== "boolean") throw kindUnexpected("get_rows_count", "a boolean", path);
  return counts;
};

const DEFAULT_RETRY = { num_retries: 0, retry_interval_seconds: 10, timeout_seconds: 60, tolerance_seconds: 21_600 };

const encodeEvent = (event: LoggedScheduledEvent, trigger: string | undefined): Entry => {
  const common = {
    id: event.id,
    scheduled_time: event.scheduledAt.toISOString(),
    status: event.status,
    tries: event.tries,
    created_at: event.createdAt.toISOString(),
    next_retry_at:
      event.tries > 0 && (event.status === "scheduled" || event.status === "locked")
        ? event.nextTryAt.toISOString()
        : null,
  };
  if (trigger !== undefined) return { ...common, trigger_name: trigger };
  const { definition } = event;
  return {
    ...common,
    webhook_conf: definition["webhook"] ?? definition["webhook_from_env"] ?? null,
    retry_conf: { ...DEFAULT_RETRY, ...readEntry(definition["retry_conf"]) },
    header_conf: readListOrEmpty(definition["headers"]),
    payload: definition["payload"] ?? null,
    comment: definition["comment"] ?? null,
  };
};

/** Returns the commands that read, create or delete scheduled events. `loadDocument` returns the metadata. */
export const createScheduleHandlers = (
  service: ScheduledEventsService | undefined,
  loadDocument: () => Promise<Entry>,
): Readonly<Record<string, Handler>> => {
  const requireService = ({ path }: Arguments): ScheduledEventsService => {
    if (service === undefined) throw metadataError("not-supported", "the preset has no scheduled events", path);
    return service;
  };

  /** Reads the arguments that select events. The cron trigger must exist unless the command names an event. */
  const readFilter = async (from: Arguments): Promise<ScheduledEventFilter> => {
    const isCron = readIsCron(from);
    const id = from.args["event_id"] === undefined ? undefined : readUuid(from, "event_id");
    if (!isCron) return { trigger: undefined, ...(id === undefined ? {} : { id }) };
    const trigger = requireText(from, "trigger_name");
    const document = await loadDocument();
    if (!readListOrEmpty(document[LIST]).some((entry) => readEntry(entry)["name"] === trigger))
      throw triggerMissing(trigger, from);
    return { trigger, ...(id === undefined ? {} : { id }) };
  };

  const answerList = async <Item>(
    from: Arguments,
    key: string,
    load: (window: ListWindow) => Promise<CountedList<Item>>,
    encode: (item: Item) => Json,
  ): Promise<Json> => {
    const counts = readCounts(from);
    const { entries, count } = await load(readWindow(from));
    return { [key]: entries.map(encode), ...(counts ? { count } : {}) };
  };

  return {
    create_scheduled_event: async (from) => {
      const scheduledAt = readTime(from, "schedule_at");
      try {
        const id = await requireService(from).create(omitKeys(from.args, "schedule_at"), scheduledAt);
        return { message: "success", event_id: id };
      } catch (error) {
        if (!(error instanceof RelApiError) || (error.code !== "validation-failed" && error.code !== "preset"))
          throw error;
        throw metadataError(error.code === "preset" ? "not-supported" : error.code, error.message, from.path);
      }
    },
    delete_scheduled_event: async (from) => {
      const isCron = readIsCron(from);
      const id = readUuid(from, "event_id");
      if (!(await requireService(from).remove(id, isCron))) throw objectMissing(`scheduled event "${id}"`, from.path);
      return { message: "success" };
    },
    get_cron_triggers: async () => {
      const document = await loadDocument();
      return {
        cron_triggers: readListOrEmpty(document[LIST]).map((trigger) => {
          const entry = readEntry(trigger);
          return { headers: [], ...entry, retry_conf: { ...DEFAULT_RETRY, ...readEntry(entry["retry_conf"]) } };
        }),
      };
    },
    get_scheduled_events: async (from) => {
      const statuses = readStatuses(from);
      const filter = { ...(await readFilter(from)), ...(statuses && { statuses }) };
      return answerList(
        from,
        "events",
        (window) => requireService(from).loadEvents(filter, window),
        (event) => encodeEvent(event, filter.trigger),
      );
    },
    get_scheduled_event_invocations: async (from) => {
      const filter = await readFilter(from);
      return answerList(
        from,
        "invocations",
        (window) => requireService(from).loadAttempts(filter, window),
        (attempt) => ({
          id: attempt.id,
          event_id: attempt.eventId,
          status: attempt.status,
          response: omitUndefined({ body: attempt.response, error: attempt.error }),
          created_at: attempt.startedAt.toISOString(),
        }),
      );
    },
  };
};
