/** The types and tokens of the services of this family: the client for webhooks, remote schemas, events and scheduled
 *  events. */
import type { IncomingHttpHeaders } from "node:http";
import {
  defineService,
  defineSignal,
  type Json,
  type JsonObject,
  type OpenExchange,
  type QualifiedName,
  type RelApiError,
} from "../../core/index.ts";

/** The features that call webhooks. */
export type WebhookPurpose = "action" | "auth-hook" | "event" | "remote-schema" | "schedule" | "other";

/** A request to a webhook. */
export interface WebhookRequest {
  /** The feature that sends the request, for metrics. By default `other`. */
  readonly purpose?: WebhookPurpose;
  /** The URL, with scheme `http` or `https`. */
  readonly url: string;
  /** The method, by default `POST`. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, which is JSON text unless a header names another type. */
  readonly body?: string;
  /** The time limit for the complete answer, in milliseconds. */
  readonly timeoutMs: number;
  /** The largest accepted size of the answer in bytes, by default `webhookMaxAnswerBytes`. The body of an answer with
   *  another status than 2xx is cut off there. */
  readonly maxAnswerBytes?: number;
  /** True if the webhook may receive the request twice. By default, only a GET may be repeated. @rule X-HTTP-2c */
  readonly isRepeatable?: boolean;
  /** Ends the request when it is aborted. */
  readonly signal?: AbortSignal;
  /** The request of the client. The webhook receives its trace in the header `traceparent`. */
  readonly exchange?: OpenExchange | undefined;
  /** True if the response to the request of the client has each `Set-Cookie` of the answer. @rule X-HTTP-10 */
  readonly forwardsCookies?: boolean;
}

/** The answer of a webhook, with any status. */
export interface WebhookResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, decoded as UTF-8. */
  readonly text: string;
}

/** A request to open a WebSocket, with the functions that receive what the server sends. */
export interface WebhookSocketRequest extends Pick<WebhookRequest, "url" | "headers"> {
  /** The subprotocol, which the server must choose. */
  readonly protocol: string;
  /** The time limit for opening the connection, in milliseconds. */
  readonly timeoutMs: number;
  onOpen(): void;
  onMessage(text: string): void;
  /** Called when the connection has ended, with the code of the server, or the error `webhook-failed`. */
  onEnd(reason: number | RelApiError): void;
}

/** A WebSocket that is open, or about to open. */
export interface WebhookSocket {
  send(text: string): void;
  /** Stops reading messages until `resume` is called. A few messages that have already arrived may follow. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** The client for webhooks. */
export interface WebhookClient {
  /** Sends a request and returns the answer. Redirects are not followed. @throws RelApiError `webhook-failed`,
   *  whose `facts.reason` is a `WebhookFailure`, or the error with which the signal was aborted
   *  @rule X-HTTP-1 … X-HTTP-6 */
  send(request: WebhookRequest): Promise<WebhookResponse>;
  /** Opens a WebSocket to a URL with scheme `http` or `https`, at the addresses to which requests may connect. @throws
   *  RelApiError `webhook-failed` @rule X-HTTP-9 */
  openSocket(request: WebhookSocketRequest): Promise<WebhookSocket>;
}

/** The reasons why a request has no answer. */
export type WebhookFailure = "url" | "header" | "address" | "connection" | "timeout" | "size";

/** The service by which other plugins call webhooks, provided by the plugin `webhooks`. */
export const webhookService = defineService<WebhookClient>("webhooks");

/** A request to a webhook that has ended. @experimental */
export interface WebhookCall {
  readonly purpose: WebhookPurpose;
  /** The class of the status, such as `2xx`. Without an answer, the reason for that, or `cancelled`. */
  readonly outcome: string;
  readonly durationMs: number;
}

/** Emitted after each request to a webhook. @rule X-MET-9 @experimental */
export const webhookCallEndedSignal = defineSignal<WebhookCall>("webhook-call");

/** The remote schemas of the current model, for plugins that administer them. @rule X-RMT-11 @experimental */
export interface RemoteSchemaControl {
  /** Returns the names of all remote schemas, including those that cannot be served. */
  names(): readonly string[];
  /** Reads the schema of a remote again, for the next load of the model. If that fails, the previous schema stays.
   *  @throws RelApiError `not-exists`, `remote-schema-error` */
  renew(name: string): Promise<void>;
  /** Returns the answer of a remote to an introspection query. @throws RelApiError `not-exists`,
   *  `remote-schema-error` */
  introspect(name: string): Promise<JsonObject>;
}

/** The service that the plugin `remote-schema-fields` provides. @experimental */
export const remoteSchemaControlService = defineService<RemoteSchemaControl>("remote-schema-control");

/** The state of one event trigger on its table. @experimental */
export interface TriggerStatus {
  readonly trigger: string;
  /** The table with its schema. */
  readonly table: string;
  /** `changed`: the installed trigger has another definition. `unknown`: neither a handler nor the metadata declares
   *  the trigger. */
  readonly state: "installed" | "missing" | "changed" | "unknown";
}

/** The number of events of one trigger. @experimental */
export interface EventCounts {
  readonly trigger: string;
  readonly pending: number;
  readonly delivered: number;
  readonly dead: number;
}

/** A part of a list. @experimental */
export interface ListWindow {
  readonly limit: number;
  readonly offset: number;
}

/** An event as the log of an administrator shows it. @experimental */
export interface LoggedEvent {
  readonly id: string;
  readonly trigger: string;
  readonly table: QualifiedName;
  readonly operation: string;
  readonly old: Json;
  readonly new: Json;
  readonly session: Json;
  /** The trace of the request that made the change, as webhooks receive it. Null without a trace. */
  readonly traceContext: JsonObject | null;
  readonly createdAt: Date;
  readonly status: "pending" | "delivered" | "dead";
  readonly tries: number;
  readonly nextTryAt: Date;
  readonly isLocked: boolean;
}

/** An attempt as the log of an administrator shows it. @experimental */
export interface LoggedAttempt {
  readonly id: string;
  readonly eventId: string;
  readonly trigger: string;
  readonly startedAt: Date;
  /** The status and the body of the webhook's answer. */
  readonly status: number | null;
  readonly response: string | null;
  readonly error: string | null;
}

/** The changes of an installation of event triggers. @experimental */
export interface EventInstallation {
  /** True if the tables and functions of events and jobs were installed, or replaced by those of this version. */
  readonly hasInstalledSchema: boolean;
  /** The number of triggers that were installed, replaced or removed. */
  readonly triggerCount: number;
}

/** Event triggers and their events, for administrators. @experimental */
export interface EventsService {
  /** Returns what it has changed. @throws RelApiError `preset` */
  install(): Promise<EventInstallation>;
  /** Removes the event triggers of these names, or all of them, from their tables. Returns the number of removed
   *  triggers. @throws RelApiError `preset` */
  remove(names?: ReadonlySet<string>): Promise<number>;
  /** Checks that the queue can run, if there are event triggers. @throws RelApiError `preset` if its package or a
   *  server is missing */
  checkQueue(): Promise<void>;
  loadStatus(): Promise<{ readonly triggers: readonly TriggerStatus[]; readonly events: readonly EventCounts[] }>;
  /** Returns whether the trigger exists, and whether `invoke` may create events of it. */
  findTrigger(name: string): { readonly allowsManual: boolean } | undefined;
  /** Creates an event of the operation `MANUAL` and returns its id. `row` is JSON text. */
  invoke(trigger: string, row: string): Promise<string>;
  /** Delivers an event again, with all its attempts. Returns false if there is no such event, or if the event is being
   *  delivered. `id` is a UUID. */
  redeliver(id: string): Promise<boolean>;
  /** Returns the events of a trigger, the latest first. */
  loadEvents(trigger: string, window: ListWindow, status?: "pending" | "ended"): Promise<readonly LoggedEvent[]>;
  /** Returns an event, or undefined for an unknown id. `id` is a UUID. */
  loadEvent(id: string): Promise<LoggedEvent | undefined>;
  /** Returns the attempts of an event, the latest first. `id` is a UUID. */
  loadEventAttempts(id: string, window: ListWindow): Promise<readonly LoggedAttempt[]>;
  /** Returns the attempts of a trigger, the latest first. */
  loadAttempts(trigger: string, window: ListWindow): Promise<readonly LoggedAttempt[]>;
}

/** The service of the plugin `events`. @experimental */
export const eventsService = defineService<EventsService>("events");

/** The state of a scheduled event. `error`: the event has no attempts left. `dead`: the event was later than its
 *  tolerance. @experimental */
export type ScheduledEventStatus = "scheduled" | "locked" | "delivered" | "error" | "dead";

/** A scheduled event as an administrator sees it. @experimental */
export interface LoggedScheduledEvent {
  readonly id: string;
  readonly scheduledAt: Date;
  readonly status: ScheduledEventStatus;
  readonly tries: number;
  readonly createdAt: Date;
  readonly nextTryAt: Date;
  /** The arguments of an event that an administrator created. */
  readonly definition: JsonObject;
}

/** The events of a cron trigger, or those that administrators created. @experimental */
export interface ScheduledEventFilter {
  /** The name of the cron trigger. Undefined for events that administrators created. */
  readonly trigger: string | undefined;
  readonly statuses?: readonly ScheduledEventStatus[];
  /** The UUID of an event, for its attempts. */
  readonly id?: string;
}

/** A part of a list, and the number of entries of the whole list. @experimental */
export interface CountedList<Entry> {
  readonly entries: readonly Entry[];
  readonly count: number;
}

/** Scheduled events, for administrators. @experimental */
export interface ScheduledEventsService {
  /** Checks that the queue can run, if there are schedules. @throws RelApiError `preset` if its package or a server is
   *  missing */
  checkQueue(): Promise<void>;
  /** Creates an event that is delivered once, and returns its id. `definition` has the keys of Hasura's command
   *  `create_scheduled_event`. @throws RelApiError `validation-failed`, `preset` */
  create(definition: JsonObject, scheduledAt: Date): Promise<string>;
  /** Deletes an event of a cron trigger, or one that an administrator created. Returns false if there is no such
   *  event. `id` is a UUID. */
  remove(id: string, isCron: boolean): Promise<boolean>;
  /** Returns events by their time. @throws RelApiError `preset` */
  loadEvents(filter: ScheduledEventFilter, window: ListWindow): Promise<CountedList<LoggedScheduledEvent>>;
  /** Returns attempts, the latest first. */
  loadAttempts(filter: ScheduledEventFilter, window: ListWindow): Promise<CountedList<LoggedAttempt>>;
}

/** The service of the plugin `scheduled-events`. @experimental */
export const scheduledEventsService = defineService<ScheduledEventsService>("scheduled-events");
