/** Serves `POST /v1/graphql {"query":"{ album { id } }"}` and the related paths. @rule G-HTTP-1 … G-HTTP-14 */
import { randomUUID } from "node:crypto";
import { createHandler, type RequestParams, type Response } from "graphql-http";
import {
  VERSION,
  type Answer,
  type Exchange,
  type Execution,
  type Headers,
  type PluginContext,
  type RelApiError as CoreError,
  type Surface,
} from "../../../core/index.ts";
import { answerBatch } from "./batch.ts";
import { compressAnswer } from "./compression.ts";
import { encodeErrors, type EncodedErrors } from "../encode-error.ts";
import { parseBody, type FindDocument, type GqlBody } from "./request.ts";
import { credentialRules } from "../credential-rules.ts";
import {
  DIALECT_FORM,
  negotiateErrorForm,
  isMalformed,
  negotiateForm,
  rejectOtherBody,
  applyForm,
  type ResponseForm,
} from "./response-form.ts";
import { createRequestRunner, DATA_MEMBER, type LongAnswer } from "./long-answers.ts";
import { PATHS } from "./surface-paths.ts";
import type { GqlEngine, GqlRequest } from "../operations.ts";
import { getMetadataFacts } from "../../metadata/api.ts";
import { liveQueriesService } from "../../live/api.ts";

export type AnyExchange = Omit<Exchange, "session">;

const LEGACY_PATH = "/v1alpha1/graphql";
const SOCKET_PATH = "/v1/graphql/ws";
const HEALTH_PATHS = ["/healthz", "/hasura/healthz"];

const ALLOW = "OPTIONS, GET, HEAD, POST";
const SOCKET_ALLOW = "OPTIONS, GET";

export const NOT_FOUND = '{"path":"$","error":"resource does not exist","code":"not-found"}';

const OK: Response[1] = { status: 200, statusText: "" };

/** The paths below which no surface serves anything else. Paths of Hasura's other APIs return 404 there, instead of
 *  being read as tables (docs/reference/graphql/left-out.md). */
const RESERVED_PATHS = ["/v1/*", "/v2/*", "/v1alpha1/*", "/v1beta1/*"];

/** A transaction without statements, which checks that the database responds. */
const PROBE: Execution = {
  session: { role: "admin", isAdmin: true, claims: {}, variables: {} },
  access: "read only",
  schema: "public",
  programs: [],
  end: "commit",
  skipsPreRequest: true,
};

/** Builds the header with the id of the request, or with a new one. @rule G-HTTP-10 */
const buildRequestIdHeader = (exchange: AnyExchange): readonly [string, string] => [
  "x-request-id",
  exchange.requestId ?? (exchange.header("x-request-id") || randomUUID()),
];

/** Builds an answer with a JSON body, and with the id of the request. */
export const buildGqlAnswer = (
  exchange: AnyExchange,
  status: number,
  body: string | Uint8Array | undefined,
  additionalHeaders: Headers = [],
  { type }: ResponseForm = DIALECT_FORM,
): Answer => ({
  status,
  headers: [["Content-Type", `${type}; charset=utf-8`], buildRequestIdHeader(exchange), ...additionalHeaders],
  body,
});

/** A request that the handler of graphql-http passes on. */
interface PostRequest {
  readonly exchange: Exchange;
  readonly request: GqlRequest;
  readonly form: ResponseForm;
  /** The result, after the operation has run. */
  result?: LongAnswer | string;
}

/** Returns the status of an error. Only the old endpoint has error statuses, apart from statuses that every path keeps.
 *  @rule G-HTTP-2 G-HTTP-3 G-HTTP-15 G-ERR-9 */
export const chooseStatus = (
  exchange: AnyExchange,
  encodedErrors: EncodedErrors,
  form: ResponseForm,
  isRequestError = false,
): number => {
  const defaultStatus = exchange.path === LEGACY_PATH || encodedErrors.keepsStatus ? encodedErrors.status : 200;
  return applyForm(form, encodedErrors, defaultStatus, isRequestError);
};

/** Creates the surface that receives GraphQL requests over HTTP. */
export const createHttpSurface = (context: PluginContext, engine: GqlEngine, find: FindDocument): Surface => {
  const runner = createRequestRunner(context, () => engine, DATA_MEMBER);

  const encodeFailure = (exchange: Exchange, error: unknown): EncodedErrors => {
    const encodedErrors = engine.encodeErrors(error, exchange.session);
    exchange.errorCode = encodedErrors.code;
    return encodedErrors;
  };

  /** The handler of graphql-http would reject batches, content types and `Accept` headers that Hasura accepts. It gets
   *  requests that are already read, without headers. */
  const handle = createHandler<PostRequest>({
    // Variables may hold numbers as text with all their digits.
    parseRequestParams: ({ raw }) => raw.request as RequestParams,
    onSubscribe: async ({ raw }): Promise<Response> => {
      try {
        raw.result = await runner.run(raw.exchange, raw.request);
        return [null, OK]; // the handler of graphql-http sends only texts
      } catch (error) {
        const encodedErrors = encodeFailure(raw.exchange, error);
        return [encodedErrors.body, { status: chooseStatus(raw.exchange, encodedErrors, raw.form), statusText: "" }];
      }
    },
  });

  const answerBatchEntry = async (exchange: Exchange, request: GqlRequest, batchSize: number): Promise<string> => {
    try {
      const data = await engine.runRequest(exchange, request, { sender: { request: exchange.request, batchSize } });
      return `${DATA_MEMBER.before}${data}${DATA_MEMBER.after}`;
    } catch (error) {
      return encodeFailure(exchange, error).body;
    }
  };

  const postBatch = async (exchange: Exchange, requests: readonly GqlRequest[]): Promise<Answer> => {
    const batch = await answerBatch(
      requests,
      context,
      (request) => answerBatchEntry(exchange, request, requests.length),
      (error) => engine.encodeErrors(error, exchange.session).body,
    );
    if ("body" in batch) return compressAnswer(exchange, buildGqlAnswer(exchange, 200, batch.body));
    const { status, headers } = buildGqlAnswer(exchange, 200, "");
    return { status, headers, stream: batch.write };
  };

  const handlePost = async (exchange: Exchange): Promise<Answer> => {
    const { graphqlOverHttp: isStrict } = context.options;
    let body: GqlBody;
    let form: ResponseForm;
    try {
      form = negotiateForm(exchange, isStrict);
      if (isStrict) rejectOtherBody(exchange);
      // With `await`, V8 would keep the text in memory until the next `await`.
      body = await exchange.text().then((text) => parseBody(text, context.options, find, isStrict));
    } catch (error) {
      const encodedErrors = encodeFailure(exchange, error);
      const errorForm = negotiateErrorForm(exchange, isStrict);
      const status = chooseStatus(exchange, encodedErrors, errorForm, isMalformed(error));
      return compressAnswer(exchange, buildGqlAnswer(exchange, status, encodedErrors.body, [], errorForm));
    }
    exchange.endPhase("parse");
    if ("batch" in body) return await postBatch(exchange, body.batch);
    const postRequest: PostRequest = { exchange, request: body.single, form };
    const { method, path: url } = exchange;
    const [errors, { status }] = await handle({
      method,
      url,
      headers: {},
      body: null,
      raw: postRequest,
      context: undefined,
    });
    const completeAnswer = buildGqlAnswer(exchange, status, errors ?? undefined, [], form);
    return postRequest.result === undefined
      ? compressAnswer(exchange, completeAnswer)
      : runner.answer(exchange, completeAnswer, postRequest.result);
  };

  /** Checks that the database responds. With `strict=true`, inconsistent objects of the metadata are an error. @rule
   *  G-HTTP-17 */
  const checkHealth = async (query: string | undefined): Promise<Answer> => {
    const headers: Headers = [["Content-Type", "text/plain; charset=utf-8"]];
    try {
      await context.execute(PROBE); // the probe sends only the settings of the transaction
    } catch {
      return { status: 500, headers, body: "ERROR" }; // the response is the same for every reason
    }
    const { "metadata-problems": problems = [] } = getMetadataFacts(context.model());
    if (problems.length === 0) return { status: 200, headers, body: "OK" };
    const isStrict = new URLSearchParams(query).get("strict") === "true";
    const word = isStrict ? "ERROR" : "WARN";
    return { status: isStrict ? 500 : 200, headers, body: `${word}: inconsistent objects in schema` };
  };

  const version = JSON.stringify({ server_type: "relapi", version: VERSION });
  const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

  /** Answers OPTIONS, and rejects other methods. @rule G-HTTP-12 */
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
    if (isRead(method) && path === "/v1/version") return buildGqlAnswer(exchange, 200, version);
    return buildGqlAnswer(exchange, 404, NOT_FOUND);
  };

  return {
    name: "graphql",
    credentialRules,
    paths: () => [...PATHS, ...HEALTH_PATHS, ...RESERVED_PATHS],
    beforeAuthorize: answerOpenPaths,
    handle: handlePost,
    encodeError: (error: CoreError, exchange) => {
      // This surface is the last one, so no surface serves the path.
      if (error.code === "path-not-found") return buildGqlAnswer(exchange, 404, NOT_FOUND);
      const encodedErrors = encodeErrors(error, exchange.session);
      const form = negotiateErrorForm(exchange, context.options.graphqlOverHttp);
      return buildGqlAnswer(
        exchange,
        chooseStatus(exchange, encodedErrors, form),
        encodedErrors.body,
        encodedErrors.headers,
        form,
      );
    },
    exposedHeaders: ["x-request-id"],
  };
};
