/** Loads the model at the start, reloads it on request, and keeps the current one if a reload fails. */
import type { Counters } from "./kernel/counters.ts";
import { createBackoff } from "./database/backoff.ts";
import type { Connector } from "./database/connector.ts";
import type { Database, Query } from "./database/database.ts";
import { isPgError, classifyLoginError } from "./database/pg-errors.ts";
import { RelApiError, modelNotLoaded } from "./kernel/errors.ts";
import { buildErrorFields } from "./kernel/plugin-errors.ts";
import type { RelApiHooks } from "./hooks.ts";
import { createEmptyModel, type Model } from "./model/model.ts";
import type { CurrentState } from "./kernel/current-state.ts";
import type { Registry } from "./plugin.ts";
import type { Logger, ResolvedOptions } from "./settings/options.ts";
import type { HealthProblems } from "./kernel/health-problems.ts";

interface LoaderParts {
  readonly loadOptions: (query: Query) => Promise<ResolvedOptions>;
  readonly current: CurrentState;
  readonly hooks: RelApiHooks;
  readonly database: Database;
  readonly connector: Connector;
  readonly registry: Registry;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly healthProblems: HealthProblems;
}

export interface ModelLoader {
  /** Returns the current model. @throws RelApiError `model-not-loaded` */
  requireModel(): Model;
  /** Resolves after the first load. Rejects if that fails for a reason that retries cannot fix. */
  readonly ready: Promise<void>;
  /** Settles when the first attempt has ended, with or without success. */
  readonly firstAttempt: Promise<void>;
  /** Registers a listener that receives a model before the model becomes current. The loader waits for the listener. */
  beforeModel(listener: (model: Model) => void | Promise<void>): void;
  onModel(listener: (model: Model) => void): void;
  start(): void;
  /** Loads now, or after the current load. @throws the error of the load */
  reload(): Promise<void>;
  /** Merges bursts of requests into one immediate reload, and another one after a quiet period. */
  requestReload(): void;
  close(): void;
}

const QUIET_MS = 100;
const SECOND_MS = 1000;

/** Creates the loader, which reads the model at the start and at each reload, and retries after failures. @rule R-SC-1
 *  R-SC-3 R-SC-4 R-SC-5 R-SC-6 R-SC-11 */
export const createModelLoader = (parts: LoaderParts): ModelLoader => {
  const { loadOptions, current, hooks, registry, database, connector, logger, counters, healthProblems } = parts;
  const beforeListeners: ((model: Model) => void | Promise<void>)[] = [];
  const listeners: ((model: Model) => void)[] = [];
  const backoff = createBackoff();
  let version = 0;
  let isClosed = false;
  let retryAtMs = 0;
  let rejectedSinceMs: number | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  let quietTimer: NodeJS.Timeout | undefined;
  let isReloadPending = false;
  let settleReady: { readonly resolve: () => void; readonly reject: (error: unknown) => void };
  let settleFirstAttempt: () => void;
  const ready = new Promise<void>((resolve, reject) => {
    settleReady = { resolve, reject };
  });
  ready.catch(() => undefined); // callers that do not await `ready` need not handle a rejection
  const firstAttempt = new Promise<void>((resolve) => {
    settleFirstAttempt = resolve;
  });

  const introspect = (): Promise<{ readonly model: Model; readonly options: ResolvedOptions }> =>
    database.snapshot(async (query, queryLater) => {
      const options = await loadOptions(query);
      const model = await hooks.introspect.promise(createEmptyModel(++version, options.dbSchemas), {
        query,
        queryLater,
        schemas: options.dbSchemas,
        hiddenSchemas: registry.hiddenSchemas(options.dbSchemas),
        extraSearchPath: options.dbExtraSearchPath,
        options,
        warn: (message, fields) => logger.warn(message, fields),
      });
      return { model: Object.freeze(model), options };
    });

  const load = async (): Promise<void> => {
    const startedAtMs = performance.now();
    clearTimeout(retryTimer);
    try {
      // Changes from now on cause notifications.
      if (current.model === undefined) await connector.waitForListening();
      // A connection keeps the role and database settings that it started with.
      if (current.model !== undefined) database.renew();
      const { model, options } = await introspect();
      for (const prepare of beforeListeners) if (!isClosed) await prepare(model);
      if (isClosed) return;
      current.options = options;
      current.model = model;
      const seconds = (performance.now() - startedAtMs) / 1000;
      counters.add("model-loads");
      counters.set("model-load-seconds", seconds);
      backoff.reset();
      healthProblems.set("schema", undefined);
      retryAtMs = 0;
      for (const listener of listeners) listener(model);
      logger.info("schema loaded", {
        relations: model.relations.size,
        routines: model.routines.size,
        milliseconds: Math.round(seconds * 1000),
      });
      settleReady.resolve();
    } catch (error) {
      if (isClosed) return;
      counters.add("model-load-failures");
      const message =
        current.model === undefined
          ? "failed to load the schema"
          : "failed to reload the schema; keeping the current one";
      const fields = buildLoadErrorFields(error);
      const isRejected = classifyLoginError(error) !== undefined;
      // After the first load, failed connections are logged elsewhere.
      if (current.model === undefined || !isRejected) logger.error(message, fields);
      const { reason, details = "" } = fields;
      healthProblems.set("schema", `${message}: ${String(reason)}${details === "" ? "" : ` (${String(details)})`}`);
      const isPresetError = error instanceof RelApiError && error.code === "preset";
      if (!isRejected) rejectedSinceMs = undefined;
      else rejectedSinceMs ??= performance.now();
      const patienceMs =
        rejectedSinceMs === undefined
          ? Number.POSITIVE_INFINITY
          : rejectedSinceMs + current.options.dbLoginPatience * SECOND_MS - performance.now();
      // Retries continue, but callers that await the start must learn of the error.
      if (isPresetError || patienceMs <= 0) settleReady.reject(error);
      if (!isPresetError) retryLater(patienceMs > 0 ? patienceMs : Number.POSITIVE_INFINITY);
      throw error;
    } finally {
      settleFirstAttempt();
    }
  };

  const retryLater = (latestMs: number): void => {
    const pauseMs = Math.min(backoff.next(), latestMs);
    retryAtMs = Date.now() + pauseMs;
    retryTimer = setTimeout(() => reload().catch(() => undefined), pauseMs); // the error was logged
  };

  let loading: Promise<void> | undefined;
  let nextLoad: Promise<void> | undefined;
  const reload = (): Promise<void> => {
    if (loading === undefined) {
      loading = load().finally(() => {
        loading = undefined;
      });
      return loading;
    }
    // The current load may have read the catalogs before the change.
    nextLoad ??= loading
      .catch(() => undefined)
      .then(() => {
        nextLoad = undefined;
        return reload();
      });
    return nextLoad;
  };

  const endQuietPeriod = (): void => {
    quietTimer = undefined;
    if (isReloadPending) reload().catch(() => undefined); // the error was logged
    isReloadPending = false;
  };

  const loader: ModelLoader = {
    requireModel: () => {
      if (current.model === undefined) throw modelNotLoaded(Math.max(0, retryAtMs - Date.now()) / 1000);
      return current.model;
    },
    ready,
    firstAttempt,
    beforeModel: (listener) => {
      beforeListeners.push(listener);
    },
    onModel: (listener) => {
      listeners.push(listener);
    },
    start: () => {
      reload().catch(() => undefined); // the error was logged, and `ready` rejects
    },
    reload,
    requestReload: () => {
      if (quietTimer === undefined) reload().catch(() => undefined); // the error was logged
      else isReloadPending = true;
      clearTimeout(quietTimer);
      quietTimer = setTimeout(endQuietPeriod, QUIET_MS);
    },
    close: () => {
      isClosed = true;
      clearTimeout(retryTimer);
      clearTimeout(quietTimer);
      settleFirstAttempt();
    },
  };
  return loader;
};

const HINTS = {
  login: "check user, password and database of DATABASE_URL (databaseUrl)",
  certificate: "check sslmode, sslrootcert, sslcert and sslkey of DATABASE_URL (databaseUrl)",
} as const;

const PRIVILEGE_LOST = "the login role lacks a right that is needed to read the schema";

const buildLoadErrorFields = (error: unknown): Readonly<Record<string, unknown>> => {
  if (!(error instanceof RelApiError)) {
    const { cause, ...fields } = buildErrorFields(error);
    // The message of the database is sufficient, without plugin and hook.
    if (isPgError(cause))
      return {
        reason: cause.message,
        sqlstate: cause.code,
        ...(cause.code === "42501" ? { hint: PRIVILEGE_LOST } : {}),
      };
    return { ...fields, reason: cause instanceof Error ? cause.stack : cause };
  }
  const loginError = classifyLoginError(error);
  return {
    reason: error.message,
    ...(error.details === null ? {} : { details: error.details }),
    ...(loginError === undefined ? {} : { hint: HINTS[loginError] }),
  };
};
