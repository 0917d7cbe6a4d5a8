/** Subscribes to a server of a remote schema by the protocol `graphql-transport-ws`. @rule X-RMT-15 X-RMT-15b */
import { print } from "graphql";
import { GRAPHQL_TRANSPORT_WS_PROTOCOL, validateMessage } from "graphql-ws";
import {
  exceedsJsonDepth,
  parseJson,
  RelApiError,
  requireService,
  writeJson,
  type Json,
  type JsonObject,
  type PluginContext,
} from "../../../../core/index.ts";
import { readListOrEmpty, readObjectOrEmpty } from "../../../shared/json-values.ts";
import { webhookService, type WebhookSocket } from "../../api.ts";
import { expandTemplate } from "../../webhook/templates.ts";
import { buildHeaders, convertFailure, MAX_DEPTH, type RemoteCaller, type RemoteRequest } from "./client.ts";
import type { RemoteServer } from "../schema/definition.ts";
import { remoteAnswerTooDeep, remoteFailed, remoteRejected } from "../errors.ts";

/** The id of the only operation of a connection. */
const ID = "1";

/** Results that wait until they are read, and the end of the subscription. */
interface Waiter {
  resolve(result: IteratorResult<JsonObject, undefined>): void;
  reject(error: unknown): void;
}

/** The connection that writes the results. */
interface ResultWriter {
  /** Called when results wait for the reader. A few more may follow. */
  pause(): void;
  /** Called when the reader has taken all results. */
  resume(): void;
  /** Called when the reader needs no more results. */
  close(): void;
}

/** A list of results that is read while it is written. */
class ResultQueue implements AsyncIterableIterator<JsonObject, undefined> {
  readonly #results: JsonObject[] = [];
  readonly #writer: ResultWriter;
  #waiting: Waiter | undefined;
  #end: { readonly error?: unknown } | undefined;

  constructor(writer: ResultWriter) {
    this.#writer = writer;
  }

  push(result: JsonObject): void {
    if (this.#end !== undefined) return;
    if (this.#waiting === undefined) {
      this.#results.push(result);
      this.#writer.pause();
      return;
    }
    this.#waiting.resolve({ done: false, value: result });
    this.#waiting = undefined;
  }

  end(error?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    if (this.#waiting === undefined) return;
    if (error === undefined) this.#waiting.resolve({ done: true, value: undefined });
    else this.#waiting.reject(error);
    this.#waiting = undefined;
  }

  next(): Promise<IteratorResult<JsonObject, undefined>> {
    const result = this.#results.shift();
    if (result !== undefined) {
      if (this.#results.length === 0) this.#writer.resume();
      return Promise.resolve({ done: false, value: result });
    }
    if (this.#end === undefined) return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
    const { error } = this.#end;
    this.#end = {}; // an error is reported once
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }

  return(): Promise<IteratorResult<JsonObject, undefined>> {
    this.#results.length = 0;
    this.end();
    this.#writer.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Returns the error for an operation that the server rejects. */
const operationRejected = (payload: Json | undefined): RelApiError => {
  const errors = readListOrEmpty(payload).map(readObjectOrEmpty);
  const encodedErrors = errors.map(({ message = "", path, extensions }) => ({
    message,
    ...(path !== undefined && { path }),
    ...(extensions !== undefined && { extensions }),
  }));
  return remoteRejected(encodedErrors, String(encodedErrors[0]?.message ?? ""));
};

const readMessage = (text: string): JsonObject => {
  // The package checks the shapes of messages.
  const message = validateMessage(parseJson(text)) as unknown as Json;
  return readObjectOrEmpty(message);
};

/** Opens a connection for one subscription, and returns its results. The connection ends with them.
 *  @throws RelApiError `remote-schema-error` */
export const subscribeToRemote = async (
  context: PluginContext,
  name: string,
  server: RemoteServer,
  { document, variables }: RemoteRequest,
  caller: RemoteCaller,
): Promise<AsyncIterableIterator<JsonObject, undefined>> => {
  const { timeoutMs } = server;
  const headers = buildHeaders(context, server, caller);
  const send = (message: Readonly<Record<string, Json>>): void => socket.send(writeJson(message));
  const close = (): void => {
    clearTimeout(timer);
    socket.close();
  };
  const results = new ResultQueue({ pause: () => socket.pause(), resume: () => socket.resume(), close });
  const end = (error?: unknown): void => {
    results.end(error);
    close();
  };

  const receive = ({ type, payload }: JsonObject): void => {
    switch (type) {
      case "connection_ack":
        clearTimeout(timer);
        return send({
          id: ID,
          type: "subscribe",
          payload: { query: print(document), ...(variables && { variables: variables as Json & object }) },
        });
      case "ping":
        return send({ type: "pong" });
      case "next":
        return results.push(readObjectOrEmpty(payload));
      case "error":
        return end(operationRejected(payload));
      case "complete":
        return end();
    }
  };

  const open = async (): Promise<WebhookSocket> => {
    try {
      return await requireService(context, webhookService).openSocket({
        url: expandTemplate(server.url),
        headers,
        protocol: GRAPHQL_TRANSPORT_WS_PROTOCOL,
        timeoutMs,
        onOpen: () => send({ type: "connection_init", payload: { headers } }),
        onMessage: (text) => {
          if (exceedsJsonDepth(text, MAX_DEPTH)) return end(remoteAnswerTooDeep(name, MAX_DEPTH));
          try {
            receive(readMessage(text));
          } catch {
            end(remoteFailed(name, "it sent a message that does not belong to the protocol graphql-transport-ws"));
          }
        },
        onEnd: (reason) =>
          end(
            typeof reason === "number"
              ? remoteFailed(name, `it closed the connection with code ${reason}`)
              : convertFailure(name, reason),
          ),
      });
    } catch (error) {
      throw convertFailure(name, error);
    }
  };
  const socket = await open();
  const timer = setTimeout(
    () => end(remoteFailed(name, `it did not accept the connection within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  return results;
};
