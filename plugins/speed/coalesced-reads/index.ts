/** Lets short reads of several callers in one turn of the event loop share a round trip. A long read would delay the
 *  others. Reads with equal settings have a queue, which puts them into batches. While enough batches of a queue are
 *  running, its last batch waits for more reads. A few large batches cost a database less than many small ones. */
import {
  definePlugin,
  memoize,
  type Execution,
  type PluginContext,
  type Program,
  type ResultRow,
} from "../../../core/index.ts";
import { createCoalescer, type CoalescedRead, type Coalescer } from "./coalescer.ts";
import { coalescedReadsSettings } from "../settings.ts";

type Rows = readonly ResultRow[];

/** The estimated cost of a full batch. */
const FULL_BATCH_MS = 1;
/** The number of running batches of a queue below which a batch starts before it is full. */
const MIN_BATCHES = 2;
/** The duration above which a batch counts as long. A long batch keeps the database busy all the time, so its whole
 *  duration counts. */
const LONG_BATCH_MS = 4;

const MAX_READ_MS = 1;
const MIN_READ_MS = 0.05;
const MAX_RESULT_CHARACTERS = 64 * 1024;
const MAX_BYTES_PER_CHARACTER = 4;
/** The number of measurements of a program before its reads can count as short. */
const MIN_MEASUREMENTS = 3;
const MAX_ROUND_TRIP_MS = 5;

/** The number of measurements after which an estimate forgets an extreme. */
const WINDOW = 256;
/** The window for measurements of long batches. It is shorter, so that the batches soon become smaller. */
const LONG_BATCH_WINDOW = 64;
const updateAverage = (estimate: number, measurement: number, memory: number): number =>
  estimate + (measurement - estimate) / memory;
/** Updates an estimate. The lowest of the latest measurements counts, because a busy machine makes everything
 *  slower. */
const updateMinimum = (estimate: number, measurement: number, memory = WINDOW): number =>
  Math.min(measurement, updateAverage(estimate, measurement, memory));
const updateMaximum = (estimate: number, measurement: number): number =>
  Math.max(measurement, updateAverage(estimate, measurement, WINDOW));

/** Estimates of the time that a read of a program takes the database, and of the length of its result. */
class ReadCost {
  ms = MAX_READ_MS;
  private resultCharacters = 0;
  private measurements = 0;
  private neededMeasurements = MIN_MEASUREMENTS;

  isShort(maxCharacters: number): boolean {
    return (
      this.measurements >= this.neededMeasurements && this.ms <= MAX_READ_MS && this.resultCharacters <= maxCharacters
    );
  }

  add(ms: number, rows: Rows, isLongBatch = false): void {
    this.measurements++;
    this.ms = updateMinimum(this.ms, Math.max(MIN_READ_MS, ms), isLongBatch ? LONG_BATCH_WINDOW : WINDOW);
    this.resultCharacters = updateMaximum(this.resultCharacters, rows[0]?.["body"]?.length ?? 0);
  }

  /** Called when a read has delayed its batch. Reads then need twice as many measurements to count as short again. */
  distrust(): void {
    this.measurements = 0;
    this.neededMeasurements *= 2;
  }

  /** Called when the proof of the program no longer holds. */
  exclude(): void {
    this.neededMeasurements = Infinity;
  }
}

/** Measures how long the process is idle. That is the time of the database, without the part in which the process did
 *  other work. */
const startIdleTimer = (): (() => number) => {
  const since = performance.eventLoopUtilization();
  return () => performance.eventLoopUtilization(since).idle;
};

/** An estimate of the duration of a round trip with nearly no work for the database. */
class RoundTrip {
  ms = MAX_ROUND_TRIP_MS;

  /** The cost of each read of a batch. */
  computeReadCost(idleMs: number, readCount: number): number {
    this.ms = Math.min(MAX_ROUND_TRIP_MS, updateMinimum(this.ms, idleMs));
    return (idleMs - this.ms) / readCount;
  }
}

interface QueuedRead {
  readonly read: CoalescedRead;
  readonly cost: ReadCost;
  readonly resolve: (rows: Rows | Promise<Rows>) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch {
  readonly reads: QueuedRead[];
  costMs: number;
  isStarted: boolean;
}

/** The parts that all queues of an api use. */
interface QueueParts {
  readonly coalescer: Coalescer;
  readonly counters: PluginContext["counters"];
  /** The largest number of reads of a batch. */
  readonly maxReads: number;
  readonly roundTrip: RoundTrip;
  /** Runs a read on its own. */
  readonly runAlone: PluginContext["execute"];
}

/** Reads that may run together. */
class Queue {
  /** The batch that accepts other reads. A started batch accepts them until it has a connection. */
  private open: Batch | undefined;
  /** The number of started batches, without those that took too long, because others need not wait for them. */
  private runningCount = 0;
  private readonly parts: QueueParts;
  private readonly onEmpty: () => void;

  constructor(parts: QueueParts, onEmpty: () => void) {
    this.parts = parts;
    this.onEmpty = onEmpty;
  }

  add(read: QueuedRead): void {
    const batch = (this.open ??= this.openBatch());
    batch.reads.push(read);
    batch.costMs += read.cost.ms;
    if (batch.costMs < FULL_BATCH_MS && batch.reads.length < this.parts.maxReads) return;
    this.open = undefined;
    if (!batch.isStarted) void this.run(batch);
  }

  private openBatch(): Batch {
    setImmediate(() => this.startOpen());
    return { reads: [], costMs: 0, isStarted: false };
  }

  private startOpen(): void {
    const { open, runningCount, parts } = this;
    if (open === undefined || open.isStarted) return;
    if (runningCount < MIN_BATCHES * (1 + parts.roundTrip.ms / FULL_BATCH_MS)) void this.run(open);
  }

  private async run(batch: Batch): Promise<void> {
    const { coalescer, counters, roundTrip, runAlone } = this.parts;
    const { reads } = batch;
    batch.isStarted = true;
    this.runningCount++;
    let isRunning = true;
    const endRun = (): void => {
      if (!isRunning) return;
      isRunning = false;
      this.runningCount--;
      this.startOpen();
    };
    let idleMs = startIdleTimer();
    let beganAtMs = 0;
    const take = (): readonly CoalescedRead[] => {
      if (this.open === batch) this.open = undefined;
      idleMs = startIdleTimer();
      beganAtMs = performance.now();
      return reads.map(({ read }) => read);
    };
    const { rows, failedAt, error, isCancelled } = await coalescer.run(take, endRun);
    const tookMs = performance.now() - beganAtMs;
    const isLong = reads.length > 1 && tookMs > LONG_BATCH_MS;
    const costMs =
      rows.length === 0 ? 0 : isLong ? tookMs / reads.length : roundTrip.computeReadCost(idleMs(), reads.length);
    endRun();
    if (this.runningCount === 0 && this.open === undefined) this.onEmpty();
    for (const [i, { read, cost, resolve, reject }] of reads.entries()) {
      const foundRow = rows[i];
      if (foundRow !== undefined) {
        cost.add(costMs, foundRow, isLong);
        resolve(foundRow);
      } else if (error !== undefined) reject(error);
      else {
        if (i < failedAt) cost.exclude();
        else if (i === failedAt && isCancelled) cost.distrust();
        resolve(runAlone(read.execution));
      }
    }
    const resultCount = rows.filter((foundRow) => foundRow !== undefined).length;
    if (resultCount > 1) counters.add("coalesced-reads", resultCount);
  }
}

/** Lets short reads of several callers share a round trip. @rule R-TX-17 */
export const coalescedReads = definePlugin({
  name: "coalesced-reads",
  requires: ["plan-proof"],
  settings: coalescedReadsSettings,
  apply: (_hooks, context) => {
    const { maxCoalescedReads: maxReads, maxResultBytes } = context.options;
    if (maxReads === 1) return;
    const maxCharacters = Math.min(MAX_RESULT_CHARACTERS, maxResultBytes / MAX_BYTES_PER_CHARACTER / maxReads);
    const coalescer = createCoalescer(context);
    const roundTrip = new RoundTrip();
    const getCost = memoize((_program: Program) => new ReadCost());
    const queues = new Map<string, Queue>();

    context.wrap({
      execute: (next) => {
        const measure = async (execution: Execution, cost: ReadCost): Promise<Rows> => {
          const idleMs = startIdleTimer();
          const rows = await next(execution);
          cost.add(roundTrip.computeReadCost(idleMs(), 1), rows);
          return rows;
        };
        return (execution) => {
          const { programs, access, openTransaction } = execution;
          const program = programs[0]?.program;
          if (
            openTransaction !== undefined ||
            access !== "read only" ||
            programs.length !== 1 ||
            program?.isProven !== true
          )
            return next(execution);
          const cost = getCost(program);
          if (!cost.isShort(maxCharacters)) return measure(execution, cost);
          const read = coalescer.buildRead(execution);
          if (read === undefined) return next(execution);
          let queue = queues.get(read.key);
          if (queue === undefined) {
            const parts = { coalescer, counters: context.counters, maxReads, roundTrip, runAlone: next };
            queue = new Queue(parts, () => queues.delete(read.key));
            queues.set(read.key, queue);
          }
          return new Promise((resolve, reject) => queue.add({ read, cost, resolve, reject }));
        };
      },
    });
  },
});
