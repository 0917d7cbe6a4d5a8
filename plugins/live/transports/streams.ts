/** Sends results of one live query in a response that stays open, in any format, and adds the GraphQL surface for such
 *  responses. A slow client gets the newest result when it has read the previous one. */
import {
  buildJsonAnswer,
  defineService,
  requireService,
  type Answer,
  type Exchange,
  type Headers,
  type PluginContext,
  type Surface,
} from "../../../core/index.ts";
import { liveQueriesService } from "../api.ts";
import { graphqlService, type GqlEngine, type GqlRequest, type ValidatedDocument } from "../../graphql/api.ts";
import { readLiveDirective, openPatcher, encodePayload } from "./live-directive.ts";
import { credentialWatchService } from "../engine/credential-watch.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { SendQueue, type SendQueueEntry } from "./send-queue.ts";

export interface StreamFormat<Message> {
  readonly headers: Headers;
  /** The text that is sent before the first message. */
  readonly start?: string;
  encode(message: Message): string;
  /** The text that is sent periodically to show that the server is alive. */
  readonly beat: string;
  /** The text that is sent after the last message. */
  readonly end?: string;
}

interface ResultStream<Message> {
  /** Sends a result of the live query, when the client is fast enough; a newer result replaces one that waits. `make`
   *  builds the message when it is sent. */
  offer(hash: string, make: () => Message): void;
  /** Sends a message at once, which no later one replaces. */
  send(message: Message): void;
  readonly isSlow: boolean;
  whenFast(): Promise<void>;
  /** Sends the result that waits, then `last`, then the end. */
  end(last?: Message): void;
}

const HEADERS: Headers = [
  ["Cache-Control", "no-cache, no-transform"],
  // Without this header, buffering proxies would delay messages.
  ["X-Accel-Buffering", "no"],
];

/** Opens a stream in the response. It calls `start` with the stream once the headers are sent. It calls the return
 *  value of `start` once at the end, whichever side ends the stream. */
export type AnswerStream = ReturnType<typeof createAnswerStream>;

const createAnswerStream = (context: PluginContext) => {
  const heartbeat = createHeartbeat();
  context.onClose(heartbeat.close);
  return <Message>(format: StreamFormat<Message>, start: (stream: ResultStream<Message>) => () => void): Answer => ({
    status: 200,
    headers: [...format.headers, ...HEADERS],
    stream: (response) => {
      let isEnded = false;
      let stop: (() => void) | undefined;
      const live: SendQueueEntry = { sentHash: "", pendingMessage: undefined };
      const sendQueue = new SendQueue(response, {
        isOpen: () => !isEnded,
        whenSlow: () => context.watchUnread(response),
        whenFast: () => undefined,
      });
      const write = (text: string): void => sendQueue.sendFrame(Buffer.from(text));
      if (format.start !== undefined) write(format.start);
      const beating = {
        beat: () => {
          if (!sendQueue.isSlow) write(format.beat);
        },
      };
      heartbeat.join(beating);
      const onClose = (): void => {
        if (isEnded) return;
        isEnded = true;
        heartbeat.leave(beating);
        sendQueue.forget(live);
        stop?.();
      };
      response.on("close", onClose);
      // A short message must not wait for the next one.
      response.socket?.setNoDelay(true);
      stop = start({
        offer: (hash, make) => {
          if (!isEnded) sendQueue.offer(live, hash, () => Buffer.from(format.encode(make())));
        },
        send: (message) => {
          if (!isEnded) write(format.encode(message));
        },
        get isSlow() {
          return sendQueue.isSlow;
        },
        whenFast: () => sendQueue.whenFast(),
        end: (last) => {
          if (isEnded) return;
          const { pendingMessage } = live;
          if (pendingMessage !== undefined) sendQueue.sendFrame(pendingMessage.encode());
          if (last !== undefined) write(format.encode(last));
          if (format.end !== undefined) write(format.end);
          onClose();
          response.end();
        },
      });
      if (isEnded) stop();
    },
  });
};

const PATHS = ["/v1/graphql", "/v1alpha1/graphql", "/api/graphql"];

/** A GraphQL response. `hash` is set if the response is a result of a live query. */
export interface GraphqlMessage {
  readonly payload: string;
  readonly hash?: string;
}

export interface GraphqlTransport {
  /** Matches the `Accept` header of the transport's clients. */
  readonly accepts: RegExp;
  format(exchange: Exchange): StreamFormat<GraphqlMessage>;
  /** Returns the hash of the last result that the client already has. */
  lastHash?(exchange: Exchange): string | undefined;
}

interface Streams {
  readonly answer: AnswerStream;
  add(transport: GraphqlTransport): void;
}

const streamsService = defineService<Streams>("live-streams");

/** Returns the streams that the plugins of a preset share, because all of them need one heartbeat, and one surface that
 *  every request passes. The first plugin creates the streams. */
export const getStreams = (context: PluginContext): Streams => {
  const existingStreams = context.use(streamsService);
  if (existingStreams !== undefined) return existingStreams;
  const transports: GraphqlTransport[] = [];
  const answer = createAnswerStream(context);
  context.addSurface(createSurface(context, transports, answer));
  const streams = { answer, add: (transport: GraphqlTransport) => void transports.push(transport) };
  context.offer(streamsService, streams);
  return streams;
};

/** A request with its document, or the error that rejected them. */
type StreamRequest =
  | { readonly request: GqlRequest; readonly document: ValidatedDocument }
  | { readonly error: unknown };

const readRequest = async (engine: GqlEngine, exchange: Exchange, text: string | undefined): Promise<StreamRequest> => {
  try {
    const request = engine.readRequest(engine.parseRequestJson(text));
    return { request, document: await engine.prepare(request, exchange.session, exchange) };
  } catch (error) {
    return { error };
  }
};

const NO_OPERATION = (): void => undefined;

const createSurface = (
  context: PluginContext,
  transports: readonly GraphqlTransport[],
  answer: AnswerStream,
): Surface => {
  const findEngine = (): GqlEngine | undefined => context.use(graphqlService);

  const run = (
    engine: GqlEngine,
    exchange: Exchange,
    streamRequest: StreamRequest,
    stream: ResultStream<GraphqlMessage>,
    lastHash: string | undefined,
  ): (() => void) => {
    const { session, path } = exchange;
    const settings = [
      ["request.method", "POST"],
      ["request.path", path],
    ] as const;
    const finish = (payload: string): void => stream.end({ payload });
    const rejectOperation = (error: unknown): void => finish(engine.encodeErrors(error, session).body);
    try {
      if ("error" in streamRequest) throw streamRequest.error;
      const { request, document } = streamRequest;
      exchange.operation = document.namedOperation;
      const liveness = readLiveDirective(document);
      if (liveness === undefined) {
        const end = context.options.dbTxEnd.startsWith("rollback") ? "rollback" : "commit";
        void engine
          .run(document.bind(), session, { settings, end })
          .then((data) => finish(`{"data":${data}}`), rejectOperation);
        return NO_OPERATION;
      }
      exchange.operation = { ...document.namedOperation, kind: "subscription" };
      const patcher = openPatcher(context, liveness);
      const live = requireService(context, liveQueriesService);
      const stop = live.subscribe(
        live.graphqlSource(engine, request, session, settings),
        {
          answer: (result) => {
            if (result.isEvent === true) stream.send({ payload: encodePayload(result, patcher) });
            else stream.offer(result.hash, () => ({ payload: encodePayload(result, patcher), hash: result.hash }));
          },
          isSlow: () => stream.isSlow,
          whenFast: () => stream.whenFast(),
          complete: () => stream.end(),
          end: (error) => (error === undefined ? stream.end() : rejectOperation(error)),
        },
        lastHash,
      );
      const forget = requireService(context, credentialWatchService).join(session, {
        credentials: exchange.credentials,
        onRejected: () => stream.end(),
      });
      return () => {
        forget();
        stop();
        patcher?.close();
      };
    } catch (error) {
      rejectOperation(error);
      return NO_OPERATION;
    }
  };

  return {
    name: "graphql",
    get credentialRules() {
      return findEngine()?.credentialRules;
    },
    paths: () => PATHS,
    methods: ["POST"],
    match: (_path, _method, { headers: { accept } }) => {
      if (accept === undefined) return false;
      for (const { accepts } of transports) if (accepts.test(accept)) return findEngine() !== undefined;
      return false;
    },
    handle: async (exchange) => {
      const engine = findEngine();
      if (engine === undefined) throw new Error("matched without a GraphQL surface");
      const accept = exchange.header("accept") ?? "";
      const transport = transports.find(({ accepts }) => accepts.test(accept));
      if (transport === undefined) throw new Error("matched without a transport");
      const text = await exchange.text();
      const request = await readRequest(engine, exchange, text);
      return answer(transport.format(exchange), (stream) =>
        run(engine, exchange, request, stream, transport.lastHash?.(exchange)),
      );
    },
    encodeError: (error, { session }) => {
      const encodedErrors = findEngine()?.encodeErrors(error, session);
      const status = encodedErrors?.keepsStatus === true ? encodedErrors.status : 200;
      return buildJsonAnswer(status, encodedErrors?.body ?? "", encodedErrors?.headers);
    },
  };
};
