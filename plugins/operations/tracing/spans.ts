/** Records spans of requests, transactions and live queries, following the conventions of OpenTelemetry. */
import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";
import {
  createExchangeSlot,
  transactionEndedSignal,
  type OpenExchange,
  type PluginContext,
  type EndedTransaction,
  type RequestRecord,
} from "../../../core/index.ts";
import { liveRunEndedSignal, type LiveRun } from "../../live/api.ts";

type Api = typeof import("@opentelemetry/api");

/** The span of a request, and the context of its child spans. */
interface OpenSpan {
  readonly span: Span;
  readonly context: Context;
  /** The end of the last child span. */
  lastMs: number;
}

interface Spans {
  open(exchange: OpenExchange): void;
  close(exchange: OpenExchange, record: RequestRecord): void;
  find(exchange: OpenExchange | undefined): OpenSpan | undefined;
}

/** Converts a time of `performance.now()` to milliseconds since 1970. */
const toEpochMs = (ms: number): number => performance.timeOrigin + ms;

const getOperationKind = ({ execution }: EndedTransaction): string => execution.exchange?.operation?.kind ?? "query";

const SERVER_ERROR = 500;

/** Returns the first word of the span's name. */
const readTransport = ({ method, credentials }: OpenExchange): string => (credentials.isSocket ? "WEBSOCKET" : method);

/** Creates the functions that record spans for requests. @rule X-TRC-1 X-TRC-2 X-TRC-3 X-TRC-5 */
export const createSpans = (api: Api, tracer: Tracer, context: PluginContext): Spans => {
  const { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } = api;
  const { traceRatio } = context.options;
  const isSampled = (): boolean => Math.random() < traceRatio;
  const spanSlot = createExchangeSlot<OpenSpan>();
  /** The names of the headers that carry trace contexts. They are read at the first request, when the SDK is
   *  registered. */
  let headerNames: readonly string[] | undefined;
  /** Returns the context that the client sent, or the root. */
  const extractContext = (exchange: OpenExchange, names: readonly string[]): Context => {
    const headers = names.flatMap((name) => {
      const value = exchange.header(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return headers.length === 0 ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, Object.fromEntries(headers));
  };
  const findSpan = (exchange: OpenExchange | undefined): OpenSpan | undefined => exchange && spanSlot.get(exchange);

  /** Records a span of an operation that has already ended. */
  const record = (
    name: string,
    kind: number,
    parent: Context,
    [startMs, endMs]: readonly [number, number],
    attributes: Attributes,
    error?: string,
  ): void => {
    const span = tracer.startSpan(name, { kind, startTime: toEpochMs(startMs), attributes }, parent);
    if (error !== undefined) span.setAttribute("error.type", error).setStatus({ code: SpanStatusCode.ERROR });
    span.end(toEpochMs(endMs));
  };

  const readErrorCode = (error: unknown): string =>
    typeof (error as { readonly code?: unknown } | undefined)?.code === "string"
      ? (error as { readonly code: string }).code
      : "internal";

  context.use(transactionEndedSignal).listen((transaction) => {
    const { execution, askedAtMs, beganAtMs, endedAtMs, error } = transaction;
    const request = findSpan(execution.exchange);
    if (request === undefined || !request.span.isRecording()) return;
    // The span `plan` covers the time before a statement, in which the request is read, authorized and planned.
    if (askedAtMs > request.lastMs) record("plan", SpanKind.INTERNAL, request.context, [request.lastMs, askedAtMs], {});
    request.lastMs = endedAtMs;
    const errorCode = error === undefined ? undefined : readErrorCode(error);
    record(
      "acquire",
      SpanKind.INTERNAL,
      request.context,
      [askedAtMs, beganAtMs ?? endedAtMs],
      {},
      beganAtMs === undefined ? errorCode : undefined,
    );
    if (beganAtMs === undefined) return;
    const name = execution.exchange?.operation?.name;
    const attributes: Attributes = {
      "db.system.name": "postgresql",
      "db.operation.name": getOperationKind(transaction),
      "db.namespace": execution.schema,
      "db.query.text": execution.programs
        .flatMap(({ program }) => program.statements.map(({ text }) => text))
        .join(";\n"),
      ...(name === undefined ? {} : { "db.collection.name": name }),
      ...(errorCode === undefined ? {} : { "db.response.status_code": errorCode }),
    };
    record("statement", SpanKind.CLIENT, request.context, [beganAtMs, endedAtMs], attributes, errorCode);
  });

  context.use(liveRunEndedSignal).listen((run: LiveRun) => {
    if (!isSampled()) return;
    const { session, changedAtMs, startedAtMs, ranAtMs, endedAtMs, queries, deliveries, bytes } = run;
    const startMs = changedAtMs ?? startedAtMs;
    const root = tracer.startSpan(
      "live query",
      {
        kind: SpanKind.PRODUCER,
        startTime: toEpochMs(startMs),
        attributes: { "relapi.role": session.role, "relapi.live.queries": queries },
      },
      ROOT_CONTEXT,
    );
    const rootContext = trace.setSpan(ROOT_CONTEXT, root);
    record("statement", SpanKind.CLIENT, rootContext, [startedAtMs, ranAtMs], { "db.system.name": "postgresql" });
    if (deliveries > 0)
      record("delivery", SpanKind.INTERNAL, rootContext, [ranAtMs, endedAtMs], {
        "relapi.live.deliveries": deliveries,
        "relapi.live.bytes": bytes,
      });
    root.end(toEpochMs(endedAtMs));
  });

  return {
    find: findSpan,
    open: (exchange) => {
      const { request, method, surface } = exchange;
      const active = api.context.active();
      // An instrumentation of the HTTP server may have started a span.
      const isInside = trace.getSpan(active) !== undefined;
      headerNames ??= propagation.fields();
      const outerSpan = exchange.parent === undefined ? undefined : findSpan(exchange.parent);
      // An inner request belongs to the trace of the outer request, if there is one.
      if (exchange.parent !== undefined && outerSpan === undefined) return;
      const parent = outerSpan ? outerSpan.context : isInside ? active : extractContext(exchange, headerNames);
      const parentSpan = parent === ROOT_CONTEXT ? undefined : trace.getSpanContext(parent);
      // Sampling is decided before the span is created, because even an unsampled span costs half as much as a sampled
      // one.
      if (parentSpan === undefined ? !isSampled() : (parentSpan.traceFlags & TraceFlags.SAMPLED) === 0) return;
      const startMs = performance.now();
      const span = tracer.startSpan(
        `${readTransport(exchange)} ${surface}`,
        {
          kind: isInside || outerSpan !== undefined ? SpanKind.INTERNAL : SpanKind.SERVER,
          startTime: toEpochMs(startMs),
          attributes: {
            "http.request.method": method,
            "url.scheme": (request.socket as { readonly encrypted?: boolean }).encrypted === true ? "https" : "http",
            "url.path": exchange.path,
            "network.protocol.version": request.httpVersion,
            "relapi.surface": surface,
          },
        },
        parent,
      );
      spanSlot.set(exchange, { span, context: trace.setSpan(parent, span), lastMs: startMs });
    },
    close: (exchange, { surface, operation, errorCode, status, bytes, session, planKey }) => {
      const existingSpan = findSpan(exchange);
      if (existingSpan === undefined) return;
      const { span } = existingSpan;
      const { requestId } = exchange;
      if (span.isRecording()) {
        if (operation !== undefined)
          span.updateName([readTransport(exchange), surface, operation.kind, operation.name].filter(Boolean).join(" "));
        span.setAttributes({
          "http.response.status_code": status,
          "http.response.body.size": bytes,
          ...(operation?.path === undefined ? {} : { "url.path": operation.path, "http.route": operation.path }),
          ...(surface === "graphql" && operation !== undefined ? { "graphql.operation.type": operation.kind } : {}),
          ...(surface === "graphql" && operation?.name !== undefined
            ? { "graphql.operation.name": operation.name }
            : {}),
          ...(session === undefined ? {} : { "relapi.role": session.role }),
          ...(planKey === undefined ? {} : { "relapi.plan.key": planKey }),
          ...(requestId === undefined ? {} : { "relapi.request.id": requestId }),
          ...(errorCode === undefined ? {} : { "error.type": errorCode }),
        });
        if (status >= SERVER_ERROR || (status < 400 && errorCode !== undefined))
          span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end(toEpochMs(performance.now()));
    },
  };
};
