/** Features that call other services over HTTP. */
export {
  actions,
  metadataActions,
  type Action,
  type ActionArguments,
  type ActionRequest,
  type AsynchronousAction,
  type AsynchronousActionRequest,
  type InputSchema,
  type SynchronousAction,
} from "./actions/index.ts";
export { authHook } from "./auth-hook/index.ts";
export { remoteSchemaFields, remoteSchemas, type RemoteSchema } from "./remote-schemas/index.ts";
export {
  eventHandlers,
  events,
  type EventHandler,
  type EventHandlerOptions,
  type RowEvent,
  type TableEventHandlers,
} from "./events/index.ts";
export {
  scheduledEvents,
  schedules,
  type ScheduledRun,
  type ScheduleHandler,
  type ScheduleOptions,
} from "./schedules/index.ts";
export { jobQueue } from "./queue/index.ts";
export { webhooks } from "./webhook/index.ts";
