/** Sends requests to both surfaces over persistent connections until stopped. */
import { Agent, request } from "node:http";

export interface Failure {
  readonly atMs: number;
  readonly problem: string;
}

export interface Outcome {
  readonly sentCount: number;
  readonly failures: readonly Failure[];
  /** The values whose write succeeded. */
  readonly writtenValues: readonly number[];
  readonly slowestMs: number;
}

export interface Load {
  /** The results since the last call of `take`. */
  take(): Outcome;
  /** The number of requests sent since the last call of `take`. */
  sentCount(): number;
  /** The time of the last failure, 0 if there was no failure. */
  lastFailureMs(): number;
  stop(): Promise<Outcome>;
}

interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** A time longer than any limit of the server. A request that takes longer counts as unanswered. */
const PATIENCE_MS = 60_000;

export const send = (
  url: string,
  agent: Agent | undefined,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> =>
  new Promise((resolve, reject) => {
    const clientRequest = request(url + path, {
      method,
      ...(agent === undefined ? {} : { agent }),
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      timeout: PATIENCE_MS,
    });
    clientRequest.on("response", (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    clientRequest.on("timeout", () => clientRequest.destroy(new Error("no answer")));
    clientRequest.on("error", reject);
    clientRequest.end(body === undefined ? undefined : JSON.stringify(body));
  });

export interface LoadOptions {
  readonly url: string;
  /** A column of the relation for whole numbers. If absent, nothing is written. */
  readonly writes?: { readonly relation: string; readonly column: string };
  readonly rest: string;
  readonly graphql: string;
  readonly headers?: (() => Readonly<Record<string, string>>) | undefined;
  /** The number of workers of each kind. */
  readonly workers?: number;
  /** The pause between two requests of a worker. */
  readonly pauseMs?: number;
}

export const startLoad = (options: LoadOptions): Load => {
  const { url, writes, rest, graphql, headers = () => ({}), workers = 4, pauseMs = 0 } = options;
  const agent = new Agent({ keepAlive: true });
  let isOver = false;
  let sentCount = 0;
  let slowestMs = 0;
  let failures: Failure[] = [];
  let writtenValues: number[] = [];
  let next = 0;
  let lastFailureMs = 0;
  const work = async (ask: () => Promise<string | undefined>): Promise<void> => {
    while (!isOver) {
      const startedAtMs = performance.now();
      sentCount++;
      const problem = await ask().catch((error: Error) => `${(error as NodeJS.ErrnoException).code ?? error.message}`);
      slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
      if (problem !== undefined) {
        lastFailureMs = Date.now();
        failures.push({ atMs: lastFailureMs, problem });
      }
      // After an immediate rejection, the pause prevents ten thousand requests per second.
      const pause = problem === undefined ? pauseMs : Math.max(20, pauseMs);
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };
  const byRest = async (): Promise<string | undefined> => {
    const { status, text } = await send(url, agent, "GET", rest, undefined, headers());
    return status === 200 ? undefined : `REST ${status} ${text.slice(0, 200)}`;
  };
  const byGraphql = async (): Promise<string | undefined> => {
    const { status, text } = await send(url, agent, "POST", "/v1/graphql", { query: graphql }, headers());
    return status === 200 && text.startsWith('{"data"') ? undefined : `GraphQL ${status} ${text.slice(0, 200)}`;
  };
  const byWriting = async (): Promise<string | undefined> => {
    if (writes === undefined) return undefined;
    const value = ++next;
    const { status, text } = await send(
      url,
      agent,
      "POST",
      `/api/${writes.relation}`,
      { [writes.column]: value },
      headers(),
    );
    if (status !== 201) return `write ${status} ${text.slice(0, 200)}`;
    writtenValues.push(value);
    return undefined;
  };
  const kinds = writes === undefined ? [byRest, byGraphql] : [byRest, byGraphql, byWriting];
  const running = kinds.flatMap((kind) => Array.from({ length: workers }, () => work(kind)));
  const take = (): Outcome => {
    const outcome = { sentCount, failures, writtenValues, slowestMs };
    [sentCount, failures, writtenValues, slowestMs] = [0, [], [], 0];
    return outcome;
  };
  return {
    take,
    sentCount: () => sentCount,
    lastFailureMs: () => lastFailureMs,
    stop: async () => {
      isOver = true;
      await Promise.all(running);
      agent.destroy();
      return take();
    },
  };
};
