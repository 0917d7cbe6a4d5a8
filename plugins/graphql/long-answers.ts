/** Answers that go on as bytes, while they arrive from the database or in one piece: a text would be two copies of
 *  them. */
import type { Answer, Exchange, PluginContext } from "../../core/index.ts";
import {
  streamedAnswersService,
  type BodyFrame,
  type StreamedAnswers,
  type StreamedBody,
  type ValueReceiver,
} from "../speed/api.ts";
import { acceptsGzip, compressAnswer, addGzipHeaders } from "./compression.ts";
import type { GqlEngine, GqlLongBody, GqlRequest, GqlRequestOptions, PackedBody } from "./operations.ts";

/** From here on `data` is. */
const LONG_BYTES = 1024 * 1024;

/** A body that is still to come, or a whole one. */
export type LongAnswer = { readonly streamed: StreamedBody; readonly around: BodyFrame } | Buffer | PackedBody;

export interface RequestRunner {
  /** Runs an operation whose exchange has no other answer. A long answer that is lost on its way runs once more. */
  run(exchange: Exchange, request: GqlRequest, options?: GqlRequestOptions): Promise<LongAnswer | string>;
  /** Adds the result of `run` to the status and headers of an answer. */
  answer(exchange: Exchange, answer: Answer, result: LongAnswer | string): Promise<Answer> | Answer;
}

/** The text around `data`, in bodies with that member. */
export const DATA_MEMBER = { before: '{"data":', after: "}" };

/** The bodies that are only `data`. */
export const DATA_ONLY = { before: "", after: "" };

/** @rule R-STR-7 */
export const createRequestRunner = (
  context: PluginContext,
  getEngine: () => Pick<GqlEngine, "runRequest">,
  { before, after }: typeof DATA_MEMBER,
): RequestRunner => {
  let streamed: StreamedAnswers | undefined;
  context.onModel(() => {
    streamed = context.use(streamedAnswersService);
  });

  /** `answered`: called with the whole body, or with undefined if it was lost. */
  const collectBody = (
    bytes: number,
    around: BodyFrame,
    answered: (whole: Buffer | undefined) => void,
  ): ValueReceiver => {
    const whole = Buffer.allocUnsafeSlow(around.before.length + bytes + around.after.length);
    let at = around.before.copy(whole);
    around.after.copy(whole, at + bytes);
    return {
      write: (chunk) => {
        at += chunk.copy(whole, at);
        return true;
      },
      end: () => answered(whole),
      fail: () => answered(undefined), // after its end nothing changes
    };
  };

  return {
    run: async (exchange, request, options) => {
      const run = <Taken = never>(longBody?: GqlLongBody<Taken>): Promise<string | Taken> =>
        getEngine().runRequest<Taken>(exchange, request, { ...options, longBody });
      // undefined if the body was lost on its way
      const longBody: GqlLongBody<LongAnswer | undefined> = {
        aboveBytes: Math.min(LONG_BYTES, streamed?.aboveBytes ?? LONG_BYTES),
        take: (body, beforeBody, afterBody) => {
          const { bytes } = body;
          const around = { before: Buffer.from(before + beforeBody), after: Buffer.from(afterBody + after) };
          const opened = streamed !== undefined && bytes > streamed.aboveBytes ? streamed.openBody(body) : undefined;
          if (opened !== undefined) return { taker: opened.receiver, taken: { streamed: opened, around } };
          if (bytes <= LONG_BYTES) return undefined;
          let answered: (whole: Buffer | undefined) => void = () => undefined;
          const taken = new Promise<Buffer | undefined>((resolve) => (answered = resolve));
          return { taker: collectBody(bytes, around, answered), taken };
        },
        // a packed body has the member `data`
        takePacked: before === "" ? undefined : (body) => body,
      };
      return (await run(longBody)) ?? run();
    },
    answer: (exchange, answer, result) => {
      if (typeof result === "string")
        return compressAnswer(exchange, { ...answer, body: `${before}${result}${after}` });
      return answerLong(exchange, answer, result);
    },
  };

  async function answerLong(exchange: Exchange, answer: Answer, long: LongAnswer): Promise<Answer> {
    const mayZip = acceptsGzip(exchange);
    if ("streamed" in long) {
      // where chunks have no lengths, a broken answer would look complete
      const isZipped = mayZip && exchange.request.httpVersion !== "1.0";
      const headed = isZipped ? addGzipHeaders(answer) : answer;
      return long.streamed.addTo(headed, { ...long.around, isZipped });
    }
    if (!("gzip" in long)) return compressAnswer(exchange, { ...answer, body: long });
    return mayZip ? { ...addGzipHeaders(answer), body: await long.gzip() } : { ...answer, body: await long.plain() };
  }
};
