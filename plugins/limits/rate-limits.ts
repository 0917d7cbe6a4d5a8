/** So many requests per minute, by role and whatever else tells callers apart. */
import type { IncomingMessage } from "node:http";
import {
  definePlugin,
  isOwnCall,
  RelApiError,
  Stage,
  VARIABLE_PREFIX,
  type Exchange,
  type ResolvedOptions,
  type Session,
} from "../../core/index.ts";
import type { CheckGqlDocument } from "../graphql/api.ts";
import { createRoleLimits, mayLimit } from "./by-role.ts";
import { apiLimitSettings, rateLimitSettings } from "./settings.ts";
import { createTokenBuckets } from "./token-buckets.ts";

/** An Express application knows its proxies. */
type MaybeOfExpress = IncomingMessage & { readonly ip?: unknown };

/** Of the caller, as far as the proxies in front can be trusted. */
const addressOf = (request: MaybeOfExpress, trustedProxies: number): string => {
  if (trustedProxies > 0) {
    const forwarded = String(request.headers["x-forwarded-for"] ?? "")
      .split(",")
      .map((address) => address.trim());
    // fewer than there are proxies: not through them
    const address = forwarded.at(-trustedProxies);
    if (address !== undefined && address !== "") return address;
  }
  return typeof request.ip === "string" ? request.ip : (request.socket.remoteAddress ?? "");
};

const valueOf = (name: string, session: Session, request: IncomingMessage, options: ResolvedOptions): string => {
  if (name === "address") return addressOf(request, options.trustedProxies);
  const lower = name.toLowerCase();
  if (lower.startsWith("x-")) return session.variables[lower.replace(/^x-hasura-/, VARIABLE_PREFIX)] ?? "";
  const claim = Object.hasOwn(session.claims, name) ? session.claims[name] : undefined;
  return claim === undefined ? "" : JSON.stringify(claim);
};

const rateExceeded = (perMinute: number, waitMs: number): RelApiError =>
  new RelApiError({
    code: "rate-limit-exceeded",
    status: 429,
    message: `more than ${perMinute} requests per minute`,
    path: "$",
    headers: [["Retry-After", String(Math.max(1, Math.ceil(waitMs / 1000)))]],
    facts: { limit: "rateLimits" },
  });

/** Each HTTP request counts once, each further entry of a GraphQL batch too, and each operation that a socket asks for.
 *  @rule R-LIM-6 G-LIM-9 */
export const rateLimits = definePlugin({
  name: "rate-limits",
  stage: Stage.late, // the hook of the GraphQL surface is declared, if there is one
  settings: [...rateLimitSettings, ...apiLimitSettings],
  apply: (hooks, context) => {
    if (!mayLimit(context.options)) return;
    const buckets = createTokenBuckets();
    const limits = createRoleLimits(context, (kind) => kind === "rate_limit");
    /** Requests whose first operation is counted. */
    const counted = new WeakSet<IncomingMessage>();

    /** @returns whether there is a limit. @throws RelApiError 429 */
    const count = (session: Session, request: IncomingMessage): boolean => {
      const { rate } = limits.of(session);
      if (rate === undefined || isOwnCall(request)) return false;
      const { options } = context;
      const key = JSON.stringify([session.role, ...rate.by.map((name) => valueOf(name, session, request, options))]);
      const waitMs = buckets.take(key, rate.perMinute, options.rateLimitBurst ?? rate.perMinute);
      if (waitMs > 0) throw rateExceeded(rate.perMinute, waitMs);
      return true;
    };

    const authorized = ({ session, request }: Exchange): undefined => {
      if (count(session, request)) counted.add(request);
    };
    context.addStep({
      name: "rate-limits",
      get authorized() {
        return limits.isUsed ? authorized : undefined;
      },
    });
    if (!context.registry.has("graphql")) return;
    hooks.use<CheckGqlDocument>("checkGqlDocument").tap("rate-limits", (_text, session, _document, sender) => {
      if (sender !== undefined && !counted.delete(sender.request)) count(session, sender.request);
    });
  },
});
