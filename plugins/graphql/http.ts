/** `POST /v1/graphql {"query":"{ album { id } }"}` and the addresses beside it. @rule G-HTTP-1 … G-HTTP-14 */
import { randomUUID } from "node:crypto";
import {
  RelApiError,
  VERSION,
  type Answer,
  type Exchange,
  type Execution,
  type Headers,
  type PluginContext,
  type ResolvedOptions,
  type RelApiError as CoreError,
  type Surface,
} from "../../core/index.ts";
import { answerBatch } from "./batch.ts";
import { compressAnswer, MIN_GZIP_BYTES } from "./compression.ts";
import { createPostHandler, type HandlerResponse } from "./handler.ts";
import { encodeErrors, type EncodedErrors } from "./encode-error.ts";
import { parseBody, type FindDocument, type GqlBody } from "./request.ts";
import { credentialRules } from "./credential-rules.ts";
import {
  DIALECT_FORM,
  negotiateErrorForm,
  isMalformed,
  negotiateForm,
  rejectOtherBody,
  applyForm,
  type ResponseForm,
} from "./response-form.ts";
import { createLongAnswers, type LongAnswer } from "./long-answers.ts";
import { PATHS } from "./paths.ts";
import type { GqlEngine, GqlLongBody, GqlRequest, GqlRunOptions, GqlSender } from "./operations.ts";
import type { MetadataProblem } from "../metadata/api.ts";
import { liveQueriesService } from "../live/api.ts";

export type AnyExchange = Omit<Exchange, "session">;

const LEGACY_PATH = "/v1alpha1/graphql";
const SOCKET_PATH = "/v1/graphql/ws";
const HEALTH_PATHS = ["/healthz", "/hasura/healthz"];

/** Nothing else is served below these: paths of Hasura's other APIs return 404 here, instead of being read as tables
 *  (docs/reference/graphql/left-out.md). */
const RESERVED_PATHS = ["/v1/*", "/v2/*", "/v1alpha1/*", "/v1beta1/*"];

const ALLOW = "OPTIONS, GET, HEAD, POST";
const SOCKET_ALLOW = "OPTIONS, GET";

export const NOT_FOUND = '{"path":"$","error":"resource does not exist","code":"not-found"}';

/** Around `data`. */
export const BEFORE_DATA = '{"data":';
export const AFTER_DATA = "}";

const OK: HandlerResponse[1] = { status: 200, statusText: "" };

/** A transaction without statements, to check that the database responds. */
const PROBE: Execution = {
  session: { role: "admin", isAdmin: true, claims: {}, variables: {} },
  access: "read only",
  schema: "public",
  programs: [],
  end: "commit",
  skipsPreRequest: true,
};

/** `x-request-id`: the request's own, else a new one. @rule G-HTTP-10 */
const buildRequestIdHeader = (exchange: AnyExchange): readonly [string, string] => [
  "x-request-id",
  exchange.requestId ?? (exchange.header("x-request-id") || randomUUID()),
];

export const buildJsonAnswer = (
  exchange: AnyExchange,
  status: number,
  body: string | Uint8Array | undefined,
  more: Headers = [],
  { type }: ResponseForm = DIALECT_FORM,
): Answer => ({
  status,
  headers: [["Content-Type", `${type}; charset=utf-8`], buildRequestIdHeader(exchange), ...more],
  body,
});

const TX_PREFERENCE = /(?:^|[\s,])tx=(commit|rollback)(?:$|[\s,])/;

/** How the transaction of a request ends, if that is not always the same. @rule G-TX-6 */
const chooseTransactionEnd = (exchange: Exchange, dbTxEnd: ResolvedOptions["dbTxEnd"]): "commit" | "rollback" => {
  const wanted = dbTxEnd.endsWith("-allow-override")
    ? TX_PREFERENCE.exec(exchange.header("prefer") ?? "")?.[1]
    : undefined;
  return (wanted ?? dbTxEnd).startsWith("rollback") ? "rollback" : "commit";
};

/** Returns the settings that a request applies to its transaction, and how the transaction ends. @rule G-SES-10 G-TX-6 */
export const buildRunOptions = <Taken = never>(
  exchange: Exchange,
  { options, requestSettings }: PluginContext,
  longBody?: GqlLongBody<Taken>,
): GqlRunOptions<Taken> => ({
  longBody,
  requestSettings: () => requestSettings(exchange.request, exchange.path),
  exchange,
  onGone: (listener) => exchange.onDisconnect(listener),
  end: options.dbTxEnd === "commit" ? "commit" : chooseTransactionEnd(exchange, options.dbTxEnd),
});

export const subscriptionOverHttp = (): RelApiError =>
  new RelApiError({
    code: "unexpected-payload",
    status: 400,
    message: "subscriptions are not supported over HTTP, use websockets instead",
    path: "$",
  });

/** A request as it was read, on its way through the handler. */
interface PostRequest {
  readonly exchange: Exchange;
  readonly request: GqlRequest;
  readonly form: ResponseForm;
  /** The long answer that replaces the text, set when it is known. */
  longAnswer?: LongAnswer;
}

/** Statuses: only the old endpoint has error statuses, apart from those that every address keeps. @rule G-HTTP-2
 *  G-HTTP-3 G-HTTP-15 G-ERR-9 */
export const chooseStatus = (
  exchange: AnyExchange,
  encoded: EncodedErrors,
  form: ResponseForm = DIALECT_FORM,
  isRequestError = false,
): number => {
  const usual = exchange.path === LEGACY_PATH || encoded.keepsStatus ? encoded.status : 200;
  return applyForm(form, encoded, usual, isRequestError);
};

export const createHttpSurface = (context: PluginContext, engine: GqlEngine, find: FindDocument): Surface => {
  const longAnswers = createLongAnswers(context, BEFORE_DATA, AFTER_DATA);

  const runRequest = async (posted: PostRequest, sender: GqlSender = posted.exchange): Promise<HandlerResponse> => {
    const { exchange, request, form } = posted;
    try {
      const prepared = engine.prepare(request, exchange.session, sender);
      const document = prepared instanceof Promise ? await prepared : prepared;
      exchange.operation = document.namedOperation;
      const operation = document.bind();
      if (operation.kind === "subscription") throw subscriptionOverHttp();
      exchange.plans = operation.plans;
      exchange.endPhase("plan");
      const run = <Taken = never>(long?: GqlLongBody<Taken>): Promise<string | Taken> =>
        engine.run(operation, exchange.session, buildRunOptions(exchange, context, long));
      // those of a batch are put together as text
      const whole = await (sender === exchange ? longAnswers.run(run) : run());
      exchange.endPhase("transaction");
      if (typeof whole === "string") return [`${BEFORE_DATA}${whole}${AFTER_DATA}`, OK];
      posted.longAnswer = whole;
      return ["", OK]; // the handler takes only text
    } catch (error) {
      const encoded = engine.encodeErrors(error, exchange.session);
      exchange.errorCode = encoded.code;
      return [encoded.body, { status: chooseStatus(exchange, encoded, form), statusText: "" }];
    }
  };

  const handle = createPostHandler((posted: PostRequest) => runRequest(posted));

  const postBatch = async (exchange: Exchange, requests: readonly GqlRequest[]): Promise<Answer> => {
    const sender = { request: exchange.request, batchSize: requests.length };
    const batch = await answerBatch(
      requests,
      context,
      async (request) => (await runRequest({ exchange, request, form: DIALECT_FORM }, sender))[0] ?? "",
      (error) => engine.encodeErrors(error, exchange.session).body,
    );
    if ("body" in batch) return compressAnswer(exchange, buildJsonAnswer(exchange, 200, batch.body));
    const { status, headers } = buildJsonAnswer(exchange, 200, "");
    return { status, headers, stream: batch.write };
  };

  const handlePost = async (exchange: Exchange): Promise<Answer> => {
    const { graphqlOverHttp: isStrict } = context.options;
    let body: GqlBody;
    let form: ResponseForm;
    try {
      form = negotiateForm(exchange, isStrict);
      if (isStrict) rejectOtherBody(exchange);
      // with `await`, V8 would keep the text until the next one
      body = await exchange.text().then((text) => parseBody(text, context.options, find, isStrict));
    } catch (error) {
      const encoded = engine.encodeErrors(error, exchange.session);
      exchange.errorCode = encoded.code;
      const errorForm = negotiateErrorForm(exchange, isStrict);
      const status = chooseStatus(exchange, encoded, errorForm, isMalformed(error));
      return compressAnswer(exchange, buildJsonAnswer(exchange, status, encoded.body, [], errorForm));
    }
    exchange.endPhase("parse");
    if ("batch" in body) return await postBatch(exchange, body.batch);
    const posted: PostRequest = { exchange, request: body.single, form };
    const [text, { status }] = await handle(posted);
    if (posted.longAnswer !== undefined)
      return longAnswers.answer(exchange, buildJsonAnswer(exchange, status, undefined, [], form), posted.longAnswer);
    const whole = buildJsonAnswer(exchange, status, text ?? "", [], form);
    // a character takes three bytes at most
    return text === null || text.length * 3 < MIN_GZIP_BYTES ? whole : compressAnswer(exchange, whole);
  };

  /** Objects of the metadata that are left out are an error where the caller is strict. @rule G-HTTP-17 */
  const checkHealth = async (query: string | undefined): Promise<Answer> => {
    const headers: Headers = [["Content-Type", "text/plain; charset=utf-8"]];
    try {
      await context.execute(PROBE); // only its settings make the round trip
    } catch {
      return { status: 500, headers, body: "ERROR" }; // unhealthy, whatever the reason
    }
    const problems = context.model().pluginFacts["metadata-problems"] as readonly MetadataProblem[] | undefined; // the metadata's
    if (problems === undefined || problems.length === 0) return { status: 200, headers, body: "OK" };
    const isStrict = new URLSearchParams(query).get("strict") === "true";
    const word = isStrict ? "ERROR" : "WARN";
    return { status: isStrict ? 500 : 200, headers, body: `${word}: inconsistent objects in schema` };
  };

  const version = JSON.stringify({ server_type: "relapi", version: VERSION });
  const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

  /** @rule G-HTTP-12 */
  const answerOtherMethod = (exchange: AnyExchange, allow: string): Answer => ({
    status: exchange.method === "OPTIONS" ? 200 : 405,
    headers: [["Allow", allow], buildRequestIdHeader(exchange)],
  });

  /** Answers requests that need no credentials. */
  const answerOpenPaths = (exchange: AnyExchange): Answer | Promise<Answer> | undefined => {
    const { path, method } = exchange;
    if (PATHS.has(path)) return method === "POST" ? undefined : answerOtherMethod(exchange, ALLOW);
    if (path === SOCKET_PATH && context.use(liveQueriesService) !== undefined) {
      if (!isRead(method)) return answerOtherMethod(exchange, SOCKET_ALLOW);
      return {
        status: 426,
        headers: [["Upgrade", "websocket"], ["Connection", "Upgrade"], buildRequestIdHeader(exchange)],
      };
    }
    if (isRead(method) && HEALTH_PATHS.includes(path)) return checkHealth(exchange.query);
    if (isRead(method) && path === "/v1/version") return buildJsonAnswer(exchange, 200, version);
    return buildJsonAnswer(exchange, 404, NOT_FOUND);
  };

  return {
    name: "graphql",
    credentialRules,
    paths: () => [...PATHS, ...HEALTH_PATHS, ...RESERVED_PATHS],
    beforeAuthorize: answerOpenPaths,
    handle: handlePost,
    encodeError: (error: CoreError, exchange) => {
      // a path of no surface, where this one is the last
      if (error.code === "path-not-found") return buildJsonAnswer(exchange, 404, NOT_FOUND);
      const encoded = encodeErrors(error, exchange.session);
      const form = negotiateErrorForm(exchange, context.options.graphqlOverHttp);
      return buildJsonAnswer(exchange, chooseStatus(exchange, encoded, form), encoded.body, encoded.headers, form);
    },
    exposedHeaders: ["x-request-id"],
  };
};
