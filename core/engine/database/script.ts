/** What runs in a transaction: the statements of its programs, without their values. */
import { membersOf, questionsAbout, type Ask, type Question } from "../../kernel/cache.ts";
import type { Execution } from "../../plugin.ts";
import type { Model } from "../model/model.ts";
import type { Program } from "../sql/program.ts";
import type { Cleaning, CleaningKind } from "./cleaning.ts";
import type { Line, RoleWatch, Switcher } from "./role-watch.ts";
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
  readonly model: Model | undefined;
  readonly role: string | undefined;
  readonly access: Execution["access"];
  readonly programs: Execution["programs"];
  readonly programCount: number;
  /** The only one, mostly. */
  readonly program: Program | undefined;
  /** Name of the pre-request function, if it is called. */
  readonly preRequest: string | undefined;
  readonly prepares: boolean;
  readonly trustsNobody: boolean;
  /** Grows with each switch of a role that was found out. */
  readonly switchCount: number;
}

/** The statements between the settings and the end. */
export interface Script {
  readonly lines: readonly Line[];
  readonly guards: ReadonlyMap<number, Switcher>;
  readonly owner: string | undefined;
  /** User code runs, and not as a role that is known. */
  readonly isOwnerUnknown: boolean;
  readonly offset: number;
  readonly cleaning: Cleaning | undefined;
}

const ofScript = membersOf<ScriptSource>();
const FRAME = ofScript("frame");
const MODEL = ofScript("model");
const ROLE = ofScript("role");
const ACCESS = ofScript("access");
const PROGRAM_COUNT = ofScript("programCount");
const PROGRAM = ofScript("program");
const PRE_REQUEST = ofScript("preRequest");
const PREPARES = ofScript("prepares");
const TRUSTS_NOBODY = ofScript("trustsNobody");
const SWITCH_COUNT = ofScript("switchCount");

const aboutPrograms = questionsAbout(({ programs }: ScriptSource) => programs);
const programQuestions: Question<ScriptSource, Program | undefined>[] = [];

const programAt = (i: number): Question<ScriptSource, Program | undefined> =>
  i === 0 ? PROGRAM : (programQuestions[i] ??= aboutPrograms(`program ${i}`, (programs) => programs[i]?.program));

/** @rule R-TX-10 */
export const mayRunUserCode = (programs: readonly Program[], preRequest: string | undefined): boolean =>
  preRequest !== undefined || programs.some(({ isProven }) => isProven !== true);

/** @rule R-TX-13 */
const cleaningKind = (
  programs: readonly Program[],
  access: Execution["access"],
  preRequest: string | undefined,
): CleaningKind | undefined => {
  if (mayRunUserCode(programs, preRequest)) return "all";
  return access === "read write" && programs.length > 0 ? "sequences" : undefined;
};

export const buildScript = (ask: Ask<ScriptSource>, roles: RoleWatch): Script => {
  const frame = ask(FRAME);
  const programs = Array.from({ length: ask(PROGRAM_COUNT) }, (_, i) => ask(programAt(i)) as Program); // there are so many
  const role = ask(ROLE);
  const preRequest = ask(PRE_REQUEST);
  const prepares = ask(PREPARES);
  ask(SWITCH_COUNT); // what the role watch knows
  const watched = roles.build({
    programs,
    role,
    model: ask(MODEL),
    preRequest,
    prepares,
    trustsNobody: ask(TRUSTS_NOBODY),
    isWrite: ask(ACCESS) === "read write",
    setsRole: frame.setsRole,
  });
  const before = frame.opening.length + 1;
  // on a shared connection what follows a transaction may run elsewhere
  const kind = frame.isShared ? undefined : cleaningKind(programs, ask(ACCESS), preRequest);
  return {
    lines: watched.lines,
    guards: new Map([...watched.guards].map(([i, switcher]) => [before + i, switcher])),
    owner: kind === "all" ? (role ?? "") : undefined,
    isOwnerUnknown: kind === "all" && !watched.isRoleKnown,
    offset: before + (preRequest === undefined ? 0 : 1),
    cleaning: kind === undefined ? undefined : { kind, prepares },
  };
};
