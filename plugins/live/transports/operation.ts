/** Runs one operation of a socket: a live query that continues, or a query or mutation that runs once. */
import { RelApiError, requestSignal, type Operation, type Session } from "../../../core/index.ts";
import type { LivePatcher, LiveResult } from "../api.ts";
import { readLiveDirective, openPatcher, type LiveDirectiveRequest } from "./live-directive.ts";
import type { ClientConnection } from "./socket-connection.ts";
import type { GqlOperation, GqlRequest, ValidatedDocument } from "../../graphql/api.ts";

/** The callbacks through which a protocol reports the progress of an operation. */
export interface OperationSink {
  /** Reports that the request, document, variables or session variables were refused, before the operation started. */
  onRefused(error: unknown): void;
  /** Reports that a query or mutation failed in execution. */
  onFailed(error: unknown): void;
  /** Reports that a live query has started. It may have no result yet. */
  onStarted(stop: () => void): void;
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
  session: Session,
  readRequest: () => GqlRequest,
  sink: OperationSink,
): Promise<void> | void => {
  const { engine } = connection;
  const report = createReport(connection, session);
  const refuse = (error: unknown): void => {
    report.end(0, error);
    sink.onRefused(error);
  };
  const start = (request: GqlRequest, document: ValidatedDocument): Promise<void> | void => {
    report.operation = document.namedOperation;
    const directive = readLiveDirective(document);
    if (directive === undefined) return runOnce(connection, session, document.bind(), sink, report);
    report.operation = { ...document.namedOperation, kind: "subscription" };
    subscribe(connection, session, request, directive, sink, report);
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

const runOnce = (
  connection: ClientConnection,
  session: Session,
  operation: GqlOperation,
  sink: OperationSink,
  report: Report,
): Promise<void> => {
  const { engine, context, settings } = connection;
  return engine
    .run(operation, session, {
      settings,
      onGone: (listener) => connection.onGone(listener),
      end: context.options.dbTxEnd.startsWith("rollback") ? "rollback" : "commit",
    })
    .then(
      (data) => {
        report.end(data.length);
        sink.onDone(data);
      },
      (error: unknown) => {
        report.end(0, error);
        sink.onFailed(error);
      },
    );
};

const subscribe = (
  connection: ClientConnection,
  session: Session,
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

const UNKNOWN_OPERATION: Operation = { kind: "other" };
const [OK, FAILED] = [200, 400];

interface Report {
  operation: Operation;
  /** Reports the operation to `requestSignal`, once: at its first result, or at its end. */
  end(bytes: number, error?: unknown): void;
}

const createReport = ({ context, request }: ClientConnection, session: Session): Report => {
  const signal = context.use(requestSignal);
  const startedAtMs = performance.now();
  let isReported = !signal.hasListeners;
  const report: Report = {
    operation: UNKNOWN_OPERATION,
    end: (bytes, error) => {
      if (isReported) return;
      isReported = true;
      signal.emit({
        request,
        surface: "graphql",
        operation: report.operation,
        status: error === undefined ? OK : FAILED,
        errorCode: error === undefined ? undefined : error instanceof RelApiError ? error.code : "internal",
        bytes,
        durationMs: performance.now() - startedAtMs,
        session,
      });
    },
  };
  return report;
};

/** Creates the error for exceeding the setting `maxSocketOperations`. */
export const tooManyOperations = (limit: number): RelApiError =>
  new RelApiError({
    code: "bad-request",
    status: 400,
    message: `too many operations on one connection: the limit is ${limit}`,
    path: "$",
  });
