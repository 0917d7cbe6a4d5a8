/** One operation of a socket: a live query that goes on, or a query or mutation that runs to its end. */
import { isRelApiError, RelApiError, type Operation, type Session } from "../../core/index.ts";
import type { LivePatcher, LiveResult, SocketOperationSignal, Subscriber } from "./api.ts";
import { liveAsked, patcherFor } from "./asked.ts";
import type { Connection } from "./socket-connection.ts";
import type { GqlRequest } from "../graphql/api.ts";

/** How a protocol reports the progress of an operation. */
export interface OperationSink {
  /** Request, document, variables or session variables were refused: nothing was started. */
  refused(error: unknown): void;
  /** A query or mutation failed in execution. */
  failed(error: unknown): void;
  /** A query or mutation has run; the text of the `data` object. */
  done(data: string): void;
  /** A result of a live query. `patcher`: the client takes changes instead. */
  live(answer: LiveResult, patcher: LivePatcher | undefined): void;
  /** A live query has ended without the client's doing. */
  liveEnded(error: unknown): void;
}

/** How to stop a live query; a query or mutation has settled when the promise has. */
export type Started = (() => void) | Promise<void> | undefined;

/** A class, because there are as many as live queries. */
class SocketSubscriber implements Subscriber {
  readonly #connection: Connection;
  readonly #sink: OperationSink;
  readonly #patcher: LivePatcher | undefined;

  constructor(connection: Connection, sink: OperationSink, patcher: LivePatcher | undefined) {
    this.#connection = connection;
    this.#sink = sink;
    this.#patcher = patcher;
  }

  answer(answer: LiveResult): void {
    this.#sink.live(answer, this.#patcher);
  }

  isSlow(): boolean {
    return this.#connection.outbox.isSlow;
  }

  end(error?: unknown): void {
    if (error !== undefined) this.#sink.liveEnded(error);
  }
}

/** `readRequest` may throw. @rule G-SUB-9 G-WS-4 G-WS-16 */
export const startOperation = (
  connection: Connection,
  session: Session,
  readRequest: () => GqlRequest,
  toClient: OperationSink,
): Started => {
  const { engine, live, context, settings } = connection;
  const measured = measure(connection, session);
  const sink = measured === undefined ? toClient : measured.around(toClient);
  try {
    const request = readRequest();
    const document = engine.prepare(request, session, connection);
    if (measured !== undefined) measured.operation = document.asked;
    const asked = liveAsked(document, request);
    if (asked !== undefined) {
      if (measured !== undefined) measured.operation = { ...document.asked, kind: "subscription" };
      const patcher = patcherFor(context, asked);
      const source = live.graphqlSource(engine, request, session, settings);
      const stop = live.subscribe(source, new SocketSubscriber(connection, sink, patcher));
      if (patcher === undefined) return stop;
      return () => {
        stop();
        patcher.close();
      };
    }
    const operation = document.bind(request.variables);
    return engine
      .run(operation, session, {
        settings,
        onGone: (listener) => connection.onGone(listener),
        end: context.options.dbTxEnd.startsWith("rollback") ? "rollback" : "commit",
      })
      .then(
        (data) => sink.done(data),
        (error: unknown) => sink.failed(error),
      );
  } catch (error) {
    sink.refused(error);
    return undefined;
  }
};

const UNKNOWN: Operation = { kind: "other" };

/** Where somebody wants to know: what the operation is, and how it went. */
const measure = ({ context, request }: Connection, session: Session) => {
  const done = context.signal<SocketOperationSignal>("socket-operation");
  if (!done.isHeard) return undefined;
  const startedAtMs = performance.now();
  let isTold = false;
  const measured = {
    operation: UNKNOWN,
    around: (sink: OperationSink): OperationSink => ({
      refused: (error) => {
        tell(0, error);
        sink.refused(error);
      },
      failed: (error) => {
        tell(0, error);
        sink.failed(error);
      },
      done: (data) => {
        tell(data.length);
        sink.done(data);
      },
      live: (answer, patcher) => {
        tell(answer.text.length);
        sink.live(answer, patcher);
      },
      liveEnded: (error) => {
        tell(0, error);
        sink.liveEnded(error);
      },
    }),
  };
  /** The first result of a live query, or its end. */
  const tell = (bytes: number, error?: unknown): void => {
    if (isTold) return;
    isTold = true;
    const errorCode = error === undefined ? undefined : isRelApiError(error) ? error.code : "internal";
    const { operation } = measured;
    done.emit({ session, operation, request, startedAtMs, endedAtMs: performance.now(), bytes, errorCode });
  };
  return measured;
};

/** The limit of the settings. */
export const tooManyOperations = (limit: number): RelApiError =>
  new RelApiError({
    code: "bad-request",
    status: 400,
    message: `too many operations on one connection: the limit is ${limit}`,
    path: "$",
  });
