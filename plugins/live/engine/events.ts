/** Receives the events of other services for one subscription. @rule X-GQL-16 */
import { untilAborted } from "../../shared/abort.ts";
import type { LiveEvents, LiveResult } from "../api.ts";
import type { EventStream, Subscription } from "./cohort.ts";

interface EventHandlers {
  /** Sends an event. The promise resolves when the client has read enough for the next one. */
  sendEvent(result: LiveResult): Promise<void>;
  /** Called when the events have ended: with an error, or after the last event. */
  end(error?: unknown): void;
}

/** Opens the events. No handler is called after `close`. */
export const openEventStream = (
  { source }: Pick<Subscription, "source">,
  events: LiveEvents,
  { sendEvent, end }: EventHandlers,
): EventStream => {
  const controller = new AbortController();
  const { signal } = controller;
  let current = events;
  let count = 0;

  const send = async (event: string | Error): Promise<void> => {
    let text: string;
    let isError = false;
    try {
      if (typeof event !== "string") throw event;
      text = await current.complete(event);
    } catch (error) {
      isError = true;
      text = source.encodeError(error);
    }
    // Events have different hashes, because equal events are sent too.
    if (signal.aborted) return;
    await untilAborted(sendEvent({ hash: `event ${++count}`, text, isError, isEvent: true }), signal);
  };

  const run = async (): Promise<void> => {
    try {
      await events.open(signal, send);
      if (!signal.aborted) end();
    } catch (error) {
      if (!signal.aborted) end(error);
    }
  };
  void run();

  return {
    replace: (next) => {
      const isSame = current.isSame(next);
      if (isSame) current = next;
      return isSame;
    },
    close: () => controller.abort(),
  };
};
