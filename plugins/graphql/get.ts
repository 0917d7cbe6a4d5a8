/** `GET /v1/graphql?query={album{id}}&variables={}`: serves queries in the URL, which several clients send. A page of
 *  another site can make a browser send such a request. So only queries are allowed, in a read-only transaction. */
import {
  definePlugin,
  isRelApiError,
  RelApiError,
  type Answer,
  type Exchange,
  type Headers,
  type Json,
  type PluginContext,
  type Surface,
} from "../../core/index.ts";
import { graphqlService } from "./api.ts";
import { credentialRules } from "./credential-rules.ts";
import { invalidJson } from "./errors.ts";
import { compressAnswer } from "./compression.ts";
import { AFTER_DATA, BEFORE_DATA, json, statusFor, subscriptionOverHttp, runOptionsOf } from "./http.ts";
import { formOfErrors, isMalformed, negotiated, rejectInvalidExtensions } from "./response-form.ts";
import { createLongAnswers } from "./long-answers.ts";
import type { GqlEngine, GqlRequest } from "./operations.ts";
import { PATHS } from "./paths.ts";

/** A request without any of these parameters has no document. */
const HAS_DOCUMENT = /[?&](?:query|extensions|documentId)=/;

const namesHtml = (accept = ""): boolean => /(?:^|[,\s])text\/html/i.test(accept);

/** The response depends on headers that shared caches do not treat as credentials. */
const PRIVATE_HEADERS: Headers = [["Cache-Control", "private, no-cache"]];

const mutationByGet = (): RelApiError =>
  new RelApiError({
    code: "unexpected-payload",
    status: 405,
    message: "mutations are not supported over GET, use POST instead",
    path: "$",
  });

const readParameter = (engine: GqlEngine, parameters: URLSearchParams, name: string): Json | undefined => {
  const text = parameters.get(name);
  if (text === null || text === "") return undefined;
  try {
    return engine.parseJson(text);
  } catch (error) {
    if (isRelApiError(error)) throw error;
    throw invalidJson(`$.${name}`, error instanceof Error ? error.message : "no JSON", text);
  }
};

/** An empty parameter counts as omitted. @rule G-GET-1 */
const readUrl = (engine: GqlEngine, query: string, isStrict: boolean): GqlRequest => {
  const parameters = new URLSearchParams(query);
  const request: Record<string, Json> = {};
  for (const name of ["query", "operationName", "documentId"]) {
    const text = parameters.get(name);
    if (text !== null && text !== "") request[name] = text;
  }
  for (const name of ["variables", "extensions"]) {
    const value = readParameter(engine, parameters, name);
    if (value !== undefined) request[name] = value;
  }
  if (isStrict) rejectInvalidExtensions(request["extensions"]);
  return engine.readRequest(request);
};

const createSurface = (context: PluginContext): Surface => {
  const engineOf = (): GqlEngine => {
    const engine = context.use(graphqlService);
    if (engine === undefined) throw new Error('the plugin "graphql" is missing'); // the plugin requires it
    return engine;
  };

  const longAnswers = createLongAnswers(context, BEFORE_DATA, AFTER_DATA);

  const answer = async (exchange: Exchange): Promise<Answer> => {
    const engine = engineOf();
    const { graphqlOverHttp: isStrict } = context.options;
    let isRead = false;
    try {
      const form = negotiated(exchange, isStrict);
      const request = readUrl(engine, exchange.query ?? "", isStrict);
      isRead = true;
      exchange.mark("parse");
      const prepared = engine.prepare(request, exchange.session, exchange);
      const document = prepared instanceof Promise ? await prepared : prepared;
      exchange.operation = document.namedOperation;
      if (document.operation === "mutation") throw mutationByGet();
      if (document.operation === "subscription") throw subscriptionOverHttp();
      const operation = document.bind();
      exchange.planned = operation.plans;
      exchange.mark("plan");
      const whole = await longAnswers.run((long) =>
        engine.run(operation, exchange.session, { ...runOptionsOf(exchange, context, long), access: "read only" }),
      );
      exchange.mark("transaction");
      return typeof whole === "string"
        ? await compressAnswer(
            exchange,
            json(exchange, 200, `${BEFORE_DATA}${whole}${AFTER_DATA}`, PRIVATE_HEADERS, form),
          )
        : await longAnswers.answer(exchange, json(exchange, 200, undefined, PRIVATE_HEADERS, form), whole);
    } catch (error) {
      const encoded = engine.encodeErrors(error, exchange.session);
      exchange.errorCode = encoded.code;
      const form = formOfErrors(exchange, isStrict);
      if (encoded.status === 405)
        return json(exchange, 405, encoded.body, [["Allow", "POST"], ...PRIVATE_HEADERS], form);
      const status = statusFor(exchange, encoded, form, !isRead && isMalformed(error));
      return json(exchange, status, encoded.body, PRIVATE_HEADERS, form);
    }
  };

  return {
    name: "graphql",
    credentialRules,
    paths: () => [...PATHS],
    methods: ["GET", "HEAD"],
    match: (_path, _method, request) => HAS_DOCUMENT.test(request.url ?? "") && !namesHtml(request.headers.accept),
    handle: answer,
    encodeError: (error, exchange) => {
      const encoded = engineOf().encodeErrors(error, exchange.session);
      const form = formOfErrors(exchange, context.options.graphqlOverHttp);
      return json(
        exchange,
        statusFor(exchange, encoded, form),
        encoded.body,
        [...encoded.headers, ...PRIVATE_HEADERS],
        form,
      );
    },
    exposedHeaders: ["x-request-id"],
  };
};

/** @rule G-GET-1 G-GET-2 G-GET-3 */
export const graphqlGet = definePlugin({
  name: "graphql-get",
  // these have the same paths: `playground` serves its page there, `graphql` refuses other methods than POST
  before: ["playground", "graphql"],
  apply: (_hooks, context) => {
    if (context.registry.has("graphql")) context.addSurface(createSurface(context));
  },
});
