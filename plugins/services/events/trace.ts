/** Carries the trace of a request through the transaction of a change to the delivery of its event. @rule X-EVT-20 */
import type { Execution, JsonObject } from "../../../core/index.ts";

/** The setting in which a transaction has the header `traceparent` of its request. */
const SETTING = "relapi.trace_parent";

/** Adds the trace to a transaction that writes and may run triggers. */
export const addTraceParent = (execution: Execution, findTraceParent: () => string | undefined): Execution => {
  const { access, requestSettings } = execution;
  const traceParent = access === "read write" ? findTraceParent() : undefined;
  if (traceParent === undefined) return execution;
  return { ...execution, requestSettings: () => [...(requestSettings?.() ?? []), [SETTING, traceParent]] };
};

const TRACE_PARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/; // `00-4bf9…4736-00f067aa0ba902b7-01`

/** Returns the header, or undefined for another text, which SQL of the application may have set. */
export const readTraceParent = (text: string | null): string | undefined =>
  TRACE_PARENT.test(text ?? "") ? (text ?? undefined) : undefined;

/** Builds `trace_context` in the body of a webhook and in the log of events. */
export const buildTraceContext = (traceParent: string | null): JsonObject | null => {
  const [, traceId, spanId] = TRACE_PARENT.exec(traceParent ?? "") ?? [];
  return traceId === undefined || spanId === undefined ? null : { trace_id: traceId, span_id: spanId };
};
