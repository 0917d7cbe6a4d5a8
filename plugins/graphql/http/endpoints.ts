/** `GET /api/rest/people/7`: serves named queries of the metadata at their own URLs (`rest_endpoints`). */
import { parse, type TypeNode } from "graphql";
import {
  getErrorMessage,
  definePlugin,
  RelApiError,
  requireService,
  type Answer,
  type Exchange,
  type Json,
  type JsonObject,
  type RequestLimits,
  type Model,
  type PluginContext,
  type Surface,
} from "../../../core/index.ts";
import { getMetadataFacts, type MetadataEndpoint } from "../../metadata/api.ts";
import { graphqlService } from "../api.ts";
import { isPlainObject } from "../values/leaf.ts";
import { credentialRules } from "../credential-rules.ts";
import { endpointNotFound, methodNotAllowed, parseFailed, variableUnexpected, variablesTooLarge } from "../errors.ts";
import { buildGqlAnswer, NOT_FOUND, type AnyExchange } from "./http.ts";
import { createRequestRunner, DATA_ONLY } from "./long-answers.ts";
import type { GqlEngine } from "../operations.ts";

const ROOT = "/api/rest/";

interface Endpoint extends MetadataEndpoint {
  readonly segments: readonly string[];
  /** The types of the document's variables. */
  readonly types: ReadonlyMap<string, TypeNode>;
}

/** Parses the document of an endpoint. @throws GraphQLError if the text is not a document */
const compileEndpoint = (endpoint: MetadataEndpoint): Endpoint => {
  const types = parse(endpoint.document, { noLocation: true }).definitions.flatMap((definition) =>
    definition.kind === "OperationDefinition" ? (definition.variableDefinitions ?? []) : [],
  );
  return {
    ...endpoint,
    segments: endpoint.url.split("/").filter((segment) => segment !== ""),
    types: new Map(types.map(({ variable, type }) => [variable.name.value, type])),
  };
};

const isCapture = (segment: string): boolean => segment.startsWith(":");

/** Returns the path segments that match `:name` segments of the endpoint. Undefined if the path does not match. */
const matchPath = ({ segments }: Endpoint, path: readonly string[]): ReadonlyMap<string, string> | undefined => {
  if (segments.length !== path.length) return undefined;
  const captures = new Map<string, string>();
  for (const [at, segment] of segments.entries()) {
    const pathSegment = path[at] as string; // the path has as many segments as the endpoint
    if (isCapture(segment)) captures.set(segment.slice(1), pathSegment);
    else if (segment !== pathSegment) return undefined;
  }
  return captures;
};

const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a segment that cannot be decoded matches no endpoint
  }
};

const NUMBERS = new Set(["Int", "Float", "smallint", "bigint", "numeric", "float4", "float8", "money"]);

/** Converts text of a URL to a value of the variable's type. Coercion rejects text that cannot be converted.
 *  @rule G-RES-3 */
const convertVariable = (engine: GqlEngine, text: string, type: TypeNode | undefined): Json => {
  const inner = type?.kind === "NonNullType" ? type.type : type;
  const isBoolean = inner?.kind === "NamedType" && inner.name.value === "Boolean";
  return text === "" && inner === type && !isBoolean ? null : convertText(engine, text, inner);
};

const convertText = (engine: GqlEngine, text: string, type: TypeNode | undefined): Json => {
  const name = type?.kind === "NamedType" ? type.name.value : undefined;
  if (name === "String" || name === "ID") return text;
  if (name === "Boolean") return text === "" || text === "true" ? true : text === "false" ? false : text;
  const isJson = type?.kind === "ListType" || name === "json" || name === "jsonb" || /^[[{]/.test(text);
  if (!isJson && (name === undefined || !NUMBERS.has(name))) return text;
  try {
    return engine.parseJson(text);
  } catch (error) {
    if (error instanceof RelApiError) throw error;
    return text;
  }
};

/** Reads the body as variables. @throws RelApiError `parse-failed`, `invalid-json` */
const readBody = (engine: GqlEngine, text: string | undefined, limits: RequestLimits): JsonObject => {
  if (text === "") return {};
  if (text !== undefined && Buffer.byteLength(text) > limits.maxVariablesBytes) throw variablesTooLarge(limits, "$");
  const body = engine.parseRequestJson(text);
  if (!isPlainObject(body)) throw parseFailed("expected a JSON object with the variables", "$");
  return body;
};

/** Encodes an error with the codes and messages of the surface, in the format of endpoints. @rule G-RES-4 */
const encodeEndpointError = (engine: GqlEngine, exchange: AnyExchange, error: unknown): Answer => {
  const { session } = exchange as Partial<Exchange>;
  const { body, status } = engine.encodeErrors(error, session);
  // `encodeErrors` wrote this body.
  const [first] = (JSON.parse(body) as { readonly errors: readonly GqlErrorBody[] }).errors;
  const { path, code, ...otherExtensions } = first?.extensions ?? { path: "$", code: "unexpected" };
  exchange.errorCode = code;
  const headers = error instanceof RelApiError ? error.headers : [];
  return buildGqlAnswer(
    exchange,
    status,
    JSON.stringify({ path, error: first?.message, code, ...otherExtensions }),
    headers,
  );
};

interface GqlErrorBody {
  readonly message: string;
  readonly extensions: { readonly path: string; readonly code: string };
}

const createSurface = (context: PluginContext, endpoints: () => readonly Endpoint[]): Surface => {
  const getEngine = (): GqlEngine => requireService(context, graphqlService);

  /** Finds the endpoint of a path. Literal segments take precedence over captures. @rule G-RES-1 */
  const findEndpoint = (
    path: string,
    method: string,
  ): { readonly endpoint: Endpoint; captured: ReadonlyMap<string, string> } => {
    const segments = path.slice(ROOT.length).split("/").map(decodeSegment);
    const matches = endpoints().flatMap((endpoint) => {
      const captures = matchPath(endpoint, segments);
      return captures === undefined ? [] : [{ endpoint, captured: captures }];
    });
    if (matches.length === 0) throw endpointNotFound();
    const bestMatch = matches
      .filter(({ endpoint: { methods } }) => methods.includes(method === "HEAD" ? "GET" : method))
      .sort((a, b) => a.captured.size - b.captured.size)[0];
    if (bestMatch === undefined)
      throw methodNotAllowed(method, [...new Set(matches.flatMap(({ endpoint }) => endpoint.methods))]);
    return bestMatch;
  };

  const runner = createRequestRunner(context, getEngine, DATA_ONLY);

  const answer = async (exchange: Exchange): Promise<Answer> => {
    const engine = getEngine();
    const { method } = exchange;
    try {
      const { endpoint, captured: captures } = findEndpoint(exchange.path, method);
      const body = readBody(engine, await exchange.text(), context.options);
      const variables: Record<string, Json> = { ...body };
      for (const [name, text] of [...new URLSearchParams(exchange.query ?? ""), ...captures])
        variables[name] = convertVariable(engine, text, endpoint.types.get(name));
      const unexpectedName = Object.keys(variables).find((name) => !endpoint.types.has(name));
      if (unexpectedName !== undefined) throw variableUnexpected(unexpectedName);
      exchange.endPhase("parse");
      const result = await runner.run(
        exchange,
        { query: endpoint.document, variables },
        {
          path: `${ROOT}${endpoint.segments.join("/")}`,
          access: method === "GET" || method === "HEAD" ? "read only" : undefined,
        },
      );
      return await runner.answer(exchange, buildGqlAnswer(exchange, 200, undefined), result);
    } catch (error) {
      return encodeEndpointError(engine, exchange, error);
    }
  };

  return {
    name: "graphql",
    credentialRules,
    paths: () => (endpoints().length === 0 ? [] : [`${ROOT}*`]),
    match: (_, method) => method !== "OPTIONS",
    handle: answer,
    encodeError: (error, exchange) =>
      // This surface is the last one, so no surface serves the path.
      error.code === "path-not-found"
        ? buildGqlAnswer(exchange, 404, NOT_FOUND)
        : encodeEndpointError(getEngine(), exchange, error),
    exposedHeaders: ["x-request-id"],
  };
};

/** Serves the named queries of the metadata. @rule G-RES-1 G-RES-2 G-RES-3 G-RES-4 */
export const restEndpoints = definePlugin({
  name: "rest-endpoints",
  requires: ["graphql"],
  // REST may be served under a prefix of this path.
  before: ["rest"],
  apply: (_hooks, context) => {
    let endpoints: readonly Endpoint[] = [];
    context.onModel((model: Model) => {
      const { "metadata-queries": queries } = getMetadataFacts(model);
      endpoints = (queries?.endpoints ?? []).flatMap((endpoint) => {
        try {
          return [compileEndpoint(endpoint)];
        } catch (error) {
          const reason = getErrorMessage(error);
          context.logger.warn(`REST endpoint ${endpoint.name}: its query cannot be read; ignored: ${reason}`);
          return [];
        }
      });
    });
    context.addSurface(createSurface(context, () => endpoints));
  },
});
