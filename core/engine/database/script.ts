/** What runs in a transaction: the statements of its programs, without their values. */
import { membersOf, questionsAbout, type Ask, type Question } from "../../kernel/cache.ts";
import type { Execution } from "../../plugin.ts";
import type { Slot } from "../sql/fragment.ts";
import type { Program } from "../sql/program.ts";
import type { CleaningKind } from "./cleaning.ts";
import { UNKNOWN_ROLE, type PlanOwner } from "./prepared.ts";
import { ownedName, preRequestCall } from "./statements.ts";
import type { WireStatement } from "./wire.ts";

/** What it must know of what is around the programs. */
export interface Framed {
  /** In front of the settings. */
  readonly opening: readonly WireStatement[];
  /** Each transaction may have another backend. */
  readonly isShared: boolean;
  /** The settings of the request name the role. */
  readonly setsRole: boolean;
}

export interface ScriptSource {
  readonly frame: Framed;
  readonly role: string | undefined;
  readonly access: Execution["access"];
  readonly programs: Execution["programs"];
  readonly programCount: number;
  /** The only one, mostly. */
  readonly program: Program | undefined;
  /** Name of the pre-request function, if it is called. */
  readonly preRequest: string | undefined;
  readonly prepares: boolean;
}

/** A statement without its values. */
export interface Line extends WireStatement {
  /** The index of the program whose statement it is. Undefined if its values are always the same. */
  readonly program?: number;
  /** Where its values come from. */
  readonly slots?: readonly Slot[];
}

/** The statements between the settings and the end. */
export interface Script {
  readonly lines: readonly Line[];
  /** The role as which user code runs. Undefined if none runs. */
  readonly owner: PlanOwner | undefined;
  readonly offset: number;
  readonly cleaning: CleaningKind | undefined;
}

const ofScript = membersOf<ScriptSource>();
const FRAME = ofScript("frame");
const ROLE = ofScript("role");
const ACCESS = ofScript("access");
const PROGRAM_COUNT = ofScript("programCount");
const PROGRAM = ofScript("program");
const PRE_REQUEST = ofScript("preRequest");
const PREPARES = ofScript("prepares");

const aboutPrograms = questionsAbout(({ programs }: ScriptSource) => programs);
const programQuestions: Question<ScriptSource, Program | undefined>[] = [];

const programAt = (i: number): Question<ScriptSource, Program | undefined> =>
  i === 0 ? PROGRAM : (programQuestions[i] ??= aboutPrograms(`program ${i}`, (programs) => programs[i]?.program));

/** @rule R-TX-10 */
export const mayRunUserCode = (programs: readonly Program[], preRequest: string | undefined): boolean =>
  preRequest !== undefined || programs.some(({ isProven }) => isProven !== true);

const cleaningAs = (owner: PlanOwner): CleaningKind => (owner === UNKNOWN_ROLE ? "plans" : "all");

const NO_VALUES: Line["values"] = [];

/** Nothing is prepared behind user code: it may have switched the role (a function may `set role`), and the name of a
 *  prepared statement contains the role. @rule R-TX-11 R-TX-12 R-TX-13 R-TX-14 */
export const buildScript = (ask: Ask<ScriptSource>): Script => {
  const frame = ask(FRAME);
  const programs = Array.from({ length: ask(PROGRAM_COUNT) }, (_, i) => ask(programAt(i)) as Program); // there are so many
  const role = ask(ROLE);
  const preRequest = ask(PRE_REQUEST);
  const prepares = ask(PREPARES);
  const lines: Line[] = [];
  let isRoleKnown = !frame.setsRole;
  let owner: PlanOwner | undefined;
  const runUserCode = (): void => {
    owner = isRoleKnown ? (role ?? "") : UNKNOWN_ROLE;
    isRoleKnown = false;
  };
  if (preRequest !== undefined) {
    const call = preRequestCall(preRequest, role);
    lines.push(prepares && isRoleKnown ? call : { ...call, name: "" });
    runUserCode();
  }
  for (const [at, program] of programs.entries())
    for (const { text, isMultiRow, rowOf, slots } of program.statements) {
      const name = prepares && isRoleKnown ? ownedName(text, role) : "";
      lines.push({ text, name, isMultiRow, rowOf, program: at, slots, values: NO_VALUES });
      if (program.isProven !== true) runUserCode();
    }
  const offset = frame.opening.length + 1 + (preRequest === undefined ? 0 : 1);
  // what follows a transaction on a shared connection may run on another backend
  if (frame.isShared) return { lines, owner: undefined, offset, cleaning: undefined };
  const writes = ask(ACCESS) === "read write" && programs.length > 0;
  return {
    lines,
    owner,
    offset,
    cleaning: owner === undefined ? (writes ? "sequences" : undefined) : cleaningAs(owner),
  };
};
