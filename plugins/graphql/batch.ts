/** `POST /v1/graphql [{"query":…},{"query":…}]`: requests one after another, their answers in one array. @rule G-HTTP-5
 *  G-LIM-6 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { limitExceeded, type Limits } from "../../core/index.ts";
import type { GqlRequest } from "./operations.ts";

/** Answers of one batch, as far as they go. */
export type Batch =
  /** All of them. */
  | { readonly body: string }
  /** Too much to wait for: writes the array from its beginning, each answer once the one before is out. */
  | { readonly write: (response: ServerResponse) => Promise<void> };

/** Answers up to here are sent as one body, with its length and compressed. */
const MAX_WHOLE_BYTES = 1024 * 1024;

/** A client that does not read keeps the next answer from being made. */
const drained = async (response: ServerResponse): Promise<void> => {
  if (response.destroyed || !response.writableNeedDrain) return;
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  response.once("close", leave);
  try {
    await once(response, "drain", { signal: gone.signal });
  } catch {
    // it went away: nothing more is made
  } finally {
    response.off("close", leave);
  }
};

/** `answer`: the text of one answer. `refuse`: that of an entry that is not run any more. */
export const answerBatch = async (
  requests: readonly GqlRequest[],
  { maxBatchBytes }: Limits,
  answer: (request: GqlRequest) => Promise<string>,
  refuse: (error: Error) => string,
): Promise<Batch> => {
  let bytes = 0;
  /** Of the answer of one entry, with what stands in front of it. */
  const textOf = async (request: GqlRequest, at: number): Promise<string> => {
    const text =
      bytes > maxBatchBytes
        ? refuse(
            limitExceeded("maxBatchBytes", {
              code: "bad-request",
              message: `the answers of the batch are larger than ${maxBatchBytes} bytes`,
              path: "$",
            }),
          )
        : await answer(request);
    if (bytes <= maxBatchBytes) bytes += Buffer.byteLength(text);
    return `${at === 0 ? "[" : ","}${text}`;
  };
  let begun = requests.length === 0 ? "[" : "";
  for (const [at, request] of requests.entries()) {
    begun += await textOf(request, at);
    if (bytes > MAX_WHOLE_BYTES && at + 1 < requests.length) return { write: (response) => write(response, at + 1) };
  }
  return { body: `${begun}]` };

  async function write(response: ServerResponse, from: number): Promise<void> {
    response.write(begun);
    begun = "";
    for (let at = from; at < requests.length; at++) {
      await drained(response);
      if (response.destroyed) return;
      response.write(await textOf(requests[at] as GqlRequest, at)); // at is within its length
    }
    response.end("]");
  }
};
