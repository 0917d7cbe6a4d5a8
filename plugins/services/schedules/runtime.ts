/** Runs schedules in a process: makes the events that are due, and delivers them until the api closes. */
import {
  getErrorMessage,
  isJsonObject,
  parseJson,
  requireService,
  sql,
  bindValue,
  type PluginContext,
} from "../../../core/index.ts";
import { webhookService, type ScheduledEventsService, type WebhookClient } from "../api.ts";
import { createDispatcher } from "../queue/dispatcher.ts";
import { hasEventSchema, installEventSchema } from "../queue/install.ts";
import { jobQueueService } from "../queue/job-queue.ts";
import { createRemovedNames } from "../queue/removed-names.ts";
import { createTask, type Receiver } from "../queue/worker.ts";
import { createScheduledEventLog } from "./event-log.ts";
import { schedulesNotInstalled } from "./errors.ts";
import { readEventDefinition } from "./metadata-schedules.ts";
import { DEFAULT_METADATA_RULES, type Schedule, type ScheduledEvent } from "./schedule.ts";
import { createScheduleStore } from "./store.ts";

interface ScheduleRuntime extends ScheduledEventsService {
  /** Runs these schedules. Forgets the schedules of earlier names that are not in `names`, which has the names of ignored
   *  cron triggers too. */
  use(schedules: readonly Schedule[], names: ReadonlySet<string>): void;
  close(): Promise<void>;
}

/** The name in the log for events that administrators created. */
const ONE_OFF = "one-off";

const MINUTE_MS = 60_000;
/** The delay between a failure and the next search for due events. */
const RETRY_MS = 5000;
/** A timer of Node may fire a moment early. */
const MARGIN_MS = 5;

/** Creates the runtime of an api. @rule X-SCH-3 X-SCH-4 X-SCH-5 */
export const createScheduleRuntime = (context: PluginContext): ScheduleRuntime => {
  const { logger, options } = context;
  const store = createScheduleStore(context);
  let schedules: readonly Schedule[] = [];
  const removedNames = createRemovedNames(options.eventsInstall);
  /** True if the process takes jobs. If another plugin or process installs the tables, the process begins later. */
  let takesJobs = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  // A later model may have other rules for the schedule.
  const findSchedule = (name: string): Schedule | undefined => schedules.find((schedule) => schedule.name === name);

  const getClient = (): WebhookClient => requireService(context, webhookService);

  const installTables = async (): Promise<void> => {
    if (options.eventsInstall) await installEventSchema(context);
    else if (!(await hasEventSchema(context))) throw schedulesNotInstalled();
  };

  const install = async (): Promise<void> => {
    if (schedules.length > 0) await installTables();
    if (removedNames.names.size === 0 || !(await hasEventSchema(context))) return;
    await store.forget([...removedNames.names]);
    removedNames.names.clear();
  };

  /** Builds the receiver of a schedule. The receiver drops an event that is later than the tolerance. @rule X-SCH-7 */
  const buildReceiver = (
    name: string,
    { retry, deliver }: Pick<Schedule, "retry" | "deliver">,
  ): Receiver<ScheduledEvent> => ({
    name,
    retry,
    deliver: async (event, signal) => {
      if (event.ageSeconds > retry.toleranceSeconds)
        return { error: `the event is later than its tolerance of ${retry.toleranceSeconds} s`, isDropped: true };
      return deliver(event, signal);
    },
  });

  const findReceiver = (name: string): Receiver<ScheduledEvent> | undefined => {
    const schedule = findSchedule(name);
    return schedule && buildReceiver(name, schedule);
  };

  /** Reads the definition of an event that an administrator created. */
  const loadReceiver = async (id: string): Promise<Receiver<ScheduledEvent> | undefined> => {
    const [row] = await context.query<{ readonly definition: string | null }>(
      sql`select definition::text from relapi.scheduled_event where id = ${bindValue(id, "uuid")}`,
    );
    if (row === undefined) return undefined;
    const definition = parseJson(row.definition ?? "null");
    try {
      return buildReceiver(ONE_OFF, readEventDefinition(isJsonObject(definition) ? definition : {}, getClient));
    } catch (error) {
      // An environment variable may be missing in this process.
      return buildReceiver(ONE_OFF, { retry: DEFAULT_METADATA_RULES, deliver: () => Promise.reject(error as Error) });
    }
  };

  const recordDue = async (): Promise<void> => {
    clearTimeout(timer);
    if (isClosed || schedules.length === 0) return;
    let waitMs = RETRY_MS;
    try {
      const databaseTime = await store.recordDue(schedules);
      // The clock of the database decides, because those of processes differ.
      waitMs = MINUTE_MS - (databaseTime.getTime() % MINUTE_MS) + MARGIN_MS;
    } catch (error) {
      if (!isClosed) logger.warn("failed to look for schedules that are due", { reason: getErrorMessage(error) });
    }
    if (isClosed) return;
    clearTimeout(timer); // another call may have set the timer during the statement
    timer = setTimeout(() => void recordDue(), waitMs);
    timer.unref();
  };

  const dispatcher = createDispatcher(context, {
    name: "schedules",
    failure: "schedules do not work",
    store,
    install,
    listTasks: () =>
      new Map([
        ...schedules.map(
          ({ name }) => [`event/schedule/${name}`, createTask(() => findReceiver(name), store, logger)] as const,
        ),
        ["event/scheduled-event", createTask(loadReceiver, store, logger)],
      ]),
    onTasks: () => {
      takesJobs = true;
      void recordDue();
    },
  });

  const restart = async (): Promise<void> => {
    await dispatcher.install();
    await dispatcher.takeJobs();
  };

  /** Prepares the process for an event that an administrator creates. */
  const prepare = async (): Promise<void> => {
    if (takesJobs) return;
    await installTables();
    await restart();
  };

  return {
    use: (next, names) => {
      removedNames.update(names);
      // JSON omits functions. They need no comparison, because a task finds its schedule when it runs.
      const isSame = JSON.stringify(next) === JSON.stringify(schedules);
      schedules = next;
      if (!isSame || removedNames.names.size > 0 || !takesJobs) void restart();
    },
    checkQueue: async () => {
      if (schedules.length > 0) await requireService(context, jobQueueService).check();
    },
    ...createScheduledEventLog(context, getClient, prepare),
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await dispatcher.close();
    },
  };
};
