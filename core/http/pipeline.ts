/** The pipeline: the fixed list of steps of a request, in `answer`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Counters } from "../kernel/counters.ts";
import { internalError, RelApiError, pathNotFound } from "../kernel/errors.ts";
import { withPluginName, buildErrorFields, attributeError } from "../kernel/plugin-errors.ts";
import { countRejection, urlTooLong } from "../kernel/limits.ts";
import type { CurrentState } from "../kernel/current-state.ts";
import type { ModelLoader } from "../model-loader.ts";
import type { Logger } from "../settings/options.ts";
import type { Credentials, Session } from "../kernel/session.ts";
import type { Signal } from "../kernel/token.ts";
import { toApiAnswer, openCall, createCallerSession, type ApiCall, type ApiAnswer } from "./call.ts";
import type { AddedStep, AddedSurface, Answer, Headers, RequestRecord, RequestStep } from "./exchange.ts";
import { lingerAfter } from "./linger.ts";
import { readPaths, type SurfacePaths } from "./paths.ts";
import type { PendingBodies } from "./pending-bodies.ts";
import type { UploadWatch } from "./slow-uploads.ts";
import { createRequestRecord } from "./request-record.ts";
import { RequestExchange, type ExchangeSettings } from "./request.ts";
import { findMountPath } from "./request-headers.ts";
import { hasHeader, writeAnswer } from "./respond.ts";
import type { UnreadTracker } from "./unread-tracker.ts";

/** The request from Express or from Node's own server. */
export type HttpRequest = IncomingMessage & { readonly originalUrl?: string };

export type Next = (error?: unknown) => void;

interface PipelineParts {
  readonly current: CurrentState;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly surfaces: readonly AddedSurface[];
  /** The steps of plugins, which run around the steps of `answer`. */
  readonly steps: readonly AddedStep[];
  readonly loader: Pick<ModelLoader, "requireModel">;
  /** Identifies the caller. If `session` is defined, the schemes are not called. */
  readonly authorize: (credentials: Credentials, session?: Session) => Promise<Session>;
  readonly uploadWatch: UploadWatch;
  readonly unreadTracker: UnreadTracker;
  readonly pendingBodies: PendingBodies;
  readonly requestSignal: Signal<RequestRecord>;
}

/** A function of a plugin's step. If `addedStep` is undefined, it is a function of the surface. */
interface PipelineFunction {
  readonly addedStep?: AddedStep;
  readonly member: string;
}

type HookOwner = readonly [plugin: string, hook: string];

/** Names the function for the log: `addSurface("soap").handle`. */
const describeSurfaceFunction = (member: string, owner: AddedSurface): HookOwner => [
  owner.plugin,
  `addSurface("${owner.name}").${member}`,
];

const describeFunction = ({ addedStep, member }: PipelineFunction, owner: AddedSurface): HookOwner =>
  addedStep === undefined
    ? describeSurfaceFunction(member, owner)
    : [addedStep.plugin, `addStep("${addedStep.step.name}").${member}`];

interface Pipeline {
  /** Reads the paths of the surfaces and the members of the steps again. */
  refresh(): void;
  answer(request: HttpRequest, response: ServerResponse, next?: Next): void;
  /** Runs the same steps for a request of the application itself. @throws RelApiError `path-not-found`, CallError @rule
   *  X-CALL-1 */
  call(call: ApiCall): Promise<ApiAnswer>;
  /** Resolves when no request is running, or after `patienceMs`, with the number of running requests. */
  waitUntilIdle(patienceMs: number): Promise<number>;
}

/** Returns whether there are several `Host` headers, of which Node keeps only the first. `rawHeaders` alternates names
 *  and values. */
export const repeatsHost = (rawHeaders: readonly string[]): boolean => {
  let isThere = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string; // the index is within the length
    if (name.length !== 4 || name.toLowerCase() !== "host") continue;
    if (isThere) return true;
    isThere = true;
  }
  return false;
};

const countUrlBytes = ({ path, query }: RequestExchange): number =>
  Buffer.byteLength(path) + (query === undefined ? 0 : 1 + Buffer.byteLength(query));

/** Adds headers. Headers of the answer itself take precedence. */
const addHeaders = (answer: Answer, extra: Headers): Answer => {
  if (extra.length === 0) return answer;
  const addedHeaders = extra.filter(([name]) => !hasHeader(answer.headers, name.toLowerCase()));
  return { ...answer, headers: [...answer.headers, ...addedHeaders] };
};

/** Creates the pipeline, which leads each request through the steps of R-PIPE-1. @rule R-PIPE-1 */
export const createPipeline = (parts: PipelineParts): Pipeline => {
  const {
    current,
    logger,
    counters,
    surfaces,
    steps,
    loader,
    authorize,
    uploadWatch,
    unreadTracker,
    pendingBodies,
    requestSignal,
  } = parts;
  const { maxUrlBytes, maxBodyBytes, maxPendingBodyBytes, serverTimingEnabled, compatMode } = current.options;
  let hasWarnedOfParsedBody = false;
  const settings: ExchangeSettings = {
    body: {
      maxBytes: maxBodyBytes,
      maxPendingBytes: maxPendingBodyBytes,
      uploadWatch,
      onParsedBody: () => {
        if (hasWarnedOfParsedBody) return;
        hasWarnedOfParsedBody = true;
        logger.warn(
          "request bodies were parsed before they reached relapi (by express.json()?): mount relapi before body parsers, so that it gets bodies as they were sent",
        );
      },
    },
    pendingBodies,
    isTimed: serverTimingEnabled,
  };
  const findStepsWith = (member: keyof RequestStep): readonly AddedStep[] =>
    steps.filter(({ step }) => step[member] !== undefined);
  const groupSteps = () => ({
    beforeAuthorize: findStepsWith("beforeAuthorize"),
    afterAuthorize: findStepsWith("afterAuthorize"),
    headers: findStepsWith("headers"),
    afterResponse: findStepsWith("afterResponse"),
  });
  let stepsWith = groupSteps();

  /** Runs the steps of a request, in order. */
  const answer = async (exchange: RequestExchange): Promise<Answer> => {
    const { owner } = exchange;
    /** The plugin function that is running, to which errors are attributed. Undefined while no plugin runs. */
    let runningFunction: PipelineFunction | undefined;
    try {
      // A proxy and the server must not use different hosts (R-BND-5).
      if (repeatsHost(exchange.rawHeaders)) return REPEATED_HOST_ANSWER;
      if (countUrlBytes(exchange) > maxUrlBytes) throw urlTooLong(maxUrlBytes);
      for (const addedStep of stepsWith.beforeAuthorize) {
        runningFunction = { addedStep, member: "beforeAuthorize" };
        const stepAnswer = await addedStep.step.beforeAuthorize?.(exchange);
        if (stepAnswer !== undefined) return stepAnswer;
      }
      runningFunction = { member: "beforeAuthorize" };
      const page = await owner.beforeAuthorize?.(exchange); // the surface may answer requests that need no credentials
      if (page !== undefined) return page;
      runningFunction = undefined;
      if (current.gate !== undefined) await current.gate();
      // This step finds the session, and waits for the first load of the schema.
      exchange.caller = await authorize(exchange, exchange.caller);
      exchange.endPhase("jwt");
      if (current.model === undefined) loader.requireModel();
      for (const addedStep of stepsWith.afterAuthorize) {
        runningFunction = { addedStep, member: "afterAuthorize" };
        const stepAnswer = await addedStep.step.afterAuthorize?.(exchange);
        if (stepAnswer !== undefined) return stepAnswer;
      }
      runningFunction = { member: "handle" };
      const surfaceAnswer: Answer | undefined = await owner.handle(exchange); // plugins may be plain JS
      if (surfaceAnswer !== undefined) return surfaceAnswer;
      runningFunction = undefined;
      throw new Error(`surface "${owner.name}" returned no response`);
    } catch (error) {
      return answerError(
        exchange,
        runningFunction === undefined ? error : attributeError(...describeFunction(runningFunction, owner), error),
      );
    }
  };

  const answerError = (exchange: RequestExchange, thrownValue: unknown): Answer => {
    let error: RelApiError;
    if (thrownValue instanceof RelApiError) {
      error = thrownValue;
      countRejection(counters, error);
    } else {
      error = internalError(thrownValue);
      logger.error("unhandled error while serving a request", {
        method: exchange.method,
        path: exchange.path,
        ...(exchange.requestId === undefined ? {} : { requestId: exchange.requestId }),
        ...buildErrorFields(thrownValue),
      });
    }
    exchange.errorCode = error.code;
    try {
      return exchange.owner.encodeError(error, exchange);
    } catch (thrownValue) {
      logger.error(
        "failed to encode an error",
        buildErrorFields(attributeError(...describeSurfaceFunction("encodeError", exchange.owner), thrownValue)),
      );
      return { status: 500, headers: [] };
    }
  };

  const logStepError = ({ plugin, step }: AddedStep, member: string, thrownValue: unknown): void =>
    logger.error("a request step of a plugin failed", {
      step: step.name,
      ...buildErrorFields(attributeError(plugin, `addStep("${step.name}").${member}`, thrownValue)),
    });

  const collectStepHeaders = (exchange: RequestExchange): Headers => {
    const headers: Headers[number][] = [];
    for (const addedStep of stepsWith.headers) {
      try {
        for (const header of addedStep.step.headers?.(exchange) ?? []) headers.push(header);
      } catch (thrownValue) {
        logStepError(addedStep, "headers", thrownValue);
      }
    }
    return headers;
  };

  const finish = (exchange: RequestExchange, status: number, bytes: number): void => {
    const record = createRequestRecord(exchange, status, bytes);
    for (const addedStep of stepsWith.afterResponse) {
      try {
        addedStep.step.afterResponse?.(exchange, record);
      } catch (thrownValue) {
        logStepError(addedStep, "afterResponse", thrownValue);
      }
    }
    if (!exchange.isUnlogged) requestSignal.emit(record);
  };

  /** Writes the response. Returns a promise if the response is streamed, which settles at the end of the stream. */
  const respond = (exchange: RequestExchange, finalAnswer: Answer): Promise<void> | void => {
    const { request, response } = exchange;
    const { stream } = finalAnswer;
    let streaming: Promise<void> | void = undefined;
    const trackedAnswer =
      stream === undefined
        ? finalAnswer
        : {
            ...finalAnswer,
            stream: () =>
              (streaming = withPluginName(...describeSurfaceFunction("handle", exchange.owner), () =>
                stream(response),
              )()),
          };
    let bytes = 0;
    let { status } = trackedAnswer;
    if (trackedAnswer.isSent !== true) {
      if (response.destroyed) return; // the client has disconnected
      const extra = collectStepHeaders(exchange);
      try {
        bytes = writeAnswer(request, response, trackedAnswer, extra, unreadTracker.watch);
      } catch (thrownValue) {
        if (response.headersSent) throw thrownValue;
        const replacement = answerError(exchange, thrownValue);
        status = replacement.status;
        bytes = writeAnswer(request, response, replacement, extra, unreadTracker.watch);
      }
    }
    finish(exchange, status, bytes);
    return streaming;
  };

  let runningCount = 0;
  counters.watch("requests-running", () => runningCount);
  let notifyIdle: (() => void) | undefined;
  const run = async (exchange: RequestExchange): Promise<void> => {
    runningCount++;
    try {
      const finalAnswer = await answer(exchange);
      // A client that has sent its body too slowly gets no additional time.
      if (!exchange.request.complete && finalAnswer.status !== 408) lingerAfter(exchange.request);
      await respond(exchange, finalAnswer);
    } catch (thrownValue) {
      logger.error("failed to write the response", buildErrorFields(thrownValue));
      exchange.response.destroy();
    } finally {
      exchange.pendingBody?.release(); // the body is no longer needed
      // The body is incomplete, and Node discards the bytes that still arrive.
      if (!exchange.request.complete) uploadWatch.watch(exchange.request);
      runningCount--;
      if (runningCount === 0) notifyIdle?.();
    }
  };

  const fallbacks = surfaces.filter(({ isFallback }) => isFallback === true);
  const mainSurfaces = surfaces.filter(({ isFallback }) => isFallback !== true);
  let paths = readPaths(mainSurfaces, logger);
  let fallbackPaths = readPaths(fallbacks, logger);

  const isMatched = (surface: AddedSurface, path: string, request: IncomingMessage): boolean => {
    try {
      return surface.match?.(path, request.method ?? "GET", request) === true;
    } catch (error) {
      // The surface does not serve this request.
      logger.error(
        "a plugin failed",
        buildErrorFields(attributeError(surface.plugin, `addSurface("${surface.name}").match`, error)),
      );
      return false;
    }
  };

  const findSurface = (
    path: string,
    request: IncomingMessage,
    candidates: readonly SurfacePaths[],
  ): AddedSurface | undefined =>
    candidates.find(
      ({ surface, tests }) =>
        tests.some((test) => test(path)) &&
        (surface.methods === undefined || surface.methods.includes(request.method ?? "GET")) &&
        (surface.match === undefined || isMatched(surface, path, request)),
    )?.surface;

  return {
    refresh: () => {
      paths = readPaths(mainSurfaces, logger);
      fallbackPaths = readPaths(fallbacks, logger);
      stepsWith = groupSteps();
    },
    answer: (request, response, next) => {
      const { path, query } = splitUrl(request.url ?? "/", compatMode);
      let owner = findSurface(path, request, paths);
      // The application serves its own root.
      if (owner === undefined && (next === undefined || findMountPath(request) !== ""))
        owner = findSurface(path, request, fallbackPaths);
      if (owner === undefined) {
        if (next !== undefined) return next();
        const last = surfaces.findLast(({ isPage }) => isPage !== true);
        if (last === undefined) {
          lingerAfter(request);
          return void response.writeHead(404).end();
        }
        // No other listener exists: the last surface encodes the 404, after the credentials were checked (R-PIPE-2).
        owner = {
          plugin: last.plugin,
          name: last.name,
          handle: rejectPath,
          encodeError: (error, exchange) => last.encodeError(error, exchange),
        };
      }
      void run(new RequestExchange(request, response, path, query, owner, settings));
    },
    call: async (call) => {
      const { request, response, end } = openCall(call);
      const { path, query } = splitUrl(request.url ?? call.path, compatMode);
      const owner = findSurface(path, request, paths);
      if (owner === undefined) throw pathNotFound();
      const exchange = new RequestExchange(request, response, path, query, owner, settings);
      exchange.parent = call.parent;
      if (call.session !== undefined) exchange.caller = createCallerSession(call.session);
      else if (call.parent !== undefined) exchange.caller = call.parent.session;
      runningCount++;
      try {
        const finalAnswer = await answer(exchange);
        finish(exchange, finalAnswer.status, finalAnswer.body?.length ?? 0);
        return toApiAnswer(
          finalAnswer.status >= 400 ? finalAnswer : addHeaders(finalAnswer, collectStepHeaders(exchange)),
        );
      } finally {
        end();
        runningCount--;
        if (runningCount === 0) notifyIdle?.();
      }
    },
    waitUntilIdle: (patienceMs) =>
      new Promise((resolve) => {
        if (runningCount === 0) return resolve(0);
        const patience = setTimeout(() => resolve(runningCount), patienceMs);
        notifyIdle = () => {
          clearTimeout(patience);
          resolve(0);
        };
      }),
  };
};

const REPEATED_HOST_ANSWER: Answer = {
  status: 400,
  headers: [
    ["Content-Type", "text/plain; charset=utf-8"],
    ["Connection", "close"],
  ],
  body: "The request has more than one Host header",
};

const rejectPath = (): never => {
  throw pathNotFound();
};

/** Splits `/api/vessels?id=eq.1`, also if a proxy sends `http://host/api/vessels`. `//films/` becomes `/films` unless
 *  `keepsSlashes` is true. @rule R-PATH-11 G-WS-17 */
const splitUrl = (
  url: string,
  keepsSlashes: boolean,
): { readonly path: string; readonly query: string | undefined } => {
  const local = url.startsWith("/") ? url : withoutOrigin(url);
  const mark = local.indexOf("?");
  const path = mark === -1 ? local : local.slice(0, mark);
  const query = mark === -1 ? undefined : local.slice(mark + 1);
  const isTidy = keepsSlashes || !(path.includes("//") || (path.length > 1 && path.endsWith("/")));
  return { path: isTidy ? path : path.replace(/\/{2,}/g, "/").replace(/(.)\/$/, "$1"), query };
};

const withoutOrigin = (url: string): string => {
  const scheme = url.indexOf("://");
  if (scheme === -1) return url;
  const slash = url.indexOf("/", scheme + 3);
  return slash === -1 ? "/" : url.slice(slash);
};

/** Returns a function that reads paths. It is tolerant by default, and reads the bytes unchanged in compatibility
 *  mode. */
export const createPathReader =
  ({ compatMode }: { readonly compatMode: boolean }): ((path: string) => string) =>
  (path) =>
    splitUrl(path, compatMode).path;
