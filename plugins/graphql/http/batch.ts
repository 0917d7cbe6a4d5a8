/** `POST /v1/graphql [{"query":…},{"query":…}]`: runs the requests of a batch one after another, and sends their
 *  responses in one array. @rule G-HTTP-5 G-LIM-6 */
import type { ServerResponse } from "node:http";
import { writePart, type PluginContext } from "../../../core/index.ts";
import { batchAnswersTooLarge } from "../errors.ts";
import type { GqlRequest } from "../operations.ts";

/** The responses of a batch so far. */
type Batch =
  /** The text of all responses. */
  | { readonly body: string }
  /** The batch is too large to buffer: streams the array, each response after the previous one. */
  | { readonly write: (response: ServerResponse) => Promise<void> };

/** Responses up to this size are sent as one body, with a length and compressed. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Answers the requests of a batch. `answer` returns the text of one response. `encodeError` returns the text for an
 *  entry that is no longer run. */
export const answerBatch = async (
  requests: readonly GqlRequest[],
  { options: { maxBatchBytes }, watchUnread }: PluginContext,
  answer: (request: GqlRequest) => Promise<string>,
  encodeError: (error: Error) => string,
): Promise<Batch> => {
  let bytes = 0;
  /** Returns the response of one entry, after its separator. */
  const runEntry = async (request: GqlRequest, at: number): Promise<string> => {
    const text = bytes > maxBatchBytes ? encodeError(batchAnswersTooLarge(maxBatchBytes)) : await answer(request);
    if (bytes <= maxBatchBytes) bytes += Buffer.byteLength(text);
    return `${at === 0 ? "[" : ","}${text}`;
  };
  let pendingText = requests.length === 0 ? "[" : "";
  for (const [at, request] of requests.entries()) {
    pendingText += await runEntry(request, at);
    if (bytes > MAX_BUFFERED_BYTES && at + 1 < requests.length) return { write: (response) => write(response, at + 1) };
  }
  return { body: `${pendingText}]` };

  async function write(response: ServerResponse, from: number): Promise<void> {
    await writePart(response, pendingText, watchUnread);
    pendingText = "";
    for (let at = from; at < requests.length; at++) {
      if (response.destroyed) return;
      // `at` is below the length.
      await writePart(response, await runEntry(requests[at] as GqlRequest, at), watchUnread);
    }
    response.end("]");
  }
};
