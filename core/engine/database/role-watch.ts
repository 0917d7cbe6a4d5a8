/** Under which names the statements of programs are sent: code that runs earlier in the same transaction may have
 *  switched the role (a function may `set role`), and then a name that contains the session's role cannot be
 *  trusted. */
import type { Model } from "../model/model.ts";
import type { Execution } from "../../plugin.ts";
import type { Program } from "../sql/program.ts";
import { fillSlots, guard, ownedNameOf, preRequest } from "./statements.ts";
import type { WireStatement } from "./wire.ts";

/** What may have switched the role: the pre-request function by its name, or a program. */
export type Switcher = string | Program;

export interface RoleWatch {
  /** The pre-request function and the programs' statements. */
  build(execution: Execution, parts: WatchParts): WatchedStatements;
  /** It has switched the role: until the next reload, nothing that depends on the role is prepared after it. */
  remember(execution: Execution, switcher: Switcher): void;
}

export interface WatchParts {
  readonly model: Model | undefined;
  /** Name of the pre-request function, if it is called. */
  readonly preRequest: string | undefined;
  /** Statements are prepared at all. */
  readonly prepares: boolean;
  /** Assume that everything that may have switched the role did. */
  readonly trustsNobody: boolean;
}

export interface WatchedStatements {
  readonly statements: readonly WireStatement[];
  /** Guards among them, by index, with what they are put behind. */
  readonly guards: ReadonlyMap<number, Switcher>;
  /** All of them run as the session's role, according to the guards. */
  readonly isRoleKnown: boolean;
}

const NO_GUARDS: ReadonlyMap<number, Switcher> = new Map();

const ROLE_SETTINGS: ReadonlySet<string> = new Set(["role", "session_authorization"]);

const ROLE_LENGTHS: ReadonlySet<number> = new Set([...ROLE_SETTINGS].map(({ length }) => length));

/** Settings of functions that an administrator has had hoisted may name it. */
const setsRole = ({ settings }: Execution): boolean =>
  settings !== undefined &&
  settings.some(([name]) => ROLE_LENGTHS.has(name.length) && ROLE_SETTINGS.has(name.toLowerCase()));

/** @rule R-TX-11 R-TX-12 */
export const createRoleWatch = (): RoleWatch => {
  let version: number | undefined;
  let programs = new WeakSet<Program>();
  const preRequests = new Set<string>();
  const keyOf = ({ session }: Execution, name: string): string => JSON.stringify([session.databaseRole ?? null, name]);

  const hasSwitched = (execution: Execution, switcher: Switcher): boolean =>
    typeof switcher === "string" ? preRequests.has(keyOf(execution, switcher)) : programs.has(switcher);

  return {
    build: (execution, { model, preRequest: function_, prepares, trustsNobody }) => {
      if (model?.version !== version) {
        version = model?.version;
        programs = new WeakSet();
        preRequests.clear();
      }
      const { session } = execution;
      const role = session.databaseRole;
      const expected = role ?? model?.loginRole;
      const statements: WireStatement[] = [];
      let guards: Map<number, Switcher> | undefined;
      let isLost = setsRole(execution);
      let switcher: Switcher | undefined;
      if (function_ !== undefined) {
        const called = preRequest(function_, role);
        statements.push(isLost ? { ...called, name: "" } : called);
        switcher = function_;
      }
      for (const { program, values } of execution.programs) {
        for (const statement of program.statements) {
          let name = "";
          if (prepares) {
            isLost ||=
              switcher !== undefined && (trustsNobody || expected === undefined || hasSwitched(execution, switcher));
            if (!isLost) {
              name = ownedNameOf(statement, role);
              if (switcher !== undefined && expected !== undefined) {
                (guards ??= new Map()).set(statements.length, switcher);
                statements.push(guard(expected));
              }
            }
            if (program.isProven !== true) switcher = program;
          }
          statements.push({
            text: statement.text,
            name,
            values: fillSlots(statement.slots, values, session),
            isMultiRow: statement.isMultiRow,
          });
        }
      }
      return { statements, guards: guards ?? NO_GUARDS, isRoleKnown: !isLost && (prepares || function_ === undefined) };
    },
    remember: (execution, switcher) => {
      if (typeof switcher === "string") preRequests.add(keyOf(execution, switcher));
      else programs.add(switcher);
    },
  };
};
