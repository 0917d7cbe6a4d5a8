/** `POST /v1beta1/relay`: passes requests to the engine of the Relay schemas. */
import { buildJsonAnswer, type Answer, type Exchange, type Surface } from "../../../core/index.ts";
import type { GqlEngine } from "../../graphql/api.ts";

const PATH = "/v1beta1/relay";
const ALLOW = "OPTIONS, POST";

/** Creates the surface of the Relay specification. @rule P-RLY-1 */
export const createSurface = (getEngine: () => GqlEngine): Surface => {
  const encodeFailure = (exchange: Omit<Exchange, "session"> & Partial<Exchange>, error: unknown): Answer => {
    const { body, code, status, keepsStatus, headers } = getEngine().encodeErrors(error, exchange.session);
    exchange.errorCode = code;
    return buildJsonAnswer(keepsStatus ? status : 200, body, headers);
  };
  return {
    name: "graphql",
    get credentialRules() {
      return getEngine().credentialRules;
    },
    paths: () => [PATH],
    beforeAuthorize: ({ method }) =>
      method === "POST" ? undefined : { status: method === "OPTIONS" ? 200 : 405, headers: [["Allow", ALLOW]] },
    handle: async (exchange) => {
      try {
        const engine = getEngine();
        const request = engine.readRequest(engine.parseRequestJson(await exchange.text()));
        exchange.endPhase("parse");
        return buildJsonAnswer(200, `{"data":${await engine.runRequest(exchange, request)}}`);
      } catch (error) {
        return encodeFailure(exchange, error);
      }
    },
    encodeError: (error, exchange) => encodeFailure(exchange, error),
    exposedHeaders: ["x-request-id"],
  };
};
