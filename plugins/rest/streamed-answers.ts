/** `curl http://localhost:3000/api/track > tracks.json`: a long body goes to the client while it arrives from the database,
 *  at the client's pace. Status, headers and bytes are those of an answer that was held. */
import type { ServerResponse } from "node:http";
import { definePlugin, type PluginContext, type ResultRow, type ValueTaker } from "../../core/index.ts";
import type { StreamedAnswersService } from "./api.ts";
import type { EtagsService } from "./run.ts";
import { streamSettings } from "./settings.ts";

const SECOND_MS = 1000;

/** A body on its way. */
interface OpenBody {
  readonly bytes: number;
  readonly taker: ValueTaker;
  /** Settles when the response is over. */
  writeTo(response: ServerResponse): Promise<void>;
}

interface OpenParts {
  readonly context: PluginContext;
  readonly response: ServerResponse;
  readonly bytes: number;
  /** The database may be kept waiting; call it once the client has got everything, or gone. Undefined: it may not. */
  readonly release: (() => void) | undefined;
  readonly resume: () => void;
  readonly drop: () => void;
}

/** @rule R-STR-2 R-STR-3 R-STR-4 R-STR-5 */
const openBody = ({ context, response, bytes, release, resume, drop }: OpenParts): OpenBody => {
  let mayWait = release !== undefined;
  /** What has arrived before the headers are out. */
  const early: Buffer[] = [];
  let isStarted = false;
  let isComplete = false;
  let isOver = false;
  let settle = (): void => undefined;
  const stopWaiting = (): void => {
    if (mayWait) release?.();
    mayWait = false;
    clearTimeout(patience);
  };
  /** The connection may be somebody else's once all of it has come. */
  const goOn = (): void => {
    if (!isComplete) resume();
  };
  const patience = setTimeout(() => {
    stopWaiting();
    goOn();
  }, context.options.streamPatience * SECOND_MS);
  patience.unref();
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    early.length = 0;
    stopWaiting();
    if (!isComplete) drop();
    settle();
  };
  response.once("close", over);
  const write = (chunk: Buffer): boolean => {
    if (response.write(chunk)) return true;
    context.watchUnread(response);
    return !mayWait;
  };
  return {
    bytes,
    taker: {
      write: (chunk) => {
        if (isOver) return true;
        if (isStarted) return write(chunk);
        early.push(chunk);
        return !mayWait;
      },
      end: () => {
        isComplete = true;
        stopWaiting();
        if (isStarted) response.end();
      },
      // a client must not take it for complete
      fail: () => {
        if (!isComplete) response.destroy();
      },
    },
    writeTo: (to) =>
      new Promise((resolve) => {
        settle = resolve;
        if (isOver) return resolve();
        isStarted = true;
        to.on("drain", goOn);
        let isRoom = true;
        for (const chunk of early.splice(0)) isRoom = write(chunk);
        if (isComplete) to.end();
        else if (isRoom) goOn();
      }),
  };
};

/** Those that may keep a connection waiting leave as many to everybody else. @rule R-STR-4 */
const SHARE_OF_POOL = 2;

/** @rule R-STR-1 R-STR-6 */
export const streamedAnswers = definePlugin({
  name: "streamed-answers",
  requires: ["rest"],
  settings: streamSettings,
  apply: (_hooks, context) => {
    const bodies = new WeakMap<ResultRow, OpenBody>();
    let waiting = 0;
    const admit = (): (() => void) | undefined => {
      if (waiting >= Math.floor(context.options.dbPool / SHARE_OF_POOL)) return undefined;
      waiting++;
      return () => waiting--;
    };
    context.counters.watch("streams-waiting", () => waiting);
    context.offer<StreamedAnswersService>("streamed-answers", {
      aboveBytes: context.options.streamAboveBytes,
      take: (row, { bytes, execution, resume, drop }) => {
        const { exchange } = execution;
        // a tag is of the whole body; an embedded database has sent all of it
        const isHeld =
          exchange === undefined ||
          exchange.needsBody === true ||
          exchange.response.socket === null || // a call of the application or of a plugin, or nobody is there any more
          context.options.database !== undefined ||
          context.service<EtagsService>("rest-etags") !== undefined;
        if (isHeld) return undefined;
        const body = openBody({ context, response: exchange.response, bytes, release: admit(), resume, drop });
        bodies.set(row, body);
        context.counters.add("streams");
        return body.taker;
      },
      withBody: (row, answer) => {
        const body = bodies.get(row);
        if (body === undefined) return answer;
        return { ...answer, body: undefined, stream: body.writeTo, streamBytes: body.bytes };
      },
    });
  },
});
