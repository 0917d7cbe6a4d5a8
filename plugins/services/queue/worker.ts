/** Delivers events: takes jobs from the queue, calls the receivers, and stores the outcome. */
import { getErrorMessage, type Logger } from "../../../core/index.ts";
import { untilAborted } from "../../shared/abort.ts";
import type { Delivery, RetryRules } from "./delivery.ts";
import type { EventStore } from "./store.ts";

const MAX_ERROR_LENGTH = 1000;

/** Receives the events of a task. */
export interface Receiver<Event> {
  /** The name of the trigger or schedule, for the log. */
  readonly name: string;
  readonly retry: RetryRules;
  /** Delivers an event. The signal ends the attempt. @throws Error if the attempt failed without a response */
  readonly deliver: (event: Event, signal: AbortSignal) => Promise<Delivery>;
}

/** Runs an attempt. Resolves with its outcome, at the latest when the signal is aborted. */
const deliver = async <Event>(receiver: Receiver<Event>, event: Event, signal: AbortSignal): Promise<Delivery> => {
  try {
    const delivery = await untilAborted(receiver.deliver(event, signal), signal);
    return delivery ?? { error: getErrorMessage(signal.reason) };
  } catch (error) {
    return { error: getErrorMessage(error).slice(0, MAX_ERROR_LENGTH) };
  }
};

/** Returns a task. `findReceiver` finds the receiver of a job's event by the id of the job. @rule X-EVT-6 X-EVT-7
 *  X-EVT-8 */
export const createTask =
  <Event extends { readonly tries: number }>(
    findReceiver: (id: string) => Receiver<Event> | undefined | Promise<Receiver<Event> | undefined>,
    store: EventStore<Event>,
    logger: Logger,
  ) =>
  async (payload: unknown, shutdown: AbortSignal): Promise<void> => {
    const { id } = payload as { readonly id: string }; // the function `relapi.add_event_job` wrote the payload
    const receiver = await findReceiver(id);
    if (receiver === undefined) return; // the event waits for a process that has the trigger
    const { retry, name } = receiver;
    const event = await store.claim(id, retry);
    if (event === undefined) return;
    const controller = new AbortController();
    const timer = setTimeout(
      () => controller.abort(new Error(`no answer within ${retry.timeoutSeconds} s`)),
      retry.timeoutSeconds * 1000,
    );
    const onShutdown = (): void => controller.abort(new Error("the process ends"));
    shutdown.addEventListener("abort", onShutdown, { once: true });
    const delivery = await deliver(receiver, event, controller.signal);
    clearTimeout(timer);
    shutdown.removeEventListener("abort", onShutdown);
    if (delivery.error === undefined) return store.finishDelivered({ id, startedAt: event.startedAt, delivery });
    if (shutdown.aborted) return store.release(id);
    const isRetried = await store.finishFailed({ id, startedAt: event.startedAt, delivery }, retry);
    const fields = { trigger: name, event: id, attempt: event.tries + 1, reason: delivery.error };
    if (isRetried) logger.warn("an event was not delivered; it is tried again", fields);
    else if (delivery.isDropped === true) logger.error("an event was dropped without a call", fields);
    else logger.error("an event was not delivered, and its attempts are used up", fields);
  };
