/** What happens to a request, in order: the array `steps`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Counters } from "../kernel/counters.ts";
import { internalError, isRelApiError, pathNotFound, type RelApiError } from "../kernel/errors.ts";
import { blamed, faultFacts, faultOf } from "../kernel/faults.ts";
import { countRefusal } from "../kernel/limits.ts";
import { shortKey } from "../kernel/key.ts";
import type { ModelLoader } from "../engine/load.ts";
import type { Logger, ResolvedOptions } from "../kernel/options.ts";
import type { Credentials, Session } from "../kernel/session.ts";
import { calledOf, openCall, sessionOf, type ApiCall, type ApiAnswer } from "./call.ts";
import type { AddedStep, AddedSurface, Answer, Done, Headers } from "./exchange.ts";
import type { HeldBodies } from "./held-bodies.ts";
import type { Pace } from "./pace.ts";
import { RequestExchange, type ExchangeSettings } from "./request.ts";
import { mountOf, repeatsHost } from "./request-headers.ts";
import { writeAnswer } from "./respond.ts";
import type { Unread } from "./unread.ts";

/** The request as Express or Node's own server hands it over. */
export type HttpRequest = IncomingMessage & { readonly originalUrl?: string };

export type Next = (error?: unknown) => void;

export interface PipelineParts {
  readonly options: () => ResolvedOptions;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly surfaces: readonly AddedSurface[];
  /** Around the steps below. */
  readonly around: readonly AddedStep[];
  readonly loader: Pick<ModelLoader, "demand">;
  /** `given`: who calls is known; the schemes are not asked. */
  readonly authorize: (credentials: Credentials, given?: Session) => Session | Promise<Session>;
  readonly pace: Pace;
  readonly unread: Unread;
  readonly heldBodies: HeldBodies;
  /** Hears of each body that was refused for its size. */
  readonly bodyRefused: () => void;
}

interface Step {
  readonly run: (exchange: RequestExchange) => Answer | undefined | Promise<Answer | undefined>;
  /** Where a plugin's mistake in it is looked for; absent: it is not a plugin's code. */
  readonly blames?: (exchange: RequestExchange) => readonly [plugin: string, hook: string];
}

const enter = (exchange: RequestExchange, session: Session): undefined => {
  exchange.caller = session;
  exchange.mark("jwt");
  return undefined;
};

/** For the log: `addSurface("soap").handle`. */
const ofOwner =
  (member: string): NonNullable<Step["blames"]> =>
  ({ owner }) => [owner.plugin, `addSurface("${owner.name}").${member}`];

export interface Pipeline {
  answer(request: HttpRequest, response: ServerResponse, next?: Next): void;
  /** The same steps for a request of the application itself. @throws RelApiError `path-not-found`, CallError @rule X-CALL-1 */
  call(call: ApiCall): Promise<ApiAnswer>;
  /** Resolves when no request is running, or after `patienceMs`. */
  settled(patienceMs: number): Promise<void>;
}

/** @rule R-PIPE-1 */
export const createPipeline = (parts: PipelineParts): Pipeline => {
  const { options, logger, counters, surfaces, around, loader, authorize, pace, unread, heldBodies, bodyRefused } =
    parts;
  const { maxBodyBytes, maxPendingBodyBytes, serverTimingEnabled } = options();
  const pathAsServed = pathReader(options());
  const settings: ExchangeSettings = {
    body: {
      maxBytes: maxBodyBytes,
      maxPendingBytes: maxPendingBodyBytes,
      pace,
      warn: (message) => logger.warn(message),
      refused: bodyRefused,
    },
    heldBodies,
    isTimed: serverTimingEnabled,
  };
  const ofSteps = (member: "before" | "authorized"): readonly Step[] =>
    around.flatMap(({ plugin, step }): Step[] =>
      step[member] === undefined
        ? []
        : [
            {
              run: (exchange) => step[member]?.(exchange),
              blames: () => [plugin, `addStep("${step.name}").${member}`],
            },
          ],
    );
  const withHeaders = around.filter(({ step }) => step.headers !== undefined);
  const withAfter = around.filter(({ step }) => step.after !== undefined);

  const steps: readonly Step[] = [
    // proxies and the server must not mean different hosts (R-BND-5)
    { run: ({ request }) => (repeatsHost(request.rawHeaders) ? TWO_HOSTS : undefined) },
    ...ofSteps("before"),
    // pages that need no credential
    { run: (exchange) => exchange.owner.beforeAuthorize?.(exchange), blames: ofOwner("beforeAuthorize") },
    // credential and role; waits for the first load while that runs
    {
      run: (exchange) => {
        const session = authorize(exchange, exchange.caller);
        return session instanceof Promise ? session.then((found) => enter(exchange, found)) : enter(exchange, session);
      },
    },
    // the model is loaded
    { run: () => void loader.demand() },
    ...ofSteps("authorized"),
    { run: (exchange) => exchange.owner.handle(exchange), blames: ofOwner("handle") },
  ];

  const answer = async (exchange: RequestExchange): Promise<Answer> => {
    let at = 0;
    try {
      for (; at < steps.length; at++) {
        const result = (steps[at] as Step).run(exchange); // at is within its length
        const answered = result instanceof Promise ? await result : result;
        if (answered !== undefined) return answered;
      }
      throw new Error(`surface "${exchange.owner.name}" returned no response`);
    } catch (error) {
      const whose = steps[at]?.blames?.(exchange);
      return answerError(exchange, whose === undefined ? error : faultOf(...whose, error));
    }
  };

  const answerError = (exchange: RequestExchange, thrown: unknown): Answer => {
    let error: RelApiError;
    if (isRelApiError(thrown)) {
      error = thrown;
      countRefusal(counters, error);
    } else {
      error = internalError(thrown);
      logger.error("unhandled error while serving a request", {
        method: exchange.method,
        path: exchange.path,
        ...faultFacts(thrown),
      });
    }
    try {
      return exchange.owner.encodeError(error, exchange);
    } catch (fault) {
      logger.error("failed to encode an error", faultFacts(faultOf(...ofOwner("encodeError")(exchange), fault)));
      return { status: 500, headers: [] };
    }
  };

  const failed = ({ plugin, step }: AddedStep, member: string, fault: unknown): void =>
    logger.error("a step around requests failed", {
      step: step.name,
      ...faultFacts(faultOf(plugin, `addStep("${step.name}").${member}`, fault)),
    });

  const extraHeaders = (exchange: RequestExchange): Headers => {
    let headers = NO_HEADERS;
    for (const added of withHeaders) {
      try {
        const more = added.step.headers?.(exchange) ?? NO_HEADERS;
        // most steps have nothing to say of most requests
        if (more.length > 0) headers = headers.length === 0 ? more : [...headers, ...more];
      } catch (fault) {
        failed(added, "headers", fault);
      }
    }
    return headers;
  };

  const finish = (exchange: RequestExchange, status: number, bytes: number): void => {
    if (withAfter.length === 0) return;
    const done = new Ended(exchange, status, bytes);
    for (const added of withAfter) {
      try {
        added.step.after?.(exchange, done);
      } catch (fault) {
        failed(added, "after", fault);
      }
    }
  };

  /** A promise: the response continues until it settles. */
  const respond = (exchange: RequestExchange, answered: Answer): Promise<void> | void => {
    const { request, response } = exchange;
    let streaming: Promise<void> | void = undefined;
    const given = answered.stream === undefined ? answered : { ...answered, stream: () => (streaming = stream()) };
    const stream = (): Promise<void> | void =>
      blamed(...ofOwner("handle")(exchange), () => answered.stream?.(response))();
    let bytes = 0;
    let { status } = given;
    if (given.isSent !== true) {
      if (response.destroyed) return; // the client is gone
      const extra = extraHeaders(exchange);
      try {
        bytes = writeAnswer(request, response, given, extra, unread);
      } catch (fault) {
        if (response.headersSent) throw fault;
        const replacement = answerError(exchange, fault);
        status = replacement.status;
        bytes = writeAnswer(request, response, replacement, extra, unread);
      }
    }
    finish(exchange, status, bytes);
    return streaming;
  };

  let runningCount = 0;
  let whenSettled: (() => void) | undefined;
  const run = async (exchange: RequestExchange): Promise<void> => {
    runningCount++;
    try {
      const streaming = respond(exchange, await answer(exchange));
      if (streaming !== undefined) await streaming;
    } catch (fault) {
      logger.error("failed to write the response", faultFacts(fault));
      exchange.response.destroy();
    } finally {
      exchange.releaseBody();
      // the body has not been read in full: Node discards what arrives
      if (!exchange.request.complete) pace.watch(exchange.request);
      runningCount--;
      if (runningCount === 0) whenSettled?.();
    }
  };

  const fallbacks = surfaces.filter(({ isFallback }) => isFallback === true);
  const others = surfaces.filter(({ isFallback }) => isFallback !== true);

  const surfaceFor = (
    path: string,
    request: IncomingMessage,
    asked: readonly AddedSurface[] = others,
  ): AddedSurface | undefined => {
    for (const surface of asked) {
      try {
        if (surface.match(path, request.method ?? "GET", request)) return surface;
      } catch (error) {
        // it has no part in this request
        logger.error(
          "a plugin failed",
          faultFacts(faultOf(surface.plugin, `addSurface("${surface.name}").match`, error)),
        );
      }
    }
    return undefined;
  };

  return {
    answer: (request, response, next) => {
      const { path: sent, query } = splitUrl(request.url ?? "/");
      const path = pathAsServed(sent);
      let owner = surfaceFor(path, request);
      // the root of an application is the application's
      if (owner === undefined && (next === undefined || mountOf(request) !== ""))
        owner = surfaceFor(path, request, fallbacks);
      if (owner === undefined) {
        if (next !== undefined) return next();
        const last = surfaces.findLast(({ isPage }) => isPage !== true);
        if (last === undefined) return void response.writeHead(404).end();
        // the only listener: the last surface encodes the 404, after the credentials were checked (R-PIPE-2)
        owner = {
          plugin: last.plugin,
          name: last.name,
          match: last.match,
          handle: refusePath,
          encodeError: (error, exchange) => last.encodeError(error, exchange),
        };
      }
      void run(new RequestExchange(request, response, path, query, owner, settings));
    },
    call: async (call) => {
      const { request, response, end } = openCall(call);
      const { path: sent, query } = splitUrl(call.path);
      const path = pathAsServed(sent);
      const owner = surfaceFor(path, request);
      if (owner === undefined) throw pathNotFound();
      const exchange = new RequestExchange(request, response, path, query, owner, settings);
      if (call.session !== undefined) exchange.caller = sessionOf(call.session);
      runningCount++;
      try {
        const answered = await answer(exchange);
        finish(exchange, answered.status, answered.body?.length ?? 0);
        return calledOf(answered);
      } finally {
        end();
        runningCount--;
        if (runningCount === 0) whenSettled?.();
      }
    },
    settled: (patienceMs) =>
      new Promise((resolve) => {
        if (runningCount === 0) return resolve();
        const patience = setTimeout(resolve, patienceMs);
        whenSettled = () => {
          clearTimeout(patience);
          resolve();
        };
      }),
  };
};

/** A class, since its key is made only for steps that ask. */
class Ended implements Done {
  readonly status: number;
  readonly bytes: number;
  readonly durationMs: number;
  readonly session: Session | undefined;
  readonly #planned: unknown;

  constructor(exchange: RequestExchange, status: number, bytes: number) {
    this.status = status;
    this.bytes = bytes;
    this.durationMs = performance.now() - exchange.startedAtMs;
    this.session = exchange.caller;
    this.#planned = exchange.planned;
  }

  get planKey(): string | undefined {
    return this.#planned === undefined ? undefined : shortKey(this.#planned as object); // plans are objects
  }
}

const NO_HEADERS: Headers = [];

const TWO_HOSTS: Answer = {
  status: 400,
  headers: [
    ["Content-Type", "text/plain; charset=utf-8"],
    ["Connection", "close"],
  ],
  body: "The request has more than one Host header",
};

const refusePath = (): never => {
  throw pathNotFound();
};

/** `/api/vessels?id=eq.1`; a proxy may send `http://host/api/vessels`. */
const splitUrl = (url: string): { readonly path: string; readonly query: string | undefined } => {
  const local = url.startsWith("/") ? url : withoutOrigin(url);
  const mark = local.indexOf("?");
  return mark === -1 ? { path: local, query: undefined } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
};

/** `//films/` is `/films`. @rule R-PATH-11 G-WS-17 */
const tidyPath = (path: string): string =>
  path.includes("//") || (path.length > 1 && path.endsWith("/"))
    ? path.replace(/\/{2,}/g, "/").replace(/(.)\/$/, "$1")
    : path;

const withoutOrigin = (url: string): string => {
  const scheme = url.indexOf("://");
  if (scheme === -1) return url;
  const slash = url.indexOf("/", scheme + 3);
  return slash === -1 ? "/" : url.slice(slash);
};

const asSent = (path: string): string => path;

/** How paths are read: as the clients of other engines send them, or byte for byte. */
export const pathReader = ({ compatMode }: { readonly compatMode: boolean }): ((path: string) => string) =>
  compatMode ? asSent : tidyPath;
