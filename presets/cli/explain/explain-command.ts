/** `relapi explain`: prints the statements of a request as a role, their execution plans, and what removes rows. */
import { CallError, RelApiError, type Caller, type RelApi } from "../../../core/index.ts";
import type { EnvironmentSettings } from "../../server/environment.ts";
import { reportExecution, type RelationReport } from "../../../plugins/plus/why/index.ts";
import { withApi } from "../open-api.ts";
import type { Terminal } from "../terminal.ts";
import { explainStatements, type ExplainedStatement } from "./plans.ts";
import { startRecording, type Recording } from "./recording.ts";
import type { ExplainedRequest } from "./report.ts";
import { readCaller, readRequest, type ExplainRequest, type RequestOptions } from "./request.ts";

export interface ExplainOptions extends RequestOptions {
  readonly analyze?: boolean;
  /** False if rows are not counted. The default is true. */
  readonly counts?: boolean;
}

/** Returns the error of the request. Returns undefined if the request succeeded. */
const runRequest = async (api: RelApi, request: ExplainRequest, session: Caller): Promise<string | undefined> => {
  try {
    if (request.kind === "rest") {
      const { kind: _, ...call } = request;
      await api.rest({ ...call, session });
      return undefined;
    }
    const { kind: _, ...call } = request;
    const { errors } = await api.graphql({ ...call, session });
    return errors?.map(({ message }) => message).join("\n");
  } catch (error) {
    if (!(error instanceof CallError) && !(error instanceof RelApiError)) throw error;
    return error.message;
  }
};

/** Runs the request and rolls it back. @rule C-EXP-1 C-EXP-2 */
export const explainRequest = async (
  settings: EnvironmentSettings,
  text: string,
  { analyze = false, counts = true, ...words }: ExplainOptions,
  terminal: Terminal,
): Promise<ExplainedRequest> => {
  const request = await readRequest(text, words, settings.options, terminal);
  // EXPLAIN must not use the names of the statements that it explains.
  const options = { ...settings.options, dbTxEnd: "rollback", dbPreparedStatements: false } as const;
  let recording: Recording | undefined;
  return withApi(
    { options, server: settings.server },
    async (open) => {
      if (recording === undefined) throw new TypeError("the recorder has no entries before plugins are applied");
      const caller = await readCaller(words, settings.options, open.model, terminal);
      const error = await runRequest(open.api, request, caller);
      recording.stop();
      const { run } = recording;
      const { context, model } = open;
      const parts = { prepare: context.prepare, model, run, surface: request.kind, counts, includesHidden: true };
      const statements: ExplainedStatement[] = [];
      const relations: RelationReport[] = [];
      for (const recordedExecution of recording.executions) {
        statements.push(...(await explainStatements(recordedExecution.execution, analyze, recording)));
        relations.push(...(await reportExecution(parts, recordedExecution.execution, recordedExecution.rows)));
      }
      return { role: caller.role, statements, relations, ...(error === undefined ? {} : { error }) };
    },
    (context) => {
      recording = startRecording(context);
    },
  );
};
