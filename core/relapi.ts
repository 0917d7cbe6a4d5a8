/** Turns a preset into a middleware: applies the plugins, seals the hooks, loads the model and serves requests. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createCaches } from "./kernel/cache.ts";
import { createOptionLoader } from "./settings/current-options.ts";
import type { CurrentState } from "./kernel/current-state.ts";
import { createCounters, type Counters } from "./kernel/counters.ts";
import { createDatabase, type Database } from "./database/database.ts";
import { isDatabaseError } from "./database/pg-errors.ts";
import { anonymousRejected, internalError, RelApiError, presetError } from "./kernel/errors.ts";
import { withPluginName, buildErrorFields, findOrigin } from "./kernel/plugin-errors.ts";
import { interceptHooks } from "./kernel/intercept-hooks.ts";
import { createHooks } from "./hooks.ts";
import type { ApiMethods } from "./http/call.ts";
import { createPendingBodies } from "./http/pending-bodies.ts";
import { createUploadWatch } from "./http/slow-uploads.ts";
import type { AddedStep, AddedSurface } from "./http/exchange.ts";
import { createPipeline, type HttpRequest, type Next } from "./http/pipeline.ts";
import { createServers, type AnyServer } from "./http/servers.ts";
import { createUnreadTracker } from "./http/unread-tracker.ts";
import { createPluginContext, type SharedContext } from "./kernel/plugin-context.ts";
import { createModelLoader } from "./model-loader.ts";
import { createForwardingLogger, createLogger } from "./kernel/logger.ts";
import { nameRejectionCounter } from "./kernel/limits.ts";
import type { Model } from "./model/model.ts";
import type { Logger, ResolvedOptions } from "./settings/options.ts";
import {
  planProofService,
  requestEndedSignal,
  transactionEndedSignal,
  type OptionSource,
  type PluginContext,
  type Registry,
} from "./plugin.ts";
import {
  checkOptionKinds,
  resolveOptions,
  collectSettings,
  findUndeclaredOptions,
} from "./settings/resolve-options.ts";
import type { Setting } from "./settings/define-setting.ts";
import { orderPlugins, type Preset } from "./kernel/preset.ts";
import { createPreparer } from "./programs.ts";
import { buildRegistry, findConnector, tapDeclaredParts, tapFallbacks } from "./registry.ts";
import { createTypeCheck } from "./kernel/specs.ts";
import type { Credentials, Session } from "./kernel/session.ts";
import { memoize } from "./kernel/memoize.ts";
import { createHealthProblems } from "./kernel/health-problems.ts";
import { createSharedValues } from "./kernel/token.ts";

/** A middleware for Express (`app.use(api)`, also under a path) and a request listener for `http.createServer(api)`. */
export interface RelApi extends ApiMethods {
  (request: HttpRequest, response: ServerResponse, next?: Next): void;
  /** Returns a listener for `createServer` that passes only requests of other paths to `app`. Requests of the api skip
   *  the application's middleware and its cost. @rule X-OVER-1 */
  over(app: (request: IncomingMessage, response: ServerResponse) => unknown): RequestListener;
  /** Resolves after the first load of the schema. Rejects only for invalid settings, including a login that the
   *  database rejects. An unreachable database is retried. */
  readonly ready: Promise<void>;
  /** Reads the schema again. Requests in progress finish with the previous model. */
  reload(): Promise<void>;
  /** Returns the current model. @throws RelApiError `model-not-loaded` */
  model(): Model;
  /** Closes WebSockets and, once the requests in progress are done, the database connections. */
  close(): Promise<void>;
}

/** Returns an error that hides message and status from the caller, if the auth scheme itself failed. @rule R-AUT-13
 *  G-AUTH-21 X-AUTH-3 */
const hideSchemeFailure = (error: unknown, { isForClient }: Registry, logger: Logger): unknown => {
  // A 503 may be temporary, so the caller should see it.
  if (!isDatabaseError(error) || isForClient(error.code) || error.status === 503) return error;
  const { code, message: reason } = error;
  logger.error("database error in an auth scheme", { ...findOrigin(error), code, reason });
  return internalError(error);
};

/** The key of a listener that `api.over` returned. Its value is the api. */
const MOUNT = Symbol("over");

/** Turns a preset into an api: applies the plugins, and starts to load the model. @throws RelApiError `preset` for
 *  every mistake that can be found without the database */
export const relApi = (preset: Preset): RelApi => {
  const plugins = orderPlugins(preset);
  const settings = collectSettings({ ...preset, plugins });
  const undeclaredOptions = findUndeclaredOptions(preset, settings);
  const options = resolveOptions(preset.options, settings);
  const check = (resolvedOptions: ResolvedOptions): void => checkOptions(resolvedOptions, settings);
  check(options);
  const registry = buildRegistry(plugins);
  const { logger, forwardTo } = createForwardingLogger(options.logger ?? createLogger(), {
    level: options.logLevel,
    name: options.name,
  });
  const hooks = createHooks();
  const interceptedHooks = interceptHooks(hooks);
  const values = createSharedValues(registry.has, interceptedHooks.watch);
  const counters = createCounters();
  const healthProblems = createHealthProblems();
  const sources: OptionSource[] = [];
  const current: CurrentState = { options, model: undefined };
  const loadOptions = createOptionLoader({
    preset: preset.options,
    current,
    settings,
    sources,
    logger,
    healthProblems,
    check,
  });
  const caches = createCaches("cache", { maxBytes: () => current.options.cacheBytes }, counters);
  const connector = findConnector(plugins)({ options, logger, isLoaded: () => current.model !== undefined });
  const database = createDatabase(
    current,
    logger,
    caches,
    registry.sessions,
    connector,
    values.use("core", transactionEndedSignal),
    healthProblems,
  );
  const loader = createModelLoader({
    loadOptions,
    current,
    hooks,
    registry,
    database,
    connector,
    logger,
    counters,
    healthProblems,
  });
  loader.onModel(caches.clear);
  loader.onModel(createTypeCheck(plugins, logger));
  watchPool(counters, database);
  const unreadTracker = createUnreadTracker(options.maxUnreadBytes, options.unreadTimeout * SECOND_MS);
  const pendingBodies = createPendingBodies(options.maxPendingBodyBytes);
  const uploadWatch = createUploadWatch(options.requestTimeout * SECOND_MS);
  counters.watch("unread-bytes", () => unreadTracker.bytes);
  counters.watch("unread-closed", () => unreadTracker.closedCount);
  counters.watch("body-bytes", () => pendingBodies.bytes);
  counters.watch(
    "bodies-refused",
    () =>
      counters.get(nameRejectionCounter("maxBodyBytes")) + counters.get(nameRejectionCounter("maxPendingBodyBytes")),
  );
  counters.watch("requests-late", () => uploadWatch.closedCount);
  const servers = createServers(options.requestTimeout * SECOND_MS);
  const surfaces: AddedSurface[] = [];
  const steps: AddedStep[] = [];
  const closeListeners: (() => void | Promise<void>)[] = [];
  const methods: Partial<ApiMethods> = {};
  const authorize = async (credentials: Credentials, knownSession?: Session): Promise<Session> => {
    // The first load reads the option sources, whose settings may decide which callers are allowed.
    if (current.model === undefined) await loader.firstAttempt;
    let session = knownSession;
    if (session === undefined) {
      try {
        session = await hooks.authorize.promise(credentials);
      } catch (error) {
        throw hideSchemeFailure(error, registry, logger);
      }
      if (session === undefined) throw anonymousRejected();
    }
    return chooseActingSession(session, credentials.surface, current.model);
  };
  /** The wrappers of all plugins in the order of the plugins, so the innermost first. They are composed once all plugins
   *  are applied. docs/design/how-a-request-flows.md lists the wrappers of the presets. */
  const wrappers: Wrapper[] = [];
  let wrappedFunctions: WrappedFunctions = {
    prepare: createPreparer(
      hooks,
      registry,
      current,
      () => loader.requireModel(),
      caches,
      () => values.use("core", planProofService),
    ),
    execute: (execution) => (execution.openTransaction ?? database.execute)(execution),
  };
  let isSealed = false;
  const requestSettingsBuilders = registry.sessions.flatMap(
    (spec) => spec.createRequestSettings?.(registry.secretHeaders) ?? [],
  );
  const context: SharedContext = {
    get options() {
      return current.options;
    },
    settings,
    addOptionSource: (source) => {
      sources.push(source);
    },
    logger,
    registry,
    counters,
    healthProblems,
    logTo: forwardTo,
    caches,
    model: () => current.model ?? loader.requireModel(),
    beforeModel: loader.beforeModel,
    setGate: (gate) => {
      current.gate = gate;
    },
    onModel: loader.onModel,
    onClose: (listener) => {
      closeListeners.push(listener);
    },
    prepare: (plannedProgram, session, surface) => wrappedFunctions.prepare(plannedProgram, session, surface),
    execute: (execution) => wrappedFunctions.execute(execution),
    transaction: database.runTransaction,
    transactionSender: database.transactionSender,
    query: database.query,
    script: database.script,
    wrap: (plugin, wrapper) => {
      if (isSealed)
        throw presetError(
          `plugin "${plugin}" calls wrap after relApi(preset) had applied the plugins: call it in the plugin's apply`,
        );
      wrappers.push(wrapper);
    },
    authorize: (credentials) => authorize(credentials),
    call: (call) => pipeline.call(call),
    addMethod: (name, method) => {
      if (name in methods) throw presetError(`two plugins add the method "${name}" to the api: drop one of them`);
      Object.assign(methods, { [name]: method });
    },
    requestSettings: (request, path) =>
      requestSettingsBuilders.flatMap((buildSettings) => buildSettings(request, path)),
    listen: connector.listen,
    watchUnread: unreadTracker.watch,
    openReplication: database.openReplication,
    findDatabaseUrl: connector.findDatabaseUrl,
    addSurface: (plugin, surface) => {
      // Properties of the surface may change later.
      surfaces.push(Object.create(surface, { plugin: { value: plugin } }));
    },
    addStep: (plugin, step) => {
      steps.push({ plugin, step });
    },
    onServer: servers.onServer,
    addServer: servers.add,
    hasServer: servers.has,
    isApi: (listener) => listener === api || (listener instanceof Object && Reflect.get(listener, MOUNT) === api),
    reload: () => loader.reload(),
    requestReload: loader.requestReload,
  };

  try {
    for (const plugin of plugins) {
      interceptedHooks.plugin = plugin.name;
      tapDeclaredParts(plugin, hooks);
      if (plugin.apply !== undefined)
        withPluginName(plugin.name, "apply", plugin.apply)(hooks, createPluginContext(plugin.name, context, values));
    }
    tapFallbacks(plugins, hooks, (plugin) => (interceptedHooks.plugin = plugin));
    interceptedHooks.seal();
    values.seal();
    isSealed = true;
    wrappedFunctions = wrappers.reduce(applyWrapper, wrappedFunctions);
    for (const option of undeclaredOptions)
      logger.warn("no plugin of the preset declares this option, so it has no effect", { option });
  } catch (error) {
    if (!(error instanceof RelApiError)) logger.error("a plugin failed", buildErrorFields(error));
    for (const closer of closeListeners) void closer();
    void database.close(0);
    throw error;
  }

  const pipeline = createPipeline({
    current,
    logger,
    counters,
    surfaces,
    steps,
    loader,
    authorize,
    unreadTracker,
    pendingBodies,
    uploadWatch,
    requestSignal: values.use("core", requestEndedSignal),
  });
  // This runs after the listeners of plugins, whose paths may depend on the model.
  loader.onModel(() => pipeline.refresh());
  let closePromise: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const seconds = current.options.shutdownGrace;
    const endMs = performance.now() + seconds * 1000;
    loader.close();
    const idlePromise = pipeline.waitUntilIdle(seconds * 1000);
    for (const closer of closeListeners) await closer(); // closers log their errors instead of throwing them
    const cutOff = await idlePromise;
    counters.add("requests-cut-off", cutOff);
    if (cutOff > 0)
      logger.warn("cancelling the requests that did not end within the grace period", { count: cutOff, seconds });
    // Closing connections cancels their statements, and those requests are answered with a lost connection.
    await database.close(Math.max(0, endMs - performance.now()));
    if (cutOff > 0) await pipeline.waitUntilIdle(FINAL_RESPONSE_MS);
    unreadTracker.close();
    uploadWatch.close();
  };

  const api: RelApi = Object.assign(
    (request: HttpRequest, response: ServerResponse, next?: Next): void => {
      const { server } = request.socket as Socket & { readonly server?: AnyServer };
      if (server !== undefined) servers.add(server);
      pipeline.answer(request, response, next);
    },
    {
      over: (app: (request: IncomingMessage, response: ServerResponse) => unknown): RequestListener => {
        const listener: RequestListener = (request, response) =>
          api(request, response, () => void app(request, response));
        return Object.assign(listener, { [MOUNT]: api });
      },
      ready: loader.ready,
      reload: () => loader.reload(),
      model: () => loader.requireModel(),
      close: () => (closePromise ??= close()),
    },
    methods as ApiMethods, // methods of plugins that the preset omits are missing
  );

  loader.start();
  return api;
};

/** The time to send the responses of requests that were cut off. */
const FINAL_RESPONSE_MS = 500;
const SECOND_MS = 1000;

const withoutDatabaseRole = memoize((session: Session): Session => {
  const { databaseRole: _, ...actingSession } = session;
  return actingSession;
});

/** Returns the session that runs statements. A role whose rights come from metadata runs as the login role, and the
 *  session keeps the name of the role. @rule G-PRM-3 */
const chooseActingSession = (session: Session, surface: string, model: Model | undefined): Session => {
  if (session.databaseRole === undefined || model?.loginRoles?.get(surface)?.has(session.role) !== true) return session;
  return withoutDatabaseRole(session);
};

/** Makes the counters include the figures of the pool of connections. @rule R-ADM-2 */
const watchPool = (counters: Counters, database: Database): void => {
  counters.watch("pool-timeouts", () => database.counts().timeouts);
  counters.watch("pool-available", () => database.counts().available);
  counters.watch("pool-waiting", () => database.counts().waiting);
  counters.watch("pool-max", () => database.counts().max);
  counters.watch("pool-in-use", () => database.counts().inUse);
  counters.watch("prepared-statements", () => database.counts().prepared);
  counters.watch("prepared-bytes", () => database.counts().preparedBytes);
  counters.watch("results-refused", () => database.counts().rejected);
};

/** Checks options for which the kinds of settings are not sufficient. @rule R-PROF-6 */
const checkOptions = (options: ResolvedOptions, settings: readonly Setting[]): void => {
  checkOptionKinds(options, settings);
  if (options.dbSchemas.length === 0) throw presetError("dbSchemas is empty: name at least one schema to expose");
  const reservedSchema = options.dbSchemas.find((schema) => schema === "pg_catalog" || schema === "information_schema");
  if (reservedSchema !== undefined)
    throw presetError(`dbSchemas names ${reservedSchema}, which cannot be exposed: remove it`);
};

type Wrapper = Parameters<PluginContext["wrap"]>[0];
type WrappedFunctions = Pick<PluginContext, "prepare" | "execute">;

const applyWrapper = (inner: WrappedFunctions, { prepare, execute }: Wrapper): WrappedFunctions => ({
  prepare: prepare?.(inner.prepare) ?? inner.prepare,
  execute: execute?.(inner.execute) ?? inner.execute,
});
