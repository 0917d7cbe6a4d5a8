/** The caches between requests, and their keys. */
import { describe, expect, test } from "vitest";
import { createCounters } from "../../core/kernel/counters.ts";
import {
  createCaches,
  observeSession,
  type Ask,
  type CacheLimits,
  type Caches,
  type Question,
  type Session,
  type SessionSource,
} from "../../core/index.ts";

interface Source {
  readonly name: string;
  readonly limit?: number;
  readonly model?: object;
}

const NAME: Question<Source, string> = { name: "name", read: ({ name }) => name };
const HAS_LIMIT: Question<Source, boolean> = { name: "has limit", read: ({ limit }) => limit !== undefined };
const LIMIT: Question<Source, number | undefined> = { name: "limit", read: ({ limit }) => limit };
const MODEL: Question<Source, object | undefined> = { name: "model", read: ({ model }) => model };

const open = (
  limits: Partial<CacheLimits> = {},
): { readonly caches: Caches; readonly count: (name: string) => number } => {
  const counters = createCounters();
  return {
    caches: createCaches("cache", { maxBytes: () => 1_000_000, ...limits }, counters),
    count: (name) => counters.get(`cache-${name}`),
  };
};

/** The answer of a cache with that maker, and how often the maker ran. */
const keeping = (make: (ask: Ask<Source>) => string, limits: Partial<CacheLimits> = {}, bytes = 100) => {
  const { caches, count } = open(limits);
  let made = 0;
  const cache = caches.create({
    name: "texts",
    make: (ask: Ask<Source>) => {
      made++;
      return make(ask);
    },
    estimateBytes: () => bytes,
  });
  const get = (source: Source): string => {
    const found = cache.get(source);
    found.commit();
    return found.value;
  };
  return { caches, cache, count, get, made: () => made };
};

describe("keys", () => {
  test("R-CAC-1 the key has the questions of the maker, and only those", () => {
    const { get, made } = keeping((ask) => `${ask(NAME)}!`);
    expect([
      get({ name: "a", limit: 1 }),
      get({ name: "a", limit: 2 }),
      get({ name: "b" }),
      get({ name: "a" }),
    ]).toEqual(["a!", "a!", "b!", "a!"]);
    expect(made()).toBe(2);
  });

  test("R-CAC-1 a question that only some sources ask is in the key of those only", () => {
    const { get, made } = keeping((ask) => (ask(HAS_LIMIT) ? `${ask(NAME)} ${ask(LIMIT)}` : "all"));
    expect([
      get({ name: "a" }),
      get({ name: "b" }),
      get({ name: "a", limit: 1 }),
      get({ name: "a", limit: 2 }),
      get({ name: "a", limit: 1 }),
    ]).toEqual(["all", "all", "a 1", "a 2", "a 1"]);
    expect(made()).toBe(3);
  });

  test("R-CAC-1 objects are distinguished by identity, or by the value of the question", () => {
    const model = {};
    const same = keeping((ask) => String(ask(MODEL)));
    for (const one of [model, model, {}]) same.get({ name: "", model: one });
    expect(same.made()).toBe(2);
    const byText = keeping((ask) => JSON.stringify(ask({ ...MODEL, key: (answer) => JSON.stringify(answer) })));
    for (const one of [{ a: 1 }, { a: 1 }, { a: 2 }]) byText.get({ name: "", model: one });
    expect(byText.made()).toBe(2);
  });

  test("R-CAC-1 strings that look alike when joined are different keys", () => {
    const FIRST: Question<Source, string> = { name: "first", read: ({ name }) => name.split("|")[0] ?? "" };
    const SECOND: Question<Source, string> = { name: "second", read: ({ name }) => name.split("|")[1] ?? "" };
    const { get, made } = keeping((ask) => JSON.stringify([ask(FIRST), ask(SECOND)]));
    expect([get({ name: "a b|c" }), get({ name: "a|b c" }), get({ name: "a b|c" })]).toEqual([
      '["a b","c"]',
      '["a","b c"]',
      '["a b","c"]',
    ]);
    expect(made()).toBe(2);
  });

  test("R-CAC-1 a value made from a cached value depends on that value's questions", () => {
    const { caches } = open();
    const inner = caches.create({
      name: "inner",
      make: (ask: Ask<Source>) => `<${ask(NAME)}>`,
      estimateBytes: () => 10,
    });
    let made = 0;
    const outer = caches.create({
      name: "outer",
      make: (ask: Ask<Source>) => {
        made++;
        const found = inner.derive(ask);
        found.commit();
        return `${found.value}${ask(LIMIT)}`;
      },
      estimateBytes: () => 10,
    });
    const get = (source: Source): string => {
      const found = outer.get(source);
      found.commit();
      return found.value;
    };
    expect([
      get({ name: "a", limit: 1 }),
      get({ name: "a", limit: 2 }),
      get({ name: "b", limit: 1 }),
      get({ name: "a", limit: 1 }),
    ]).toEqual(["<a>1", "<a>2", "<b>1", "<a>1"]);
    expect(made).toBe(3);
  });

  test("R-CAC-1 a maker that reads past its questions is detected: its values are not cached, and it is counted", () => {
    let isOdd = false;
    const { get, count } = keeping((ask) => {
      isOdd = !isOdd;
      return isOdd ? `odd ${ask(NAME)}` : `even ${ask(LIMIT)}`;
    });
    get({ name: "a" });
    get({ name: "b" });
    expect([count("conflicts"), count("entries")]).toEqual([1, 0]);
  });

  test("R-CAC-1 a maker that asks after it has returned is refused", () => {
    const { get } = keeping((ask) => ask as unknown as string);
    expect(() => (get({ name: "a" }) as unknown as Ask<Source>)(NAME)).toThrow(
      '"texts" asks "name" after the value was computed',
    );
  });
});

describe("cached values", () => {
  test("R-CAC-1 a value is not cached before its commit, if it failed, or if it is older than a reset", () => {
    const { caches, cache, count, get, made } = keeping((ask) => {
      if (ask(NAME) === "bad") throw new Error("refused");
      return ask(NAME);
    });
    cache.get({ name: "a" });
    expect(
      [() => get({ name: "bad" }), () => get({ name: "bad" })].map((each) => expect(each).toThrow("refused")),
    ).toHaveLength(2);
    expect([count("entries"), made()]).toEqual([0, 3]);
    const early = cache.get({ name: "a" });
    caches.clear();
    early.commit();
    expect(count("entries")).toBe(0);
  });

  test("R-CAC-1 bytes are limited: the least recently used value is removed", () => {
    const { get, count, made } = keeping((ask) => ask(NAME), { maxBytes: () => 12_000 }, 2000);
    for (const name of ["a", "b", "c", "a", "d", "e"]) get({ name });
    expect(count("bytes")).toBeLessThanOrEqual(12_000);
    expect([count("entries"), count("evictions"), made()]).toEqual([4, 1, 5]);
    get({ name: "a" });
    expect(made()).toBe(5);
    get({ name: "b" });
    expect(made()).toBe(6);
  });

  test("R-CAC-1 the length of keys counts, and one value must not displace all others", () => {
    const { get, count } = keeping((ask) => ask(NAME), { maxBytes: () => 10_000 }, 10);
    get({ name: "x".repeat(6000) });
    expect(count("entries")).toBe(0);
    const large = keeping((ask) => ask(NAME), { maxBytes: () => 10_000 }, 6000);
    large.get({ name: "a" });
    expect(large.count("entries")).toBe(0);
  });

  test("R-CAC-1 where the limit is a number, entries are counted; 0 caches and counts nothing", () => {
    const few = keeping((ask) => ask(NAME), { maxEntries: () => 2 });
    for (const name of ["a", "b", "c"]) few.get({ name });
    expect([few.count("entries"), few.count("evictions")]).toEqual([2, 1]);
    const off = keeping((ask) => ask(NAME), { maxBytes: () => 0 });
    for (const name of ["a", "a"]) off.get({ name });
    expect([off.made(), off.count("entries"), off.count("requests")]).toEqual([2, 0, 0]);
  });
});

describe("sessions", () => {
  const session = (variables: Record<string, string>, more: Partial<Session> = {}): SessionSource => ({
    session: { role: "clerk", isAdmin: false, claims: {}, variables, ...more },
  });

  const madeBy = (make: (session: Session) => unknown) => {
    const { caches } = open();
    let made = 0;
    const cache = caches.create({
      name: "of sessions",
      make: (ask: Ask<SessionSource>) => {
        made++;
        return make(observeSession(ask));
      },
      estimateBytes: () => 10,
    });
    return (...sources: readonly SessionSource[]): number => {
      made = 0;
      for (const source of sources) cache.get(source).commit();
      return made;
    };
  };

  test("R-CAC-1 the key has only the parts that were read: the role, one variable, the names of all", () => {
    expect(madeBy(({ role }) => role)(session({ a: "1" }), session({ a: "2" }), session({}, { role: "other" }))).toBe(
      2,
    );
    expect(
      madeBy(({ variables }) => variables["a"])(
        session({ a: "1", b: "1" }),
        session({ a: "1", b: "2" }),
        session({ a: "2" }),
        session({}),
      ),
    ).toBe(3);
    expect(madeBy(({ variables }) => "a" in variables)(session({ a: "1" }), session({}), session({ b: "1" }))).toBe(2);
    expect(
      madeBy(({ variables }) => ({ ...variables }))(
        session({ a: "1" }),
        session({ a: "1", b: "1" }),
        session({ a: "2" }),
        session({ a: "1" }),
      ),
    ).toBe(3);
    expect(
      madeBy(({ claims }) => claims["sub"])(
        session({}, { claims: { sub: "1" } }),
        session({}, { claims: { sub: "1" } }),
        session({}, { claims: { sub: "2" } }),
      ),
    ).toBe(2);
  });
});
