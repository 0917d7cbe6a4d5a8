/**
 * `POST /api/batch` with `[{"method": "POST", "path": "/album", …}, {"path": "/track?album_id=eq.$1.id"}]`: runs
 * requests in one transaction.
 */
import { randomUUID } from "node:crypto";
import {
  bodyTooLarge,
  buildJsonAnswer,
  CallError,
  decodeUtf8Header,
  definePlugin,
  exceedsJsonDepth,
  RelApiError,
  buildNameKey,
  parseJson,
  requireService,
  Stage,
  urlTooLong,
  writeJson,
  type Answer,
  type ApiAnswer,
  type Exchange,
  type Execution,
  type Json,
  type OpenExchange,
  type PluginContext,
} from "../../../core/index.ts";
import { describeAdditionsHook, restGuideService } from "../../rest/api.ts";
import { BATCH_PATH } from "./openapi.ts";
import { BadReference, fillBody, fillPath, isReference, type AnswerLookup } from "./references.ts";
import {
  ALLOW,
  batchResponsesTooLarge,
  batchAnswerTooDeep,
  batchMalformed,
  batchBodyTooDeep,
  batchHeaderTooLong,
  batchMethodUnsupported,
  parseParts,
  batchRejected,
  batchTimedOut,
  type BatchPart,
} from "./requests.ts";
import { batchSettings } from "./settings.ts";

/** The header that marks the requests of a batch. Clients cannot guess its value. */
const PART_HEADER = "relapi-batch-part";

/** Matches headers of the batch request that its parts do not inherit. */
const EXCLUDED_HEADERS =
  /^(?:accept|content-|prefer$|range|if-|transfer-encoding|connection|expect|te$|trailer|upgrade)/;

/** The code of the error for a client that has disconnected. */
const CANCELLED_CODE = "request-cancelled";

const SECOND_MS = 1000;

/** The depth of a part's body in the body of the batch, which is a list of objects. */
const LIST_DEPTH = 2;

interface OpenBatch {
  readonly execute: PluginContext["execute"];
  end: Execution["end"];
  /** The number of the running request, counted from 1. */
  requestNumber: number;
  /** The reason why the running request cannot be part of a batch. */
  error: RelApiError | undefined;
}

/** Returns the body of a response as JSON. Returns undefined if it is empty. */
const encodeBody = ({ headers, body }: Pick<ApiAnswer, "headers" | "body">): string | undefined => {
  const text = typeof body === "string" ? body : Buffer.from(body).toString();
  if (text === "") return undefined;
  return /[/+]json\b/.test(headers["content-type"] ?? "") ? text : JSON.stringify(text);
};

/** Matches CORS headers, which belong to the response that the browser receives. */
const CORS_HEADERS = /^access-control-/;

const encodeEntry = ({ id }: BatchPart, { status, headers }: ApiAnswer, body: string): string => {
  const entryHeaders = Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !CORS_HEADERS.test(name))
      .map(([name, value]) => [name, decodeUtf8Header(value)]),
  );
  return `{${id === undefined ? "" : `"id":${JSON.stringify(id)},`}"status":${status},"headers":${JSON.stringify(entryHeaders)},"body":${body}}`;
};

/** Matches headers of a failed request that describe the body of that request. */
const BODY_HEADERS = /^content-/i;

/** Returns the error response of a request, with the request's number. @rule P-BAT-4 */
const buildErrorAnswer = (part: BatchPart, index: number, { status, headers, body }: Answer): Answer => {
  const text = String(body ?? "");
  let error: Json;
  try {
    error = parseJson(text);
  } catch {
    error = { message: text };
  }
  const errorBody = { ...(error as object), request: index, ...(part.id === undefined ? {} : { id: part.id }) };
  return buildJsonAnswer(
    status,
    writeJson(errorBody as Json),
    headers.filter(([name]) => !BODY_HEADERS.test(name)),
  );
};

/** Runs several REST requests in one transaction. @rule P-BAT-1 … P-BAT-7 @experimental */
export const restBatch = definePlugin({
  name: "rest-batch",
  requires: ["rest"],
  stage: Stage.late, // only the wrapper of `soft-delete` is around this one
  settings: batchSettings,
  secretHeaders: [PART_HEADER],
  apply: (_hooks, context) => {
    const batches = new Map<string, OpenBatch>();
    context.use(describeAdditionsHook).tap("rest-batch", ({ readParameters, paths }) => ({
      readParameters,
      paths: { ...paths, "/batch": BATCH_PATH },
    }));

    /** Returns the batch that a request is part of. */
    const findBatch = (exchange: OpenExchange | undefined): OpenBatch | undefined => {
      const id = batches.size === 0 ? undefined : exchange?.header(PART_HEADER);
      return id === undefined ? undefined : batches.get(id);
    };

    context.wrap({
      execute: (next) => (execution) => {
        const batch = findBatch(execution.exchange);
        if (batch === undefined) return next(execution);
        if (execution.end === "rollback") batch.end = "rollback";
        // A plugin's own statements before or after this one run in the same transaction.
        return next({ ...execution, end: "commit", openTransaction: batch.execute });
      },
    });

    const findRoot = (path: string): string | undefined => {
      if (!path.endsWith("/batch")) return undefined;
      const root = path.slice(0, -"/batch".length);
      const isServed = context.use(restGuideService)?.roots().includes(root) === true;
      const { schemas, relations } = context.model();
      return isServed && !schemas.some((schema) => relations.has(buildNameKey({ schema, name: "batch" })))
        ? root
        : undefined;
    };

    const sendPart = (
      exchange: Exchange,
      root: string,
      { method, path, headers, body }: BatchPart,
      batch: string,
      index: number,
      findAnswer: AnswerLookup,
    ): Promise<ApiAnswer> => {
      const { maxBodyBytes, maxUrlBytes } = context.options;
      if (Buffer.byteLength(path) > maxUrlBytes) throw urlTooLong(maxUrlBytes);
      const long = Object.entries(headers).find(([, value]) => Buffer.byteLength(value) > maxUrlBytes);
      if (long !== undefined) throw batchHeaderTooLong(long[0], maxUrlBytes, index);
      const passedHeaders: Record<string, string> = {};
      for (const [name, value] of Object.entries(exchange.request.headers))
        if (typeof value === "string" && !EXCLUDED_HEADERS.test(name)) passedHeaders[name] = value;
      const batchPrefer = exchange.header("prefer");
      const prefer = [headers["prefer"], batchPrefer].filter((preferences) => preferences !== undefined).join(", ");
      const sentBody =
        body === undefined || (typeof body === "string" && !isReference(body))
          ? body
          : fillBody(body, findAnswer, {
              remainingCharacters: maxBodyBytes,
              buildError: () => bodyTooLarge(maxBodyBytes),
            });
      return context.call({
        method,
        path:
          root +
          fillPath(path, findAnswer, { remainingCharacters: maxUrlBytes, buildError: () => urlTooLong(maxUrlBytes) }),
        headers: {
          ...passedHeaders,
          ...(sentBody === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
          ...(prefer === "" ? {} : { prefer }),
          [PART_HEADER]: batch,
        },
        ...(sentBody === undefined ? {} : { body: sentBody }),
        parent: exchange,
      });
    };

    const runParts = async (exchange: Exchange, root: string, parts: readonly BatchPart[]): Promise<Answer> => {
      const id = randomUUID();
      const { databaseRole } = exchange.session;
      const isolation = databaseRole === undefined ? undefined : context.model().roles.get(databaseRole)?.isolation;
      const { maxJsonDepth, maxResultBytes, batchTimeout } = context.options;
      const bodies: (string | undefined)[] = [];
      let failedAnswer: Answer | undefined;
      let currentPart: BatchPart | undefined;
      let isLate = false;
      const encodeError = (error: RelApiError): Answer =>
        requireService(context, restGuideService).encodeError(error, exchange);
      const runBatch = async (execute: PluginContext["execute"]) => {
        const batch: OpenBatch = { execute, end: "commit", requestNumber: 0, error: undefined };
        batches.set(id, batch);
        const entries: string[] = [];
        let bytes = 0;
        const indexById = new Map(parts.map(({ id }, at) => [id, at]));
        const parsedBodies: Json[] = [];
        const findAnswer: AnswerLookup = (name) => {
          const at = /^\d/.test(name) ? Number(name) - 1 : (indexById.get(name) ?? -1);
          const body = bodies[at];
          if (body === undefined || parsedBodies[at] !== undefined) return parsedBodies[at];
          if (exceedsJsonDepth(body, maxJsonDepth)) throw batchAnswerTooDeep(name, maxJsonDepth, batch.requestNumber);
          return (parsedBodies[at] = parseJson(body));
        };
        for (const [i, part] of parts.entries()) {
          batch.requestNumber = i + 1;
          currentPart = part;
          try {
            const answer = await sendPart(exchange, root, part, id, i + 1, findAnswer);
            const body = encodeBody(answer);
            bytes += body === undefined ? 0 : Buffer.byteLength(body);
            if (bytes > maxResultBytes) throw batchResponsesTooLarge(i + 1);
            bodies.push(body);
            entries.push(encodeEntry(part, answer, body ?? "null"));
          } catch (error) {
            const partError =
              batch.error ??
              (error instanceof BadReference || error instanceof URIError
                ? batchRejected(error.message, i + 1)
                : error);
            if (partError instanceof CallError)
              failedAnswer = buildErrorAnswer(part, i + 1, {
                ...partError,
                headers: Object.entries(partError.headers),
              });
            else if (partError instanceof RelApiError)
              failedAnswer = buildErrorAnswer(part, i + 1, encodeError(partError));
            throw partError;
          }
        }
        return { result: entries, end: batch.end };
      };
      /** Cancels the running statement when the client disconnects or the time limit is reached. */
      const onDisconnect: Execution["onDisconnect"] = (cancel) => {
        const forget = exchange.onDisconnect(cancel);
        const timer = setTimeout(() => {
          isLate = true;
          cancel();
        }, batchTimeout * SECOND_MS);
        return () => {
          forget();
          clearTimeout(timer);
        };
      };
      try {
        const entries = await context.transaction({ isolation, onDisconnect }, runBatch);
        return buildJsonAnswer(200, `[${entries.join(",\n ")}]`);
      } catch (error) {
        if (isLate && currentPart !== undefined)
          return buildErrorAnswer(
            currentPart,
            parts.indexOf(currentPart) + 1,
            encodeError(batchTimedOut(batchTimeout)),
          );
        if (failedAnswer === undefined || (error instanceof RelApiError && error.code === CANCELLED_CODE)) throw error;
        return failedAnswer;
      } finally {
        batches.delete(id);
      }
    };

    context.addStep({
      name: "rest-batch",
      // The REST surface decides, because one path has several spellings.
      beforeAuthorize: (exchange): undefined => {
        const batch = findBatch(exchange);
        if (batch === undefined || (exchange.surface === "rest" && findRoot(exchange.path) === undefined)) return;
        throw (batch.error = batchMalformed("the path is not one of a table or function", batch.requestNumber));
      },
      afterAuthorize: (exchange) => {
        const root = exchange.surface === "rest" ? findRoot(exchange.path) : undefined;
        if (root === undefined) return undefined;
        exchange.operation = { kind: "batch" };
        if (exchange.method === "OPTIONS") return { status: 200, headers: [ALLOW] };
        if (exchange.method !== "POST") throw batchMethodUnsupported(exchange.method);
        return exchange.body().then((bytes) => {
          if (!/^application\/json\s*(?:;|$)/i.test(exchange.header("content-type") ?? "application/json"))
            throw batchMalformed("the body is not JSON");
          const { maxJsonDepth } = context.options;
          if (exceedsJsonDepth(bytes.toString("utf8"), maxJsonDepth + LIST_DEPTH)) throw batchBodyTooDeep(maxJsonDepth);
          let requestBody: Json;
          try {
            requestBody = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
          } catch {
            throw batchMalformed("the body is not JSON");
          }
          return runParts(exchange, root, parseParts(requestBody, context.options.maxBatchRequests));
        });
      },
    });
  },
});
