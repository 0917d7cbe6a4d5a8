/** pg asks `navigator` where it runs. Node 20 has none, and there pg makes a `Response`, for which Node loads all of
 *  `fetch`: a third of what loading this package costs. So there is one while pg loads, as later versions have it. */
const had = "navigator" in globalThis;

if (!had)
  Object.defineProperty(globalThis, "navigator", {
    value: { userAgent: `Node.js/${process.versions.node.split(".")[0]}` },
    configurable: true,
  });

/** Call it when pg has been loaded. */
export const afterPg = (): void => {
  if (!had) delete (globalThis as { navigator?: unknown }).navigator;
};
