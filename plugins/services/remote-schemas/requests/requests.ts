/** Sends documents in the remote's own names, with the presets of the role, to a server or to a schema of this
 *  process. */
import { execute, GraphQLError, subscribe, type ExecutionArgs, type GraphQLSchema } from "graphql";
import type { JsonObject, PluginContext } from "../../../../core/index.ts";
import { sendToRemote, type RemoteCaller, type RemoteRequest } from "./client.ts";
import type { RemoteDefinition } from "../schema/definition.ts";
import { remoteAnswerInvalid } from "../errors.ts";
import { convertData, toNumbers } from "../schema/large-numbers.ts";
import type { RolePart } from "../schema/permissions.ts";
import { addPresets } from "../schema/presets.ts";
import { readResult } from "./result-errors.ts";
import { mapResults } from "./results.ts";
import { subscribeToRemote } from "./subscription.ts";

/** The caller of a request for a client, whose session has the values of presets. */
export type ClientCaller = RemoteCaller & Pick<Required<RemoteCaller>, "session">;

/** A result of GraphQL. The errors are objects of the remote, or instances of `GraphQLError`. */
interface RemoteResult {
  readonly data?: unknown;
  readonly errors?: unknown;
}

export interface RequestParts {
  readonly context: PluginContext;
  readonly definition: RemoteDefinition;
  /** The whole remote schema, in its own names. */
  readonly full: GraphQLSchema;
  readonly part: RolePart;
}

export interface RemoteRequests {
  /** Sends a query or a mutation. @throws RelApiError */
  send(request: RemoteRequest, caller: ClientCaller): Promise<RemoteResult>;
  /** Returns the results of a subscription, or one result with errors. @throws RelApiError */
  subscribe(request: RemoteRequest, caller: ClientCaller): Promise<AsyncIterable<RemoteResult> | RemoteResult>;
}

/** Creates the functions that send requests to one remote schema. */
export const createRequests = ({
  context,
  definition: { name, target },
  full,
  part: { presets },
}: RequestParts): RemoteRequests => {
  const prepare = (request: RemoteRequest, { session }: ClientCaller): RemoteRequest =>
    addPresets(request, full, presets, session);
  const convertResult = (result: JsonObject, { document }: RemoteRequest): RemoteResult => {
    const { data, ...otherMembers } = readResult(result);
    try {
      return { ...otherMembers, data: convertData(data, document, full) };
    } catch (error) {
      const { message } = error as Error;
      return { data: null, errors: [new GraphQLError(message, { originalError: remoteAnswerInvalid(name, message) })] };
    }
  };
  const buildExecution = (
    schema: GraphQLSchema,
    { document, variables }: RemoteRequest,
    contextValue: ClientCaller,
  ): ExecutionArgs => ({
    schema,
    document,
    variableValues: variables && (toNumbers(variables as JsonObject) as JsonObject), // the variables are JSON
    contextValue,
  });
  return {
    send: async (request, caller) => {
      const preparedRequest = prepare(request, caller);
      if ("schema" in target) return execute(buildExecution(target.schema, preparedRequest, caller));
      return convertResult(await sendToRemote(context, name, target, preparedRequest, caller), preparedRequest);
    },
    subscribe: async (request, caller) => {
      const preparedRequest = prepare(request, caller);
      if ("schema" in target) return subscribe(buildExecution(target.schema, preparedRequest, caller));
      const results = await subscribeToRemote(context, name, target, preparedRequest, caller);
      return mapResults(results, (result) => convertResult(result, preparedRequest));
    },
  };
};
