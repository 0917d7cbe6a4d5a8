/** Asks a webhook for the session of each caller: `GET https://auth.example/hook`, with the headers of the request. */
import {
  definePlugin,
  RelApiError,
  requestCancelled,
  type Credentials,
  type PluginContext,
  type Session,
} from "../../../core/index.ts";
import { describeFetchError, readLimitedText } from "../../shared/fetched.ts";
import { createSessionCache } from "../../shared/session-cache.ts";
import { anonRole, corsAllowedOrigins, maxJsonDepth } from "../../shared/settings.ts";
import { readHookAnswer, type HookAnswer } from "./answer.ts";
import {
  authHookBesideTokens,
  authHookUrlInvalid,
  callerRefused,
  hookAnswerInvalid,
  hookCallFailed,
} from "./errors.ts";
import { createRequestBuilder } from "./request.ts";
import { authHookSettings } from "./settings.ts";

/** Authorizes callers by a webhook. @rule X-HOOK-1 … X-HOOK-10 */
export const authHook = definePlugin({
  name: "auth-hook",
  settings: [anonRole, corsAllowedOrigins, maxJsonDepth, ...authHookSettings],
  before: ["jwt-tokens"],
  apply: (hooks, context) => {
    const { options, registry } = context;
    if (options.authHook === undefined || options.authHook === "") return;
    const hasTokens = options.jwtSecret !== undefined && options.jwtSecret !== "";
    if (registry.has("jwt-tokens") && hasTokens) throw authHookBesideTokens();
    const url = parseUrl(options.authHook);
    const getSession = createSessions(context);
    const askHook = createHookCaller(url, context);
    hooks.authorize.tapPromise("auth-hook", async (credentials) => getSession(await askHook(credentials)));
  },
});

const parseUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // `fetch` accepts no credentials in a URL, and the caller's own `Authorization` has to be sent
  if (url === undefined || url.username !== "" || url.password !== "") throw authHookUrlInvalid();
  return url;
};

// --- the webhook ----------------------------------------------------------------------------------------------------

/** An answer consists of session variables, which are short. */
const MAX_ANSWER_BYTES = 64 * 1024;

const createHookCaller = (
  url: URL,
  { options, logger }: PluginContext,
): ((credentials: Credentials) => Promise<HookAnswer>) => {
  const { authHookTimeout, authHookSendRequestBody: sendsRequestBody, corsAllowedOrigins, maxJsonDepth } = options;
  const buildRequest = createRequestBuilder({
    mode: options.authHookMode,
    sendsRequestBody,
    corsAllowedOrigins,
    maxJsonDepth,
  });
  const safeUrl = `${url.origin}${url.pathname}`; // the query may contain a secret
  const lastLoggedMs = new Map<string, number>();

  /** Logs the same reason at most once a minute. */
  const logProblem = (message: string, reason: string): void => {
    const nowMs = performance.now();
    if (nowMs < (lastLoggedMs.get(reason) ?? -Infinity) + MINUTE_MS) return;
    if (lastLoggedMs.size >= MAX_REASONS) lastLoggedMs.clear();
    lastLoggedMs.set(reason, nowMs);
    logger.error(message, { url: safeUrl, reason });
  };

  const fetchAnswer = async (request: RequestInit, signal: AbortSignal): Promise<string> => {
    const response = await fetch(url, { ...request, redirect: "manual", signal });
    if (response.status !== 200) {
      void response.body?.cancel().catch(() => undefined); // the status decides
      if (response.status === 401) throw callerRefused();
      logProblem(FAILED, `status ${response.status}`);
      throw hookAnswerInvalid();
    }
    const text = await readLimitedText(response, MAX_ANSWER_BYTES);
    if (text !== undefined) return text;
    logProblem(FAILED, `the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    throw hookCallFailed();
  };

  return async (credentials) => {
    const request = await buildRequest(credentials);
    const controller = new AbortController();
    const timeout = new Error(`no complete answer within ${authHookTimeout} s`);
    const timer = setTimeout(() => controller.abort(timeout), authHookTimeout * 1000);
    const forget = credentials.onDisconnect?.(() => controller.abort(requestCancelled()));
    let text: string;
    try {
      text = await fetchAnswer(request, controller.signal);
    } catch (error) {
      if (error instanceof RelApiError) throw error;
      logProblem(FAILED, describeFetchError(error));
      throw hookCallFailed();
    } finally {
      clearTimeout(timer);
      forget?.();
    }
    try {
      const answer = readHookAnswer(text, Date.now());
      const { unreadableExpiry } = answer;
      if (unreadableExpiry !== undefined)
        logProblem("the auth hook sent an expiry that cannot be read", `the value of ${unreadableExpiry}`);
      return answer;
    } catch (error) {
      if (error instanceof RelApiError) logProblem(FAILED, error.message);
      throw error;
    }
  };
};

const FAILED = "the auth hook failed";
const MINUTE_MS = 60_000;
const MAX_REASONS = 100;

// --- sessions -------------------------------------------------------------------------------------------------------

/** Returns the function that builds the session of an answer. @rule X-HOOK-5 X-HOOK-9 */
const createSessions = ({ options, caches }: PluginContext): ((answer: HookAnswer) => Session) => {
  const sessions = createSessionCache(caches, "auth-hook");
  const { anonRole, adminRoleInTokens } = options;
  return ({ role, variables, expiresAtMs }) => {
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
