/** Under which names the statements of programs are sent: code that runs earlier in the same transaction may have
 *  switched the role (a function may `set role`), and then a name that contains the session's role cannot be
 *  trusted. */
import type { Model } from "../model/model.ts";
import type { Execution } from "../../plugin.ts";
import type { Slot } from "../sql/fragment.ts";
import type { Program } from "../sql/program.ts";
import { guard, ownedName, preRequest, roleQuestion } from "./statements.ts";
import type { WireStatement } from "./wire.ts";

/** What may have switched the role: the pre-request function by its name, or a program. */
export type Switcher = string | Program;

export interface RoleWatch {
  /** The pre-request function and the programs' statements. */
  build(parts: WatchParts): WatchedLines;
  /** It has switched the role: until the next reload, nothing that depends on the role is prepared after it. */
  remember(execution: Execution, switcher: Switcher): void;
}

export interface WatchParts {
  readonly programs: readonly Program[];
  /** Of the session. */
  readonly role: string | undefined;
  readonly model: Model | undefined;
  /** Name of the pre-request function, if it is called. */
  readonly preRequest: string | undefined;
  /** Statements are prepared at all. */
  readonly prepares: boolean;
  /** Assume that everything that may have switched the role did. */
  readonly trustsNobody: boolean;
  /** No statement may run twice: those behind user-defined code are not prepared, and guards do not fail. */
  readonly isWrite: boolean;
  /** A setting of the request names the role: those of functions may, if an administrator has had them hoisted. */
  readonly setsRole: boolean;
}

/** A statement without its values. */
export interface Line extends WireStatement {
  /** Of which program, and where its values come from; absent: they are always the same. */
  readonly program?: number;
  readonly slots?: readonly Slot[];
}

export interface WatchedLines {
  readonly lines: readonly Line[];
  /** Guards among them, by index, with what they are put behind. */
  readonly guards: ReadonlyMap<number, Switcher>;
  /** All of them run as the session's role, according to the guards. */
  readonly isRoleKnown: boolean;
}

const NO_VALUES: Line["values"] = [];

/** @rule R-TX-11 R-TX-12 */
export const createRoleWatch = (): RoleWatch => {
  let version: number | undefined;
  let programs = new WeakSet<Program>();
  const preRequests = new Set<string>();
  const keyOf = (role: string | undefined, name: string): string => JSON.stringify([role ?? null, name]);

  const hasSwitched = (role: string | undefined, switcher: Switcher): boolean =>
    typeof switcher === "string" ? preRequests.has(keyOf(role, switcher)) : programs.has(switcher);

  return {
    build: ({ programs: all, role, model, preRequest: function_, prepares, trustsNobody, isWrite, setsRole }) => {
      if (model?.version !== version) {
        version = model?.version;
        programs = new WeakSet();
        preRequests.clear();
      }
      const expected = role ?? model?.loginRole;
      const lines: Line[] = [];
      const guards = new Map<number, Switcher>();
      let isLost = setsRole;
      let switcher: Switcher | undefined;
      if (function_ !== undefined) {
        const called = preRequest(function_, role);
        lines.push(isLost ? { ...called, name: "" } : called);
        switcher = function_;
      }
      for (const [at, program] of all.entries()) {
        for (const statement of program.statements) {
          let name = "";
          if (prepares) {
            isLost ||=
              switcher !== undefined && (trustsNobody || expected === undefined || hasSwitched(role, switcher));
            if (!isLost) {
              if (switcher === undefined || !isWrite) name = ownedName(statement.text, role);
              if (switcher !== undefined && expected !== undefined) {
                guards.set(lines.length, switcher);
                lines.push(isWrite ? roleQuestion(expected) : guard(expected));
              }
            }
            if (program.isProven !== true) switcher = program;
          }
          const { text, isMultiRow, rowOf, slots } = statement;
          lines.push({ text, name, isMultiRow, rowOf, program: at, slots, values: NO_VALUES });
        }
      }
      return { lines, guards, isRoleKnown: !isLost && (prepares || function_ === undefined) };
    },
    remember: (execution, switcher) => {
      if (typeof switcher === "string") preRequests.add(keyOf(execution.session.databaseRole, switcher));
      else programs.add(switcher);
    },
  };
};
