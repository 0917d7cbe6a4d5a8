/** Records an answered request, or an operation of a WebSocket. */
import type { IncomingMessage } from "node:http";
import { hashPlan } from "../kernel/plan-key.ts";
import type { Session } from "../kernel/session.ts";
import type { OpenExchange, Operation, RequestRecord } from "./exchange.ts";

/** An exchange whose surface has answered. */
type AnsweredExchange = OpenExchange & { readonly startedAtMs: number };

/** The record of an answered request. It is a class, because the plan's key is computed only on access. */
class AnsweredRequest implements RequestRecord {
  readonly request: IncomingMessage;
  readonly exchange: OpenExchange | undefined;
  readonly surface: string;
  readonly operation: Operation | undefined;
  readonly status: number;
  readonly errorCode: string | undefined;
  readonly bytes: number;
  readonly durationMs: number;
  readonly session: Session | undefined;

  constructor(exchange: AnsweredExchange, status: number, bytes: number) {
    this.request = exchange.request;
    this.exchange = exchange.credentials.isSocket ? undefined : exchange;
    this.surface = exchange.surface;
    this.operation = exchange.operation;
    this.status = status;
    this.errorCode = exchange.errorCode;
    this.bytes = bytes;
    this.durationMs = performance.now() - exchange.startedAtMs;
    this.session = exchange.session;
  }

  get planKey(): string | undefined {
    const plans = this.exchange?.plans;
    return plans === undefined ? undefined : hashPlan(plans as object); // plans are objects
  }
}

/** Creates the record of an exchange that was answered just now. An operation of a WebSocket has no exchange in its
 *  record. */
export const createRequestRecord = (exchange: AnsweredExchange, status: number, bytes: number): RequestRecord =>
  new AnsweredRequest(exchange, status, bytes);
