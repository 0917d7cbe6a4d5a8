/** Runs the functions of plugins that answer fields. @rule X-GQL-4 */
import { isRelApiError, type Logger, type Session } from "../../core/index.ts";
import { functionFailed, functionRefused } from "./errors.ts";
import type { GqlCall, GqlFunctionRequest, GqlOperation, GqlRunOptions } from "./parts.ts";

type Asked = Pick<GqlFunctionRequest, "session" | "signal">;

export interface Functions {
  /** The calls of an operation: those of a query together, those of a mutation one after another. Texts in their order.
   *  @throws RelApiError of the first that fails; the others are told to stop */
  call(operation: GqlOperation, session: Session, onGone: GqlRunOptions["onGone"]): Promise<readonly string[]>;
}

/** Its signal is aborted when the client goes away, or `work` fails. */
const abortable = async <Result>(
  onGone: GqlRunOptions["onGone"],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController();
  const stop = onGone?.(() => controller.abort());
  try {
    return await work(controller.signal);
  } catch (error) {
    controller.abort();
    throw error;
  } finally {
    stop?.();
  }
};

export const createFunctions = (logger: Logger): Functions => {
  /** An error thrown on purpose is told; anything else is logged, and nothing of it is shown. */
  const guarded = async <Result>({ origin, path }: Pick<GqlCall, "origin" | "path">, run: () => Promise<Result>) => {
    try {
      return await run();
    } catch (error) {
      if (isRelApiError(error)) throw functionRefused(error, path);
      logger.error(`${origin} failed`, { cause: error instanceof Error ? error : String(error) });
      throw functionFailed(path);
    }
  };
  const one = (call: GqlCall, asked: Asked): Promise<string> => guarded(call, () => call.run(asked));

  return {
    call: ({ kind, calls }, session, onGone) =>
      abortable(onGone, async (signal) => {
        if (kind !== "mutation") return Promise.all(calls.map((call) => one(call, { session, signal })));
        const texts: string[] = [];
        for (const call of calls) texts.push(await one(call, { session, signal }));
        return texts;
      }),
  };
};
