/** Everything that outlives a request is cached here, under one rule: the key of a value is whatever the value was
 *  computed from. A maker gets no request, no session and no settings. It gets `ask`, which answers questions about
 *  them. Each question and its answer become part of the key, in the order asked. A later source is asked the same
 *  questions and finds the value if it gives the same answers. So a key cannot miss anything that the maker read: there
 *  is no other way to read it. */
import type { Counters } from "./counters.ts";

/** A question about a source. Answers are compared by `key` if there is one, otherwise strings and numbers by value and
 *  objects by identity. */
export interface Question<Source, Answer> {
  /** Unique in its cache. */
  readonly name: string;
  readonly of: (source: Source) => Answer;
  /** Where the answer stands, if it is a member of the source, or of what the source has under `part`: it is read there
   *  without a call. */
  readonly member?: string;
  readonly part?: string;
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
    member,
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
    member,
    part,
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
  /** Most questions have only one answer, so the first is stored without a map. */
  only: { readonly key: unknown; readonly next: Branch | Leaf } | undefined;
  others: Map<unknown, Branch | Leaf> | undefined;
  readonly parent: Branch | undefined;
  /** Its place among the answers of its parent. */
  readonly at: unknown;
}

const follow = ({ only, others }: Branch, key: unknown): Branch | Leaf | undefined =>
  only !== undefined && Object.is(only.key, key) ? only.next : others?.get(key);

const lead = (branch: Branch, key: unknown, next: Branch | Leaf): void => {
  if (branch.only === undefined || Object.is(branch.only.key, key)) branch.only = { key, next };
  else (branch.others ??= new Map()).set(key, next);
};

/** @returns whether an answer is left */
const forget = (branch: Branch, key: unknown): boolean => {
  if (branch.only !== undefined && Object.is(branch.only.key, key)) branch.only = undefined;
  else branch.others?.delete(key);
  return branch.only !== undefined || (branch.others?.size ?? 0) > 0;
};

/** A cached value: the end of a path of answers, and an entry in the list of all values by last use. */
interface Leaf extends Found<unknown> {
  readonly question?: undefined;
  readonly root: Root;
  readonly parent: Branch | undefined;
  readonly at: unknown;
  readonly bytes: number;
  newer: Leaf | undefined;
  older: Leaf | undefined;
}

interface Root {
  top: Branch | Leaf | undefined;
}

/** What a branch or a value costs beside its strings. */
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
  let bytes = 0;
  let count = 0;
  let newest: Leaf | undefined;
  let oldest: Leaf | undefined;
  const roots: Root[] = [];
  counters.watch(`${name}-requests`, () => requests);
  counters.watch(`${name}-hits`, () => hits);
  counters.watch(`${name}-entries`, () => count);
  counters.watch(`${name}-bytes`, () => bytes);
  counters.watch(`${name}-evictions`, () => evictions);
  counters.watch(`${name}-conflicts`, () => conflicts);

  const isOff = (): boolean => maxBytes() === 0 || maxEntries() === 0;

  const unlink = (leaf: Leaf): void => {
    if (leaf.newer === undefined) newest = leaf.older;
    else leaf.newer.older = leaf.older;
    if (leaf.older === undefined) oldest = leaf.newer;
    else leaf.older.newer = leaf.newer;
    leaf.newer = leaf.older = undefined;
  };

  const link = (leaf: Leaf): void => {
    leaf.older = newest;
    if (newest === undefined) oldest = leaf;
    else newest.newer = leaf;
    newest = leaf;
  };

  /** A hit: it becomes the newest. */
  const use = (leaf: Leaf): void => {
    requests++;
    hits++;
    const { newer, older } = leaf;
    if (newer === undefined || newest === undefined) return; // it is
    newer.older = older;
    if (older === undefined) oldest = newer;
    else older.newer = newer;
    leaf.newer = undefined;
    leaf.older = newest;
    newest.newer = leaf;
    newest = leaf;
  };

  /** Also drops the branches that led only to it. */
  const drop = (leaf: Leaf): void => {
    unlink(leaf);
    bytes -= leaf.bytes;
    count--;
    let { parent, at } = leaf as { parent: Branch | undefined; at: unknown };
    while (parent !== undefined) {
      if (forget(parent, at)) return;
      ({ parent, at } = parent);
    }
    leaf.root.top = undefined;
  };

  const dropAll = (from: Branch | Leaf): void => {
    if (from.question === undefined) return drop(from);
    const { only, others } = from;
    for (const next of [...(only === undefined ? [] : [only.next]), ...(others?.values() ?? [])]) dropAll(next);
  };

  /** Neither the cached value nor the new one can be trusted. */
  const disagree = (there: Branch | Leaf): void => {
    conflicts++;
    dropAll(there);
  };

  const insert = (root: Root, steps: readonly Step[], made: unknown, size: number): void => {
    let parent: Branch | undefined;
    let at: unknown;
    const next = (): Branch | Leaf | undefined => (parent === undefined ? root.top : follow(parent, at));
    const set = (to: Branch | Leaf): void => {
      if (parent === undefined) root.top = to;
      else lead(parent, at, to);
    };
    let path = 0;
    for (const { question, key } of steps) {
      let branch = next();
      // a different question after equal answers: the maker read something without `ask`
      if (branch !== undefined && branch.question?.name !== question.name) return disagree(branch);
      if (branch === undefined) {
        branch = { question, only: undefined, others: undefined, parent, at };
        set(branch);
      }
      parent = branch as Branch; // a value has no question, so it cannot be reached here
      at = key;
      path += BYTES_PER_STEP + bytesOfKey(key);
    }
    const known = next();
    if (known?.question !== undefined) return disagree(known);
    if (known !== undefined) return; // another request was faster
    const leaf: Leaf = {
      made,
      keep: nothing,
      root,
      parent,
      at,
      bytes: path + BYTES_PER_STEP + size,
      newer: undefined,
      older: undefined,
    };
    set(leaf);
    link(leaf);
    bytes += leaf.bytes;
    count++;
    while (oldest !== undefined && (bytes > maxBytes() || count > maxEntries())) {
      evictions++;
      drop(oldest);
    }
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

      const miss = (answerTo: Ask<Source>): Found<Made> => {
        if (!isOff()) requests++;
        return build(answerTo);
      };

      // every request goes this way, several times
      const get = (source: Source): Found<Made> => {
        let at = root.top;
        while (at !== undefined && at.question !== undefined) {
          const { question, only }: Branch = at;
          const { member, part } = question;
          // the kind of source that its questions are about
          const answer =
            member === undefined
              ? question.of(source)
              : ((part === undefined ? source : source[part as keyof Source]) as Readonly<Record<string, unknown>>)[
                  member
                ];
          const key = question.key === undefined ? answer : question.key(answer);
          at = only !== undefined && Object.is(only.key, key) ? only.next : at.others?.get(key);
        }
        if (at === undefined) return miss((question) => question.of(source));
        use(at);
        return at as Found<Made>; // made by this cache's `make`
      };

      return {
        get,
        take: (source) => {
          const found = get(source);
          if (found.keep !== nothing) found.keep();
          return found.made;
        },
        within: (ask) => {
          let at = root.top;
          while (at?.question !== undefined) at = follow(at, keyOf(at.question, ask(at.question)));
          if (at === undefined) return miss(ask);
          use(at);
          return at as Found<Made>; // made by this cache's `make`
        },
      };
    },
    clear: () => {
      generation++;
      for (const root of roots) root.top = undefined;
      newest = oldest = undefined;
      bytes = count = 0;
    },
  };
};
