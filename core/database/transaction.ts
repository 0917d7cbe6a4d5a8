/** Builds the statements of a transaction: the template, filled with the values of the execution. */
import type { CacheManager } from "../kernel/cache.ts";
import { sessionVariableMissing } from "../kernel/errors.ts";
import type { Session } from "../kernel/session.ts";
import type { Execution, ResultRow, SessionSpec } from "../plugin.ts";
import type { CurrentState } from "../kernel/current-state.ts";
import type { SentValue, Slot } from "../sql/fragment.ts";
import type { ProgramStatement } from "../sql/program.ts";
import { rejectInvalidText } from "../values/invalid-text.ts";
import { buildSessionSettings, buildSessionJson, type DatabaseSetting } from "./settings-statement.ts";
import { createTemplates, type SendOptions, type TransactionTemplate } from "./transaction-template.ts";
import type { WireRow, WireStatement } from "./wire.ts";
import { memoize } from "../kernel/memoize.ts";

/** A transaction, ready to be sent. */
export interface Transaction {
  readonly template: TransactionTemplate;
  readonly statements: readonly WireStatement[];
  /** The index of the first statement that may have an effect. A write that has reached this statement never runs
   *  again. Undefined if the transaction only reads. */
  readonly firstEffect: number | undefined;
  readonly sending: SendOptions;
}

/** Returns the values of a statement's parameters. `path` is the position of the statement in the request. @throws
 *  RelApiError `missing-session-variable`, `22021`, `22P05` @rule G-FIL-7 R-ERR-7 */
export const fillSlots = (
  slots: readonly Slot[],
  values: readonly SentValue[],
  session: Session,
  path?: string,
): readonly SentValue[] => {
  const slotValues: SentValue[] = [];
  for (const source of slots) {
    if ("param" in source) {
      const value = values[source.param] ?? null;
      rejectInvalidText(value, source.isJson, path);
      slotValues.push(value);
    } else if ("fixed" in source) slotValues.push(source.fixed);
    else if ("sessionJson" in source) slotValues.push(buildSessionJson(session, source.sessionJson));
    else {
      const variable = session.variables[source.session];
      if (variable === undefined && source.optional !== true) throw sessionVariableMissing(source.session);
      if (variable !== undefined) rejectInvalidText(variable);
      slotValues.push(variable ?? null);
    }
  }
  return slotValues;
};

const findRunPath = (run: Execution["programs"][number] | undefined): string | undefined =>
  run?.program.statements[run.program.main]?.path ?? run?.path;

/** Returns the settings of the request and of the execution, in this order. */
const readRequestSettings = ({ requestSettings, settings = [] }: Execution): readonly DatabaseSetting[] => [
  ...(requestSettings?.() ?? []),
  ...settings,
];

/** The parts of core from which transactions are built. */
interface TransactionParts {
  readonly current: CurrentState;
  readonly caches: CacheManager;
  readonly sessions: readonly SessionSpec[];
}

export interface Transactions {
  /** Builds the transaction of an execution. `programs` replace the programs of the execution. @throws RelApiError if
   *  a session variable is missing */
  build(execution: Execution, sending: SendOptions, programs?: Execution["programs"]): Transaction;
}

/** Creates the builder of transactions: it fills the values of an execution into a cached template. */
export const createTransactions = ({ current, caches, sessions }: TransactionParts): Transactions => {
  const templates = createTemplates(caches, sessions);
  const getSessionSettings = memoize((session: Session) => buildSessionSettings(session, sessions));

  return {
    build: (execution, sending, programs = execution.programs) => {
      const { session, access, comment } = execution;
      const { runsUserCode = true } = sending;
      const settings = runsUserCode ? readRequestSettings(execution) : (execution.settings ?? []);
      const sessionSettings = getSessionSettings(session);
      const { names: sessionNames, values: sessionValues } = runsUserCode
        ? sessionSettings
        : sessionSettings.withoutUserCode;
      const { model, options } = current;
      const template = templates.getAndCommit({ model, options, execution, programs, sending, sessionNames, settings });
      const values: string[] = [...template.valuesBefore, ...sessionValues];
      for (const [, value] of settings) {
        rejectInvalidText(value);
        values.push(value);
      }
      values.push(...template.valuesAfter);
      const { settingsText, settingsName } = template;
      const statements: WireStatement[] = [
        ...template.openingStatements,
        { text: settingsText, name: settingsName, values },
      ];
      for (const statement of template.statements) {
        const { text, name, isMultiRow, buildRow, slots, program = 0 } = statement;
        const run = programs[program];
        if (slots === undefined) statements.push(statement);
        else
          statements.push({
            text: comment === undefined ? text : `${text} /*${comment}*/`,
            name: comment === undefined ? name : "",
            isMultiRow,
            buildRow,
            values: fillSlots(slots, run?.values ?? [], session, findRunPath(run)),
          });
      }
      statements.push(...template.end);
      return {
        template,
        statements,
        firstEffect: access === "read only" ? undefined : template.openingStatements.length + 1,
        sending,
      };
    },
  };
};

/** Returns a row for each program, with the columns of all statements of the program. */
export const mergeRows = (
  execution: Execution,
  rows: readonly (WireRow | undefined)[],
  offset: number,
): readonly ResultRow[] => {
  let rowIndex = offset;
  const mergedRows: ResultRow[] = [];
  for (const { program } of execution.programs) {
    const { statements, main } = program;
    const mergedRow: Record<string, string | null> = {};
    for (let turn = 1; turn <= statements.length; turn++) {
      // The main statement comes last, so its columns replace those of the others.
      const i = turn === statements.length ? main : turn <= main ? turn - 1 : turn;
      // The index is within the length.
      const { columns } = statements[i] as ProgramStatement;
      const row = rows[rowIndex + i];
      if (row !== undefined)
        // The index is within the length.
        for (let column = 0; column < columns.length; column++)
          mergedRow[columns[column] as string] = row[column] ?? null;
    }
    rowIndex += statements.length;
    mergedRows.push(mergedRow);
  }
  return mergedRows;
};
