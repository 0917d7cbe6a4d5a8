/** Runs several executions in one transaction, so that each execution sees the writes of the previous ones. */
import { RelApiError, requestCancelled } from "../kernel/errors.ts";
import type { Signal } from "../kernel/token.ts";
import type { Execution, PluginContext, ResultRow } from "../plugin.ts";
import type { CurrentState } from "../kernel/current-state.ts";
import { DISCARD_FOREIGN_STATE, DISCARD_PLANS, buildFullCleaning, buildCleaningRollback } from "./cleaning.ts";
import { convertStatementError, isFatal } from "./pg-errors.ts";
import type { Pool } from "./pool.ts";
import { recordFailure, UNKNOWN_ROLE, type createBatchPlanner } from "./prepared-statements.ts";
import { findStatementPath, TransactionRecord, runChecks, explainError } from "./results.ts";
import { getSharing } from "./sharing.ts";
import type { createErrorReporter } from "./statement-errors.ts";
import { buildBeginText, createUnnamedStatement, ROLLBACK } from "./statements.ts";
import { COMMIT, CHECKED_ROLLBACK } from "./transaction-template.ts";
import { mergeRows, type Transactions } from "./transaction.ts";
import type { WireResult, WireStatement } from "./wire.ts";

interface SharedTransactionParts {
  readonly current: CurrentState;
  readonly primary: Pool;
  readonly transactions: Transactions;
  readonly planBatch: ReturnType<typeof createBatchPlanner>;
  readonly reportError: ReturnType<typeof createErrorReporter>;
  readonly endedSignal: Signal<unknown>;
}

/** Before each execution, these statements restore the settings of the connection and discard temporary tables. The
 *  reset runs as the login role, because only superusers may change some settings of a role. `reset all` restores such
 *  settings, but not the two roles. @rule R-TX-16 */
const AS_LOGIN: readonly WireStatement[] = [
  createUnnamedStatement("reset all"),
  createUnnamedStatement("discard temp"),
  createUnnamedStatement("set local session authorization default"),
  createUnnamedStatement("set local role none"),
];

/** Repeats a setting that `reset all` reverts. */
const LOCAL_JIT_OFF = createUnnamedStatement("set local jit to off");

/** Begins a subtransaction for a read-only execution. The end of the subtransaction restores the right to write. */
const SAVEPOINT = createUnnamedStatement("savepoint relapi_execution");
const UNDO = createUnnamedStatement("rollback to savepoint relapi_execution");
const RELEASE = createUnnamedStatement("release savepoint relapi_execution");

const returnTrue = (): boolean => true;
const returnFalse = (): boolean => false;

/** Runs a transaction without prepared statements, because user-defined code may run before every statement except the
 *  first. @rule R-TX-16 */
export const createSharedTransaction =
  ({
    current,
    primary,
    transactions,
    planBatch,
    reportError,
    endedSignal,
  }: SharedTransactionParts): PluginContext["transaction"] =>
  async ({ isolation, onDisconnect }, work) => {
    const connection = await primary.acquire(UNKNOWN_ROLE);
    const sharing = getSharing(connection);
    let isGone = false;
    let isStateKnown = true;
    let failure: { readonly error: unknown } | undefined;
    let cancelling: Promise<void> | undefined;
    const forget = onDisconnect?.(() => {
      isGone = true;
      cancelling = connection.cancel();
    });

    /** Sends the statements in one batch. Resolves with the result unless a statement failed. @throws RelApiError */
    const send = async (
      statements: readonly WireStatement[],
      isEnd = false,
      findPath: (failedAt: number) => string | undefined = () => undefined,
      role?: string,
    ): Promise<Extract<WireResult, { readonly rows: unknown }>> => {
      const batch = planBatch(connection.prepared, statements, false);
      isStateKnown = false;
      const cleaning = isEnd && sharing === undefined ? "plans" : undefined;
      const result = await connection.run(batch, cleaning);
      isStateKnown = true;
      if (!("error" in result)) return result;
      recordFailure(connection.prepared, batch, result);
      isStateKnown = !isFatal(result.error);
      reportError(result.error, statements[result.failedAt], role);
      throw convertStatementError(result.error, findPath(result.failedAt));
    };

    const run = async (execution: Execution): Promise<readonly ResultRow[]> => {
      if (isGone) throw requestCancelled();
      if (failure !== undefined) throw failure.error;
      const record = endedSignal.hasListeners ? new TransactionRecord(execution) : undefined;
      // The transaction has not waited for a connection, because the connection already exists.
      if (record !== undefined) record.beganAtMs = record.askedAtMs;
      const isRead = execution.access === "read only";
      const isUndone = execution.end === "rollback";
      const { statements, template } = transactions.build(execution, { prepares: false, sharing, isNested: true });
      const { offset } = template;
      const openingStatements = [
        ...AS_LOGIN,
        ...(connection.backend.hasNoJit ? [LOCAL_JIT_OFF] : []),
        ...(isRead || isUndone ? [SAVEPOINT] : []),
      ];
      const closingStatements = [...(isUndone ? [UNDO] : []), ...(isRead || isUndone ? [RELEASE] : [])];
      const findProgramIndex = (i: number): number => i - openingStatements.length;
      try {
        const { rows } = await send(
          [...openingStatements, ...statements, ...closingStatements],
          false,
          (failedAt) => findStatementPath(execution, findProgramIndex(failedAt) - offset),
          execution.session.databaseRole,
        );
        const programRows = rows.slice(openingStatements.length);
        runChecks(execution, programRows, offset);
        const mergedRows = mergeRows(execution, programRows, offset);
        execution.check?.(mergedRows);
        record?.publish(endedSignal, mergedRows);
        return mergedRows;
      } catch (error) {
        const explainedError = error instanceof RelApiError ? explainError(error, execution, current) : error;
        record?.publish(endedSignal, undefined, explainedError);
        const isOver =
          isUndone && isStateKnown && !isGone ? await send([UNDO, RELEASE]).then(returnFalse, returnTrue) : true;
        if (isOver) failure = { error: explainedError };
        throw explainedError;
      }
    };

    let isReusable = false;
    try {
      await send([
        ...(connection.planOwner === undefined || sharing !== undefined ? [] : [DISCARD_PLANS]),
        createUnnamedStatement(buildBeginText(isolation ?? "read committed", false)),
        ...(sharing === undefined ? [] : DISCARD_FOREIGN_STATE),
      ]);
      // The connection keeps no plans of user-defined code, because the cleaning discards them.
      connection.planOwner = undefined;
      let last: Promise<unknown> = Promise.resolve();
      const runInOrder = (execution: Execution): Promise<readonly ResultRow[]> => {
        const rows = last.then(() => run(execution));
        last = rows.catch(() => undefined); // the caller gets the error
        return rows;
      };
      try {
        const { result, end } = await work(runInOrder);
        await last;
        if (failure !== undefined) throw (failure as { readonly error: unknown }).error;
        await send(
          [
            ...(sharing === undefined ? [] : buildFullCleaning(sharing)),
            ...(end === "rollback" ? CHECKED_ROLLBACK : COMMIT),
          ],
          true,
        );
        isReusable = true;
        return result;
      } catch (error) {
        await last;
        if (!connection.isEnded && isStateKnown) {
          await send(sharing === undefined ? ROLLBACK : buildCleaningRollback(sharing), true);
          isReusable = true;
        }
        throw isGone ? requestCancelled() : error;
      }
    } finally {
      forget?.();
      const { lastCleaning } = connection.cleaner;
      void Promise.all([lastCleaning, cancelling]).then(([isClean]) =>
        primary.release(connection, isReusable && isClean !== false),
      );
    }
  };
