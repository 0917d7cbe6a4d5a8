/** Reads that are asked at the same moment, by whomever, in one round trip. Short ones alone: one that takes long would
 *  hold the others. What one turn of the event loop has read from its sockets goes out together. Where the database has
 *  enough to do, what does not fill a run waits for one to end: many small ones at once take turns on its processors,
 *  and take longer for it. */
import {
  definePlugin,
  type CoalescedRead,
  type Coalescer,
  type Execution,
  type PluginContext,
  type Program,
  type ResultRow,
} from "../../core/index.ts";
import { coalescedReadsSettings } from "./settings.ts";

type Rows = readonly ResultRow[];

/** What the reads of one run should cost together, in milliseconds. */
const RUN_MS = 1;
/** So many runs of a key are on their way, beside those that the network holds, before others have to be full. */
const MIN_RUNS = 2;
/** One that takes longer is broken up. */
const PATIENCE_MS = 25;
/** In one that takes longer, reads cost their share of that. */
const LONG_RUN_MS = 4;

/** A read that costs more runs by itself, and so does one with a longer answer. */
const MAX_MS = 1;
const MIN_MS = 0.05;
const MAX_CHARACTERS = 64 * 1024;
/** Before that nothing is known. */
const MIN_COUNT = 3;

/** How much of a difference counts at once: of a lower cost, a higher one, a higher one of a long run. A busy database
 *  takes longer for everything; to break runs up for it makes it busier. So it is what reads take at best that counts. */
const DOWN = 1 / 2;
const UP = 1 / 512;
const UP_OF_LONG = 1 / 64;

/** From then on it is counted how long the process waits for something to do: what a read takes of the database, but for
 *  what other work has hidden. */
type Since = ReturnType<typeof performance.eventLoopUtilization>;

/** What reads are measured by. */
interface Yardstick {
  /** What a round trip takes that hardly does anything, in milliseconds: the shortest of late. */
  roundTripMs: number;
  /** Of an answer: those of a whole run have to fit. */
  readonly maxCharacters: number;
}

/** Bytes of a character, at most. */
const MAX_BYTES = 4;

const MAX_ROUND_TRIP_MS = 5;

/** What reads of a program cost, and how much they answer. */
class Pace {
  /** In milliseconds. */
  cost = MAX_MS;
  isShort = false;
  private count = 0;
  private characters = 0;
  private isDoubtful = false;
  private isExcluded = false;

  /** One of `together` reads that took `ms`. */
  took(ms: number, waitedMs: number, together: number, rows: Rows, by: Yardstick): void {
    const characters = rows[0]?.["body"]?.length ?? 0;
    this.characters += (characters - this.characters) / (characters > this.characters ? 1 : 256);
    const shortest =
      waitedMs < by.roundTripMs ? waitedMs : by.roundTripMs + (waitedMs - by.roundTripMs) / (256 * together);
    by.roundTripMs = Math.min(MAX_ROUND_TRIP_MS, shortest);
    const isWhole = this.isDoubtful || (together > 1 && ms > LONG_RUN_MS);
    const cost = Math.max(MIN_MS, (isWhole ? ms : waitedMs - by.roundTripMs) / together);
    this.cost += (cost - this.cost) * (cost < this.cost ? DOWN : isWhole ? UP_OF_LONG : UP);
    this.isShort =
      ++this.count >= MIN_COUNT && !this.isExcluded && this.cost <= MAX_MS && this.characters <= by.maxCharacters;
  }

  /** It has held others up: all that it takes counts from now on. */
  doubt(): void {
    this.isDoubtful = true;
    this.isShort = false;
    this.cost = PATIENCE_MS;
  }

  /** What was known of it holds no more. */
  exclude(): void {
    this.isExcluded = true;
    this.isShort = false;
  }
}

interface Waiting {
  readonly read: CoalescedRead;
  readonly pace: Pace;
  readonly resolve: (rows: Rows | Promise<Rows>) => void;
  readonly reject: (error: unknown) => void;
}

/** The reads of one key. */
interface Line {
  readonly waiting: Waiting[];
  /** Starts as many runs as those who wait fill, or are enough to begin with. */
  start(): void;
  /** It is to be started at the end of this turn. */
  isDue: boolean;
}

const createLine = (
  coalescer: Coalescer,
  yardstick: Yardstick,
  alone: PluginContext["execute"],
  { options, counters }: PluginContext,
  close: () => void,
): Line => {
  const { maxCoalescedReads: maxCount } = options;
  const waiting: Waiting[] = [];
  let running = 0;
  /** Runs that have no connection yet, of those. */
  let coming = 0;

  /** Of a run that begins there. Undefined: those who wait do not fill it. */
  const endOf = (from: number): number | undefined => {
    let ms = 0;
    for (let at = from; at < waiting.length;) {
      ms += (waiting[at++] as Waiting).pace.cost; // at was within its length
      if (ms >= RUN_MS || at - from === maxCount) return at;
    }
    return undefined;
  };

  const run = async (): Promise<void> => {
    let taken: readonly Waiting[] = [];
    let since: Since | undefined;
    running++;
    coming++;
    let isRunning = true;
    /** One that has taken too long says nothing of others: they may have another connection. */
    const leave = (): void => {
      if (!isRunning) return;
      isRunning = false;
      running--;
      start();
    };
    const take = (): readonly CoalescedRead[] => {
      coming--;
      since = performance.eventLoopUtilization();
      taken = waiting.splice(0, endOf(0) ?? waiting.length);
      if (coming === 0) start(); // what it leaves: its reads turned out to take longer than was thought
      return taken.map(({ read }) => read);
    };
    const { rows, failedAt, error, isBroken, tookMs } = await coalescer.run(take, PATIENCE_MS, leave);
    const { idle } = performance.eventLoopUtilization(since);
    leave();
    let count = 0;
    for (const [i, { read, pace, resolve, reject }] of taken.entries()) {
      const found = rows[i];
      if (found !== undefined) {
        count++;
        pace.took(tookMs, idle, taken.length, found, yardstick);
        resolve(found);
      } else if (error !== undefined) reject(error);
      else {
        if (i < failedAt) pace.exclude();
        else if (i === failedAt && isBroken) pace.doubt();
        resolve(alone(read.execution));
      }
    }
    if (count > 1) counters.add("coalesced-reads", count);
    if (running === 0 && waiting.length === 0) close();
  };

  const start = (): void => {
    const enough = MIN_RUNS * (1 + yardstick.roundTripMs / RUN_MS);
    let needed = 0;
    for (let at = 0; at < waiting.length; needed++) {
      const end = endOf(at);
      if (end === undefined && running - coming + needed >= enough) break;
      at = end ?? waiting.length;
    }
    for (let count = coming; count < needed && waiting.length > 0; count++) void run();
  };

  return { waiting, start, isDue: false };
};

/** @rule R-TX-17 */
export const coalescedReads = definePlugin({
  name: "coalesced-reads",
  settings: coalescedReadsSettings,
  apply: (_hooks, context) => {
    const { maxCoalescedReads, maxResultBytes } = context.options;
    if (maxCoalescedReads === 1) return;
    let coalescer: Coalescer | undefined;
    void context.coalescer().then((made) => (coalescer = made));
    const yardstick: Yardstick = {
      roundTripMs: MAX_ROUND_TRIP_MS,
      maxCharacters: Math.min(MAX_CHARACTERS, maxResultBytes / MAX_BYTES / maxCoalescedReads),
    };
    const paces = new WeakMap<Program, Pace>();
    const lines = new Map<string, Line>();
    let due: Line[] = [];
    const startAll = (): void => {
      const all = due;
      due = [];
      for (const line of all) {
        line.isDue = false;
        line.start();
      }
    };

    context.wrap({
      execute: (next) => {
        const measured = async (execution: Execution, pace: Pace): Promise<Rows> => {
          const beganAtMs = performance.now();
          const since = performance.eventLoopUtilization();
          const rows = await next(execution);
          pace.took(performance.now() - beganAtMs, performance.eventLoopUtilization(since).idle, 1, rows, yardstick);
          return rows;
        };
        return (execution) => {
          const { programs, access, within } = execution;
          const program = programs[0]?.program;
          if (
            coalescer === undefined ||
            within !== undefined ||
            access !== "read only" ||
            programs.length !== 1 ||
            program?.isProven !== true
          )
            return next(execution);
          let pace = paces.get(program);
          if (pace === undefined) paces.set(program, (pace = new Pace()));
          if (!pace.isShort) return measured(execution, pace);
          const read = coalescer.ready(execution);
          if (read === undefined) return next(execution);
          const { key } = read;
          let line = lines.get(key);
          if (line === undefined)
            lines.set(key, (line = createLine(coalescer, yardstick, next, context, () => lines.delete(key))));
          return new Promise((resolve, reject) => {
            line.waiting.push({ read, pace, resolve, reject });
            if (line.isDue) return;
            line.isDue = true;
            if (due.push(line) === 1) setImmediate(startAll);
          });
        };
      },
    });
  },
});
