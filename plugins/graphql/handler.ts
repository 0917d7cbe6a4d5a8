/** Adapts the handler of graphql-http, which would refuse batches, content types and `Accept` headers that Hasura
 *  accepts. The handler gets requests that are already read, without headers. */
import { createHandler, type RequestParams, type Response } from "graphql-http";
import type { Exchange } from "../../core/index.ts";
import type { GqlRequest } from "./operations.ts";

export type HandlerResponse = Response;

interface PostedRequest {
  readonly exchange: Exchange;
  readonly request: GqlRequest;
}

/** Creates the handler. `answer` runs the request, and the handler sends its response unchanged. */
export const createPostHandler = <Raw extends PostedRequest>(
  answer: (raw: Raw) => Promise<HandlerResponse>,
): ((raw: Raw) => Promise<HandlerResponse>) => {
  const handle = createHandler<Raw>({
    // Variables may hold numbers as text with all their digits.
    parseRequestParams: ({ raw }) => raw.request as RequestParams,
    onSubscribe: ({ raw }) => answer(raw),
  });
  return (raw) => {
    const { method, path: url } = raw.exchange;
    return handle({ method, url, headers: {}, body: null, raw, context: undefined });
  };
};
