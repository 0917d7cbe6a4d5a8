/** Asks a webhook for the session of each caller: `GET https://auth.example/hook`, with the headers of the request. */
import {
  definePlugin,
  RelApiError,
  type Credentials,
  type PluginContext,
  type ResolvedOptions,
  type Session,
} from "../../../core/index.ts";
import { createSessionCache } from "../../shared/session-cache.ts";
import { adminRoleInTokens, anonRole, corsAllowedOrigins, maxJsonDepth } from "../../shared/settings.ts";
import type { WebhookResponse } from "../api.ts";
import { createWebhookClient } from "../webhook/client.ts";
import { createCookieForwarding } from "../webhook/forwarded-cookies.ts";
import { createProblemLog } from "../webhook/problem-log.ts";
import { readHookResponse, type HookResponse } from "./response.ts";
import {
  authHookContradictory,
  authHookUrlInvalid,
  callerRejected,
  hookAnswerInvalid,
  hookCallFailed,
} from "./errors.ts";
import { createRequestBuilder } from "./request.ts";
import { authHookSettings } from "./settings.ts";

/** Authorizes callers by a webhook. @rule X-HOOK-1 … X-HOOK-12 */
export const authHook = definePlugin({
  name: "auth-hook",
  settings: [adminRoleInTokens, anonRole, corsAllowedOrigins, maxJsonDepth, ...authHookSettings],
  before: ["jwt-tokens"],
  apply: (hooks, context) => {
    const { options, registry } = context;
    if (options.authHook === undefined || options.authHook === "") return;
    if (registry.has("jwt-tokens")) rejectTokens(context);
    const url = parseUrl(options.authHook);
    const getSession = createSessions(context);
    const callHook = createHookCaller(url, context);
    hooks.authorize.tapPromise("auth-hook", async (credentials) => getSession(await callHook(credentials)));
  },
});

/** Throws for an option. A secret that the database stores is ignored and reported. @rule X-HOOK-1a */
const rejectTokens = (context: PluginContext): void => {
  const hasTokens = ({ jwtSecret }: ResolvedOptions): boolean => jwtSecret !== undefined && jwtSecret !== "";
  if (hasTokens(context.options)) throw authHookContradictory();
  let lastOptions = context.options;
  context.onModel(() => {
    if (context.options === lastOptions) return;
    lastOptions = context.options;
    const problem = hasTokens(lastOptions) ? `ignoring tokens: ${authHookContradictory().message}` : undefined;
    if (problem !== undefined) context.logger.error(problem);
    context.healthProblems.set("auth hook", problem);
  });
};

const parseUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The client would send credentials of the URL instead of the caller's own `Authorization`.
  if (url === undefined || url.username !== "" || url.password !== "") throw authHookUrlInvalid();
  return url;
};

/** The largest accepted response. It consists of session variables, which are short. */
const MAX_ANSWER_BYTES = 64 * 1024;

const createHookCaller = (url: URL, context: PluginContext): ((credentials: Credentials) => Promise<HookResponse>) => {
  const { options, logger } = context;
  const { authHookTimeout } = options;
  const buildRequest = createRequestBuilder(context);
  const forwardCookies = createCookieForwarding(context, "auth-hook-cookies");
  // The path and the query may contain secrets.
  const logProblem = createProblemLog((message, reason) => logger.error(message, { host: url.host, reason }));

  // The operator has chosen the host, so it may have a private address.
  const client = createWebhookClient(context, {
    allowedHosts: ["*"],
    maxAnswerBytes: MAX_ANSWER_BYTES,
    maxConnections: Infinity, // a waiting request delays no other request
  });

  return async (credentials) => {
    const request = await buildRequest(credentials);
    const controller = new AbortController();
    const forget = credentials.onDisconnect?.(() => controller.abort());
    let response: WebhookResponse;
    try {
      response = await client.send({
        purpose: "auth-hook",
        ...request,
        url: url.href,
        timeoutMs: authHookTimeout * 1000,
        isRepeatable: true, // the webhook only identifies the caller
        signal: controller.signal,
      });
    } catch (error) {
      if (controller.signal.aborted || !(error instanceof RelApiError)) throw error;
      logProblem(FAILURE_MESSAGE, error.message);
      throw hookCallFailed();
    } finally {
      forget?.();
    }
    const { status, text } = response;
    if (status === 401) throw callerRejected();
    if (status !== 200) {
      logProblem(FAILURE_MESSAGE, `status ${status}`);
      throw hookAnswerInvalid();
    }
    try {
      const hookResponse = readHookResponse(text, Date.now());
      const { unreadableExpiry } = hookResponse;
      if (unreadableExpiry !== undefined)
        logProblem("the auth hook sent an expiry that cannot be read", `the value of ${unreadableExpiry}`);
      forwardCookies(credentials, response);
      return hookResponse;
    } catch (error) {
      if (error instanceof RelApiError) logProblem(FAILURE_MESSAGE, error.message);
      throw error;
    }
  };
};

const FAILURE_MESSAGE = "the auth hook failed";

/** Returns the function that builds the session of a response. @rule X-HOOK-5 X-HOOK-9 */
const createSessions = (context: PluginContext): ((hookResponse: HookResponse) => Session) => {
  const sessions = createSessionCache(context.caches, "auth-hook");
  return ({ role, variables, expiresAtMs }) => {
    const { anonRole, adminRoleInTokens } = context.options;
    const isAdmin = adminRoleInTokens && role === "admin";
    const session = sessions.getAndCommit({
      role,
      ...(isAdmin ? {} : { databaseRole: role }),
      isAdmin,
      ...(role === anonRole ? { isAnonymous: true } : {}),
      claims: Object.freeze({ role }),
      variables: Object.freeze(variables),
    });
    return expiresAtMs === undefined ? session : Object.freeze({ ...session, expiresAtMs });
  };
};
