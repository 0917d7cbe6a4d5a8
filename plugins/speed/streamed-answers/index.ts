/** Sends a long body to the client while it arrives from the database, at the pace of the client: `curl
 *  http://localhost:3000/api/track > tracks.json`. Status, headers and bytes are the same as without streaming. */
import { definePlugin } from "../../../core/index.ts";
import { streamedAnswersService, type ArrivingBody, type StreamedBody } from "../api.ts";
import { createRowReader } from "./long-value.ts";
import { openBody } from "./open-body.ts";
import { streamSettings } from "../settings.ts";

const SECOND_MS = 1000;

/** At most one connection in this many may wait for clients. @rule R-STR-4 */
const POOL_DIVISOR = 2;

/** Sends long bodies while they arrive from the database. @rule R-STR-1 R-STR-6 */
export const streamedAnswers = definePlugin({
  name: "streamed-answers",
  settings: streamSettings,
  apply: (_hooks, context) => {
    let waitingCount = 0;
    const admitBody = (): (() => void) | undefined => {
      if (waitingCount >= Math.floor(context.options.dbPool / POOL_DIVISOR)) return undefined;
      waitingCount++;
      return () => waitingCount--;
    };
    context.counters.watch("streams-waiting", () => waitingCount);
    const openStreamedBody = ({ bytes, execution, resume, discard }: ArrivingBody): StreamedBody | undefined => {
      const { exchange } = execution;
      const mustBuffer =
        exchange === undefined ||
        exchange.needsBody === true ||
        exchange.response.socket === null || // the caller is the application or a plugin, or the client has left
        context.options.database !== undefined; // an embedded database has already sent the whole body
      if (mustBuffer) return undefined;
      const { receiver, writeTo } = openBody({
        response: exchange.response,
        patienceMs: context.options.streamPatience * SECOND_MS,
        onUnread: (response) => context.watchUnread(response),
        release: admitBody(),
        resume,
        discard,
      });
      context.counters.add("streams");
      return {
        receiver,
        attachTo: (answer, frame) => {
          const { before, after, isZipped } = frame ?? EMPTY_FRAME;
          return {
            ...answer,
            body: undefined,
            stream: (response) => writeTo(response, frame),
            ...(isZipped ? {} : { streamBytes: before.length + bytes + after.length }),
          };
        },
      };
    };
    context.offer(streamedAnswersService, {
      aboveBytes: context.options.streamAboveBytes,
      openBody: openStreamedBody,
      createRowReader,
    });
  },
});

const EMPTY_BYTES: Buffer = Buffer.alloc(0);
const EMPTY_FRAME = { before: EMPTY_BYTES, after: EMPTY_BYTES, isZipped: false } as const;
