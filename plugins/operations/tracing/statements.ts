/** Passes the trace of a statement to the database. */
import type { SpanContext } from "@opentelemetry/api";
import type { Execution } from "../../../core/index.ts";

/** Encodes a span as the header `traceparent`, for example
 *  `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`. */
export const encodeTraceParent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;

/** Builds a setting with the trace. Its value has 62 bytes, and PostgreSQL accepts at most 63. */
const buildApplicationName = (parent: string): readonly [name: string, value: string] => [
  "application_name",
  `relapi ${parent}`,
];

/** Builds a comment in the format of sqlcommenter: sorted keys, with encoded and quoted values. No value can end the
 *  comment. */
const buildComment = (parent: string, operation: string | undefined): string =>
  [
    ["action", operation],
    ["framework", "relapi"],
    ["traceparent", parent],
  ]
    .flatMap(([key, text]) => (text === undefined ? [] : `${key}='${encodeCommentValue(text)}'`))
    .join(",");

const MAX_LENGTH = 100;

const encodeCommentValue = (text: string): string =>
  // The buffer replaces unpaired surrogates, which cannot be encoded.
  encodeURIComponent(Buffer.from(text).toString().slice(0, MAX_LENGTH)).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Adds the trace to an execution, as a setting or a comment. @rule X-TRC-4 */
export const addTrace = (execution: Execution, mode: "application-name" | "comment", span: SpanContext): Execution => {
  const parent = encodeTraceParent(span);
  if (mode === "application-name")
    return { ...execution, settings: [...(execution.settings ?? []), buildApplicationName(parent)] };
  return { ...execution, comment: buildComment(parent, execution.exchange?.operation?.name) };
};
