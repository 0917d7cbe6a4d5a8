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
export const KEEPS_NOTHING = {
  cacheBytes: 0,
  jwtCacheMaxEntries: 0,
  dbPreparedStatements: false,
} as const satisfies StartOptions;

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: HeaderValues;
  readonly body?: unknown;
}

interface Difference {
  /** The shortest sequence of requests that was found. The last one got the wrong response. */
  readonly requests: readonly Asked[];
  readonly wanted: string;
  readonly got: string;
}

interface Verdict {
  readonly differences: readonly Difference[];
  readonly comparedCount: number;
  /** The number of requests that were answered without an error. */
  readonly fineCount: number;
  /** Requests that are not compared, because their responses differ each time. */
  readonly unsteady: readonly Asked[];
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
const UNCOMPARED = new Set(["date", "server-timing", "x-request-id", "keep-alive", "connection", "transfer-encoding"]);

const CALLERS = 4;
const PATIENCE_MS = 120_000;

type Ask = (asked: Asked) => Promise<string>;

/**
 * The connection facts that `seen` (test/support/sight.ts) returns: its number, and whether a setting was ever made on
 * it.
 */
const CONNECTION = /"name":"pid","value":"\d+"|,"value":(null|"")|(?<=^pid,)\d+|(?<=^[a-z_.]+,)""$/gm;

/** The visible parts of a response as text, without the server's port. */
const factsOf = (answer: Answer, port: number): string => {
  const isSight = /"name":"(?:pid|session\.|hasura\.|request\.)|^pid,\d/m.test(answer.text);
  // the length of a compressed body is unknown if the body is streamed
  const hasOwnLength = isSight || answer.rawHeaders.some(([name]) => name === "Content-Encoding");
  const headers = answer.rawHeaders.filter(
    ([name]) => !UNCOMPARED.has(name.toLowerCase()) && !(hasOwnLength && name === "Content-Length"),
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
    isSight ? body.replace(CONNECTION, "-") : body,
  ].join("\n");
};

/** Removes numbers of sequences and times, which advance despite the rollback, and the length that they change. */
const withoutNumbers = (facts: string): string => facts.replace(/\d+/g, "#");

const PLANNING = {
  // one plan for all values, from the first execution on: PostgreSQL then repeats no checks, and evaluates no operand
  // while planning, which only one of the servers would report
  plan_cache_mode: "force_generic_plan",
  // a fixed join order, independent of statistics, so that unordered rows arrive in the same order
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

const asker = (api: TestApi): { readonly ask: Ask; readonly close: () => Promise<void> } => {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  return {
    ask: ({ method, path, headers, body }) => {
      let timer: NodeJS.Timeout | undefined;
      const tooLate = new Promise<string>((resolve) => {
        timer = setTimeout(() => resolve("no answer in time"), PATIENCE_MS);
      });
      const answered = sendRequest({ port: api.port, agent }, method, path, { headers: headers ?? {}, body }).then(
        (answer) => factsOf(answer, api.port),
        (error: Error) => `no answer: ${error.message}`,
      );
      return Promise.race([answered, tooLate]).finally(() => clearTimeout(timer));
    },
    close: async () => {
      agent.destroy();
      await api.close();
    },
  };
};

/** Sends requests with this concurrency. */
const askAll = async (
  ask: Ask,
  all: readonly Asked[],
  heard: (asked: Asked, facts: string, at: number) => void,
): Promise<void> => {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < all.length) {
      const at = next++;
      const asked = all[at]!;
      heard(asked, await ask(asked), at);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
};

export const shown = ({ method, path, headers = {}, body }: Asked): string => {
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
  requests: readonly Asked[],
): string =>
  `oracle, SEED=${seed}: ${requests.length} requests, ${fineCount} without an error; ${comparedCount} answers compared, ${unsteady.length} unsteady, ${differences.length} differ`;

const MAX_SHOWN = 8;

export const report = ({ requests, wanted, got }: Difference): string =>
  [
    ...(requests.length > MAX_SHOWN ? [`  (${requests.length - MAX_SHOWN} requests, not cut down)`] : []),
    ...requests.slice(-MAX_SHOWN).map(shown),
    `  alone:  ${wanted.slice(0, 700).replaceAll("\n", "\n          ")}`,
    `  shared: ${got.slice(0, 700).replaceAll("\n", "\n          ")}`,
  ].join("\n");

/** Compares the servers. @throws errors of a server that cannot start */
export const consult = async (
  requests: readonly Asked[],
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
  const open = async (more: StartOptions) => asker(await start({ ...common, ...more }));

  const oracle = await open(KEEPS_NOTHING);
  const wanted = new Map<Asked, string>();
  await askAll(oracle.ask, requests, (asked, facts) => wanted.set(asked, facts));

  const unsteady = new Set<Asked>();
  /** Returns whether the response differs. If the oracle's own response varies, numbers are ignored. If it still varies,
   *  the request is not compared. */
  const isDifferent = async (asked: Asked, got: string): Promise<boolean> => {
    const first = wanted.get(asked)!;
    if (got === first) return false;
    const again = [await oracle.ask(asked), await oracle.ask(asked)];
    if (again.every((facts) => facts === first)) return true;
    if (again.includes(got)) return false;
    if (again.some((facts) => withoutNumbers(facts) !== withoutNumbers(first))) {
      unsteady.add(asked);
      return false;
    }
    return withoutNumbers(got) !== withoutNumbers(first);
  };

  const suspects: { readonly asked: Asked; readonly got: string; readonly before: readonly Asked[] }[] = [];
  const warm = await open({});
  const history: Asked[] = [];
  for (let round = 0; round < rounds; round++) {
    const order = random.shuffled(requests);
    const start = history.length;
    history.push(...order);
    await askAll(warm.ask, order, (asked, got, at) => {
      if (got !== wanted.get(asked)) suspects.push({ asked, got, before: history.slice(0, start + at) });
    });
  }
  await warm.close();

  const found: (typeof suspects)[number][] = [];
  for (const suspect of suspects) {
    if (!found.some(({ asked }) => asked === suspect.asked) && (await isDifferent(suspect.asked, suspect.got)))
      found.push(suspect);
  }

  /** Sends these requests in order to a new server. Returns the last response if it is wrong. */
  const replay = async (before: readonly Asked[], asked: Asked): Promise<string | undefined> => {
    const fresh = await open({});
    for (const one of before) await fresh.ask(one);
    const got = await fresh.ask(asked);
    await fresh.close();
    return (await isDifferent(asked, got)) ? got : undefined;
  };

  const differences: Difference[] = [];
  const endMs = performance.now() + shorteningMs;
  for (const { asked, got, before } of found) {
    const short = await shorten(asked, before, async (some, one) =>
      performance.now() > endMs ? undefined : replay(some, one),
    );
    differences.push({ requests: [...short.before, asked], wanted: wanted.get(asked)!, got: short.got ?? got });
  }
  await oracle.close();
  const fineCount = [...wanted.values()].filter(
    (facts) => facts.startsWith("2") && !facts.includes('{"errors"'),
  ).length;
  return { differences, comparedCount: requests.length * rounds, fineCount, unsteady: [...unsteady] };
};

const STATEMENT_REPEATS = 6; // PostgreSQL looks at a generic plan from the sixth execution on

const MAX_HISTORY = 400;

/** The fewest requests after which the response is wrong: none, one of the same address, or the result of halving. */
const shorten = async (
  asked: Asked,
  before: readonly Asked[],
  replay: (before: readonly Asked[], asked: Asked) => Promise<string | undefined>,
): Promise<{ readonly before: readonly Asked[]; readonly got: string | undefined }> => {
  const alone = await replay([], asked);
  if (alone !== undefined) return { before: [], got: alone };
  const kin = (other: Asked): boolean =>
    other !== asked &&
    other.path === asked.path &&
    (other.path.startsWith("/v1/") ? sameDocument(other.body, asked.body) : true);
  for (const other of [...new Set(before.filter(kin))].slice(-12)) {
    const got = await replay([other], asked);
    if (got !== undefined) return { before: [other], got };
  }
  const repeated = await replay(
    Array.from({ length: STATEMENT_REPEATS }, () => asked),
    asked,
  );
  if (repeated !== undefined) return { before: Array.from({ length: STATEMENT_REPEATS }, () => asked), got: repeated };
  let left = before.slice(-MAX_HISTORY);
  let got = await replay(left, asked);
  if (got === undefined) return { before: [], got: undefined };
  for (
    let size = Math.ceil(left.length / 2);
    size >= 1 && left.length > 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < left.length && left.length > 1;) {
      const without = [...left.slice(0, at), ...left.slice(at + size)];
      const still = await replay(without, asked);
      if (still === undefined) at += size;
      else [left, got] = [without, still];
    }
    // many requests contribute, so reducing further is not useful
    if (left.length > 40 && size < left.length / 8) break;
  }
  return { before: left, got };
};

const sameDocument = (one: unknown, other: unknown): boolean => {
  const documentOf = (body: unknown): unknown =>
    typeof body === "object" && body !== null && "query" in body ? body.query : body;
  return documentOf(one) === documentOf(other);
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

export const callerOf = (headers: HeaderValues = {}): HeaderValues =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => CALLER_HEADERS.test(name)));

const withHeader = (asked: Asked, name: string, header: string | undefined): Asked => {
  const others = Object.entries(asked.headers ?? {}).filter(([each]) => each.toLowerCase() !== name);
  return { ...asked, headers: Object.fromEntries(header === undefined ? others : [...others, [name, header]]) };
};

const headerOf = (asked: Asked, name: string): string | undefined => {
  const found = Object.entries(asked.headers ?? {}).find(([each]) => each.toLowerCase() === name)?.[1];
  return found === undefined || found === null ? undefined : String(found);
};

const asCaller = (asked: Asked, caller: HeaderValues): Asked => {
  const others = Object.entries(asked.headers ?? {}).filter(([name]) => !CALLER_HEADERS.test(name));
  return { ...asked, headers: { ...Object.fromEntries(others), ...caller } };
};

/** The same request with another header, caller or method. */
export const mutate = (asked: Asked, random: Random, { callers }: Mutation): Asked => {
  const isGraphql = asked.path.includes("graphql");
  switch (random.int(isGraphql ? 2 : 10)) {
    case 0:
    case 1:
    case 7:
      return callers.length === 0 ? asked : asCaller(asked, random.pick(callers));
    case 2:
    case 8:
      return withHeader(asked, "range", random.chance(0.2) ? undefined : random.pick(RANGES));
    case 3:
    case 9: {
      const prefer = headerOf(asked, "prefer");
      const more = random.pick(PREFERENCES);
      return withHeader(
        asked,
        "prefer",
        random.chance(0.2)
          ? undefined
          : prefer === undefined || random.chance(0.4)
            ? more
            : random.chance(0.5)
              ? `${prefer}, ${more}`
              : `${more}, ${prefer}`,
      );
    }
    case 4:
      return withHeader(asked, "accept", random.chance(0.2) ? undefined : random.pick(TYPES));
    case 5:
      return withHeader(
        asked,
        random.chance(0.7) === (asked.method === "GET" || asked.method === "HEAD")
          ? "accept-profile"
          : "content-profile",
        random.chance(0.2) ? undefined : random.pick(PROFILES),
      );
    default:
      return asked.method === "GET" || asked.method === "HEAD"
        ? { ...asked, method: asked.method === "GET" ? "HEAD" : "GET" }
        : withHeader(asked, "content-type", random.chance(0.5) ? "text/csv" : undefined);
  }
};

/** Adds mutations, one or two steps away from each request. */
export const withMutations = (requests: readonly Asked[], random: Random, mutation: Mutation): Asked[] => {
  const all = new Map<string, Asked>();
  const add = (asked: Asked): void => void all.set(shown(asked), asked);
  for (const asked of requests) {
    add(asked);
    for (let count = 0; count < mutation.countPerRequest; count++) {
      const one = mutate(asked, random, mutation);
      add(random.chance(0.3) ? mutate(one, random, mutation) : one);
    }
  }
  return [...all.values()];
};
