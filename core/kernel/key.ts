import { createHash } from "node:crypto";
import { memoize } from "./memoize.ts";

/** The key of a plan: plans hold no bound values, so its JSON is one already. Plans are built in a fixed key order by
 *  the surfaces. */
export const planKey = (plan: unknown): string => JSON.stringify(plan);

/** 22 characters; equal for equal contents. */
export const shortKey = memoize((plan: object): string =>
  createHash("sha256").update(planKey(plan)).digest("base64url").slice(0, 22),
);
