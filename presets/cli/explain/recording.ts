/** Records the plans and statements of a request on their way to the database, and rolls its transactions back. */
import type { Execution, PluginContext, ResultRow } from "../../../core/index.ts";

interface RecordedExecution {
  readonly execution: Execution;
  /** The rows of each program. Undefined if the transaction failed. */
  rows?: readonly ResultRow[];
}

export interface Recording {
  /** The transactions of requests, in order. */
  readonly executions: readonly RecordedExecution[];
  /** Runs a transaction without recording it. The transaction is rolled back too. */
  readonly run: PluginContext["execute"];
  /** Stops recording. Earlier recordings stay. */
  stop(): void;
}

/** Starts recording, and rolls all transactions back. Must be called while plugins are applied. @rule C-EXP-2 */
export const startRecording = (context: PluginContext): Recording => {
  const executions: RecordedExecution[] = [];
  let isOn = true;
  let run: PluginContext["execute"] = () => Promise.resolve([]);
  context.wrap({
    execute: (next) => {
      run = (execution) => next({ ...execution, end: "rollback", mayUseReplica: false });
      return async (execution) => {
        const recordedExecution: RecordedExecution = { execution };
        if (isOn) executions.push(recordedExecution);
        recordedExecution.rows = await run(execution);
        return recordedExecution.rows;
      };
    },
  });
  return {
    executions,
    run: (execution) => run(execution),
    stop: () => {
      isOn = false;
    },
  };
};
