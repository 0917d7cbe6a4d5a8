/** `relapi explain`: the statements of a request as a role, their plans, and what takes rows away. */
import {
  CallError,
  isRelApiError,
  type Caller,
  type Execution,
  type Plan,
  type PluginContext,
  type Program,
  type Read,
  type RelApi,
  type Session,
} from "../../../core/index.ts";
import type { EnvironmentSettings } from "../../environment.ts";
import { withApi, type OpenApi } from "../open-api.ts";
import { explainStatements, type ExplainedStatement } from "./plans.ts";
import { rowSecurityOf } from "./policies.ts";
import { startRecording, type Recorded, type Recording } from "./recording.ts";
import type { Explained } from "./report.ts";
import { readCaller, readRequest, type ExplainRequest, type ExplainWords } from "./request.ts";
import { reportRelations, type RelationReport } from "./rows.ts";

export interface ExplainOptions extends ExplainWords {
  readonly analyze?: boolean;
  /** False: rows are not counted. */
  readonly counts?: boolean;
}

/** The error of the request; undefined: there was none. */
const ask = async (api: RelApi, request: ExplainRequest, session: Caller): Promise<string | undefined> => {
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
    if (!(error instanceof CallError) && !isRelApiError(error)) throw error;
    return error.message;
  }
};

interface Explaining {
  readonly open: OpenApi;
  readonly recording: Recording;
  readonly surface: string;
  readonly counts: boolean;
}

type Ran = Execution["programs"][number];

/** In the row of the program. */
const countOf = (recorded: Recorded, at: number, column: string): number | undefined => {
  const counted = recorded.rows?.[at]?.[column];
  return counted === undefined || counted === null ? undefined : Number(counted);
};

const countRows =
  ({ recording, surface }: Explaining, context: PluginContext, execution: Execution, { values }: Ran) =>
  async (read: Read, session: Session): Promise<number> => {
    const program: Program = context.prepare({ plan: read, envelope: {} }, session, surface);
    const { check: _, onGone: __, ...rest } = execution;
    const [row] = await recording.run({ ...rest, session, programs: [{ program, values }] });
    return Number(row?.["page_total"] ?? 0);
  };

/** A single read or write, and the column that counts its rows. */
interface Part {
  readonly plan: Plan;
  readonly column: string;
}

/** Each is reported by itself. */
const partsOf = (plan: Plan): readonly Part[] => {
  if (plan.kind === "bundle")
    return plan.fields.flatMap((field) =>
      "read" in field ? [{ plan: field.read, column: "" }] : "bundle" in field ? partsOf(field.bundle) : [],
    );
  if (plan.kind !== "sequence") return [{ plan, column: "page_total" }];
  return [
    ...plan.steps.map(({ write }, i) => ({ plan: write, column: `count_${i}` })),
    { plan: plan.result, column: "" },
  ];
};

const relationsOf = async (explaining: Explaining, recorded: Recorded): Promise<readonly RelationReport[]> => {
  const { open, recording, counts } = explaining;
  const { context, model } = open;
  const { execution } = recorded;
  const reports: RelationReport[] = [];
  for (const [i, ran] of execution.programs.entries()) {
    const planned = recording.planOf(ran.program);
    if (planned === undefined) continue;
    for (const { plan, column } of partsOf(planned.plan))
      reports.push(
        ...(await reportRelations(
          plan,
          {
            model,
            execution,
            values: ran.values,
            counts,
            countRows: countRows(explaining, context, execution, ran),
            security: (table, command) => rowSecurityOf(recording, execution, table, command, counts),
          },
          countOf(recorded, i, column),
        )),
      );
  }
  return reports;
};

/** The request runs, and nothing of it is kept. @rule C-EXP-1 C-EXP-2 */
export const explain = (
  settings: EnvironmentSettings,
  text: string,
  { analyze = false, counts = true, ...words }: ExplainOptions,
): Promise<Explained> => {
  const request = readRequest(text, words, settings.options);
  // names of prepared statements belong to what they were prepared for
  const options = { ...settings.options, dbTxEnd: "rollback", dbPreparedStatements: false } as const;
  let recording: Recording | undefined;
  return withApi(
    { options, server: settings.server },
    async (open) => {
      if (recording === undefined) throw new TypeError("nothing is taken down before plugins are applied");
      const caller = readCaller(words, settings.options, open.model);
      const error = await ask(open.api, request, caller);
      recording.stop();
      const explaining: Explaining = { open, recording, surface: request.kind, counts };
      const statements: ExplainedStatement[] = [];
      const relations: RelationReport[] = [];
      for (const recorded of recording.executions) {
        statements.push(...(await explainStatements(recorded.execution, analyze, recording)));
        relations.push(...(await relationsOf(explaining, recorded)));
      }
      return { role: caller.role, statements, relations, ...(error === undefined ? {} : { error }) };
    },
    (context) => {
      recording = startRecording(context);
    },
  );
};
