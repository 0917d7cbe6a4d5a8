/** Runs one operation of a socket: a live query that continues, or a query or mutation that runs once. */
import { RelApiError, requestSignal, type RequestRecord } from "../../../core/index.ts";
import { tracingService } from "../../operations/api.ts";
import type { LivePatcher, LiveResult } from "../api.ts";
import { readLiveDirective, openPatcher, type LiveDirectiveRequest } from "./live-directive.ts";
import type { ClientConnection } from "./socket-connection.ts";
import { SocketExchange, type SocketCaller } from "./socket-exchange.ts";
import type { GqlOperation, GqlRequest, ValidatedDocument } from "../../graphql/api.ts";

/** The callbacks through which a protocol reports the progress of an operation. */
export interface OperationSink {
  /** Reports that the request, document, variables or session variables were refused, before the operation started. */
  onRefused(error: unknown): void;
  /** Reports that a query or mutation failed in execution. */
  onFailed(error: unknown): void;
  /** Reports that a live query has started. It may have no result yet. */
  onStarted(stop: () => void): void;
  /** Reports that a query or mutation runs. After `cancel`, the sink gets no result. Returns a function that is called
   *  when the operation has ended. */
  onRunning(cancel: () => void): () => void;
  /** Reports that a query or mutation has finished, with the text of the `data` object. */
  onDone(data: string): void;
  /** Reports a result of a live query. With `patcher`, the client accepts patches. */
  onLiveResult(answer: LiveResult, patcher: LivePatcher | undefined): void;
  /** Reports that a live query has sent its last result. */
  onLiveCompleted(): void;
  /** Reports that a live query has ended without a request of the client. */
  onLiveEnded(error: unknown): void;
}

/** Starts an operation; errors of `readRequest` go to the sink. When the promise has settled, a live query has started,
 *  and any other operation has ended. @rule G-SUB-9 G-WS-4 G-WS-16 */
export const startOperation = (
  connection: ClientConnection,
  caller: SocketCaller,
  readRequest: () => GqlRequest,
  sink: OperationSink,
): Promise<void> | void => {
  const { engine } = connection;
  const { session } = caller;
  const exchange = new SocketExchange(connection, caller);
  const report = createReport(connection, exchange);
  const refuse = (error: unknown): void => {
    report.end(0, error);
    sink.onRefused(error);
  };
  const start = (request: GqlRequest, document: ValidatedDocument): Promise<void> | void => {
    exchange.operation = document.namedOperation;
    const directive = readLiveDirective(document);
    if (directive === undefined) return runOnce(connection, exchange, document.bind(), sink, report);
    exchange.operation = { ...document.namedOperation, kind: "subscription" };
    subscribe(connection, exchange, request, directive, sink, report);
  };
  try {
    const request = readRequest();
    const document = engine.prepare(request, session, connection);
    if (!(document instanceof Promise)) return start(request, document);
    return document.then((prepared) => (connection.isOpen() ? start(request, prepared) : undefined)).catch(refuse);
  } catch (error) {
    refuse(error);
  }
};

/** Runs a query or mutation. If it is cancelled, the statement of a query ends, and a mutation continues. */
const runOnce = (
  connection: ClientConnection,
  exchange: SocketExchange,
  operation: GqlOperation,
  sink: OperationSink,
  report: Report,
): Promise<void> => {
  const { engine, context, settings } = connection;
  exchange.plans = operation.plans;
  let isCancelled = false;
  let cancelListeners: Set<() => void> | undefined;
  const onEnded = sink.onRunning(() => {
    if (isCancelled) return;
    isCancelled = true;
    if (operation.kind === "query") for (const listener of cancelListeners ?? []) listener();
  });
  return engine
    .run(operation, exchange.session, {
      settings,
      exchange,
      onGone: (listener) => {
        const forget = connection.onGone(listener);
        (cancelListeners ??= new Set()).add(listener);
        return () => {
          cancelListeners?.delete(listener);
          forget();
        };
      },
      end: context.options.dbTxEnd.startsWith("rollback") ? "rollback" : "commit",
    })
    .then(
      (data) => {
        onEnded();
        report.end(data.length);
        if (!isCancelled) sink.onDone(data);
      },
      (error: unknown) => {
        onEnded();
        report.end(0, error);
        if (!isCancelled) sink.onFailed(error);
      },
    );
};

const subscribe = (
  connection: ClientConnection,
  { session }: SocketExchange,
  request: GqlRequest,
  directive: LiveDirectiveRequest,
  sink: OperationSink,
  report: Report,
): void => {
  const { engine, live, context, settings, sendQueue } = connection;
  const patcher = openPatcher(context, directive);
  const stop = live.subscribe(live.graphqlSource(engine, request, session, settings), {
    answer: (result) => {
      report.end(result.text.length);
      sink.onLiveResult(result, patcher);
    },
    isSlow: () => sendQueue.isSlow,
    whenFast: () => sendQueue.whenFast(),
    end: (error) => {
      if (error === undefined) return;
      report.end(0, error);
      sink.onLiveEnded(error);
    },
    complete: () => {
      report.end(0);
      sink.onLiveCompleted();
    },
  });
  sink.onStarted(() => {
    stop();
    patcher?.close();
  });
};

const UNKNOWN_OPERATION = { kind: "other" };
const [OK, FAILED] = [200, 400];

interface Report {
  /** Reports the operation to `requestSignal` and to its trace, once: at its first result, or at its end. */
  end(bytes: number, error?: unknown): void;
}

const createReport = ({ context, request }: ClientConnection, exchange: SocketExchange): Report => {
  const signal = context.use(requestSignal);
  const tracing = context.use(tracingService);
  const startedAtMs = performance.now();
  let isReported = !signal.hasListeners && tracing === undefined;
  tracing?.open(exchange);
  return {
    end: (bytes, error) => {
      if (isReported) return;
      isReported = true;
      const record: RequestRecord = {
        request,
        surface: "graphql",
        operation: exchange.operation ?? UNKNOWN_OPERATION,
        status: error === undefined ? OK : FAILED,
        errorCode: error === undefined ? undefined : error instanceof RelApiError ? error.code : "internal",
        bytes,
        durationMs: performance.now() - startedAtMs,
        session: exchange.session,
      };
      signal.emit(record);
      tracing?.close(exchange, record);
    },
  };
};
