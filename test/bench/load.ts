/** Requests of a scenario, as fast as a server answers them. */
import autocannon from "autocannon";
import type { Scenario } from "./data.ts";

export interface LoadOptions {
  readonly port: number;
  readonly scenario: Scenario;
  readonly isGraphql: boolean;
  readonly seconds: number;
  readonly connections: number;
}

export interface Load {
  readonly count: number;
  readonly perSecond: number;
  /** In milliseconds. */
  readonly p99: number;
}

/** @throws Error if a request fails */
export const load = async ({ port, scenario, isGraphql, seconds, connections }: LoadOptions): Promise<Load> => {
  let key = 0;
  const next = (): number => 1 + ((key += 7919) % scenario.keys);
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    requests: [
      {
        setupRequest: (request) =>
          isGraphql
            ? {
                ...request,
                method: "POST",
                path: "/v1/graphql",
                headers: { "content-type": "application/json" },
                body: JSON.stringify({ query: scenario.graphql, variables: { id: next() } }),
              }
            : { ...request, method: "GET", path: scenario.rest(next()) },
      },
    ],
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} were no 2xx, ${result.errors} failed`);
  return { count: result.requests.total, perSecond: result.requests.total / result.duration, p99: result.latency.p99 };
};
