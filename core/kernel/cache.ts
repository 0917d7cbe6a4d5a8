/** Caches every value that outlives a request. The cache key of a value consists of the facts that the value was
 *  computed from. A maker gets no request, session or settings, but the function `ask`, which answers questions about
 *  these. Each question and its answer become part of the key, in the order asked. A later lookup asks the same
 *  questions and finds the value if the answers are equal. Because `ask` is the only access to facts, no fact that the
 *  maker has read can be missing in the key. */
import { LRUCache } from "lru-cache";
import type { Counters } from "./counters.ts";

/** A question about a source. Answers are compared by `key` if it is defined; otherwise strings and numbers by value,
 *  and objects by identity. */
export interface CacheQuestion<Source, Answer> {
  /** The name of the question, unique in its cache. */
  readonly name: string;
  readonly read: (source: Source) => Answer;
  /** Returns equal keys for answers that the maker cannot distinguish, and different keys for all others. */
  readonly key?: ((answer: Answer) => unknown) | undefined;
}

/** Defines a question about a source. Equal names mean equal questions. `key` is necessary for answers that are new
 *  objects for each request, and is called with the answer. */
export const defineCacheQuestion = <Source, Answer>(
  name: string,
  read: (source: Source) => Answer,
  key?: (answer: Answer) => unknown,
): CacheQuestion<Source, Answer> => ({ name, read, key });

/** Asks a question of the source; the answer becomes part of the cache key. */
export type Ask<Source> = <Answer>(question: CacheQuestion<Source, Answer>) => Answer;

/** The result of a lookup: a cached value or a new one. @experimental */
export interface CacheEntry<Value> {
  readonly value: Value;
  /** Caches the value, unless it is cached already. Call this function after the first successful use, so that a value
   *  that fails is not cached. */
  commit(): void;
}

/** Values computed from a source. A lookup finds a value by the answers to the questions that its maker asked. @rule
 *  R-CAC-1 */
export interface Cache<Source, Value> {
  get(source: Source): CacheEntry<Value>;
  /** Returns a cached value only. */
  peek(source: Source): CacheEntry<Value> | undefined;
  /** Returns the value and caches it immediately, for values that cannot fail later. */
  getAndCommit(source: Source): Value;
  /** Looks the value up for the maker of another value. That other value then depends on the same facts. */
  derive(ask: Ask<Source>): CacheEntry<Value>;
}

/** The declaration of a cache: its name, how it makes a value, and how large a value is. */
export interface CacheSpec<Source, Value> {
  readonly name: string;
  /** Computes the value. The function reads the source only through `ask`, and must not close over anything from a
   *  request. If it throws, nothing is cached. */
  readonly make: (ask: Ask<Source>) => Value;
  /** Returns roughly how many bytes the value occupies, without its key. */
  readonly estimateBytes: (value: Value) => number;
}

/** All caches of an api, with one common limit in bytes. */
export interface CacheManager {
  create<Source, Value>(spec: CacheSpec<Source, Value>): Cache<Source, Value>;
  /** Drops all values, because the model or the settings have changed. Values whose computation is still running are
   *  not cached either. */
  clear(): void;
}

interface KeyStep {
  readonly question: CacheQuestion<unknown, unknown>;
  readonly key: unknown;
}

interface Branch {
  readonly question: CacheQuestion<unknown, unknown>;
  readonly next: Map<unknown, Branch | CachedEntry>;
  readonly parent: Branch | undefined;
  /** The answer to the parent's question that leads to this branch. */
  readonly answer: unknown;
}

/** A cached value: the leaf at the end of a path of answers. */
interface CachedEntry extends CacheEntry<unknown> {
  readonly question?: undefined;
  readonly root: Root;
  readonly parent: Branch | undefined;
  readonly answer: unknown;
}

interface Root {
  top: Branch | CachedEntry | undefined;
}

/** The memory of a branch or a value without its strings. A branch counts towards the value that it was created for. */
const BYTES_PER_STEP = 500;

/** Values with more answers are not cached, because a lookup would be as slow as computing them. */
const MAX_STEPS = 4000;

const estimateKeyBytes = (key: unknown): number => (typeof key === "string" ? key.length * 2 : 0);

const computeKey = (question: CacheQuestion<unknown, unknown>, answer: unknown): unknown =>
  question.key === undefined ? answer : question.key(answer);

const noOperation = (): void => undefined;

/** The limits of all values together. The least recently used are evicted. 0 disables the caches. @experimental */
export interface CacheLimits {
  maxBytes(): number;
  maxEntries?(): number;
}

/** Creates the caches of an api. `name` is the prefix of the counters: `cache-requests`, `cache-hits`, `cache-entries`,
 *  `cache-bytes`, `cache-evictions`, `cache-conflicts`. @rule R-CAC-1 */
export const createCaches = (
  name: string,
  { maxBytes, maxEntries = () => Infinity }: CacheLimits,
  counters: Counters,
): CacheManager => {
  let requests = 0;
  let hits = 0;
  let evictions = 0;
  let conflicts = 0;
  let generation = 0;
  const roots: Root[] = [];

  const isOff = (): boolean => maxBytes() === 0 || maxEntries() === 0;

  /** Removes the branches that led only to this entry. */
  const prune = ({ parent, answer, root }: CachedEntry): void => {
    let [branch, key] = [parent, answer];
    while (branch !== undefined) {
      branch.next.delete(key);
      if (branch.next.size > 0) return;
      [branch, key] = [branch.parent, branch.answer];
    }
    root.top = undefined;
  };

  const createEntries = (): LRUCache<CachedEntry, CachedEntry> =>
    new LRUCache({
      maxSize: maxBytes(),
      max: Number.isFinite(maxEntries()) ? maxEntries() : 0,
      dispose: (entry, _, reason) => {
        if (reason === "evict") evictions++;
        prune(entry);
      },
    });

  /** All entries, by last use. Created lazily, because the limits are settings that may change whenever the caches are
   *  cleared. */
  let entries: LRUCache<CachedEntry, CachedEntry> | undefined;

  counters.watch(`${name}-requests`, () => requests);
  counters.watch(`${name}-hits`, () => hits);
  counters.watch(`${name}-entries`, () => entries?.size ?? 0);
  counters.watch(`${name}-bytes`, () => entries?.calculatedSize ?? 0);
  counters.watch(`${name}-evictions`, () => evictions);
  counters.watch(`${name}-conflicts`, () => conflicts);

  const dropAll = (from: Branch | CachedEntry): void => {
    if (from.question === undefined) entries?.delete(from);
    else for (const next of from.next.values()) dropAll(next);
  };

  /** Drops both values, because neither can be trusted. */
  const dropConflicting = (node: Branch | CachedEntry): void => {
    conflicts++;
    dropAll(node);
  };

  const insert = (root: Root, steps: readonly KeyStep[], value: unknown, bytes: number): void => {
    let parent: Branch | undefined;
    let answer: unknown;
    const findNode = (): Branch | CachedEntry | undefined =>
      parent === undefined ? root.top : parent.next.get(answer);
    const set = (to: Branch | CachedEntry): void => {
      if (parent === undefined) root.top = to;
      else parent.next.set(answer, to);
    };
    let size = BYTES_PER_STEP + bytes;
    for (const { question, key } of steps) {
      let branch = findNode();
      // Different questions after equal answers: the maker read something without `ask`.
      if (branch !== undefined && branch.question?.name !== question.name) return dropConflicting(branch);
      if (branch === undefined) {
        branch = { question, next: new Map(), parent, answer };
        set(branch);
        size += BYTES_PER_STEP + estimateKeyBytes(answer);
      }
      parent = branch as Branch; // values have no question, so this is a branch
      answer = key;
    }
    size += estimateKeyBytes(answer);
    const existingNode = findNode();
    if (existingNode?.question !== undefined) return dropConflicting(existingNode);
    if (existingNode !== undefined) return; // a concurrent request has cached the value
    const entry: CachedEntry = { value, commit: noOperation, root, parent, answer };
    set(entry);
    entries ??= createEntries();
    entries.set(entry, entry, { size: Math.ceil(size) });
    if (!entries.has(entry)) prune(entry); // the key of the entry exceeds the limit of all entries
  };

  return {
    create: <Source, Value>({
      name: rootName,
      make,
      estimateBytes,
    }: CacheSpec<Source, Value>): Cache<Source, Value> => {
      const root: Root = { top: undefined };
      roots.push(root);

      const build = (answerTo: Ask<Source>): CacheEntry<Value> => {
        const steps: KeyStep[] = [];
        const answers = new Map<string, unknown>();
        const startGeneration = generation;
        let isMade = false;
        const value = make(<Answer>(question: CacheQuestion<Source, Answer>): Answer => {
          if (isMade)
            throw new Error(
              `"${rootName}" asks "${question.name}" after the value was computed: ask everything that the value depends on while computing it`,
            );
          // The map has the answer of this question.
          if (answers.has(question.name)) return answers.get(question.name) as Answer;
          const answer = answerTo(question);
          answers.set(question.name, answer);
          // The root of a cache holds only questions about one type of source.
          const step = question as CacheQuestion<unknown, unknown>;
          steps.push({ question: step, key: computeKey(step, answer) });
          return answer;
        });
        isMade = true;
        return {
          value,
          commit: () => {
            if (startGeneration !== generation || steps.length > MAX_STEPS || isOff()) return;
            const size = estimateBytes(value);
            // One value must not evict all others.
            if (size * 2 <= maxBytes()) insert(root, steps, value, size);
          },
        };
      };

      const peek = (ask: Ask<Source>): CacheEntry<Value> | undefined => {
        if (!isOff()) requests++;
        let node = root.top;
        while (node?.question !== undefined) node = node.next.get(computeKey(node.question, ask(node.question)));
        if (node === undefined) return undefined;
        hits++;
        entries?.get(node); // marks the entry as the most recently used
        return node as CacheEntry<Value>; // the `make` of this cache made the value
      };
      const find = (ask: Ask<Source>): CacheEntry<Value> => peek(ask) ?? build(ask);
      const createAsk =
        (source: Source): Ask<Source> =>
        (question) =>
          question.read(source);

      const get = (source: Source): CacheEntry<Value> => find(createAsk(source));
      return {
        get,
        peek: (source) => peek(createAsk(source)),
        getAndCommit: (source) => {
          const entry = get(source);
          entry.commit();
          return entry.value;
        },
        derive: find,
      };
    },
    clear: () => {
      generation++;
      for (const root of roots) root.top = undefined;
      entries = undefined;
    },
  };
};
