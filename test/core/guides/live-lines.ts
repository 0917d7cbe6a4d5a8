import { definePlugin, RelApiError } from "../../../core/index.ts";
import { liveQueriesService } from "../../../plugins/live/api.ts";
import { graphqlService, type GqlEngine } from "../../../plugins/graphql/api.ts";

/** `POST /live-lines` with a GraphQL request: each answer of the live query as a line of JSON. */
export const liveLines = definePlugin({
  name: "live-lines",
  requires: ["live-queries"],
  before: ["graphql", "rest"], // so that this surface is asked first
  apply: (_hooks, context) => {
    const engine = (): GqlEngine => {
      const service = context.use(graphqlService);
      if (service === undefined) throw new Error("live-lines serves GraphQL: compose it with gqlCompat");
      return service;
    };
    context.addSurface({
      name: "graphql", // the permissions of this surface apply
      get credentialRules() {
        return engine().credentialRules;
      },
      match: (path, method) => method === "POST" && path === "/live-lines",
      handle: async (exchange) => {
        const request = engine().readRequest(engine().parseJson((await exchange.body()).toString("utf8")));
        if ((await engine().prepare(request, exchange.session)).operation === "mutation")
          throw new RelApiError({
            code: "bad-request",
            status: 400,
            message: "a mutation cannot be a live query",
            path: "$",
          });
        const live = context.use(liveQueriesService)!; // this plugin requires it
        const source = live.graphqlSource(engine(), request, exchange.session);
        await source.plan(); // an error of the request is sent before the lines begin
        return {
          status: 200,
          headers: [["Content-Type", "application/x-ndjson"]],
          stream: (response) => {
            const stop = live.subscribe(source, {
              answer: ({ text, isError }) => void response.write(`${isError ? text : `{"data":${text}}`}\n`),
              end: (error) => void response.end(error === undefined ? "" : `${source.encodeError(error)}\n`),
            });
            response.on("close", stop);
          },
        };
      },
      encodeError: (error, { session }) => ({
        status: 200,
        headers: [["Content-Type", "application/json; charset=utf-8"]],
        body: engine().encodeErrors(error, session).body,
      }),
    });
  },
});
