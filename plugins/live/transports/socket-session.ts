/** Implements the common part of the WebSocket protocols: the caller of a socket, its heartbeat, and its
 *  operations. */
import { requireService, type Json } from "../../../core/index.ts";
import type { GqlEngine } from "../../graphql/api.ts";
import { credentialWatchService } from "../engine/credential-watch.ts";
import { SocketCredentials } from "../engine/credentials.ts";
import type { LivePatcher, LiveResult } from "../api.ts";
import type { BeatingConnection } from "./heartbeat.ts";
import type { SocketCaller } from "./socket-exchange.ts";
import type { ClientConnection } from "./socket-connection.ts";

/** The reason for closing the socket of an expired token, with the same message as over HTTP. @rule G-WS-10 G-WS-15 */
const EXPIRED_REASON = "Forbidden: Could not verify JWT: JWTExpired";

/** Builds the close reason, which contains the message that the same credential gets over HTTP. @rule G-WS-10 */
export const buildForbiddenReason = (engine: GqlEngine, error: unknown): string => {
  const { errors } = JSON.parse(engine.encodeErrors(error, undefined).body) as {
    readonly errors: readonly { readonly message: string }[];
  };
  return `Forbidden: ${errors[0]?.message ?? "access denied"}`;
};

/** The messages about an operation, in the format of a protocol. */
export interface OperationMessages {
  encodeLiveResult(id: string, result: LiveResult, patcher: LivePatcher | undefined): Uint8Array;
  /** Sends the text of the `data` object of a query or mutation. */
  sendData(id: string, data: string): void;
  sendComplete(id: string): void;
  /** Sends the error of an operation that cannot start, or of a live query that has ended. */
  sendRejection(id: string, error: unknown): void;
  /** Sends the error of a query or mutation that failed in execution. */
  sendFailure(id: string, error: unknown): void;
}

/** The session of a socket. It is a class to save memory, because there are many thousands of connections. */
export class SocketSession implements BeatingConnection {
  /** The functions that stop the live queries, by the ids of the client. */
  readonly runningQueries = new Map<string, () => void>();
  /** The query or mutation that runs now. */
  current: { readonly id: string; readonly cancel: () => void } | undefined;
  /** Undefined until `authorize` has succeeded. */
  caller: SocketCaller | undefined;
  readonly connection: ClientConnection;
  readonly messages: OperationMessages;
  readonly #heartbeatFrame: Uint8Array;
  #hasEnded = false;
  #forgetCredentials: (() => void) | undefined;

  constructor(connection: ClientConnection, messages: OperationMessages, heartbeatFrame: Uint8Array) {
    this.connection = connection;
    this.messages = messages;
    this.#heartbeatFrame = heartbeatFrame;
  }

  /** Authorizes and acknowledges the caller. @throws the errors of `authorize` @rule G-WS-1 */
  async authorize(payload: Json | undefined): Promise<void> {
    const { context, engine, heartbeat, sendQueue, request } = this.connection;
    const credentials = new SocketCredentials(request, payload, engine);
    const session = await context.authorize(credentials);
    if (this.#hasEnded) return;
    this.caller = { session, credentials };
    sendQueue.send('{"type":"connection_ack"}');
    heartbeat.join(this);
    this.#forgetCredentials = requireService(context, credentialWatchService).join(session, {
      credentials,
      onRejected: (error) =>
        this.connection.close(4403, error === undefined ? EXPIRED_REASON : buildForbiddenReason(engine, error)),
    });
  }

  beat(): void {
    const { sendQueue } = this.connection;
    // A slow client gets a pending message soon, so it needs no heartbeat.
    if (!sendQueue.isSlow) sendQueue.sendFrame(this.#heartbeatFrame);
  }

  /** Stops the live query with this id, if there is one. */
  stop(id: string): void {
    const stop = this.runningQueries.get(id);
    this.runningQueries.delete(id);
    stop?.();
  }

  /** Ends the running operation or the live query with this id. Returns false if no operation has it.
   *  @rule G-WS-16a */
  stopRunning(id: string): boolean {
    if (this.current?.id === id) this.current.cancel();
    else if (this.runningQueries.has(id)) this.stop(id);
    else return false;
    return true;
  }

  /** Called when the connection has ended. */
  end(): void {
    this.#hasEnded = true;
    this.connection.heartbeat.leave(this);
    this.#forgetCredentials?.();
    for (const id of this.runningQueries.keys()) this.stop(id);
  }
}
