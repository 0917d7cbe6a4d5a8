/** The exchange of an operation that a client sends over a WebSocket. */
import { ServerResponse } from "node:http";
import type { Credentials, Exchange, Session } from "../../../core/index.ts";
import type { ClientConnection } from "./socket-connection.ts";

/** The caller of a WebSocket. */
export interface SocketCaller {
  readonly session: Session;
  readonly credentials: Credentials;
}

const NO_TIMINGS: ReadonlyMap<string, number> = new Map();

/** An exchange without a body, whose request is the upgrade request. It is a class, because a prototype is cheaper than
 *  closures for each operation. */
export class SocketExchange implements Exchange {
  readonly method = "GET";
  readonly query = undefined;
  readonly surface = "graphql";
  readonly exposedHeaders: readonly string[] = [];
  readonly timings = NO_TIMINGS;
  readonly startedAtMs = performance.now();
  readonly session: Session;
  readonly credentials: Credentials;
  operation: Exchange["operation"] = undefined;
  errorCode: string | undefined = undefined;
  requestId: string | undefined = undefined;
  plans: unknown = undefined;
  slots: unknown[] | undefined = undefined;
  isUnlogged = false;
  readonly #connection: ClientConnection;
  #response: ServerResponse | undefined;

  constructor(connection: ClientConnection, { session, credentials }: SocketCaller) {
    this.#connection = connection;
    this.session = session;
    this.credentials = credentials;
  }

  get request(): Exchange["request"] {
    return this.#connection.request;
  }

  get path(): string {
    return this.#connection.path;
  }

  /** A response without a connection. */
  get response(): ServerResponse {
    return (this.#response ??= new ServerResponse(this.request));
  }

  header(name: string): string | undefined {
    return this.credentials.header(name);
  }

  async body(): Promise<Buffer> {
    return Buffer.alloc(0);
  }

  async text(): Promise<string> {
    return "";
  }

  async streamBody(): Promise<void> {
    // An operation of a WebSocket has no body.
  }

  onDisconnect(listener: () => void): () => void {
    return this.#connection.onDisconnect(listener);
  }

  endPhase(): void {
    // Responses of a WebSocket have no Server-Timing.
  }
}
