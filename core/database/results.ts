/** Interprets the rows and errors of a transaction's statements. */
import { permissionCheckFailed, stepRejected, RelApiError, stepIneffective } from "../kernel/errors.ts";
import type { Signal } from "../kernel/token.ts";
import type { Execution, EndedTransaction, ResultRow } from "../plugin.ts";
import type { CurrentState } from "../kernel/current-state.ts";
import type { Program, ProgramCheck } from "../sql/program.ts";
import type { WireRow } from "./wire.ts";

/** Adds an explanation to an error that settings of the caller's role may have caused. */
export const explainError = (
  error: RelApiError,
  { session, settings = [] }: Execution,
  { model }: CurrentState,
): RelApiError => {
  const callerSettings = model?.callerSettings?.get(session.role);
  if (callerSettings?.explain === undefined) return error;
  const isOverridden = callerSettings.settings.some(([name]) =>
    settings.some(([requestSettingName]) => requestSettingName === name),
  );
  const { message, cause } = error;
  const reason = isOverridden ? undefined : callerSettings.explain(error);
  return reason === undefined
    ? error
    : new RelApiError({ ...error, message, cause, hint: reason.hint, facts: { ...error.facts, ...reason.facts } });
};

/** Returns the position of a statement in the request. */
export const findStatementPath = (execution: Execution, index: number): string | undefined => {
  let remainingIndex = index;
  for (const { program, path } of execution.programs) {
    if (remainingIndex < program.statements.length) return program.statements[remainingIndex]?.path ?? path;
    remainingIndex -= program.statements.length;
  }
  return undefined;
};

/** Runs the checks of the statements before `end`. @throws RelApiError at the first check that fails @rule G-PRM-9
 *  G-NST-6 G-NST-11 */
export const runChecks = (
  execution: Execution,
  rows: readonly (WireRow | undefined)[],
  offset: number,
  end = Infinity,
): void => {
  let programOffset = offset;
  for (const { program, path } of execution.programs) {
    for (const check of program.checks)
      if (programOffset + check.statement < end) {
        const failure = findFailure(check, program, rows[programOffset + check.statement]);
        if (failure !== undefined) throw createCheckError(check, failure.path ?? path);
      }
    programOffset += program.statements.length;
  }
};

/** Returns the path of a failing check, or undefined if the check holds. */
const findFailure = (
  check: ProgramCheck,
  program: Program,
  row: WireRow | undefined,
): Pick<ProgramCheck, "path"> | undefined => {
  const column = program.statements[check.statement]?.columns.indexOf(check.column) ?? -1;
  const checkValue = row?.[column] ?? null;
  if (check.paths !== undefined && row !== undefined)
    return checkValue === null ? undefined : { path: check.paths[Number(checkValue) - 1] ?? check.path };
  return checkValue === null || checkValue === "f" || checkValue === "false" || checkValue === "0" ? check : undefined;
};

const createCheckError = ({ kind, message }: ProgramCheck, path = "$"): Error =>
  kind === "permission"
    ? permissionCheckFailed(path)
    : kind === "step"
      ? stepIneffective(message, path)
      : stepRejected(message, path);

/** The record of a transaction, which the run fills in. The record is a class, because each transaction creates one. */
export class TransactionRecord implements EndedTransaction {
  readonly execution: Execution;
  readonly askedAtMs = performance.now();
  beganAtMs?: number;
  endedAtMs = 0;
  rows?: readonly ResultRow[];
  error?: unknown;

  constructor(execution: Execution) {
    this.execution = execution;
  }

  publish(endedSignal: Signal<unknown>, rows?: readonly ResultRow[], error?: unknown): void {
    this.rows = rows;
    this.error = error;
    this.endedAtMs = performance.now();
    endedSignal.emit(this);
  }
}
