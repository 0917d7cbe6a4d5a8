/** Runs a transaction: settings, pre-request function, statements and end in one round trip. If rows are checked before
 *  the end, there are two round trips. */
import type { CurrentState } from "../kernel/current-state.ts";
import type { CacheManager } from "../kernel/cache.ts";
import { RelApiError, requestCancelled } from "../kernel/errors.ts";
import type { Signal } from "../kernel/token.ts";
import type { HealthProblems } from "../kernel/health-problems.ts";
import type { Execution, PluginContext, ResultRow, SessionSpec, TransactionSender } from "../plugin.ts";
import type { CleaningKind } from "./cleaning.ts";
import { MAX_LIST_LENGTH } from "../sql/fragment.ts";
import { convertStatementError, isFatal, isInterrupted, isInFunction, readSqlstate } from "./pg-errors.ts";
import type { Connection } from "./connection.ts";
import type { Pool } from "./pool.ts";
import {
  createBatchPlanner,
  recordFailure,
  UNKNOWN_ROLE,
  type FailedBatch,
  type PlanOwner,
} from "./prepared-statements.ts";
import type { Replicas } from "./connector.ts";
import { findStatementPath, TransactionRecord, runChecks, explainError } from "./results.ts";
import { nextAttempt, type Attempts } from "./retry-policy.ts";
import { createSharedTransaction } from "./shared-transaction.ts";
import { getSharing, type Sharing } from "./sharing.ts";
import { createErrorReporter } from "./statement-errors.ts";
import { createPlainStatement } from "./statements.ts";
import { createTransactions, mergeRows, type Transaction } from "./transaction.ts";
import type { SendOptions } from "./transaction-template.ts";
import type { WirePlan, WireResult, WireRow, WireStatement } from "./wire.ts";

interface ExecutorParts {
  readonly caches: CacheManager;
  readonly current: CurrentState;
  readonly primary: Pool;
  /** The replicas, on which only reads run. */
  readonly replicas: Replicas | undefined;
  readonly sessions: readonly SessionSpec[];
  readonly warn: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  readonly healthProblems: HealthProblems;
  /** Logs the text of each statement of a request. Undefined unless statements are logged. */
  readonly logStatement?: (text: string) => void;
  readonly endedSignal: Signal<unknown>;
}

export interface Executor {
  readonly execute: Execute;
  readonly runTransaction: PluginContext["transaction"];
  readonly transactionSender: TransactionSender;
}

export type Execute = (execution: Execution) => Promise<readonly ResultRow[]>;

/** Returns the run with the rows of its JSON list in the form of another row source. If that source rejects the rows,
 *  the run is unchanged. @rule X-INS-1 */
const replaceRowSource = (run: Execution["programs"][number]): Execution["programs"][number] => {
  const { withRows } = run.program;
  const list = withRows && run.values[withRows.list];
  if (withRows === undefined || list === null || typeof list !== "object" || !("json" in list)) return run;
  if (list.json.length > MAX_LIST_LENGTH) return run;
  const rows = list.rows();
  const values = rows && withRows.values(rows);
  if (values === undefined) return run;
  return { ...run, program: withRows.program, values: [...run.values.slice(0, withRows.first), ...values] };
};

/** The largest number of attempts on one connection: the first, one with a new plan, and one without prepared
 *  statements. */
const MAX_ATTEMPTS = 3;

/** Creates the executor of all transactions. @rule R-TX-1 R-TX-4 R-TX-6 */
export const createExecutor = (parts: ExecutorParts): Executor => {
  const { current, primary, replicas, warn, endedSignal } = parts;
  const transactions = createTransactions(parts);
  const reportError = createErrorReporter(parts);
  const { dbMaxPreparedStatements, dbMaxPreparedBytes, dbPreparedStatements: prepares } = current.options;
  const planBatch = createBatchPlanner({ maxCount: dbMaxPreparedStatements, maxBytes: dbMaxPreparedBytes });
  let hasWarnedOfPooler = false;

  /** Sends the statements in one write, and resolves with the result of the batch. */
  const send = async (
    connection: Connection,
    statements: readonly WireStatement[],
    isPrepared: boolean,
    cleaning?: CleaningKind,
  ): Promise<WireResult> => {
    const batch = planBatch(connection.prepared, statements, isPrepared);
    const result = await connection.run(batch, cleaning);
    if ("error" in result) recordFailure(connection.prepared, batch, result);
    return result;
  };

  /** Interprets the result of a transaction's first batch, and sends the end if the batch did not contain it. */
  const conclude = async (
    connection: Connection,
    transaction: Transaction,
    execution: Execution,
    batch: WirePlan,
    result: WireResult,
  ): Promise<readonly ResultRow[]> => {
    const { offset, checkedEnd } = transaction.template;
    if ("error" in result) return failTransaction(connection, transaction, execution, batch, result);
    const rows = mergeRows(execution, result.rows, offset);
    return checkedEnd.length === 0 ? rows : checkAndEnd(connection, transaction, execution, result.rows, rows);
  };

  const rollBack = (connection: Connection, { template }: Transaction): Promise<unknown> =>
    send(connection, template.rollback, false, template.cleaning);

  /** Rolls back after a failed statement. @throws BatchFailure, or RelApiError for a check that failed before the
   *  statement */
  const failTransaction = async (
    connection: Connection,
    transaction: Transaction,
    execution: Execution,
    batch: WirePlan,
    result: FailedBatch,
  ): Promise<never> => {
    const { statements, template, firstEffect = 0 } = transaction;
    const { offset, isImplicit, checkedEnd, cleaning, cleansItself } = template;
    const { error, failedAt } = result;
    recordFailure(connection.prepared, batch, result);
    if (!connection.isEnded && !isFatal(error)) {
      if (!isImplicit) await rollBack(connection, transaction);
      else if (cleansItself) await send(connection, NO_STATEMENTS, false, cleaning);
    }
    if (checkedEnd.length > 0) runChecks(execution, result.rows, offset, failedAt);
    const path = findStatementPath(execution, failedAt - offset);
    throw new BatchFailure(result, statements.slice(failedAt), failedAt - firstEffect, path);
  };

  /** Checks rows, and then ends the transaction. @throws BatchFailure, or RelApiError of a check */
  const checkAndEnd = async (
    connection: Connection,
    transaction: Transaction,
    execution: Execution,
    wireRows: readonly (WireRow | undefined)[],
    rows: readonly ResultRow[],
  ): Promise<readonly ResultRow[]> => {
    const { template, sending } = transaction;
    const { offset, checkedEnd, cleaning } = template;
    try {
      runChecks(execution, wireRows, offset);
      execution.check?.(rows);
    } catch (error) {
      await rollBack(connection, transaction);
      throw error;
    }
    const endResult = await send(connection, checkedEnd, sending.prepares, cleaning);
    if ("error" in endResult) {
      if (!connection.isEnded) await rollBack(connection, transaction);
      throw new BatchFailure(endResult, checkedEnd.slice(endResult.failedAt), Infinity);
    }
    return rows;
  };

  /** Discards plans that functions made for another role, because PostgreSQL checks some rights only while planning.
   *  @throws RelApiError @rule R-TX-14 */
  const discardForeignPlans = async (connection: Connection, owner: PlanOwner): Promise<void> => {
    if (connection.planOwner !== undefined) {
      const result = await send(connection, DISCARD_PLANS_BATCH, prepares);
      if ("error" in result) throw new BatchFailure(result, DISCARD_PLANS_BATCH, -1);
    }
    // Plans of an unknown role need no record, because the cleaning discards them.
    connection.planOwner = owner === UNKNOWN_ROLE ? undefined : owner;
  };

  /** Handles a connection whose prepared statements differ from the record. Either a pooler has changed the backend, or
   *  user-defined code has deallocated statements. */
  const handleLostStatements = async (pool: Pool, connection: Connection): Promise<void> => {
    connection.prepared.markAllUncertain();
    if (!(await pool.recheck(connection)) || hasWarnedOfPooler) return;
    hasWarnedOfPooler = true;
    warn(
      "the database loses prepared statements, as behind a connection pooler in transaction mode: no longer using them; set DATABASE_POOLER=transaction, or DB_PREPARED_STATEMENTS=false if there is no pooler",
    );
  };

  /** Runs an execution, and runs it again after a lost connection if the retry policy allows that. `record` is defined
   *  if the signal has listeners. `onRows` is called with rows whose body has not arrived yet. */
  const execute = async (
    execution: Execution,
    record?: TransactionRecord,
    onRows?: (rows: readonly ResultRow[]) => void,
    previousAttempts?: Attempts,
  ): Promise<readonly ResultRow[]> => {
    const isRead = execution.access === "read only";
    let isUnprepared = false;
    let isOpening = true;
    let attempts: Attempts | undefined;
    let pool = primary;
    if (replicas !== undefined && execution.mayUseReplica === true && previousAttempts === undefined) {
      replicas.start();
      await replicas.firstCheck;
      pool = replicas.choose(execution.minWritePosition) ?? primary;
    }
    const build = (sharing: Sharing | undefined): Transaction =>
      transactions.build(execution, { prepares: prepares && !isUnprepared && sharing === undefined, sharing });
    let transaction: Transaction;
    try {
      transaction = build(pool.sharing);
    } catch (error) {
      throw publishFailure(error, record);
    }
    if (parts.logStatement !== undefined)
      for (const { program } of execution.programs) for (const { text } of program.statements) parts.logStatement(text);
    let isGone = false;
    let isTaken = false;
    const finishStreamed = (rows: readonly ResultRow[]): void => {
      isTaken = true;
      onRows?.(rows);
    };
    let cancelling: Promise<void> | undefined;
    let runningConnection: Connection | undefined;
    const forget = execution.onDisconnect?.(() => {
      isGone = true;
      cancelling = runningConnection?.cancel();
    });
    try {
      const connection = await pool.acquire(transaction.template.owner);
      if (record !== undefined) record.beganAtMs = performance.now();
      isOpening = false;
      let isReusable = false;
      try {
        if (getSharing(connection) !== transaction.sending.sharing) transaction = build(getSharing(connection));
        if (isGone) {
          isReusable = true;
          throw requestCancelled();
        }
        runningConnection = connection;
        for (let tries = 1; ; tries++) {
          try {
            const { statements, template, sending } = transaction;
            const { owner, checkedEnd, cleaning, cleansItself } = template;
            if (owner !== undefined && connection.planOwner !== owner) await discardForeignPlans(connection, owner);
            const batch = planBatch(connection.prepared, statements, sending.prepares, transaction.firstEffect);
            const long = execution.longRows?.({ execution, offset: template.offset, answer: finishStreamed });
            const result = await connection.run(
              batch,
              checkedEnd.length === 0 && !cleansItself ? cleaning : undefined,
              long,
            );
            const rows = await conclude(connection, transaction, execution, batch, result);
            isReusable = true;
            record?.publish(endedSignal, rows);
            return rows;
          } catch (error) {
            if (isGone || isTaken || tries === MAX_ATTEMPTS || !(error instanceof BatchFailure)) throw error;
            if (!isRead && error.positionFromEffect > 0) throw error;
            if (transaction.sending.prepares && isStatementMismatch(error)) {
              await handleLostStatements(pool, connection);
              isUnprepared = true;
            } else if (!isStalePlan(error)) throw error;
            if ((await connection.cleaner.lastCleaning) === false) throw error;
            transaction = build(getSharing(connection));
          }
        }
      } catch (error) {
        // After an internal error, the state of the connection is unknown: it may still wait for a response.
        const isUnderstood =
          error instanceof BatchFailure ? !isFatal(error.result.error) : error instanceof RelApiError;
        isReusable ||= !connection.isEnded && isUnderstood;
        throw error;
      } finally {
        runningConnection = undefined;
        // A pending cancel request must not hit the next user of the connection.
        const { lastCleaning } = connection.cleaner;
        if (cancelling === undefined && lastCleaning === undefined) pool.release(connection, isReusable);
        else
          void Promise.all([lastCleaning, cancelling]).then(([isClean]) =>
            pool.release(connection, isReusable && isClean !== false),
          );
      }
    } catch (error) {
      if (isGone) throw publishFailure(requestCancelled(), record);
      const isOfBatch = error instanceof BatchFailure;
      if (isOfBatch) reportError(error.result.error, error.statements[0], execution.session.databaseRole);
      const loss = {
        error: isOfBatch ? error.result.error : error,
        isOpening,
        isReplica: pool !== primary,
        isRead,
        hasNoEffect: isOfBatch && error.positionFromEffect < 0 && isInterrupted(error.result.error),
      };
      const mayTryAgain = (isOfBatch || isOpening) && !isTaken && !primary.isClosed;
      attempts = mayTryAgain ? nextAttempt(loss, previousAttempts) : undefined;
      if (attempts === undefined)
        throw publishFailure(
          isOfBatch ? explainError(convertStatementError(error.result.error, error.path), execution, current) : error,
          record,
        );
    } finally {
      forget?.();
    }
    const { pauseMs } = attempts;
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    return execute(execution, record, onRows, attempts);
  };

  const publishFailure = (error: unknown, record: TransactionRecord | undefined): unknown => {
    record?.publish(endedSignal, undefined, error);
    return error;
  };

  return {
    execute: (requestedExecution) => {
      const hasOther = requestedExecution.programs.some(({ program }) => program.withRows !== undefined);
      const execution = hasOther
        ? { ...requestedExecution, programs: requestedExecution.programs.map(replaceRowSource) }
        : requestedExecution;
      const record = endedSignal.hasListeners ? new TransactionRecord(execution) : undefined;
      if (execution.longRows === undefined) return execute(execution, record);
      return new Promise((resolve, reject) => void execute(execution, record, resolve).then(resolve, reject));
    },
    runTransaction: createSharedTransaction({
      current,
      primary,
      transactions,
      planBatch,
      reportError,
      endedSignal,
    }),
    transactionSender: {
      build: (execution, programs) => {
        if (!prepares || primary.sharing !== undefined) return undefined;
        if (replicas !== undefined && execution.mayUseReplica === true) return undefined;
        return transactions.build(execution, WITHOUT_USER_CODE, programs).statements;
      },
      pool: primary,
      send: (connection, statements) => send(connection, statements, true),
    },
  };
};

const NO_STATEMENTS: readonly WireStatement[] = [];
const DISCARD_PLANS_BATCH: readonly WireStatement[] = [createPlainStatement("discard plans")];
const WITHOUT_USER_CODE: SendOptions = { prepares: true, sharing: undefined, runsUserCode: false };

/** A failed attempt, with the facts that decide whether the transaction is repeated. No other file sees this error. */
class BatchFailure {
  readonly result: FailedBatch;
  /** The failed statement and the statements after it. */
  readonly statements: readonly WireStatement[];
  /** The position of the failed statement, counted from the first statement of a write that may have an effect. */
  readonly positionFromEffect: number;
  readonly path: string | undefined;

  constructor(result: FailedBatch, statements: readonly WireStatement[], position: number, path?: string) {
    this.result = result;
    this.statements = statements;
    this.positionFromEffect = position;
    this.path = path;
  }
}

/** Returns whether the prepared statements of the server differ from the record. The SQLSTATE is not sufficient,
 *  because functions may raise the same SQLSTATEs. */
const isStatementMismatch = ({ result: { error }, statements }: BatchFailure): boolean => {
  if (isInFunction(error)) return false;
  const state = readSqlstate(error);
  const message = error instanceof Error ? error.message : "";
  const isLost = state === "26000" && /^prepared statement ".*" does not exist$/s.test(message);
  const isTaken = state === "42P05" && /^prepared statement ".*" already exists$/s.test(message);
  return (isLost || isTaken) && statements.some(({ name }) => name !== "" && message.includes(name));
};

/** Returns whether the type of a result has changed, so that the statement must be prepared again. */
const isStalePlan = ({ result: { error } }: BatchFailure): boolean =>
  !isInFunction(error) &&
  readSqlstate(error) === "0A000" &&
  error instanceof Error &&
  error.message.startsWith("cached plan must not change");
