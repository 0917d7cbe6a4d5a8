/** The oracle: requests in random orders against one warm server, each answer compared with that of a server that keeps
 *  nothing. What is kept under a key that forgets something shows as a difference, and is cut down to the request that
 *  was remembered and the one that got its answer. Nothing is written: both servers roll every transaction back. */
import type { StartOptions, TestApi } from "../api.ts";
import { sendRequest, type Answer, type HeaderValues } from "../http.ts";
import { createRandom, type Random } from "../random.ts";
import { Agent } from "node:http";

/** A server that plans, compiles and parses each request anew and lets the database do the same. */
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

export interface Difference {
  /** What was asked before, as short as it could be made; the last one got the wrong answer. */
  readonly requests: readonly Asked[];
  readonly wanted: string;
  readonly got: string;
}

export interface Verdict {
  readonly differences: readonly Difference[];
  readonly comparedCount: number;
  /** Of the requests, those that were answered without an error. */
  readonly fineCount: number;
  /** Not compared: they answer differently each time. */
  readonly unsteady: readonly Asked[];
}

export interface OracleOptions {
  readonly start: (options: StartOptions) => Promise<TestApi>;
  readonly options: StartOptions;
  readonly seed: number;
  /** Times that the warm server is asked everything, each in another order. */
  readonly rounds?: number;
  /** For cutting down what differs; later differences are shown as they were met. */
  readonly shorteningMs?: number;
}

/** Different on every request, or told by the order of connections. */
const UNCOMPARED = new Set(["date", "server-timing", "x-request-id", "keep-alive", "connection"]);

const CALLERS = 4;
const PATIENCE_MS = 120_000;

type Ask = (asked: Asked) => Promise<string>;

/** What `seen` (test/support/sight.ts) says of the connection: its number, and whether a setting was ever made on it.
 *  */
const CONNECTION = /"name":"pid","value":"\d+"|,"value":(null|"")|(?<=^pid,)\d+|(?<=^[a-z_.]+,)""$/gm;

/** Everything of an answer that a client can see, as text; not which server gave it. */
const factsOf = (answer: Answer, port: number): string => {
  const isSight = /"name":"(?:pid|session\.|hasura\.|request\.)|^pid,\d/m.test(answer.text);
  const headers = answer.rawHeaders.filter(
    ([name]) => !UNCOMPARED.has(name.toLowerCase()) && !(isSight && name === "Content-Length"),
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

/** Numbers of sequences and times, which go on though everything is rolled back; and the length that they change. */
const withoutNumbers = (facts: string): string => facts.replace(/\d+/g, "#");

const PLANNING = {
  // one plan for all values, from the first execution on: what PostgreSQL checks when it plans is not checked again, and
  // no operand is looked at while planning, which would be told on one server and not on the other
  plan_cache_mode: "force_generic_plan",
  // one way to go through tables, whatever the statistics have become since a plan was made: rows without an order come
  // in the same one
  join_collapse_limit: "1",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_hashagg: "off",
  enable_indexscan: "off",
  enable_indexonlyscan: "off",
  enable_bitmapscan: "off",
};

/** How PostgreSQL plans what the oracle asks. */
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

/** So many at a time, each as soon as the one before it is done. */
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

/** One line, with the seed that asks the same again. */
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

/** Compares. @throws what a server that cannot start throws */
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
  /** Asked again, the oracle may say something else: then numbers do not count, and if that does not help the request
   *  says nothing. */
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

  /** Whether a server that was asked these, one after the other, answers the last one wrongly; what it says then. */
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

/** The fewest requests after which the answer is wrong: none, one of the same address, or what halving leaves. */
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
    if (left.length > 40 && size < left.length / 8) break; // not one culprit, but many: enough is seen
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

/** `callers`: headers that say who asks, of those that the requests are mutated to. */
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

/** The same request with another header, by another caller, or by another method. */
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

/** Each request with so many of its like: one or two steps away. */
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
