/** Close reasons of connections that were refused or have expired. */
import type { Session } from "../../../core/index.ts";
import type { GqlEngine } from "../../graphql/api.ts";

/** The close reason contains the message that the same credential gets over HTTP. @rule G-WS-10 */
export const buildForbiddenReason = (engine: GqlEngine, error: unknown): string => {
  const { errors } = JSON.parse(engine.encodeErrors(error, undefined).body) as {
    readonly errors: readonly { readonly message: string }[];
  };
  return `Forbidden: ${errors[0]?.message ?? "access denied"}`;
};

/** The same message as over HTTP. @rule G-WS-10 G-WS-15 */
export const EXPIRED_REASON = "Forbidden: Could not verify JWT: JWTExpired";

/** The longest delay of a Node timer, about 24 days. */
const MAX_TIMER_MS = 2_147_483_647;

const NO_OPERATION = (): void => undefined;

/** Calls `expired` when the session's token expires. Returns a function that cancels it. @rule G-WS-15 */
export const scheduleExpiry = ({ expiresAtMs }: Session, expired: () => void): (() => void) => {
  if (expiresAtMs === undefined) return NO_OPERATION;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const leftMs = expiresAtMs - Date.now();
    if (leftMs <= 0) return expired();
    timer = setTimeout(wait, Math.min(leftMs, MAX_TIMER_MS));
  };
  timer = setTimeout(wait, 0);
  return () => clearTimeout(timer);
};
