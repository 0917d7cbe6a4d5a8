/** Runs reads of several requests in one round trip and one transaction. Each read is proven to run no user-defined
 *  code (R-TX-10), so it cannot observe the others. All reads have equal settings, including the role. Each read also
 *  returns whether its proof still holds. A read without a result runs again on its own, which has no side effect. */
import {
  isFatal,
  RelApiError,
  isTimedOut,
  isUnreachable,
  memoize,
  transactionEndedSignal,
  type Connection,
  type Execution,
  type Model,
  type PluginContext,
  type Program,
  type ResultRow,
  type WireResult,
  type WireRow,
  type WireStatement,
} from "../../../core/index.ts";
import { compileProofCheck } from "./proof-check.ts";

/** A read that may share a transaction with other reads. */
export interface CoalescedRead {
  readonly execution: Execution;
  /** The key that all reads of a transaction must share. */
  readonly key: string;
  readonly settings: WireStatement;
  readonly statement: WireStatement;
  /** The names of its result columns. The next column says whether the proof no longer holds. */
  readonly columns: readonly string[];
  readonly askedAtMs: number;
}

/** The outcome of reads that shared a round trip. */
interface CoalescedRun {
  /** The rows of each read. Undefined for a read that has to run on its own. */
  readonly rows: readonly (readonly ResultRow[] | undefined)[];
  /** The index of the first read without a result. */
  readonly failedAt: number;
  /** True if the run took too long and was cancelled. */
  readonly isCancelled: boolean;
  /** The reason why none of the reads can run, not even on its own. */
  readonly error?: unknown;
}

export interface Coalescer {
  /** Builds the read of an execution. Returns undefined if the read must run on its own, or fails. */
  buildRead(execution: Execution): CoalescedRead | undefined;
  /** Calls `take` once, as soon as a connection is available. A run that takes too long is cancelled, and `onLate` is
   *  called. So a slow read neither delays the others nor holds their locks. */
  run(take: () => readonly CoalescedRead[], onLate: () => void): Promise<CoalescedRun>;
}

const NO_RESULT: CoalescedRun = { rows: [], failedAt: 0, isCancelled: false };

/** Returns the program with a last column that says whether its proof no longer holds. Undefined if the program cannot
 *  run together with others. */
const addProofCheck = memoize((model: Model) =>
  memoize((program: Program): Program | undefined => {
    const [statement, ...otherStatements] = program.statements;
    if (statement === undefined || otherStatements.length > 0 || statement.isMultiRow === true) return undefined;
    const text = compileProofCheck(statement.text, program, model);
    return text === undefined ? undefined : { ...program, statements: [{ ...statement, text }] };
  }),
);

/** The number of statements of a read: its settings and the read itself. */
const MAX_STATEMENTS = 2;
/** The time limit of a run. A longer run is cancelled. */
const MAX_RUN_MS = 25;

/** Creates the coalescer, which sends reads of the same moment together. @rule R-TX-17 */
export const createCoalescer = (context: PluginContext): Coalescer => {
  const { transactionSender, logger } = context;
  const transactionEnded = context.use(transactionEndedSignal);

  /** Builds the statements of an execution. Returns undefined if the transaction consists of more than its settings
   *  and the read, or fails. */
  const buildStatements = (execution: Execution): readonly WireStatement[] | undefined => {
    const { programs, settings = [], comment, check, end, isolation, skipsPreRequest } = execution;
    const [boundProgram, ...otherPrograms] = programs;
    if (boundProgram === undefined || otherPrograms.length > 0 || settings.length > 0 || comment !== undefined)
      return undefined;
    // These transactions have other statements too. Building them would cost a look-up.
    if (check !== undefined || end === "rollback" || isolation !== undefined) return undefined;
    const { dbPreRequest = "" } = context.options;
    if (dbPreRequest !== "" && skipsPreRequest !== true) return undefined;
    try {
      const program = addProofCheck(context.model())(boundProgram.program);
      return (
        program &&
        transactionSender.build(execution, [{ program, values: boundProgram.values, path: boundProgram.path }])
      );
    } catch {
      return undefined;
    }
  };

  const buildRead = (execution: Execution): CoalescedRead | undefined => {
    const statements = buildStatements(execution) ?? [];
    const [settings, statement] = statements;
    if (settings === undefined || statement === undefined || statements.length > MAX_STATEMENTS) return undefined;
    const key = [settings.name, ...settings.values].join("\0");
    const columns = execution.programs[0]?.program.statements[0]?.columns ?? [];
    return { execution, key, settings, statement, columns, askedAtMs: performance.now() };
  };

  const readRow = ({ columns }: CoalescedRead, values: WireRow | undefined): ResultRow | undefined => {
    if (values?.[columns.length] !== "f") return undefined;
    const row: Record<string, string | null> = {};
    for (const [i, name] of columns.entries()) row[name] = values[i] ?? null;
    return row;
  };

  return {
    buildRead,
    run: async (take, onLate) => {
      let connection: Connection;
      try {
        const acquisition = transactionSender.pool.acquire();
        connection = acquisition instanceof Promise ? await acquisition : acquisition;
      } catch (error) {
        take();
        const isFinal = isTimedOut(error) || (error instanceof RelApiError && error.code === "pool-timeout");
        return isFinal ? { ...NO_RESULT, error } : NO_RESULT;
      }
      const release = (isReusable: boolean): void => transactionSender.pool.release(connection, isReusable);
      const reads = take();
      const [first] = reads;
      if (first === undefined || connection.backend.isShared) {
        release(true);
        return NO_RESULT;
      }
      const beganAtMs = performance.now();
      if (context.options.logQuery) for (const { statement } of reads) logger.info(statement.text);
      let cancelling: Promise<void> | undefined;
      let isOver = false;
      const cancelTimer = setTimeout(() => {
        // Results that arrived while the process was busy are processed first.
        setImmediate(() => {
          if (isOver) return;
          cancelling = connection.cancel();
          onLate();
        });
      }, MAX_RUN_MS);
      let result: WireResult;
      try {
        result = await transactionSender.send(connection, [first.settings, ...reads.map(({ statement }) => statement)]);
      } catch {
        // The state of the connection is unknown.
        release(false);
        return NO_RESULT;
      } finally {
        isOver = true;
        clearTimeout(cancelTimer);
      }
      let failedAt = reads.length;
      let isReusable = !connection.isEnded;
      if ("error" in result) {
        failedAt = Math.max(0, result.failedAt - 1); // the settings are the first statement
        isReusable &&= !isFatal(result.error);
      }
      // A pending cancel request must not hit the next user of the connection.
      if (cancelling === undefined) release(isReusable);
      else void (cancelling as Promise<void>).then(() => release(isReusable));
      const rows = [];
      for (const [i, read] of reads.slice(0, failedAt).entries()) {
        const row = readRow(read, result.rows[i + 1]);
        const foundRows = row && [row];
        const { execution, askedAtMs } = read;
        if (foundRows !== undefined && transactionEnded.hasListeners)
          transactionEnded.emit({ execution, askedAtMs, beganAtMs, endedAtMs: performance.now(), rows: foundRows });
        rows.push(foundRows);
      }
      const error = "error" in result && isUnreachable(result.error) ? { error: result.error } : {};
      return { rows, failedAt, isCancelled: cancelling !== undefined, ...error };
    },
  };
};
