/** One operation of a socket: a live query that continues, or a query or mutation that runs once. */
import { isRelApiError, RelApiError, requestSignal, type Operation, type Session } from "../../../core/index.ts";
import type { LivePatcher, LiveResult, Subscriber } from "../api.ts";
import { readLiveDirective, openPatcher, type LiveDirectiveRequest } from "./live-directive.ts";
import type { Connection } from "./socket-connection.ts";
import type { GqlOperation, GqlRequest, ValidatedDocument } from "../../graphql/api.ts";

/** The callbacks through which a protocol reports the progress of an operation. */
export interface OperationSink {
  /** The request, document, variables or session variables were refused, before anything started. */
  refused(error: unknown): void;
  /** A query or mutation failed in execution. */
  failed(error: unknown): void;
  /** A live query has started. It may have no result yet. */
  started(stop: () => void): void;
  /** A query or mutation has finished, with the text of the `data` object. */
  done(data: string): void;
  /** A live query has a result. With `patcher`, the client accepts patches. */
  liveResult(answer: LiveResult, patcher: LivePatcher | undefined): void;
  /** A live query has ended without a request of the client. */
  liveEnded(error: unknown): void;
}

/** A class to save memory, because there is one for every live query. */
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
    this.#sink.liveResult(answer, this.#patcher);
  }

  isSlow(): boolean {
    return this.#connection.outbox.isSlow;
  }

  end(error?: unknown): void {
    if (error !== undefined) this.#sink.liveEnded(error);
  }
}

/** Starts an operation; errors of `readRequest` go to the sink. When the promise has settled, a live query has started,
 *  and any other operation has ended. @rule G-SUB-9 G-WS-4 G-WS-16 */
export const startOperation = (
  connection: Connection,
  session: Session,
  readRequest: () => GqlRequest,
  toClient: OperationSink,
): Promise<void> | void => {
  const { engine } = connection;
  const measured = createMeasurement(connection, session);
  const sink = measured === undefined ? toClient : measured.around(toClient);
  const start = (request: GqlRequest, document: ValidatedDocument): Promise<void> | void => {
    if (measured !== undefined) measured.operation = document.namedOperation;
    const asked = readLiveDirective(document);
    if (asked === undefined) return runOnce(connection, session, document.bind(), sink);
    if (measured !== undefined) measured.operation = { ...document.namedOperation, kind: "subscription" };
    subscribe(connection, session, request, asked, sink);
  };
  try {
    const request = readRequest();
    const document = engine.prepare(request, session, connection);
    if (!(document instanceof Promise)) return start(request, document);
    return document
      .then((prepared) => (connection.isOpen() ? start(request, prepared) : undefined))
      .catch((error: unknown) => sink.refused(error));
  } catch (error) {
    sink.refused(error);
  }
};

const runOnce = (
  connection: Connection,
  session: Session,
  operation: GqlOperation,
  sink: OperationSink,
): Promise<void> => {
  const { engine, context, settings } = connection;
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
};

const subscribe = (
  connection: Connection,
  session: Session,
  request: GqlRequest,
  asked: LiveDirectiveRequest,
  sink: OperationSink,
): void => {
  const { engine, live, context, settings } = connection;
  const patcher = openPatcher(context, asked);
  const source = live.graphqlSource(engine, request, session, settings);
  const stop = live.subscribe(source, new SocketSubscriber(connection, sink, patcher));
  if (patcher === undefined) return sink.started(stop);
  sink.started(() => {
    stop();
    patcher.close();
  });
};

const UNKNOWN_OPERATION: Operation = { kind: "other" };
const [OK, FAILED] = [200, 400];

/** Wraps the sink to report the operation and its outcome. Undefined if nothing listens to `requestSignal`. */
const createMeasurement = ({ context, request }: Connection, session: Session) => {
  const done = context.use(requestSignal);
  if (!done.hasListeners) return undefined;
  const startedAtMs = performance.now();
  let isReported = false;
  const measured = {
    operation: UNKNOWN_OPERATION,
    around: (sink: OperationSink): OperationSink => ({
      started: (stop) => sink.started(stop),
      refused: (error) => {
        report(0, error);
        sink.refused(error);
      },
      failed: (error) => {
        report(0, error);
        sink.failed(error);
      },
      done: (data) => {
        report(data.length);
        sink.done(data);
      },
      liveResult: (answer, patcher) => {
        report(answer.text.length);
        sink.liveResult(answer, patcher);
      },
      liveEnded: (error) => {
        report(0, error);
        sink.liveEnded(error);
      },
    }),
  };
  /** Reports once: at the first result, or at the end. */
  const report = (bytes: number, error?: unknown): void => {
    if (isReported) return;
    isReported = true;
    done.emit({
      request,
      surface: "graphql",
      operation: measured.operation,
      status: error === undefined ? OK : FAILED,
      errorCode: error === undefined ? undefined : isRelApiError(error) ? error.code : "internal",
      bytes,
      durationMs: performance.now() - startedAtMs,
      session,
    });
  };
  return measured;
};

/** The error for exceeding the setting `maxSocketOperations`. */
export const tooManyOperations = (limit: number): RelApiError =>
  new RelApiError({
    code: "bad-request",
    status: 400,
    message: `too many operations on one connection: the limit is ${limit}`,
    path: "$",
  });
