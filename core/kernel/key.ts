/** The key of a plan: plans hold no bound values, so its JSON is one already. Plans are built in a fixed key order by
 *  the surfaces. */
export const planKey = (plan: unknown): string => JSON.stringify(plan);
