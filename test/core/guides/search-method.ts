import { definePlugin, type Exchange } from "../../../core/index.ts";
import type { RestHandler } from "../../../plugins/rest/api.ts";

/** `SEARCH /artist` with the query string as its body, for filters that are too long for a URL. */
export const searchMethod = definePlugin({
  name: "search-method",
  requires: ["rest"],
  apply: (hooks) => {
    hooks.buildRestRoute.tap("search-method", (route) => {
      const get = route.methods.get("GET");
      if (route.target.kind !== "relation" || get === undefined) return route;
      const search: RestHandler = async (exchange, target) => {
        const query = (await exchange.body()).toString("utf8");
        const asGet: Exchange = Object.create(exchange, { method: { value: "GET" }, query: { value: query } });
        return get(asGet, target);
      };
      return { ...route, methods: new Map([...route.methods, ["SEARCH", search]]) };
    });
  },
});
