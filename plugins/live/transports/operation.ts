/** Runs one operation of a socket: a live query that continues, or a query or mutation that runs once. */
import { createRequestRecord, RelApiError, requestEndedSignal, type Json } from "../../../core/index.ts";
import { tracingService } from "../../operations/api.ts";
import { readLiveDirective, openPatcher, type LiveDirectiveRequest } from "./live-directive.ts";
import type { SendQueueEntry } from "./send-queue.ts";
import type { ClientConnection } from "./socket-connection.ts";
import { SocketExchange, type SocketCaller } from "./socket-exchange.ts";
import type { SocketSession } from "./socket-session.ts";
import type { GqlOperation, GqlRequest, ValidatedDocument } from "../../graphql/api.ts";

interface SocketOperation {
  readonly socketSession: SocketSession;
  /** The id that the client chose. */
  readonly id: string;
  readonly exchange: SocketExchange;
  readonly report: Report;
}

/** Starts an operation. When the promise has settled, a live query has started, and any other operation has ended.
 *  @rule G-SUB-9 G-WS-4 G-WS-16 */
export const startOperation = (
  socketSession: SocketSession,
  caller: SocketCaller,
  id: string,
  payload: Json,
): Promise<void> | void => {
  const { connection, messages } = socketSession;
  const { engine } = connection;
  const exchange = new SocketExchange(connection, caller);
  const report = createReport(connection, exchange);
  const operation: SocketOperation = { socketSession, id, exchange, report };
  const rejectOperation = (error: unknown): void => {
    report(0, error);
    messages.sendRejection(id, error);
  };
  const start = (request: GqlRequest, document: ValidatedDocument): Promise<void> | void => {
    exchange.operation = document.namedOperation;
    const directive = readLiveDirective(document);
    if (directive === undefined) return runOnce(operation, document.bind());
    exchange.operation = { ...document.namedOperation, kind: "subscription" };
    subscribe(operation, request, directive);
  };
  try {
    const request = engine.readRequest(payload);
    const document = engine.prepare(request, caller.session, connection);
    if (!(document instanceof Promise)) return start(request, document);
    return document
      .then((validatedDocument) => (connection.isOpen() ? start(request, validatedDocument) : undefined))
      .catch(rejectOperation);
  } catch (error) {
    rejectOperation(error);
  }
};

/** Runs a query or mutation. If it is cancelled, the statement of a query ends, and a mutation continues. */
const runOnce = ({ socketSession, id, exchange, report }: SocketOperation, operation: GqlOperation): Promise<void> => {
  const { connection, messages } = socketSession;
  const { engine, context, settings } = connection;
  exchange.plans = operation.plans;
  let isCancelled = false;
  let cancelListeners: Set<() => void> | undefined;
  const cancel = (): void => {
    if (isCancelled) return;
    isCancelled = true;
    if (operation.kind === "query") for (const listener of cancelListeners ?? []) listener();
  };
  socketSession.current = { id, cancel };
  return engine
    .run(operation, exchange.session, {
      settings,
      exchange,
      onDisconnect: (listener) => {
        const forget = connection.onDisconnect(listener);
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
        socketSession.current = undefined;
        report(data.length);
        if (isCancelled) return;
        messages.sendData(id, data);
        messages.sendComplete(id);
      },
      (error: unknown) => {
        socketSession.current = undefined;
        report(0, error);
        if (!isCancelled) messages.sendFailure(id, error);
      },
    );
};

const subscribe = (
  { socketSession, id, exchange: { session }, report }: SocketOperation,
  request: GqlRequest,
  directive: LiveDirectiveRequest,
): void => {
  const { connection, messages } = socketSession;
  const { engine, live, context, settings, sendQueue } = connection;
  const patcher = openPatcher(context, directive);
  const entry: SendQueueEntry = { sentHash: "", pendingMessage: undefined };
  const unsubscribe = live.subscribe(live.graphqlSource(engine, request, session, settings), {
    answer: (result) => {
      report(result.text.length);
      const encode = (): Uint8Array => messages.encodeLiveResult(id, result, patcher);
      if (result.isEvent === true) sendQueue.sendFrame(encode());
      else sendQueue.offer(entry, result.hash, encode);
    },
    isSlow: () => sendQueue.isSlow,
    whenFast: () => sendQueue.whenFast(),
    end: (error) => {
      if (error === undefined) return;
      report(0, error);
      socketSession.stop(id);
      messages.sendRejection(id, error);
    },
    complete: () => {
      report(0);
      socketSession.stop(id);
      messages.sendComplete(id);
    },
  });
  socketSession.runningQueries.set(id, () => {
    unsubscribe();
    patcher?.close();
    sendQueue.forget(entry);
  });
};

const UNKNOWN_OPERATION = { kind: "other" };
const [OK, BAD_REQUEST] = [200, 400];

/** Reports the operation to `requestEndedSignal` and to its trace, once: at its first result, or at its end. */
type Report = (bytes: number, error?: unknown) => void;

const createReport = ({ context }: ClientConnection, exchange: SocketExchange): Report => {
  const signal = context.use(requestEndedSignal);
  const tracing = context.use(tracingService);
  let isReported = !signal.hasListeners && tracing === undefined;
  tracing?.open(exchange);
  return (bytes, error) => {
    if (isReported) return;
    isReported = true;
    exchange.operation ??= UNKNOWN_OPERATION;
    if (error !== undefined) exchange.errorCode = error instanceof RelApiError ? error.code : "internal";
    const record = createRequestRecord(exchange, error === undefined ? OK : BAD_REQUEST, bytes);
    signal.emit(record);
    tracing?.close(exchange, record);
  };
};
