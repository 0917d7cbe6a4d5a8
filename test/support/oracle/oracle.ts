/**
 * The oracle: sends requests in random orders to a warm server, and compares each response with that of a server that
 * caches nothing. An incomplete cache key shows as a difference, which is reduced to the cached request and the one
 * that got its response. Both servers roll every transaction back.
 */
import type { StartOptions, TestApi } from "../api.ts";
import { sendRequest, type Answer, type HeaderValues } from "../http.ts";
import { createRandom, type Random } from "../random.ts";
import { Agent } from "node:http";

/** Settings of a server that parses, plans and compiles each request again, and lets the database do the same. */
export const NO_CACHING = {
  cacheBytes: 0,
  jwtCacheMaxEntries: 0,
  dbPreparedStatements: false,
} as const satisfies StartOptions;

export interface OracleRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: HeaderValues;
  readonly body?: unknown;
}

interface Difference {
  /** The shortest sequence of requests that was found. The last one got the wrong response. */
  readonly requests: readonly OracleRequest[];
  readonly expected: string;
  readonly actual: string;
}

interface Verdict {
  readonly differences: readonly Difference[];
  readonly comparedCount: number;
  /** The number of requests that were answered without an error. */
  readonly fineCount: number;
  /** Requests that are not compared, because their responses differ each time. */
  readonly unsteady: readonly OracleRequest[];
}

interface OracleOptions {
  readonly start: (options: StartOptions) => Promise<TestApi>;
  readonly options: StartOptions;
  readonly seed: number;
  /** The number of times that the warm server receives all requests, each time in another order. */
  readonly rounds?: number;
  /** The time for reducing differences. Later ones are reported unreduced. */
  readonly shorteningMs?: number;
}

/** Headers that differ on every request, depend on the order of connections, or say whether a body is streamed. */
const UNCOMPARED_HEADERS = new Set([
  "date",
  "server-timing",
  "x-request-id",
  "keep-alive",
  "connection",
  "transfer-encoding",
]);

const CALLERS = 4;
const PATIENCE_MS = 120_000;

type Send = (request: OracleRequest) => Promise<string>;

/**
 * The facts of a connection that `caller_settings` (test/support/caller-settings.ts) returns: its number, and whether
 * a setting was ever made on it.
 */
const CONNECTION = /"name":"pid","value":"\d+"|,"value":(null|"")|(?<=^pid,)\d+|(?<=^[a-z_.]+,)""$/gm;

/** The visible parts of a response as text, without the server's port. */
const summarizeAnswer = (answer: Answer, port: number): string => {
  const hasCallerSettings = /"name":"(?:pid|session\.|hasura\.|request\.)|^pid,\d/m.test(answer.text);
  // The length of a compressed body is unknown if the body is streamed.
  const hasOwnLength = hasCallerSettings || answer.rawHeaders.some(([name]) => name === "Content-Encoding");
  const headers = answer.rawHeaders.filter(
    ([name]) => !UNCOMPARED_HEADERS.has(name.toLowerCase()) && !(hasOwnLength && name === "Content-Length"),
  );
  const isText = Buffer.from(answer.text, "utf8").equals(answer.bytes);
  const body = (isText ? answer.text : answer.bytes.toString("base64")).replaceAll(
    `127.0.0.1:${port}`,
    "127.0.0.1:port",
  );
  return [
    `${answer.status} ${answer.statusText}`,
    ...headers.map(([name, header]) => `${name}: ${header}`),
    "",
    hasCallerSettings ? body.replace(CONNECTION, "-") : body,
  ].join("\n");
};

/** Removes numbers of sequences and times, which advance despite the rollback, and the length that they change. */
const withoutNumbers = (facts: string): string => facts.replace(/\d+/g, "#");

const PLANNING = {
  // One plan for all values, from the first execution on: PostgreSQL then repeats no checks, and evaluates no operand
  // while planning, which only one of the servers would report.
  plan_cache_mode: "force_generic_plan",
  // A fixed join order, independent of statistics, so that unordered rows arrive in the same order.
  join_collapse_limit: "1",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_hashagg: "off",
  enable_indexscan: "off",
  enable_indexonlyscan: "off",
  enable_bitmapscan: "off",
};

/** Fixes how PostgreSQL plans the oracle's requests. */
export const useSteadyPlans = async (sql: TestApi["sql"]): Promise<void> => {
  for (const [name, value] of Object.entries(PLANNING)) {
    await sql(`do $$ begin execute format('alter database %I set ${name} = ${value}', current_database()); end $$`);
    await sql(`set ${name} = ${value}`); // the embedded database has one backend
  }
};

const createClient = (api: TestApi): { readonly send: Send; readonly close: () => Promise<void> } => {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  return {
    send: ({ method, path, headers, body }) => {
      let timer: NodeJS.Timeout | undefined;
      const tooLate = new Promise<string>((resolve) => {
        timer = setTimeout(() => resolve("no answer in time"), PATIENCE_MS);
      });
      const response = sendRequest({ port: api.port, agent }, method, path, { headers: headers ?? {}, body }).then(
        (answer) => summarizeAnswer(answer, api.port),
        (error: Error) => `no answer: ${error.message}`,
      );
      return Promise.race([response, tooLate]).finally(() => clearTimeout(timer));
    },
    close: async () => {
      agent.destroy();
      await api.close();
    },
  };
};

/** Sends requests with this concurrency. */
const sendAll = async (
  send: Send,
  requests: readonly OracleRequest[],
  onResponse: (request: OracleRequest, facts: string, index: number) => void,
): Promise<void> => {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < requests.length) {
      const index = next++;
      const request = requests[index]!;
      onResponse(request, await send(request), index);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
};

export const formatRequest = ({ method, path, headers = {}, body }: OracleRequest): string => {
  const lines = Object.entries(headers)
    .filter(([, header]) => header !== undefined && header !== null)
    .map(([name, header]) => `    ${name}: ${String(header)}`);
  const text =
    body === undefined
      ? []
      : [
          `    ${typeof body === "string" ? body : body instanceof Uint8Array ? Buffer.from(body).toString("latin1") : JSON.stringify(body)}`,
        ];
  return [`  ${method} ${path}`, ...lines, ...text].join("\n").slice(0, 2000);
};

/** One line, with the seed that repeats the run. */
export const summary = (
  { differences, comparedCount, fineCount, unsteady }: Verdict,
  seed: number,
  requests: readonly OracleRequest[],
): string =>
  `oracle, SEED=${seed}: ${requests.length} requests, ${fineCount} without an error; ${comparedCount} answers compared, ${unsteady.length} unsteady, ${differences.length} differ`;

const MAX_SHOWN = 8;

export const report = ({ requests, expected, actual }: Difference): string =>
  [
    ...(requests.length > MAX_SHOWN ? [`  (${requests.length - MAX_SHOWN} requests, not cut down)`] : []),
    ...requests.slice(-MAX_SHOWN).map(formatRequest),
    `  alone:  ${expected.slice(0, 700).replaceAll("\n", "\n          ")}`,
    `  shared: ${actual.slice(0, 700).replaceAll("\n", "\n          ")}`,
  ].join("\n");

/** Compares the servers. @throws errors of a server that cannot start */
export const consult = async (
  requests: readonly OracleRequest[],
  { start, options, seed, rounds = 2, shorteningMs = 20_000 }: OracleOptions,
): Promise<Verdict> => {
  const random = createRandom(seed);
  const common: StartOptions = {
    ...options,
    dbTxEnd: "rollback",
    dbPool: 1,
    dbChannelEnabled: false,
    logLevel: "silent",
  };
  const open = async (overrides: StartOptions) => createClient(await start({ ...common, ...overrides }));

  const oracle = await open(NO_CACHING);
  const expected = new Map<OracleRequest, string>();
  await sendAll(oracle.send, requests, (request, facts) => expected.set(request, facts));

  const unsteady = new Set<OracleRequest>();
  /** Returns whether the response differs. If the oracle's own response varies, numbers are ignored. If it still varies,
   *  the request is not compared. */
  const isDifferent = async (request: OracleRequest, actual: string): Promise<boolean> => {
    const first = expected.get(request)!;
    if (actual === first) return false;
    const repeats = [await oracle.send(request), await oracle.send(request)];
    if (repeats.every((facts) => facts === first)) return true;
    if (repeats.includes(actual)) return false;
    if (repeats.some((facts) => withoutNumbers(facts) !== withoutNumbers(first))) {
      unsteady.add(request);
      return false;
    }
    return withoutNumbers(actual) !== withoutNumbers(first);
  };

  const suspects: {
    readonly request: OracleRequest;
    readonly actual: string;
    readonly priorRequests: readonly OracleRequest[];
  }[] = [];
  const warmServer = await open({});
  const history: OracleRequest[] = [];
  for (let round = 0; round < rounds; round++) {
    const order = random.shuffle(requests);
    const start = history.length;
    history.push(...order);
    await sendAll(warmServer.send, order, (request, actual, index) => {
      if (actual !== expected.get(request))
        suspects.push({ request, actual, priorRequests: history.slice(0, start + index) });
    });
  }
  await warmServer.close();

  const confirmedSuspects: (typeof suspects)[number][] = [];
  for (const suspect of suspects) {
    if (
      !confirmedSuspects.some(({ request }) => request === suspect.request) &&
      (await isDifferent(suspect.request, suspect.actual))
    )
      confirmedSuspects.push(suspect);
  }

  /** Sends these requests in order to a new server. Returns the last response if it is wrong. */
  const replay = async (
    priorRequests: readonly OracleRequest[],
    request: OracleRequest,
  ): Promise<string | undefined> => {
    const freshServer = await open({});
    for (const prior of priorRequests) await freshServer.send(prior);
    const actual = await freshServer.send(request);
    await freshServer.close();
    return (await isDifferent(request, actual)) ? actual : undefined;
  };

  const differences: Difference[] = [];
  const endMs = performance.now() + shorteningMs;
  for (const { request, actual, priorRequests } of confirmedSuspects) {
    const shortHistory = await shorten(request, priorRequests, async (remainingRequests, last) =>
      performance.now() > endMs ? undefined : replay(remainingRequests, last),
    );
    differences.push({
      requests: [...shortHistory.priorRequests, request],
      expected: expected.get(request)!,
      actual: shortHistory.actual ?? actual,
    });
  }
  await oracle.close();
  const fineCount = [...expected.values()].filter(
    (facts) => facts.startsWith("2") && !facts.includes('{"errors"'),
  ).length;
  return { differences, comparedCount: requests.length * rounds, fineCount, unsteady: [...unsteady] };
};

const STATEMENT_REPEATS = 6; // PostgreSQL looks at a generic plan from the sixth execution on

const MAX_HISTORY = 400;

/** The fewest requests after which the response is wrong: none, one of the same address, or the result of halving. */
const shorten = async (
  request: OracleRequest,
  priorRequests: readonly OracleRequest[],
  replay: (priorRequests: readonly OracleRequest[], request: OracleRequest) => Promise<string | undefined>,
): Promise<{ readonly priorRequests: readonly OracleRequest[]; readonly actual: string | undefined }> => {
  const soloActual = await replay([], request);
  if (soloActual !== undefined) return { priorRequests: [], actual: soloActual };
  const isRelated = (candidate: OracleRequest): boolean =>
    candidate !== request &&
    candidate.path === request.path &&
    (candidate.path.startsWith("/v1/") ? isSameDocument(candidate.body, request.body) : true);
  for (const candidate of [...new Set(priorRequests.filter(isRelated))].slice(-12)) {
    const actual = await replay([candidate], request);
    if (actual !== undefined) return { priorRequests: [candidate], actual };
  }
  const repeatedActual = await replay(
    Array.from({ length: STATEMENT_REPEATS }, () => request),
    request,
  );
  if (repeatedActual !== undefined)
    return { priorRequests: Array.from({ length: STATEMENT_REPEATS }, () => request), actual: repeatedActual };
  let remainingRequests = priorRequests.slice(-MAX_HISTORY);
  let actual = await replay(remainingRequests, request);
  if (actual === undefined) return { priorRequests: [], actual: undefined };
  for (
    let size = Math.ceil(remainingRequests.length / 2);
    size >= 1 && remainingRequests.length > 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let start = 0; start < remainingRequests.length && remainingRequests.length > 1;) {
      const reducedRequests = [...remainingRequests.slice(0, start), ...remainingRequests.slice(start + size)];
      const reducedActual = await replay(reducedRequests, request);
      if (reducedActual === undefined) start += size;
      else [remainingRequests, actual] = [reducedRequests, reducedActual];
    }
    // Many requests contribute, so reducing the failure more is not useful.
    if (remainingRequests.length > 40 && size < remainingRequests.length / 8) break;
  }
  return { priorRequests: remainingRequests, actual };
};

const isSameDocument = (a: unknown, b: unknown): boolean => {
  const readDocument = (body: unknown): unknown =>
    typeof body === "object" && body !== null && "query" in body ? body.query : body;
  return readDocument(a) === readDocument(b);
};

const PREFERENCES = [
  "count=exact",
  "return=representation",
  "return=minimal",
  "return=headers-only",
  "handling=strict",
  "handling=lenient",
  "missing=default",
  "missing=null",
  "resolution=merge-duplicates",
  "resolution=ignore-duplicates",
  "max-affected=1",
  "max-affected=1, handling=strict",
  "timezone=Europe/Oslo",
  "tx=rollback",
  "handling=strict, unknown=1",
];
const RANGES = ["0-1", "0-0", "1-", "1-1", "2-5", "0-", "9-12", "3-1"];
const TYPES = [
  "*/*",
  "application/json",
  "application/json, */*",
  "text/csv",
  "text/csv;q=0.5, application/json",
  "application/vnd.pgrst.object+json",
  "application/vnd.pgrst.array+json;nulls=stripped",
  "application/vnd.pgrst.object+json;nulls=stripped",
  "application/geo+json",
  "application/octet-stream",
  "text/plain",
  "text/html",
  "image/png;q=0.5, application/json",
  "application/unknown",
];
const PROFILES = ["sea", "sea", "land", "public", "hold"];

/** The possible mutations. `callers` contains the headers of the callers. */
export interface Mutation {
  readonly callers: readonly HeaderValues[];
  readonly countPerRequest: number;
}

const CALLER_HEADERS = /^(authorization|x-(session|hasura)-.*)$/i;

export const pickCallerHeaders = (headers: HeaderValues = {}): HeaderValues =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => CALLER_HEADERS.test(name)));

const withHeader = (request: OracleRequest, name: string, header: string | undefined): OracleRequest => {
  const otherHeaders = Object.entries(request.headers ?? {}).filter(([key]) => key.toLowerCase() !== name);
  return {
    ...request,
    headers: Object.fromEntries(header === undefined ? otherHeaders : [...otherHeaders, [name, header]]),
  };
};

const getHeader = (request: OracleRequest, name: string): string | undefined => {
  const header = Object.entries(request.headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
  return header === undefined || header === null ? undefined : String(header);
};

const asCaller = (request: OracleRequest, caller: HeaderValues): OracleRequest => {
  const otherHeaders = Object.entries(request.headers ?? {}).filter(([name]) => !CALLER_HEADERS.test(name));
  return { ...request, headers: { ...Object.fromEntries(otherHeaders), ...caller } };
};

/** The same request with another header, caller or method. */
export const mutate = (request: OracleRequest, random: Random, { callers }: Mutation): OracleRequest => {
  const isGraphql = request.path.includes("graphql");
  switch (random.int(isGraphql ? 2 : 10)) {
    case 0:
    case 1:
    case 7:
      return callers.length === 0 ? request : asCaller(request, random.pick(callers));
    case 2:
    case 8:
      return withHeader(request, "range", random.chance(0.2) ? undefined : random.pick(RANGES));
    case 3:
    case 9: {
      const prefer = getHeader(request, "prefer");
      const preference = random.pick(PREFERENCES);
      return withHeader(
        request,
        "prefer",
        random.chance(0.2)
          ? undefined
          : prefer === undefined || random.chance(0.4)
            ? preference
            : random.chance(0.5)
              ? `${prefer}, ${preference}`
              : `${preference}, ${prefer}`,
      );
    }
    case 4:
      return withHeader(request, "accept", random.chance(0.2) ? undefined : random.pick(TYPES));
    case 5:
      return withHeader(
        request,
        random.chance(0.7) === (request.method === "GET" || request.method === "HEAD")
          ? "accept-profile"
          : "content-profile",
        random.chance(0.2) ? undefined : random.pick(PROFILES),
      );
    default:
      return request.method === "GET" || request.method === "HEAD"
        ? { ...request, method: request.method === "GET" ? "HEAD" : "GET" }
        : withHeader(request, "content-type", random.chance(0.5) ? "text/csv" : undefined);
  }
};

/** Adds mutations, one or two steps away from each request. */
export const withMutations = (
  requests: readonly OracleRequest[],
  random: Random,
  mutation: Mutation,
): OracleRequest[] => {
  const requestByText = new Map<string, OracleRequest>();
  const add = (request: OracleRequest): void => void requestByText.set(formatRequest(request), request);
  for (const request of requests) {
    add(request);
    for (let count = 0; count < mutation.countPerRequest; count++) {
      const mutant = mutate(request, random, mutation);
      add(random.chance(0.3) ? mutate(mutant, random, mutation) : mutant);
    }
  }
  return [...requestByText.values()];
};
