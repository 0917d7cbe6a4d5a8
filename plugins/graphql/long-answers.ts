/** Answers that are put together as bytes, which a text would be two copies of. */
import type { LongBody } from "../../core/index.ts";
import type { GqlRunOptions, PackedBody } from "./operations.ts";

/** From here on `data` is. */
const LONG_BYTES = 1024 * 1024;
const BEFORE = Buffer.from('{"data":');
const AFTER = Buffer.from("}");

export interface LongAnswers {
  /** Whole answers, by their exchange; undefined: it was lost on its way. */
  readonly of: WeakMap<object, Promise<Buffer | PackedBody | undefined>>;
  /** For runs whose exchange is answered with nothing else. */
  readonly options: Pick<GqlRunOptions, "longBody" | "packedBody">;
}

/** @rule R-STR-7 */
export const createLongAnswers = (): LongAnswers => {
  const answers: LongAnswers["of"] = new WeakMap();
  const longBody: LongBody = {
    aboveBytes: LONG_BYTES,
    take: (_row, { bytes, execution: { exchange } }) => {
      if (exchange === undefined) return undefined;
      const whole = Buffer.allocUnsafeSlow(BEFORE.length + bytes + AFTER.length);
      let at = BEFORE.copy(whole);
      AFTER.copy(whole, at + bytes);
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
    },
  };
  return {
    of: answers,
    options: {
      longBody,
      packedBody: (body, exchange) => answers.set(exchange, Promise.resolve(body)),
    },
  };
};

const settled = <Value>(): { readonly promise: Promise<Value>; readonly settle: (value: Value) => void } => {
  let settle: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((resolve) => (settle = resolve));
  return { promise, settle };
};
