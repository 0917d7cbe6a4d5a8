import { createHash } from "node:crypto";

/** The key of a plan: plans hold no bound values, so its JSON is one already. Plans are built in a fixed key order by
 *  the surfaces. */
export const planKey = (plan: unknown): string => JSON.stringify(plan);

const shortKeys = new WeakMap<object, string>();

/** 22 characters; equal for equal contents. */
export const shortKey = (plan: object): string => {
  let key = shortKeys.get(plan);
  if (key === undefined) {
    key = createHash("sha256").update(planKey(plan)).digest("base64url").slice(0, 22);
    shortKeys.set(plan, key);
  }
  return key;
};
