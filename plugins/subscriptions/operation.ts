/** One operation of a socket: a live query that goes on, or a query or mutation that runs to its end. */
import { RelApiError, type Session } from "../../core/index.ts";
import type { LiveResult } from "./api.ts";
import type { Connection } from "./sockets.ts";
import type { GqlRequest } from "../graphql/api.ts";

/** How a protocol reports the progress of an operation. */
export interface OperationSink {
  /** Request, document, variables or session variables were refused: nothing was started. */
  refused(error: unknown): void;
  /** A query or mutation failed in execution. */
  failed(error: unknown): void;
  /** A query or mutation has run; the text of the `data` object. */
  done(data: string): void;
  /** A result of a live query. */
  live(answer: LiveResult): void;
  /** A live query has ended without the client's doing. */
  liveEnded(error: unknown): void;
}

/** How to stop a live query; a query or mutation has settled when the promise has. */
export type Started = (() => void) | Promise<void> | undefined;

/** `readRequest` may throw. @rule G-SUB-9 G-WS-4 G-WS-16 */
export const startOperation = (
  connection: Connection,
  session: Session,
  readRequest: () => GqlRequest,
  sink: OperationSink,
): Started => {
  const { engine, live, context, settings } = connection;
  try {
    const request = readRequest();
    const document = engine.prepare(request, session, connection);
    if (document.operation === "subscription") {
      return live.subscribe(live.graphqlSource(engine, request, session, settings), {
        answer: sink.live,
        end: (error) => {
          if (error !== undefined) sink.liveEnded(error);
        },
      });
    }
    const operation = document.bind(request.variables);
    return engine
      .run(operation, session, {
        settings,
        onGone: connection.onGone,
        end: context.options.dbTxEnd.startsWith("rollback") ? "rollback" : "commit",
      })
      .then(sink.done, sink.failed);
  } catch (error) {
    sink.refused(error);
    return undefined;
  }
};

/** The limit of the settings. */
export const tooManyOperations = (limit: number): RelApiError =>
  new RelApiError({
    code: "bad-request",
    status: 400,
    message: `too many operations on one connection: the limit is ${limit}`,
    path: "$",
  });
