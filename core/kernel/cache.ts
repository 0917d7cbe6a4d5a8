/** Everything that outlives a request is cached here, under one rule: the key of a value is whatever the value was
 *  computed from. A maker gets no request, no session and no settings. It gets `ask`, which answers questions about
 *  them. Each question and its answer become part of the key, in the order asked. A later source is asked the same
 *  questions and finds the value if it gives the same answers. So a key cannot miss anything that the maker read: there
 *  is no other way to read it. */
import { LRUCache } from "lru-cache";
import type { Counters } from "./counters.ts";

/** A question about a source. Answers are compared by `key` if there is one, otherwise strings and numbers by value and
 *  objects by identity. */
export interface Question<Source, Answer> {
  /** Unique in its cache. */
  readonly name: string;
  readonly of: (source: Source) => Answer;
  /** Must be equal for answers that the maker cannot tell apart, and different for all others. */
  key?(answer: Answer): unknown;
}

/** Makes questions about a part of a source: `questionsAbout(({ session }: WithSession) => session)`. */
export const questionsAbout =
  <Source, Part>(partOf: (source: Source) => Part) =>
  <Answer>(name: string, of: (part: Part) => Answer, key?: (answer: Answer) => unknown): Question<Source, Answer> => ({
    name,
    of: (source) => of(partOf(source)),
    ...(key === undefined ? {} : { key }),
  });

/** Makes questions about members of a source: `membersOf<Wanted>()("plan")`. */
export const membersOf =
  <Source>() =>
  <Member extends keyof Source & string>(
    member: Member,
    key?: (answer: Source[Member]) => unknown,
  ): Question<Source, Source[Member]> => ({
    name: member,
    of: (source) => source[member],
    ...(key === undefined ? {} : { key }),
  });

/** Makes questions about members of what a source has under `part`: `membersIn<WithSession>()("session")("role")`. */
export const membersIn =
  <Source>() =>
  <Part extends keyof Source & string>(part: Part) =>
  <Member extends keyof Source[Part] & string>(
    member: Member,
    key?: (answer: Source[Part][Member]) => unknown,
  ): Question<Source, Source[Part][Member]> => ({
    name: `${part} ${member}`,
    of: (source) => source[part][member],
    ...(key === undefined ? {} : { key }),
  });

/** Asks a question of the source; the answer becomes part of the cache key. */
export type Ask<Source> = <Answer>(question: Question<Source, Answer>) => Answer;

/** A value from a cache, new or cached. */
export interface Found<Made> {
  readonly made: Made;
  /** Call it after the first use succeeded: a value that fails at its first use is not cached. Does nothing if the
   *  value is already cached. */
  keep(): void;
}

/** Values computed from a source, found again by the answers to the questions that computing them asked.
 *  @rule R-CAC-1 */
export interface Cache<Source, Made> {
  get(source: Source): Found<Made>;
  /** For values that cannot fail later: caches at once. */
  take(source: Source): Made;
  /** For the maker of another value, which then also depends on everything that this one was computed from. */
  within(ask: Ask<Source>): Found<Made>;
}

/** How a cache computes its values. */
export interface CacheSpec<Source, Made> {
  readonly name: string;
  /** Sees the source only through `ask`, so it must not close over anything from a request. What it throws is not
   *  cached. */
  readonly make: (ask: Ask<Source>) => Made;
  /** Roughly how many bytes the value occupies; its key is counted separately. */
  readonly bytesOf: (made: Made) => number;
}

/** All caches of an api. They share one bound in bytes. */
export interface Caches {
  create<Source, Made>(spec: CacheSpec<Source, Made>): Cache<Source, Made>;
  /** Forgets everything, because the model or the settings have changed. Values that are still being computed are not
   *  cached either. */
  clear(): void;
}

interface Step {
  readonly question: Question<unknown, unknown>;
  readonly key: unknown;
}

interface Branch {
  readonly question: Question<unknown, unknown>;
  readonly next: Map<unknown, Branch | Entry>;
  readonly parent: Branch | undefined;
  /** The answer of the parent's question that leads here. */
  readonly answer: unknown;
}

/** A cached value: the end of a path of answers. */
interface Entry extends Found<unknown> {
  readonly question?: undefined;
  readonly root: Root;
  readonly parent: Branch | undefined;
  readonly answer: unknown;
}

interface Root {
  top: Branch | Entry | undefined;
}

/** What a branch or a value costs beside its strings. A branch is counted with the value that it was made for. */
const BYTES_PER_STEP = 500;

/** Values that depend on more answers are not cached: finding them would cost as much as computing them. */
const MAX_STEPS = 4000;

const bytesOfKey = (key: unknown): number => (typeof key === "string" ? key.length * 2 : 0);

const keyOf = (question: Question<unknown, unknown>, answer: unknown): unknown =>
  question.key === undefined ? answer : question.key(answer);

const nothing = (): void => undefined;

/** For all values together; the least recently used are evicted. 0: nothing is cached. */
export interface CacheLimits {
  maxBytes(): number;
  maxEntries?(): number;
}

/** `name`: prefix of its counters: `cache-requests`, `cache-hits`, `cache-entries`, `cache-bytes`, `cache-evictions`,
 *  `cache-conflicts`. @rule R-CAC-1 */
export const createCaches = (
  name: string,
  { maxBytes, maxEntries = () => Infinity }: CacheLimits,
  counters: Counters,
): Caches => {
  let requests = 0;
  let hits = 0;
  let evictions = 0;
  let conflicts = 0;
  let generation = 0;
  const roots: Root[] = [];

  const isOff = (): boolean => maxBytes() === 0 || maxEntries() === 0;

  /** Drops the branches that led only to the entry. */
  const prune = ({ parent, answer, root }: Entry): void => {
    let [branch, key] = [parent, answer];
    while (branch !== undefined) {
      branch.next.delete(key);
      if (branch.next.size > 0) return;
      [branch, key] = [branch.parent, branch.answer];
    }
    root.top = undefined;
  };

  const createEntries = (): LRUCache<Entry, Entry> =>
    new LRUCache({
      maxSize: maxBytes(),
      ...(Number.isFinite(maxEntries()) && { max: maxEntries() }),
      dispose: (entry, _, reason) => {
        if (reason === "evict") evictions++;
        prune(entry);
      },
    });

  /** All of them, by last use. The limits are settings, which may change when everything is forgotten. */
  let entries: LRUCache<Entry, Entry> | undefined;

  counters.watch(`${name}-requests`, () => requests);
  counters.watch(`${name}-hits`, () => hits);
  counters.watch(`${name}-entries`, () => entries?.size ?? 0);
  counters.watch(`${name}-bytes`, () => entries?.calculatedSize ?? 0);
  counters.watch(`${name}-evictions`, () => evictions);
  counters.watch(`${name}-conflicts`, () => conflicts);

  const use = (entry: Entry): void => {
    requests++;
    hits++;
    entries?.get(entry);
  };

  const dropAll = (from: Branch | Entry): void => {
    if (from.question === undefined) entries?.delete(from);
    else for (const next of from.next.values()) dropAll(next);
  };

  /** Neither the cached value nor the new one can be trusted. */
  const disagree = (there: Branch | Entry): void => {
    conflicts++;
    dropAll(there);
  };

  const insert = (root: Root, steps: readonly Step[], made: unknown, bytes: number): void => {
    let parent: Branch | undefined;
    let answer: unknown;
    const next = (): Branch | Entry | undefined => (parent === undefined ? root.top : parent.next.get(answer));
    const set = (to: Branch | Entry): void => {
      if (parent === undefined) root.top = to;
      else parent.next.set(answer, to);
    };
    let size = BYTES_PER_STEP + bytes;
    for (const { question, key } of steps) {
      let branch = next();
      // a different question after equal answers: the maker read something without `ask`
      if (branch !== undefined && branch.question?.name !== question.name) return disagree(branch);
      if (branch === undefined) {
        branch = { question, next: new Map(), parent, answer };
        set(branch);
        size += BYTES_PER_STEP + bytesOfKey(answer);
      }
      parent = branch as Branch; // a value has no question, so it cannot be reached here
      answer = key;
    }
    size += bytesOfKey(answer);
    const known = next();
    if (known?.question !== undefined) return disagree(known);
    if (known !== undefined) return; // another request was faster
    const entry: Entry = { made, keep: nothing, root, parent, answer };
    set(entry);
    entries ??= createEntries();
    entries.set(entry, entry, { size: Math.ceil(size) });
    if (!entries.has(entry)) prune(entry); // its key alone is larger than all entries may be
  };

  return {
    create: <Source, Made>({ name: rootName, make, bytesOf }: CacheSpec<Source, Made>): Cache<Source, Made> => {
      const root: Root = { top: undefined };
      roots.push(root);

      const build = (answerTo: Ask<Source>): Found<Made> => {
        const steps: Step[] = [];
        const answers = new Map<string, unknown>();
        const madeIn = generation;
        let isMade = false;
        const made = make(<Answer>(question: Question<Source, Answer>): Answer => {
          if (isMade)
            throw new Error(
              `"${rootName}" asks "${question.name}" after the value was computed: ask everything that the value depends on while computing it`,
            );
          if (answers.has(question.name)) return answers.get(question.name) as Answer; // to this very question
          const answer = answerTo(question);
          answers.set(question.name, answer);
          const step = question as Question<unknown, unknown>; // stored only beside questions about the same kind of source
          steps.push({ question: step, key: keyOf(step, answer) });
          return answer;
        });
        isMade = true;
        return {
          made,
          keep: () => {
            if (madeIn !== generation || steps.length > MAX_STEPS || isOff()) return;
            const size = bytesOf(made);
            // one value must not push out all others
            if (size * 2 <= maxBytes()) insert(root, steps, made, size);
          },
        };
      };

      const find = (ask: Ask<Source>): Found<Made> => {
        let at = root.top;
        while (at?.question !== undefined) at = at.next.get(keyOf(at.question, ask(at.question)));
        if (at !== undefined) {
          use(at);
          return at as Found<Made>; // made by this cache's `make`
        }
        if (!isOff()) requests++;
        return build(ask);
      };

      const get = (source: Source): Found<Made> => find((question) => question.of(source));
      return {
        get,
        take: (source) => {
          const found = get(source);
          found.keep();
          return found.made;
        },
        within: find,
      };
    },
    clear: () => {
      generation++;
      for (const root of roots) root.top = undefined;
      entries = undefined;
    },
  };
};
