/** Sends the requests of a scenario as fast as the server responds. */
import autocannon from "autocannon";
import type { LoadRequest, Scenario } from "./data.ts";

export interface LoadOptions {
  readonly port: number;
  readonly scenario: Scenario;
  readonly isGraphql: boolean;
  readonly seconds: number;
  readonly connections: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes the request for a key, in place of the requests of the scenario. */
  readonly ask?: (key: number) => LoadRequest;
}

export interface Load {
  readonly count: number;
  readonly perSecond: number;
  /** The 99th percentile in milliseconds. */
  readonly p99: number;
}

const JSON_TYPE = { "content-type": "application/json" };

const buildRequest = ({ rest, graphql, body }: Scenario, isGraphql: boolean, key: number): LoadRequest => {
  if (isGraphql) {
    const variables = body === undefined ? `{"id":${key}}` : `{"objects":${body}}`;
    const operation = `{"query":${JSON.stringify(graphql)},"variables":${variables}}`;
    return { method: "POST", path: "/v1/graphql", headers: JSON_TYPE, body: operation };
  }
  return body === undefined
    ? { method: "GET", path: rest(key) }
    : { method: "POST", path: rest(key), headers: JSON_TYPE, body };
};

/** Sends requests to a server, and measures their times. @throws Error if a request fails */
export const load = async ({
  port,
  scenario,
  isGraphql,
  seconds,
  connections,
  headers,
  ask = (key) => buildRequest(scenario, isGraphql, key),
}: LoadOptions): Promise<Load> => {
  let key = 0;
  const next = (): number => 1 + ((key += 7919) % scenario.keys);
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    requests: [
      {
        setupRequest: (request) => {
          const loadRequest = ask(next());
          return { ...request, ...loadRequest, headers: { ...loadRequest.headers, ...headers } };
        },
      },
    ],
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} were no 2xx, ${result.errors} failed`);
  return { count: result.requests.total, perSecond: result.requests.total / result.duration, p99: result.latency.p99 };
};
