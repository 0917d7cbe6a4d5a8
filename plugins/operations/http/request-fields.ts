/** Builds the fields of a request for the log: its properties and its cost, but not its content. */
import {
  createExchangeSlot,
  findLowestLoggedStatus,
  transactionEndedSignal,
  type OpenExchange,
  type PluginContext,
  type EndedTransaction,
  type RequestRecord,
} from "../../../core/index.ts";
import { tracingService, type TraceIds } from "../api.ts";
import { assignRequestId } from "./request-ids.ts";

type LogFields = Readonly<Record<string, unknown>>;

/** The sums over the transactions of a request. */
interface TransactionTotals {
  ms: number;
  waitMs: number;
  rows: number | undefined;
  transactions: number;
}

/** Matches the header `traceparent`, for example `00-<trace>-<parent>-01`. */
const TRACE_PARENT = /^00-(?!0{32})([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
const MAX_NAME_LENGTH = 100;

const roundMs = (ms: number): number => Math.round(ms * 1000) / 1000;

/** Removes the prefix of an IPv4 address on a dual-stack listener, `::ffff:127.0.0.1`. */
export const formatAddress = (address: string | undefined): string | undefined =>
  address?.startsWith("::ffff:") === true ? address.slice(7) : address;

/** Sums the row counts of statements. Undefined if no statement counts its rows. */
const sumRows = ({ rows = [] }: EndedTransaction): number | undefined => {
  let sum: number | undefined;
  for (const row of rows) {
    const count = row["page_total"];
    if (count !== undefined && count !== null) sum = (sum ?? 0) + Number(count);
  }
  return sum;
};

/** Creates the function that builds the fields of a request. @rule X-LOG-1 X-LOG-3 */
export const createRequestFields = (context: PluginContext): ((record: RequestRecord) => LogFields) => {
  const totals = createExchangeSlot<TransactionTotals>();
  // Without the log of all requests, no listener is needed, which each transaction would call.
  if (findLowestLoggedStatus(context.options.logLevel) === 0)
    context.use(transactionEndedSignal).listen((transaction) => {
      const { exchange } = transaction.execution;
      if (exchange === undefined) return;
      const { askedAtMs, beganAtMs = transaction.endedAtMs, endedAtMs } = transaction;
      const rows = sumRows(transaction);
      const existingTotals = totals.get(exchange);
      if (existingTotals === undefined) {
        totals.set(exchange, {
          ms: endedAtMs - beganAtMs,
          waitMs: beganAtMs - askedAtMs,
          rows,
          transactions: 1,
        });
        return;
      }
      existingTotals.ms += endedAtMs - beganAtMs;
      existingTotals.waitMs += beganAtMs - askedAtMs;
      existingTotals.transactions++;
      if (rows !== undefined) existingTotals.rows = (existingTotals.rows ?? 0) + rows;
    });

  const findTraceIds = (exchange: OpenExchange): Partial<TraceIds> => {
    const ids = context.use(tracingService)?.findIds(exchange);
    if (ids !== undefined) return ids;
    const parent = exchange.header("traceparent");
    if (parent === undefined) return NO_TRACE_IDS;
    const traceId = TRACE_PARENT.exec(parent)?.[1];
    return traceId === undefined ? NO_TRACE_IDS : { traceId };
  };

  return (record) => {
    const { exchange, request, surface, operation, session, status, errorCode, durationMs, bytes, planKey } = record;
    const { traceId, spanId } = exchange === undefined ? NO_TRACE_IDS : findTraceIds(exchange);
    const database = exchange && totals.get(exchange);
    const name = context.options.serverTraceHeader;
    // Loggers omit undefined fields.
    return {
      requestId: exchange && assignRequestId(exchange),
      traceId,
      spanId,
      traceHeader: name === undefined ? undefined : exchange?.header(name),
      surface,
      transport: exchange === undefined ? "websocket" : undefined,
      operation: operation?.kind,
      operationName: operation?.name?.slice(0, MAX_NAME_LENGTH),
      role: session?.role,
      method: exchange?.method,
      path: exchange && (operation?.path ?? exchange.path),
      status: exchange && status,
      error: errorCode,
      durationMs: roundMs(durationMs),
      databaseMs: database && roundMs(database.ms),
      waitMs: database && roundMs(database.waitMs),
      transactions: database?.transactions,
      rows: database?.rows,
      bytes,
      planKey,
      address: formatAddress(request.socket.remoteAddress), // undefined after the socket has closed
      userAgent: request.headers["user-agent"],
    };
  };
};

const NO_TRACE_IDS: Partial<TraceIds> = {};
