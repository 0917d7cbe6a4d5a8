/** Adapts the handler of graphql-http, which would reject batches, content types and `Accept` headers that Hasura
 *  accepts. The handler gets requests that are already read, without headers. */
import { createHandler, type RequestParams, type Response } from "graphql-http";
import type { Exchange } from "../../../core/index.ts";
import type { GqlRequest } from "../operations.ts";

export type HandlerResponse = Response;

interface PostedRequest {
  readonly exchange: Exchange;
  readonly request: GqlRequest;
}

/** Creates the handler. `runRequest` runs the request, and the handler sends its response unchanged. */
export const createPostHandler = <PostRequest extends PostedRequest>(
  runRequest: (postRequest: PostRequest) => Promise<HandlerResponse>,
): ((postRequest: PostRequest) => Promise<HandlerResponse>) => {
  const handle = createHandler<PostRequest>({
    // Variables may hold numbers as text with all their digits.
    parseRequestParams: ({ raw }) => raw.request as RequestParams,
    onSubscribe: ({ raw }) => runRequest(raw),
  });
  return (postRequest) => {
    const { method, path: url } = postRequest.exchange;
    return handle({ method, url, headers: {}, body: null, raw: postRequest, context: undefined });
  };
};
