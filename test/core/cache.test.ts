/** The caches between requests, and their keys. */
import { describe, expect, test } from "vitest";
import { createCounters } from "../../core/kernel/counters.ts";
import {
  createCaches,
  observeSession,
  type Ask,
  type CacheLimits,
  type CacheManager,
  type CacheQuestion,
  type Session,
  type SessionSource,
} from "../../core/index.ts";

interface Source {
  readonly name: string;
  readonly limit?: number;
  readonly model?: object;
}

const NAME: CacheQuestion<Source, string> = { name: "name", read: ({ name }) => name };
const HAS_LIMIT: CacheQuestion<Source, boolean> = { name: "has limit", read: ({ limit }) => limit !== undefined };
const LIMIT: CacheQuestion<Source, number | undefined> = { name: "limit", read: ({ limit }) => limit };
const MODEL: CacheQuestion<Source, object | undefined> = { name: "model", read: ({ model }) => model };

const open = (
  limits: Partial<CacheLimits> = {},
): { readonly caches: CacheManager; readonly count: (name: string) => number } => {
  const counters = createCounters();
  return {
    caches: createCaches("cache", { maxBytes: () => 1_000_000, ...limits }, counters),
    count: (name) => counters.get(`cache-${name}`),
  };
};

/** Opens a cache with this maker. `makeCount` returns the number of calls of the maker. */
const openCache = (make: (ask: Ask<Source>) => string, limits: Partial<CacheLimits> = {}, bytes = 100) => {
  const { caches, count } = open(limits);
  let makeCount = 0;
  const cache = caches.create({
    name: "texts",
    make: (ask: Ask<Source>) => {
      makeCount++;
      return make(ask);
    },
    estimateBytes: () => bytes,
  });
  const get = (source: Source): string => {
    const entry = cache.get(source);
    entry.commit();
    return entry.value;
  };
  return { caches, cache, count, get, makeCount: () => makeCount };
};

describe("keys", () => {
  test("R-CAC-1 the key has the questions of the maker, and only those", () => {
    const { get, makeCount } = openCache((ask) => `${ask(NAME)}!`);
    expect([
      get({ name: "a", limit: 1 }),
      get({ name: "a", limit: 2 }),
      get({ name: "b" }),
      get({ name: "a" }),
    ]).toEqual(["a!", "a!", "b!", "a!"]);
    expect(makeCount()).toBe(2);
  });

  test("R-CAC-1 a question that only some sources ask is in the key of those only", () => {
    const { get, makeCount } = openCache((ask) => (ask(HAS_LIMIT) ? `${ask(NAME)} ${ask(LIMIT)}` : "all"));
    expect([
      get({ name: "a" }),
      get({ name: "b" }),
      get({ name: "a", limit: 1 }),
      get({ name: "a", limit: 2 }),
      get({ name: "a", limit: 1 }),
    ]).toEqual(["all", "all", "a 1", "a 2", "a 1"]);
    expect(makeCount()).toBe(3);
  });

  test("R-CAC-1 objects are distinguished by identity, or by the value of the question", () => {
    const model = {};
    const byIdentity = openCache((ask) => String(ask(MODEL)));
    for (const value of [model, model, {}]) byIdentity.get({ name: "", model: value });
    expect(byIdentity.makeCount()).toBe(2);
    const byText = openCache((ask) => JSON.stringify(ask({ ...MODEL, key: (answer) => JSON.stringify(answer) })));
    for (const value of [{ a: 1 }, { a: 1 }, { a: 2 }]) byText.get({ name: "", model: value });
    expect(byText.makeCount()).toBe(2);
  });

  test("R-CAC-1 strings that look alike when joined are different keys", () => {
    const FIRST: CacheQuestion<Source, string> = { name: "first", read: ({ name }) => name.split("|")[0] ?? "" };
    const SECOND: CacheQuestion<Source, string> = { name: "second", read: ({ name }) => name.split("|")[1] ?? "" };
    const { get, makeCount } = openCache((ask) => JSON.stringify([ask(FIRST), ask(SECOND)]));
    expect([get({ name: "a b|c" }), get({ name: "a|b c" }), get({ name: "a b|c" })]).toEqual([
      '["a b","c"]',
      '["a","b c"]',
      '["a b","c"]',
    ]);
    expect(makeCount()).toBe(2);
  });

  test("R-CAC-1 a value made from a cached value depends on that value's questions", () => {
    const { caches } = open();
    const inner = caches.create({
      name: "inner",
      make: (ask: Ask<Source>) => `<${ask(NAME)}>`,
      estimateBytes: () => 10,
    });
    let makeCount = 0;
    const outer = caches.create({
      name: "outer",
      make: (ask: Ask<Source>) => {
        makeCount++;
        const entry = inner.derive(ask);
        entry.commit();
        return `${entry.value}${ask(LIMIT)}`;
      },
      estimateBytes: () => 10,
    });
    const get = (source: Source): string => {
      const entry = outer.get(source);
      entry.commit();
      return entry.value;
    };
    expect([
      get({ name: "a", limit: 1 }),
      get({ name: "a", limit: 2 }),
      get({ name: "b", limit: 1 }),
      get({ name: "a", limit: 1 }),
    ]).toEqual(["<a>1", "<a>2", "<b>1", "<a>1"]);
    expect(makeCount).toBe(3);
  });

  test("R-CAC-1 a maker that reads past its questions is detected: its values are not cached, and it is counted", () => {
    let isOdd = false;
    const { get, count } = openCache((ask) => {
      isOdd = !isOdd;
      return isOdd ? `odd ${ask(NAME)}` : `even ${ask(LIMIT)}`;
    });
    get({ name: "a" });
    get({ name: "b" });
    expect([count("conflicts"), count("entries")]).toEqual([1, 0]);
  });

  test("R-CAC-1 a maker that asks after it has returned is rejected", () => {
    const { get } = openCache((ask) => ask as unknown as string);
    expect(() => (get({ name: "a" }) as unknown as Ask<Source>)(NAME)).toThrow(
      '"texts" asks "name" after the value was computed',
    );
  });
});

describe("cached values", () => {
  test("R-CAC-1 a value is not cached before its commit, if it failed, or if it is older than a reset", () => {
    const { caches, cache, count, get, makeCount } = openCache((ask) => {
      if (ask(NAME) === "bad") throw new Error("rejected");
      return ask(NAME);
    });
    cache.get({ name: "a" });
    expect(
      [() => get({ name: "bad" }), () => get({ name: "bad" })].map((call) => expect(call).toThrow("rejected")),
    ).toHaveLength(2);
    expect([count("entries"), makeCount()]).toEqual([0, 3]);
    const entry = cache.get({ name: "a" });
    caches.clear();
    entry.commit();
    expect(count("entries")).toBe(0);
  });

  test("R-CAC-1 bytes are limited: the least recently used value is removed", () => {
    const { get, count, makeCount } = openCache((ask) => ask(NAME), { maxBytes: () => 12_000 }, 2000);
    for (const name of ["a", "b", "c", "a", "d", "e"]) get({ name });
    expect(count("bytes")).toBeLessThanOrEqual(12_000);
    expect([count("entries"), count("evictions"), makeCount()]).toEqual([4, 1, 5]);
    get({ name: "a" });
    expect(makeCount()).toBe(5);
    get({ name: "b" });
    expect(makeCount()).toBe(6);
  });

  test("R-CAC-1 the length of keys counts, and one value must not displace all others", () => {
    const { get, count } = openCache((ask) => ask(NAME), { maxBytes: () => 10_000 }, 10);
    get({ name: "x".repeat(6000) });
    expect(count("entries")).toBe(0);
    const large = openCache((ask) => ask(NAME), { maxBytes: () => 10_000 }, 6000);
    large.get({ name: "a" });
    expect(large.count("entries")).toBe(0);
  });

  test("R-CAC-1 where the limit is a number, entries are counted; 0 caches and counts nothing", () => {
    const smallCache = openCache((ask) => ask(NAME), { maxEntries: () => 2 });
    for (const name of ["a", "b", "c"]) smallCache.get({ name });
    expect([smallCache.count("entries"), smallCache.count("evictions")]).toEqual([2, 1]);
    const disabledCache = openCache((ask) => ask(NAME), { maxBytes: () => 0 });
    for (const name of ["a", "a"]) disabledCache.get({ name });
    expect([disabledCache.makeCount(), disabledCache.count("entries"), disabledCache.count("requests")]).toEqual([
      2, 0, 0,
    ]);
  });
});

describe("sessions", () => {
  const session = (variables: Record<string, string>, overrides: Partial<Session> = {}): SessionSource => ({
    session: { role: "clerk", isAdmin: false, claims: {}, variables, ...overrides },
  });

  const countMakes = (make: (session: Session) => unknown) => {
    const { caches } = open();
    let makeCount = 0;
    const cache = caches.create({
      name: "of sessions",
      make: (ask: Ask<SessionSource>) => {
        makeCount++;
        return make(observeSession(ask));
      },
      estimateBytes: () => 10,
    });
    return (...sources: readonly SessionSource[]): number => {
      makeCount = 0;
      for (const source of sources) cache.get(source).commit();
      return makeCount;
    };
  };

  test("R-CAC-1 the key has only the parts that were read: the role, one variable, the names of all", () => {
    expect(
      countMakes(({ role }) => role)(session({ a: "1" }), session({ a: "2" }), session({}, { role: "other" })),
    ).toBe(2);
    expect(
      countMakes(({ variables }) => variables["a"])(
        session({ a: "1", b: "1" }),
        session({ a: "1", b: "2" }),
        session({ a: "2" }),
        session({}),
      ),
    ).toBe(3);
    expect(countMakes(({ variables }) => "a" in variables)(session({ a: "1" }), session({}), session({ b: "1" }))).toBe(
      2,
    );
    expect(
      countMakes(({ variables }) => ({ ...variables }))(
        session({ a: "1" }),
        session({ a: "1", b: "1" }),
        session({ a: "2" }),
        session({ a: "1" }),
      ),
    ).toBe(3);
    expect(
      countMakes(({ claims }) => claims["sub"])(
        session({}, { claims: { sub: "1" } }),
        session({}, { claims: { sub: "1" } }),
        session({}, { claims: { sub: "2" } }),
      ),
    ).toBe(2);
  });
});
