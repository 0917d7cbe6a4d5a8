/** `GET /v1/graphql?query={album{id}}&variables={}`: serves queries in the URL, which several clients send. A page of
 *  another site can make a browser send such a request. So only queries are allowed, in a read-only transaction. */
import {
  definePlugin,
  RelApiError,
  requireService,
  type Answer,
  type Exchange,
  type Headers,
  type Json,
  type PluginContext,
  type Surface,
} from "../../../core/index.ts";
import { graphqlService } from "../api.ts";
import { credentialRules } from "../credential-rules.ts";
import { buildGqlAnswer, chooseStatus } from "./http.ts";
import { negotiateErrorForm, isMalformed, negotiateForm, rejectInvalidExtensions } from "./response-form.ts";
import { createRequestRunner, DATA_MEMBER } from "./long-answers.ts";
import type { GqlEngine, GqlRequest } from "../operations.ts";
import { PATHS } from "./surface-paths.ts";

/** Matches the parameters that contain or name a document, as in `?query={album{id}}`. A request without such a
 *  parameter has no document. */
const HAS_DOCUMENT = /[?&](?:query|extensions|documentId)=/;

const acceptsHtml = (accept = ""): boolean => /(?:^|[,\s])text\/html/i.test(accept);

/** The headers of responses that depend on headers which shared caches do not treat as credentials. */
const PRIVATE_HEADERS: Headers = [["Cache-Control", "private, no-cache"]];

const readParameter = (engine: GqlEngine, parameters: URLSearchParams, name: string): Json | undefined => {
  const text = parameters.get(name);
  if (text === null || text === "") return undefined;
  return engine.parseRequestJson(text, `$.${name}`);
};

/** Parses the parameters of a URL. An empty parameter counts as omitted. @rule G-GET-1 */
const parseUrl = (engine: GqlEngine, query: string, isStrict: boolean): GqlRequest => {
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
  const getEngine = (): GqlEngine => requireService(context, graphqlService);

  const runner = createRequestRunner(context, getEngine, DATA_MEMBER);

  const handleGet = async (exchange: Exchange): Promise<Answer> => {
    const engine = getEngine();
    const { graphqlOverHttp: isStrict } = context.options;
    let isRead = false;
    try {
      const form = negotiateForm(exchange, isStrict);
      const request = parseUrl(engine, exchange.query ?? "", isStrict);
      isRead = true;
      exchange.endPhase("parse");
      const result = await runner.run(exchange, request, { access: "read only" });
      return await runner.answer(exchange, buildGqlAnswer(exchange, 200, undefined, PRIVATE_HEADERS, form), result);
    } catch (error) {
      const encodedErrors = engine.encodeErrors(error, exchange.session);
      exchange.errorCode = encodedErrors.code;
      const form = negotiateErrorForm(exchange, isStrict);
      if (error instanceof RelApiError && error.status === 405)
        return buildGqlAnswer(exchange, 405, encodedErrors.body, [...error.headers, ...PRIVATE_HEADERS], form);
      const status = chooseStatus(exchange, encodedErrors, form, !isRead && isMalformed(error));
      return buildGqlAnswer(exchange, status, encodedErrors.body, PRIVATE_HEADERS, form);
    }
  };

  return {
    name: "graphql",
    credentialRules,
    paths: () => [...PATHS],
    methods: ["GET", "HEAD"],
    match: (_path, _method, request) => HAS_DOCUMENT.test(request.url ?? "") && !acceptsHtml(request.headers.accept),
    handle: handleGet,
    encodeError: (error, exchange) => {
      const encodedErrors = getEngine().encodeErrors(error, exchange.session);
      const form = negotiateErrorForm(exchange, context.options.graphqlOverHttp);
      return buildGqlAnswer(
        exchange,
        chooseStatus(exchange, encodedErrors, form),
        encodedErrors.body,
        [...encodedErrors.headers, ...PRIVATE_HEADERS],
        form,
      );
    },
    exposedHeaders: ["x-request-id"],
  };
};

/** Serves queries in the URL. @rule G-GET-1 G-GET-2 G-GET-3 */
export const graphqlGet = definePlugin({
  name: "graphql-get",
  // All three plugins have the same paths: `playground` serves its page there, `graphql` rejects other methods than
  // POST.
  before: ["playground", "graphql"],
  apply: (_hooks, context) => {
    if (context.registry.has("graphql")) context.addSurface(createSurface(context));
  },
});
