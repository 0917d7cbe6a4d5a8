/** Sends long results as bytes, streamed from the database or as one buffer, because texts would need two copies. */
import type { Answer, Exchange, PluginContext } from "../../../core/index.ts";
import {
  streamedAnswersService,
  type BodyFrame,
  type StreamedAnswers,
  type StreamedBody,
  type ValueReceiver,
} from "../../speed/api.ts";
import { acceptsGzip, compressAnswer, addGzipHeaders } from "./compression.ts";
import type { GqlEngine, GqlLongBody, GqlRequest, GqlRequestOptions, PackedBody } from "../operations.ts";

/** The size above which `data` is sent as bytes. */
const LONG_BYTES = 1024 * 1024;

/** The body of a long answer, streamed or whole. */
export type LongAnswer = { readonly streamedBody: StreamedBody; readonly frame: BodyFrame } | Buffer | PackedBody;

interface RequestRunner {
  /** Runs the only operation of an exchange. If a long result is lost on its way, the operation runs once more. */
  run(
    exchange: Exchange,
    request: GqlRequest,
    options?: Pick<GqlRequestOptions, "path" | "access">,
  ): Promise<LongAnswer | string>;
  /** Adds the result of `run` to the status and headers of an answer. */
  answer(exchange: Exchange, answer: Answer, result: LongAnswer | string): Promise<Answer> | Answer;
}

/** The text around `data` in bodies that have the member `data`. */
export const DATA_MEMBER = { before: '{"data":', after: "}" };

/** The empty text around `data` in bodies that contain only `data`. */
export const DATA_ONLY = { before: "", after: "" };

/** Creates the runner of long answers. @rule R-STR-7 */
export const createRequestRunner = (
  context: PluginContext,
  getEngine: () => Pick<GqlEngine, "runRequest">,
  { before, after }: typeof DATA_MEMBER,
): RequestRunner => {
  let streamedAnswers: StreamedAnswers | undefined;
  context.onModel(() => {
    streamedAnswers = context.use(streamedAnswersService);
  });

  /** Calls `resolveBody` with the whole body, or with undefined if the body was lost. */
  const collectBody = (
    bytes: number,
    frame: BodyFrame,
    resolveBody: (body: Buffer | undefined) => void,
  ): ValueReceiver => {
    const buffer = Buffer.allocUnsafeSlow(frame.before.length + bytes + frame.after.length);
    let at = frame.before.copy(buffer);
    frame.after.copy(buffer, at + bytes);
    return {
      write: (chunk) => {
        at += chunk.copy(buffer, at);
        return true;
      },
      end: () => resolveBody(buffer),
      fail: () => resolveBody(undefined), // a failure after the end changes nothing
    };
  };

  /** The result is undefined if the body was lost on its way. */
  const longBody: GqlLongBody<LongAnswer | undefined> = {
    get aboveBytes() {
      return Math.min(LONG_BYTES, streamedAnswers?.aboveBytes ?? LONG_BYTES);
    },
    take: (body, beforeBody, afterBody) => {
      const { bytes } = body;
      const frame = { before: Buffer.from(before + beforeBody), after: Buffer.from(afterBody + after) };
      const openedBody =
        streamedAnswers !== undefined && bytes > streamedAnswers.aboveBytes
          ? streamedAnswers.openBody(body)
          : undefined;
      if (openedBody !== undefined)
        return { receiver: openedBody.receiver, result: { streamedBody: openedBody, frame } };
      if (bytes <= LONG_BYTES) return undefined;
      let resolveBody: (body: Buffer | undefined) => void = () => undefined;
      const wholeBody = new Promise<Buffer | undefined>((resolve) => (resolveBody = resolve));
      return { receiver: collectBody(bytes, frame, resolveBody), result: wholeBody };
    },
    // A packed body has the member `data`.
    takePacked: before === "" ? undefined : (body) => body,
  };

  return {
    run: async (exchange, request, options) => {
      const { path, access } = options ?? {};
      const engine = getEngine();
      const result = await engine.runRequest(exchange, request, { path, access, longBody });
      return result ?? (await engine.runRequest<LongAnswer>(exchange, request, { path, access }));
    },
    answer: (exchange, answer, result) => {
      if (typeof result === "string")
        return compressAnswer(exchange, {
          status: answer.status,
          headers: answer.headers,
          body: `${before}${result}${after}`,
        });
      return answerLong(exchange, answer, result);
    },
  };

  async function answerLong(exchange: Exchange, answer: Answer, long: LongAnswer): Promise<Answer> {
    const mayZip = acceptsGzip(exchange);
    if ("streamedBody" in long) {
      // HTTP/1.0 has no chunks with lengths, so a truncated gzip body would look complete.
      const isZipped = mayZip && exchange.request.httpVersion !== "1.0";
      const answerHead = isZipped ? addGzipHeaders(answer) : answer;
      return long.streamedBody.attachTo(answerHead, { ...long.frame, isZipped });
    }
    if (!("gzip" in long)) return compressAnswer(exchange, { ...answer, body: long });
    return mayZip ? { ...addGzipHeaders(answer), body: await long.gzip() } : { ...answer, body: await long.plain() };
  }
};
