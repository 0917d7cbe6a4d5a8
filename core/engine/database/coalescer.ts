/** Reads of several requests in one round trip and one transaction. They may run together for these reasons. Each is
 *  proven to run no user code (R-TX-10), so it cannot observe the reads beside it. The settings in front of them, the
 *  database role among them, are the same to the byte. The proof was made when the schema was loaded, and each read says
 *  with its answer whether it still holds. A read that does not succeed runs again by itself, since it has no effect. */
import { isRelApiError } from "../../kernel/errors.ts";
import type { Signal } from "../../kernel/token.ts";
import type { CoalescedRead, CoalescedRun, Coalescer, Execution } from "../../plugin.ts";
import type { Connection } from "./connection.ts";
import { isFatal, isTimedOut, isUnreachable } from "./pg-errors.ts";
import type { Pool } from "./pool.ts";
import { settle, type createBatchPlanner } from "./prepared.ts";
import { Ran } from "./results.ts";
import { mergeRows, type Transaction, type Transactions } from "./transaction.ts";
import type { WireResult, WireStatement } from "./wire.ts";

interface Parts {
  readonly primary: Pool;
  readonly hasReplicas: boolean;
  readonly transactions: Transactions;
  readonly planBatch: ReturnType<typeof createBatchPlanner>;
  readonly prepares: boolean;
  readonly ran: Signal<unknown>;
  readonly logStatement: ((text: string) => void) | undefined;
}

interface ReadyRead extends CoalescedRead {
  readonly settings: WireStatement;
  readonly statement: WireStatement;
  /** Index of the column that says whether the proof holds no more. */
  readonly doubt: number;
  readonly heard: Ran | undefined;
}

const NOTHING: CoalescedRun = { rows: [], failedAt: 0, isBroken: false };

/** @rule R-TX-17 */
export const createCoalescer = (parts: Parts): Coalescer => {
  const { primary, hasReplicas, transactions, planBatch, prepares, ran, logStatement } = parts;
  const ready = (execution: Execution): ReadyRead | undefined => {
    if (!prepares || primary.sharing !== undefined) return undefined;
    if (hasReplicas && execution.mayUseReplica === true) return undefined;
    let transaction: Transaction | undefined;
    try {
      transaction = transactions.buildCoalesced(execution);
    } catch {
      return undefined;
    }
    const [settings, statement] = transaction?.statements ?? [];
    if (settings === undefined || statement === undefined) return undefined;
    const key = [settings.name, ...settings.values].join("\0");
    const doubt = execution.programs[0]?.program.statements[0]?.columns.length ?? 0;
    const heard = ran.isHeard ? new Ran(execution) : undefined;
    return { execution, key, settings, statement, doubt, heard };
  };

  return {
    ready,
    run: async (take, patienceMs, late) => {
      let connection: Connection;
      try {
        const acquired = primary.acquire();
        connection = acquired instanceof Promise ? await acquired : acquired;
      } catch (error) {
        take();
        const isFinal = isTimedOut(error) || (isRelApiError(error) && error.code === "pool-timeout");
        return isFinal ? { ...NOTHING, error } : NOTHING;
      }
      const reads = take() as readonly ReadyRead[]; // what `ready` has made
      const [first] = reads;
      if (first === undefined || connection.backend.isShared) {
        primary.release(connection, true);
        return NOTHING;
      }
      const statements: WireStatement[] = [first.settings];
      const beganAtMs = performance.now();
      for (const { statement, heard } of reads) {
        statements.push(statement);
        if (heard !== undefined) heard.beganAtMs = beganAtMs;
        logStatement?.(statement.text);
      }
      const batch = planBatch(connection.prepared, statements, true);
      let cancelling: Promise<void> | undefined;
      let isOver = false;
      const patience = setTimeout(() => {
        // answers that have come while the process was busy are read first
        setImmediate(() => {
          if (isOver) return;
          cancelling = connection.cancel();
          late();
        });
      }, patienceMs);
      let result: WireResult;
      try {
        result = await connection.run(batch);
      } catch {
        // it is unknown what was sent and what the connection still waits for
        primary.release(connection, false);
        return NOTHING;
      } finally {
        isOver = true;
        clearTimeout(patience);
      }
      let failedAt = reads.length;
      let isReusable = !connection.isEnded;
      if ("error" in result) {
        settle(connection.prepared, batch, result);
        failedAt = Math.max(0, result.failedAt - 1); // the settings are the first
        isReusable &&= !isFatal(result.error);
      }
      // a pending cancel request must not hit the next user of the connection
      if (cancelling === undefined) primary.release(connection, isReusable);
      else void (cancelling as Promise<void>).then(() => primary.release(connection, isReusable));
      const rows = [];
      for (let i = 0; i < failedAt; i++) {
        const { execution, doubt, heard } = reads[i] as ReadyRead; // i is within its length
        const merged = result.rows[i + 1]?.[doubt] === "f" ? mergeRows(execution, result.rows, i + 1) : undefined;
        if (merged !== undefined) heard?.tell(ran, merged);
        rows.push(merged);
      }
      const error = "error" in result && isUnreachable(result.error) ? { error: result.error } : {};
      return { rows, failedAt, isBroken: cancelling !== undefined, ...error };
    },
  };
};
