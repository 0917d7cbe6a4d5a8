/** Delivers events: takes jobs from the queue, calls the receivers, and writes down the outcome. */
import type { Logger } from "../../../core/index.ts";
import type { Delivery, EventTrigger, StoredEvent } from "./event-trigger.ts";
import { describeError } from "./queue.ts";
import type { EventStore } from "./store.ts";

const MAX_ERROR_LENGTH = 1000;

/** Resolves with the outcome of an attempt at the latest when the signal aborts. */
const deliver = async (trigger: EventTrigger, event: StoredEvent, signal: AbortSignal): Promise<Delivery> => {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error); // the two controllers below abort with an Error
    signal.addEventListener("abort", stop, { once: true });
  });
  aborted.catch(() => undefined); // the race below has its reason
  try {
    return await Promise.race([trigger.deliver(event, signal), aborted]);
  } catch (error) {
    return { error: describeError(error).slice(0, MAX_ERROR_LENGTH) };
  } finally {
    signal.removeEventListener("abort", stop);
  }
};

/** Returns the task of a trigger's jobs. @rule X-EVT-6 X-EVT-7 X-EVT-8 */
export const createTask =
  (findTrigger: () => EventTrigger | undefined, store: EventStore, logger: Logger) =>
  async (payload: unknown, shutdown: AbortSignal): Promise<void> => {
    const trigger = findTrigger();
    if (trigger === undefined) return; // the event waits for a process that has the trigger
    const { retry, name } = trigger;
    const { id } = payload as { readonly id: string }; // relapi.add_event_job writes it
    const event = await store.claim(id, retry);
    if (event === undefined) return;
    const controller = new AbortController();
    const timer = setTimeout(
      () => controller.abort(new Error(`no answer within ${retry.timeoutSeconds} s`)),
      retry.timeoutSeconds * 1000,
    );
    const onShutdown = (): void => controller.abort(new Error("the process ends"));
    shutdown.addEventListener("abort", onShutdown, { once: true });
    const startedAt = new Date();
    const delivery = await deliver(trigger, event, controller.signal);
    clearTimeout(timer);
    shutdown.removeEventListener("abort", onShutdown);
    if (delivery.error === undefined) return store.finishDelivered({ id, startedAt, delivery });
    if (shutdown.aborted) return store.release(id);
    const isTriedAgain = await store.finishFailed({ id, startedAt, delivery }, retry);
    const fields = { trigger: name, event: id, attempt: event.tries + 1, reason: delivery.error };
    if (isTriedAgain) logger.warn("an event was not delivered; it is tried again", fields);
    else logger.error("an event was not delivered, and its attempts are used up", fields);
  };
