/** Why a connection was refused or has expired. */
import type { Session } from "../../core/index.ts";
import type { GqlEngine } from "../graphql/api.ts";

/** Reason of the close: the message that the same credential gets over HTTP. @rule G-WS-10 */
export const forbidden = (engine: GqlEngine, error: unknown): string => {
  const { errors } = JSON.parse(engine.encodeErrors(error, undefined).body) as {
    readonly errors: readonly { readonly message: string }[];
  };
  return `Forbidden: ${errors[0]?.message ?? "access denied"}`;
};

/** As over HTTP. @rule G-WS-10 G-WS-15 */
export const EXPIRED = "Forbidden: Could not verify JWT: JWTExpired";

/** Timers end at 24 days. */
const LONGEST_TIMER_MS = 2_147_483_647;

const NOTHING = (): void => undefined;

/** Calls when the session's token ends. Returns how to forget it. @rule G-WS-15 */
export const atExpiry = ({ expiresAtMs }: Session, expired: () => void): (() => void) => {
  if (expiresAtMs === undefined) return NOTHING;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const leftMs = expiresAtMs - Date.now();
    if (leftMs <= 0) return expired();
    timer = setTimeout(wait, Math.min(leftMs, LONGEST_TIMER_MS));
  };
  timer = setTimeout(wait, 0);
  return () => clearTimeout(timer);
};
