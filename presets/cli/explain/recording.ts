/** What a request plans and runs: taken down on its way to the database, and never kept there. */
import type { Execution, PluginContext, ResultRow } from "../../../core/index.ts";

export interface Recorded {
  readonly execution: Execution;
  /** One for each program; absent: the transaction failed. */
  rows?: readonly ResultRow[];
}

export interface Recording {
  /** Transactions of requests, in order. */
  readonly executions: readonly Recorded[];
  /** Runs without being taken down; rolled back as well. */
  readonly run: PluginContext["execute"];
  /** What has been taken down so far stays; the rest is not. */
  stop(): void;
}

/** While plugins are applied. Whatever runs is rolled back. @rule C-EXP-2 */
export const startRecording = (context: PluginContext): Recording => {
  const executions: Recorded[] = [];
  let isOn = true;
  let run: PluginContext["execute"] = () => Promise.resolve([]);
  context.wrap({
    execute: (next) => {
      run = (execution) => next({ ...execution, end: "rollback", mayUseReplica: false });
      return async (execution) => {
        const recorded: Recorded = { execution };
        if (isOn) executions.push(recorded);
        recorded.rows = await run(execution);
        return recorded.rows;
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
