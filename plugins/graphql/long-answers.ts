/** Answers that go on as bytes, while they arrive from the database or in one piece: a text would be two copies of
 *  them. */
import type { Answer, Exchange, PluginContext, ResultRow, ValueTaker } from "../../core/index.ts";
import type { StreamedAnswers, StreamedAnswersService } from "../streamed-answers/api.ts";
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

export interface LongAnswers {
  /** For runs whose exchange is answered with nothing else. */
  readonly options: Pick<GqlRunOptions, "longBody" | "packedBody">;
  /** What was taken in place of a `data` that has come as `{}`. `again`: runs the operation once more, for one that was
   *  lost on its way. */
  taken(exchange: Exchange, again: () => Promise<string>): Promise<LongAnswer | string>;
  /** `answer`: status and headers. */
  answer(exchange: Exchange, answer: Answer, long: LongAnswer): Promise<Answer> | Answer;
}

/** `before`, `after`: what is written around `data`. @rule R-STR-7 */
export const createLongAnswers = (context: PluginContext, before: string, after: string): LongAnswers => {
  const answers = new WeakMap<object, Promise<LongAnswer | undefined>>();
  let streamed: StreamedAnswers | undefined;
  context.onModel(() => {
    streamed = context.service<StreamedAnswersService>("streamed-answers");
    longBody.aboveBytes = Math.min(LONG_BYTES, streamed?.aboveBytes ?? LONG_BYTES);
  });

  const hold = (exchange: object, bytes: number, around: Around): ValueTaker => {
    const whole = Buffer.allocUnsafeSlow(around.before.length + bytes + around.after.length);
    let at = around.before.copy(whole);
    around.after.copy(whole, at + bytes);
    const { promise, settle } = settled<Buffer | undefined>();
    answers.set(exchange, promise);
    return {
      write: (chunk) => {
        at += chunk.copy(whole, at);
        return true;
      },
      end: () => settle(whole),
      fail: () => settle(undefined), // after its end nothing changes
    };
  };
  const longBody: GqlLongBody & { aboveBytes: number } = {
    aboveBytes: LONG_BYTES,
    take: (row, body, beforeBody, afterBody) => {
      const { bytes, execution } = body;
      const { exchange } = execution;
      if (exchange === undefined) return undefined;
      const around = { before: Buffer.from(before + beforeBody), after: Buffer.from(afterBody + after) };
      const taker = streamed !== undefined && bytes > streamed.aboveBytes ? streamed.take(row, body) : undefined;
      if (taker === undefined) return bytes > LONG_BYTES ? hold(exchange, bytes, around) : undefined;
      answers.set(exchange, Promise.resolve({ row, around }));
      return taker;
    },
  };

  return {
    options: {
      longBody,
      packedBody: (body, exchange) => answers.set(exchange, Promise.resolve(body)),
    },
    taken: async (exchange, again) => {
      const answer = answers.get(exchange);
      return answer === undefined ? "{}" : ((await answer) ?? again());
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

const settled = <Value>(): { readonly promise: Promise<Value>; readonly settle: (value: Value) => void } => {
  let settle: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((resolve) => (settle = resolve));
  return { promise, settle };
};
