/** Runs the plugin functions that resolve fields. @rule X-GQL-4 X-GQL-6 */
import { RelApiError, splitJson, type Logger, type ResultRow, type Session } from "../../../core/index.ts";
import { parseJson } from "../values/numbers.ts";
import { functionFailed, functionRejected } from "../errors.ts";
import { findSpans, splice } from "./replace-json-values.ts";
import type { GqlCallContext, GqlLoadedRow } from "../plan-parts.ts";
import type {
  GqlCall,
  GqlEvents,
  GqlFollowUp,
  GqlJoinedRead,
  GqlLiveCall,
  GqlLoad,
  GqlLoads,
  GqlOperation,
  GqlRunOptions,
} from "../operations.ts";

interface FunctionRunner {
  /** Runs calls concurrently, and returns their texts in order. If a call fails, the others are aborted. @throws
   *  RelApiError of the first call that fails */
  call(
    operation: Pick<GqlOperation, "calls" | "document">,
    execute: ExecuteReads,
    session: Session,
    options: FunctionRunOptions,
  ): Promise<readonly string[]>;
  /** Adds the loaded values to the bodies. Each function is called once. @throws RelApiError */
  load(
    operation: GqlOperation,
    bodies: readonly (string | null)[],
    execute: ExecuteReads,
    session: Session,
    options: FunctionRunOptions,
  ): Promise<readonly (string | null)[]>;
  /** Returns the texts of calls of a live query, whose bodies have arrived. @throws RelApiError */
  completeLive(
    operation: Pick<GqlOperation, "document">,
    calls: readonly GqlLiveCall[],
    bodies: readonly (string | null)[],
    execute: ExecuteReads,
    session: Session,
  ): Promise<readonly string[]>;
  /** Sends the events of a subscription until the signal is aborted. @throws RelApiError */
  openEvents(
    operation: Pick<GqlOperation, "calls" | "document">,
    session: Session,
    signal: AbortSignal,
    emit: (event: string | RelApiError) => Promise<void>,
  ): Promise<void>;
  /** Returns the text of the field for an event. @throws RelApiError */
  completeEvent(
    operation: Pick<GqlOperation, "calls" | "document">,
    event: string,
    execute: ExecuteReads,
    session: Session,
  ): Promise<string>;
}

/** Runs the reads of rows that belong to results of functions, in one transaction. */
type ExecuteReads = (reads: readonly GqlJoinedRead[]) => Promise<readonly ResultRow[]>;

type FunctionRunOptions = Pick<GqlRunOptions, "onDisconnect" | "exchange">;

/** Runs `work` with a signal that is aborted when the client disconnects or `work` fails. */
const withAbortSignal = async <Result>(
  onDisconnect: GqlRunOptions["onDisconnect"],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController();
  const stop = onDisconnect?.(() => controller.abort());
  try {
    return await work(controller.signal);
  } catch (error) {
    controller.abort();
    throw error;
  } finally {
    stop?.();
  }
};

/** Creates the runner of fields that functions resolve. */
export const createFunctionRunner = (logger: Logger): FunctionRunner => {
  /** The errors of reads and loads that complete a result. They have a path of their own. */
  const followUpErrors = new WeakSet<object>();

  /** Passes on errors that are thrown on purpose. Other exceptions are logged and not shown to the client. */
  const withHiddenExceptions = async <Result>(
    { origin, path }: Pick<GqlCall, "origin" | "path">,
    run: () => Promise<Result>,
  ) => {
    try {
      return await run();
    } catch (error) {
      if (typeof error === "object" && error !== null && followUpErrors.has(error)) throw error;
      if (error instanceof RelApiError) throw functionRejected(error, path);
      logger.error(`${origin} failed`, { cause: error instanceof Error ? error : String(error) });
      throw functionFailed(path);
    }
  };

  const markErrors = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      if (typeof error === "object" && error !== null) followUpErrors.add(error);
      throw error;
    }
  };

  const runLoad = (load: GqlLoad, rows: readonly GqlLoadedRow[], execute: ExecuteReads, context: GqlCallContext) =>
    withHiddenExceptions(load, () => load.run(rows, context, createFollowUp(execute, context)));

  const createFollowUp = (execute: ExecuteReads, context: GqlCallContext): GqlFollowUp => ({
    read: (joins) => markErrors(readJoins(joins, execute, context)),
    load: (load, objects) => markErrors(runLoad(load, objects, execute, context)),
  });

  const loadBody = async (
    { tree, fields }: GqlLoads,
    body: string,
    execute: ExecuteReads,
    context: GqlCallContext,
  ): Promise<string> => {
    const spans = findSpans(body, tree);
    const texts: string[] = [];
    await Promise.all(
      fields.map(async (field, load) => {
        const spanIndexes = spans.flatMap((span, i) => (span.load === load ? [i] : []));
        if (spanIndexes.length === 0) return;
        // The plan selects an object here.
        const rows = spanIndexes.map((i) => parseJson(body.slice(spans[i]?.start, spans[i]?.end)) as GqlLoadedRow);
        const results = await runLoad(field, rows, execute, context);
        spanIndexes.forEach((spanIndex, i) => (texts[spanIndex] = results[i] ?? "null"));
      }),
    );
    return splice(body, spans, texts);
  };

  const loadBodies = async (
    loads: readonly GqlLoads[],
    bodies: readonly (string | null)[],
    execute: ExecuteReads,
    context: GqlCallContext,
  ): Promise<readonly (string | null)[]> => {
    const loadedBodies = [...bodies];
    await Promise.all(
      loads.map(async (load) => {
        const body = bodies[load.step];
        if (typeof body === "string") loadedBodies[load.step] = await loadBody(load, body, execute, context);
      }),
    );
    return loadedBodies;
  };

  const readJoins = async (
    joins: readonly GqlJoinedRead[],
    execute: ExecuteReads,
    context: GqlCallContext,
  ): Promise<readonly (readonly string[])[]> => {
    if (joins.length === 0) return [];
    const rows = await execute(joins);
    return Promise.all(
      joins.map(async ({ loads }, i) => {
        const [body] = await loadBodies(loads, [rows[i]?.["body"] ?? "[]"], execute, context);
        return [...splitJson(body ?? "[]")];
      }),
    );
  };

  const runOne = (call: GqlCall, execute: ExecuteReads, context: GqlCallContext): Promise<string> =>
    withHiddenExceptions(call, () => call.run(context, createFollowUp(execute, context)));

  const getEventCall = ({ calls }: Pick<GqlOperation, "calls">): GqlCall & { readonly events: GqlEvents } => {
    const call = calls.find(({ events }) => events !== undefined);
    if (call?.events === undefined) throw new TypeError("the operation has no events");
    return { ...call, events: call.events };
  };

  return {
    openEvents: (operation, session, signal, emit) => {
      const call = getEventCall(operation);
      const { document } = operation;
      return withHiddenExceptions(call, () =>
        call.events.open({ session, signal, document }, (event) =>
          emit(typeof event === "string" ? event : functionRejected(event, call.path)),
        ),
      );
    },
    completeEvent: (operation, event, execute, session) =>
      withAbortSignal(undefined, (signal) => {
        const call = getEventCall(operation);
        const followUp = createFollowUp(execute, { session, signal, document: operation.document });
        return withHiddenExceptions(call, () => call.events.complete(event, followUp));
      }),
    completeLive: ({ document }, calls, bodies, execute, session) =>
      withAbortSignal(undefined, (signal) => {
        const followUp = createFollowUp(execute, { session, signal, document });
        return Promise.all(
          calls.map(({ complete, text }, i) => {
            const body = bodies[i] ?? null;
            return complete === undefined ? text(body) : complete(body, followUp);
          }),
        );
      }),
    load: ({ loads, document }, bodies, execute, session, { onDisconnect, exchange }) =>
      withAbortSignal(onDisconnect, (signal) =>
        loadBodies(loads, bodies, execute, { session, signal, exchange, document }),
      ),
    call: ({ calls, document }, execute, session, { onDisconnect, exchange }) =>
      withAbortSignal(onDisconnect, (signal) =>
        Promise.all(calls.map((call) => runOne(call, execute, { session, signal, exchange, document }))),
      ),
  };
};
