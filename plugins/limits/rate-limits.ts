/** Limits requests per minute, by role and other properties of the caller. */
import type { IncomingMessage } from "node:http";
import {
  createExchangeSlot,
  definePlugin,
  isOwnCall,
  Stage,
  VARIABLE_PREFIX,
  type Exchange,
  type Headers,
  type ResolvedOptions,
  type Session,
} from "../../core/index.ts";
import { checkGqlDocumentHook } from "../graphql/api.ts";
import { redisBucketsService, workerBucketsService, type SharedTokenBuckets } from "./api.ts";
import { rateLimitExceeded } from "./errors.ts";
import { createRoleLimits, mayHaveLimits } from "./role-limits.ts";
import { apiLimitSettings, rateLimitSettings } from "./settings.ts";
import { createLocalTokenBuckets, type LocalTokenBuckets } from "./token-buckets.ts";

/** A request that Express may have extended. Express determines the address from its own proxy settings. */
type MaybeExpressRequest = IncomingMessage & { readonly ip?: unknown };

/** Returns the entry of `X-Forwarded-For` that the outermost trusted proxy added, which is at `trustedProxies` from the
 *  right. Without such an entry, it returns the address that Express or the socket reports. */
const findAddress = (request: MaybeExpressRequest, trustedProxies: number): string => {
  if (trustedProxies > 0) {
    const forwardedAddresses = String(request.headers["x-forwarded-for"] ?? "")
      .split(",")
      .map((address) => address.trim());
    // A list with fewer entries means that the request did not pass all proxies.
    const address = forwardedAddresses.at(-trustedProxies);
    if (address !== undefined && address !== "") return address;
  }
  return typeof request.ip === "string" ? request.ip : (request.socket.remoteAddress ?? "");
};

const readCallerValue = (
  name: string,
  session: Session,
  request: IncomingMessage,
  options: ResolvedOptions,
): string => {
  if (name === "address") return findAddress(request, options.trustedProxies);
  const lower = name.toLowerCase();
  if (lower.startsWith("x-")) return session.variables[lower.replace(/^x-hasura-/, VARIABLE_PREFIX)] ?? "";
  const claim = Object.hasOwn(session.claims, name) ? session.claims[name] : undefined;
  return claim === undefined ? "" : JSON.stringify(claim);
};

/** The bucket that a request counts for. */
interface RequestBucket {
  readonly key: string;
  readonly perMinute: number;
  readonly burst: number;
}

/** Builds headers with the policy, and with the remaining tokens if this process counts. The format is that of the IETF
 *  draft. @rule R-LIM-6 */
const buildLimitHeaders = (
  { key, perMinute, burst }: RequestBucket,
  buckets: LocalTokenBuckets | undefined,
): Headers => {
  const computeSeconds = (tokens: number): number => Math.ceil((tokens * 60) / perMinute);
  const policy = `"requests";q=${Math.floor(burst)};w=${computeSeconds(burst)}`;
  if (buckets === undefined) return [["RateLimit-Policy", policy]];
  const remainingTokens = buckets.countTokens(key, perMinute, burst);
  return [
    ["RateLimit-Policy", policy],
    ["RateLimit", `"requests";r=${remainingTokens};t=${computeSeconds(burst - remainingTokens)}`],
  ];
};

/** Limits the requests of each caller. Each HTTP request, each later entry of a GraphQL batch, and each operation of
 *  a WebSocket counts once. @rule R-LIM-6 X-BUS-5 G-LIM-9 */
export const rateLimits = definePlugin({
  name: "rate-limits",
  stage: Stage.late, // the GraphQL surface, which declares the hook, is applied first
  settings: [...rateLimitSettings, ...apiLimitSettings],
  apply: (_hooks, context) => {
    if (!mayHaveLimits(context.options)) return;
    const buckets = createLocalTokenBuckets();
    const limits = createRoleLimits(context, "rate-limits");
    /** Requests that are already counted, whose first operation must not count again. */
    const countedRequests = new WeakSet<IncomingMessage>();
    const bucketSlot = createExchangeSlot<RequestBucket>();
    let sharedBuckets: SharedTokenBuckets | undefined;
    context.onModel(() => {
      if (!limits.isUsed) return;
      const redis = context.use(redisBucketsService);
      redis?.open();
      sharedBuckets = redis ?? context.use(workerBucketsService);
    });

    /** Returns the bucket of a request. Undefined if there is no limit. */
    const findBucket = (session: Session, request: IncomingMessage): RequestBucket | undefined => {
      const rate = limits.findRateLimit(session);
      if (rate === undefined || isOwnCall(request)) return undefined;
      const { options } = context;
      const key = JSON.stringify([
        session.role,
        ...rate.keys.map((name) => readCallerValue(name, session, request, options)),
      ]);
      return { key, perMinute: rate.perMinute, burst: options.rateLimitBurst ?? rate.perMinute };
    };

    /** Rejects a request without a token. If the shared counter does not respond, the count of this process decides.
     *  @throws RelApiError 429 */
    const checkBucket = (
      { key, perMinute, burst }: RequestBucket,
      waitMs = buckets.take(key, perMinute, burst),
    ): undefined => {
      if (waitMs > 0) throw rateLimitExceeded(perMinute, waitMs);
    };

    const countRequest = (exchange: Exchange): Promise<undefined> | undefined => {
      const { session, request } = exchange;
      const bucket = findBucket(session, request);
      if (bucket === undefined) return undefined;
      countedRequests.add(request);
      bucketSlot.set(exchange, bucket);
      if (sharedBuckets === undefined) return checkBucket(bucket);
      return sharedBuckets
        .take(bucket.key, bucket.perMinute, bucket.burst)
        .then((waitMs) => checkBucket(bucket, waitMs));
    };

    /** Decides by the count of this process, without waiting for the shared counter. Once the shared counter responds,
     *  its count applies. Tokens taken in excess until then are owed. @throws RelApiError 429 */
    const takeSynchronously = (bucket: RequestBucket): void => {
      checkBucket(bucket);
      void sharedBuckets?.take(bucket.key, bucket.perMinute, bucket.burst, true).then((waitMs = 0) => {
        if (waitMs > 0) buckets.drain(bucket.key, bucket.perMinute, waitMs);
      });
    };

    context.addStep({
      name: "rate-limits",
      get afterAuthorize() {
        return limits.isUsed ? countRequest : undefined;
      },
      headers: (exchange) => {
        const bucket = bucketSlot.get(exchange);
        return bucket === undefined ? [] : buildLimitHeaders(bucket, sharedBuckets === undefined ? buckets : undefined);
      },
    });
    if (!context.registry.has("graphql")) return;
    context.use(checkGqlDocumentHook).tap("rate-limits", (_text, session, _document, sender) => {
      if (sender === undefined || countedRequests.delete(sender.request)) return;
      const bucket = findBucket(session, sender.request);
      if (bucket !== undefined) takeSynchronously(bucket);
    });
  },
});
