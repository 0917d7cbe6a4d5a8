/** The keys of a configuration: fixed ones, or a JWKS that is fetched periodically. */
import { unescape } from "node:querystring";
import { type Logger, isJsonObject } from "../../core/index.ts";
import { KeyError, parseJwks, type VerificationKey } from "./keys.ts";

export interface KeyRing {
  getKeys(): readonly VerificationKey[];
  /** A promise that is pending during the first fetch. Undefined afterwards. */
  readonly firstFetch: Promise<void> | undefined;
  /** Fetches new keys, for a token that no key verifies. Undefined if the last fetch began within the last second,
   *  or the keys are fixed. */
  refetch(): Promise<void> | undefined;
  close(): void;
}

/** Creates a key ring of keys that are never fetched. */
export const createFixedKeys = (keys: readonly VerificationKey[]): KeyRing => ({
  getKeys: () => keys,
  firstFetch: undefined,
  refetch: () => undefined,
  close: () => {},
});

/** Shares one ring between all configurations with the same address. It keeps its keys while settings are reloaded. */
export const shareKeyRings = (open: (url: URL) => KeyRing): ((url: URL) => KeyRing) => {
  const rings = new Map<string, { readonly ring: KeyRing; users: number }>();
  return (url) => {
    const { href } = url;
    const entry = rings.get(href) ?? { ring: open(url), users: 0 };
    rings.set(href, entry);
    entry.users++;
    return {
      ...entry.ring,
      get firstFetch() {
        return entry.ring.firstFetch;
      },
      close: () => {
        if (--entry.users > 0) return;
        rings.delete(href);
        entry.ring.close();
      },
    };
  };
};

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The longest delay of a Node timer. */
const MAX_DELAY_MS = 2 ** 31 - 1;
/** The timeout of the first fetch. Later fetches have a shorter timeout, because requests may wait for them. */
const FIRST_TIMEOUT_MS = 10 * SECOND_MS;
const TIMEOUT_MS = 3 * SECOND_MS;
/** The shortest pause between fetches, however many unverifiable tokens arrive. */
const MIN_PAUSE_MS = SECOND_MS;
/** The shortest time until the next fetch that a response can set. A shorter `max-age` counts as this time. */
const MIN_AGE_MS = 5 * SECOND_MS;
const FIRST_RETRY_MS = 5 * SECOND_MS;
const MAX_JWKS_BYTES = 1024 * 1024;

interface RemoteKeysParts {
  readonly url: URL;
  readonly logger: Pick<Logger, "error" | "info">;
  /** Called when the keys have changed. */
  readonly onChange: () => void;
  readonly fetch?: typeof globalThis.fetch;
}

/** Fetches a JWKS from its address. If a fetch fails, the previous keys stay valid, and the fetch is
 *  repeated after 5 seconds, and later after up to a minute. @rule G-AUTH-11
 *  R-AUT-14 */
export const createRemoteKeys = ({ url, logger, onChange, fetch = globalThis.fetch }: RemoteKeysParts): KeyRing => {
  // The URL lacks user, password and query, which may contain secrets.
  const safeUrl = `${url.origin}${url.pathname}`;
  const { address, headers } = splitCredentials(url);
  const abortController = new AbortController();
  let keys: readonly VerificationKey[] = [];
  let text: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let retryMs = FIRST_RETRY_MS;
  let currentRun: Promise<void> | undefined;
  let isFirst = true;
  let startedAtMs = 0;
  let lastFailure: { readonly reason: string; readonly untilMs: number } | undefined;

  /** Logs the same failure at most once a minute. */
  const logFailure = (reason: string, delayMs: number): void => {
    const nowMs = performance.now();
    if (lastFailure?.reason === reason && nowMs < lastFailure.untilMs) return;
    lastFailure = { reason, untilMs: nowMs + MINUTE_MS };
    logger.error("failed to fetch token keys", { url: safeUrl, reason, retrySeconds: delayMs / SECOND_MS });
  };

  const load = async (): Promise<number> => {
    const signal = AbortSignal.any([
      abortController.signal,
      AbortSignal.timeout(isFirst ? FIRST_TIMEOUT_MS : TIMEOUT_MS),
    ]);
    const response = await fetch(address, { signal, headers });
    if (!response.ok) throw new KeyError(`answered with status ${response.status}`);
    const receivedText = await readLimitedText(response, MAX_JWKS_BYTES);
    if (receivedText === undefined) throw new KeyError(`is larger than ${MAX_JWKS_BYTES} bytes`);
    if (receivedText !== text) {
      keys = parseJwks(parseSet(receivedText), true);
      text = receivedText;
      onChange();
    }
    return computeRefreshDelayMs(response.headers, Date.now());
  };

  const run = async (): Promise<void> => {
    clearTimeout(timer);
    startedAtMs = performance.now();
    let delayMs: number;
    try {
      delayMs = await load();
      retryMs = FIRST_RETRY_MS;
      lastFailure = undefined;
    } catch (error) {
      if (abortController.signal.aborted) return;
      delayMs = retryMs;
      retryMs = Math.min(retryMs * 2, MINUTE_MS);
      logFailure(describeFetchError(error), delayMs);
    }
    if (abortController.signal.aborted) return;
    timer = setTimeout(() => void fetchKeys(), Math.min(delayMs, MAX_DELAY_MS));
    timer.unref();
  };

  /** Fetches the keys. Only one fetch runs at a time. */
  const fetchKeys = (): Promise<void> =>
    (currentRun ??= run().finally(() => {
      currentRun = undefined;
      isFirst = false;
    }));

  void fetchKeys();
  return {
    getKeys: () => keys,
    get firstFetch() {
      return isFirst ? currentRun : undefined;
    },
    refetch: () => {
      if (abortController.signal.aborted) return undefined;
      return currentRun !== undefined || performance.now() - startedAtMs >= MIN_PAUSE_MS ? fetchKeys() : undefined;
    },
    close: () => {
      abortController.abort();
      clearTimeout(timer);
    },
  };
};

/** Moves the credentials of `https://user:password@host/keys` into a header, because `fetch` rejects such an
 *  address. */
const splitCredentials = (url: URL): { readonly address: URL; readonly headers: Readonly<Record<string, string>> } => {
  const accept = { accept: "application/jwk-set+json, application/json" };
  if (url.username === "" && url.password === "") return { address: url, headers: accept };
  const address = new URL(url);
  address.username = "";
  address.password = "";
  const pair = `${unescape(url.username)}:${unescape(url.password)}`;
  return { address, headers: { ...accept, authorization: `Basic ${Buffer.from(pair).toString("base64")}` } };
};

const parseSet = (text: string): Parameters<typeof parseJwks>[0] => {
  let keySet: unknown;
  try {
    keySet = JSON.parse(text);
  } catch {
    throw new KeyError("is not JSON");
  }
  if (!isJsonObject(keySet)) throw new KeyError("is not a JSON object");
  return keySet;
};

/** Returns the milliseconds until the keys are fetched again. @rule G-AUTH-11 */
export const computeRefreshDelayMs = (headers: Pick<Headers, "get">, nowMs: number): number => {
  const directives = new Map(
    (headers.get("cache-control") ?? "").split(",").map((part): [string, string] => {
      const [name = "", value = ""] = part.trim().split("=");
      return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
    }),
  );
  const age = parseSeconds(directives.get("s-maxage")) ?? parseSeconds(directives.get("max-age"));
  if (age !== undefined) return Math.max(MIN_AGE_MS, age * SECOND_MS);
  if (["no-cache", "no-store", "must-revalidate"].some((name) => directives.has(name))) return MINUTE_MS;
  const expires = headers.get("expires");
  if (expires === null) return HOUR_MS;
  const expiresMs = Date.parse(expires);
  return Number.isNaN(expiresMs) ? MINUTE_MS : Math.max(MIN_AGE_MS, expiresMs - nowMs);
};

const parseSeconds = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;

/** Reads the text of a response. Returns undefined if the body is larger than the limit. The remaining bytes are not
 *  read. */
const readLimitedText = async (response: Response, maxBytes: number): Promise<string | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString("utf8");
};

/** Describes an error of `fetch`, whose cause contains the reason. */
const describeFetchError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
};
