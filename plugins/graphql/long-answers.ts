/** Answers that go on as bytes, while they arrive from the database or in one piece: a text would be two copies of
 *  them. */
import type { Answer, Exchange, PluginContext, ResultRow, ValueTaker } from "../../core/index.ts";
import { streamedAnswersService, type StreamedAnswers } from "../streamed-answers/api.ts";
import { acceptsGzip, compressed, gzipped } from "./compressed.ts";
import type { GqlLongBody, GqlRunOptions, PackedBody } from "./operations.ts";

/** From here on `data` is. */
const LONG_BYTES = 1024 * 1024;

/** What is written around a body. */
interface Around {
  readonly before: Buffer;
  readonly after: Buffer;
}

/** A row whose body is still to come, or a whole body. */
export type LongAnswer = { readonly row: ResultRow; readonly around: Around } | Buffer | PackedBody;

/** Takes the body of a run in place of its text. */
export type LongRunOptions = Pick<GqlRunOptions, "longBody" | "packedBody">;

export interface LongAnswers {
  /** Runs an operation whose exchange is answered with nothing else: the text of `data`, or the answer with all of it.
   *  It runs once more, with a text, where a long body was lost on its way. */
  run(operation: (long: LongRunOptions | undefined) => Promise<string>): Promise<LongAnswer | string>;
  /** `answer`: status and headers. */
  answer(exchange: Exchange, answer: Answer, long: LongAnswer): Promise<Answer> | Answer;
}

/** `before`, `after`: what is written around `data`. @rule R-STR-7 */
export const createLongAnswers = (context: PluginContext, before: string, after: string): LongAnswers => {
  let streamed: StreamedAnswers | undefined;
  context.onModel(() => {
    streamed = context.use(streamedAnswersService);
  });

  /** `answered`: called with the whole body, or with undefined if it was lost. */
  const hold = (bytes: number, around: Around, answered: (whole: Buffer | undefined) => void): ValueTaker => {
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
    run: async (operation) => {
      let taken: Promise<LongAnswer | undefined> | undefined;
      const longBody: GqlLongBody = {
        aboveBytes: Math.min(LONG_BYTES, streamed?.aboveBytes ?? LONG_BYTES),
        take: (row, body, beforeBody, afterBody) => {
          const { bytes } = body;
          const around = { before: Buffer.from(before + beforeBody), after: Buffer.from(afterBody + after) };
          const taker = streamed !== undefined && bytes > streamed.aboveBytes ? streamed.take(row, body) : undefined;
          if (taker !== undefined) taken = Promise.resolve({ row, around });
          if (taker !== undefined || bytes <= LONG_BYTES) return taker;
          let answered: (whole: Buffer | undefined) => void = () => undefined;
          taken = new Promise((resolve) => (answered = resolve));
          return hold(bytes, around, answered);
        },
      };
      const packedBody = (body: PackedBody): void => {
        taken = Promise.resolve(body);
      };
      const text = await operation({ longBody, packedBody });
      const answer = taken as Promise<LongAnswer | undefined> | undefined; // set by the callbacks above
      return answer === undefined ? text : ((await answer) ?? operation(undefined));
    },
    answer: async (exchange, answer, long) => {
      const mayZip = acceptsGzip(exchange);
      if ("row" in long) {
        // where chunks have no lengths, a broken answer would look complete
        const isZipped = mayZip && exchange.request.httpVersion !== "1.0";
        const headed = isZipped ? gzipped(answer) : answer;
        return streamed?.withBody(long.row, headed, { ...long.around, isZipped }) ?? headed;
      }
      if (!("gzip" in long)) return compressed(exchange, { ...answer, body: long });
      return mayZip ? { ...gzipped(answer), body: await long.gzip() } : { ...answer, body: await long.plain() };
    },
  };
};
