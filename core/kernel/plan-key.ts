import { createHash } from "node:crypto";
import { memoize } from "./memoize.ts";

/** Returns the key of a plan: its JSON, because plans contain no bound values and surfaces build them in a fixed key
 *  order. */
export const planKey = (plan: unknown): string => JSON.stringify(plan);

/** Returns a hash of 22 characters, equal for equal contents. */
export const hashPlan = memoize((plan: object): string =>
  createHash("sha256").update(planKey(plan)).digest("base64url").slice(0, 22),
);
