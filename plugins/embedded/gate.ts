/** Who may talk to the one backend. */
import type { Answer, Request } from "./thread.ts";

/** Somebody who has something to say to the backend. */
export interface Speaker {
  /** What to say now; `undefined`: nothing. Asked for only when it is the speaker's turn. */
  nextRequest(): Request | undefined;
  onAnswer(answer: Answer): void;
}

/** One speaker at a time: it keeps the backend from its first message until the backend is out of a transaction again.
 *  */
export interface Gate {
  /** The speaker has something to say. */
  speak(speaker: Speaker): void;
  /** The backend has answered the request that was sent last. */
  answer(answer: Answer): void;
  /** The backend takes requests. */
  open(): void;
  /** The backend is gone: nobody holds it, nobody waits. */
  close(): void;
  readonly isBusy: boolean;
}

/** `send` gets one request at a time: the next after the answer to the last. */
export function createGate(send: (request: Request) => void): Gate {
  const waiting = new Set<Speaker>(); // in order of arrival
  let holder: Speaker | undefined;
  let isBusy = false;
  let isOpen = false;

  const sendNext = (speaker: Speaker): boolean => {
    const request = speaker.nextRequest();
    if (request === undefined) return false;
    holder = speaker;
    isBusy = true;
    send(request);
    return true;
  };

  const advance = (): void => {
    if (isBusy || !isOpen) return;
    if (holder !== undefined) {
      sendNext(holder);
      return;
    }
    for (const speaker of waiting) {
      waiting.delete(speaker);
      if (sendNext(speaker)) return;
    }
  };

  return {
    speak(speaker) {
      if (speaker !== holder) waiting.add(speaker);
      advance();
    },
    answer(answer) {
      const speaker = holder;
      isBusy = false;
      if (speaker === undefined) return;
      if (answer.isIdle) {
        holder = undefined;
        waiting.add(speaker); // behind the others, if it has more to say
      }
      speaker.onAnswer(answer);
      advance();
    },
    open() {
      isOpen = true;
      advance();
    },
    close() {
      isOpen = false;
      isBusy = false;
      holder = undefined;
      waiting.clear();
    },
    get isBusy() {
      return isBusy;
    },
  };
}
