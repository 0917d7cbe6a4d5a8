/** The statements of a transaction. What is the same for all transactions alike is found in two steps: what the caller
 *  sets and how it begins and ends, then the programs; only values are filled in. */
import { membersOf, questionsAbout, type Ask, type Cache, type Caches, type Question } from "../../kernel/cache.ts";
import { missingSessionVariable } from "../../kernel/errors.ts";
import type { ResolvedOptions } from "../../kernel/options.ts";
import type { Session } from "../../kernel/session.ts";
import type { Execution, ResultRow, SessionSpec } from "../../plugin.ts";
import type { Current } from "../current.ts";
import type { Model } from "../model/model.ts";
import type { SentValue, Slot } from "../sql/fragment.ts";
import type { ProgramStatement } from "../sql/program.ts";
import { refuseNul } from "../values/nul.ts";
import { FORGET_OTHERS, FORGET_SEQUENCES, leaveNothing, rollBackAll, type CleaningKind } from "./cleaning.ts";
import type { PlanOwner } from "./prepared.ts";
import type { Sharing } from "./sharing.ts";
import { buildScript, mayRunUserCode, type Framed, type Script, type ScriptSource } from "./script.ts";
import {
  buildSessionSettings,
  compileSettings,
  namesIn,
  searchPath,
  sessionJson,
  type SessionSettings,
  type DatabaseSetting,
} from "./settings.ts";
import { beginText, nameOfText, plain, ROLLBACK } from "./statements.ts";
import type { WireStatement, WireRow } from "./wire.ts";

/** A transaction, ready to be sent. */
export interface Transaction {
  readonly statements: readonly WireStatement[];
  /** Undefined: no user code runs. */
  readonly owner: PlanOwner | undefined;
  /** Index of the first statement of the programs. */
  readonly offset: number;
  /** Index of the first statement that may have an effect. A write that has reached it never runs again. Undefined if
   *  the transaction only reads. */
  readonly firstEffect: number | undefined;
  /** Without begin and commit: the one Sync makes all of it one transaction. */
  readonly isImplicit: boolean;
  /** Sent separately, once the rows have been checked. */
  readonly last: readonly WireStatement[];
  /** Instead of the end, after a failure. */
  readonly undo: readonly WireStatement[];
  /** What it may leave behind on a connection with a backend of its own. */
  readonly cleaning: CleaningKind | undefined;
  /** Its last statement cleans up, so only a failure leaves something behind. */
  readonly cleansItself: boolean;
  /** How it is sent. */
  readonly sending: Sending;
  /** It is one read that may have its transaction together with others of the same frame, behind one statement of
   *  settings. @rule R-TX-17 */
  readonly frame: object | undefined;
}

/** `prepares`: statements are prepared at all, which they never are on shared connections. */
export interface Sending {
  readonly prepares: boolean;
  /** Of the pool it is sent to. */
  readonly sharing: Sharing | undefined;
}

// --- how it begins and ends ------------------------------------------------------------------------------------------

interface FrameSource {
  readonly model: Model | undefined;
  readonly options: ResolvedOptions;
  readonly role: string | undefined;
  /** Role of the session. */
  readonly caller: string;
  /** Names of the settings of the session, in one text. */
  readonly sessionNames: string;
  readonly settings: readonly DatabaseSetting[];
  readonly settingCount: number;
  readonly schema: string;
  readonly keepsLoginPath: boolean | undefined;
  readonly access: Execution["access"];
  readonly isolation: string | undefined;
  readonly end: Execution["end"];
  readonly looksFirst: boolean;
  readonly sharing: Sharing | undefined;
  readonly runsUserCode: boolean;
  readonly isWithin: boolean;
  readonly plansEachTime: boolean;
}

/** What is around the programs. */
interface Frame extends Framed {
  readonly settingsText: string;
  readonly settingsName: string;
  /** Values of the settings before those of the session, and after those of the request. */
  readonly first: readonly string[];
  readonly afterwards: readonly string[];
  readonly isImplicit: boolean;
  readonly last: readonly WireStatement[];
  readonly undo: readonly WireStatement[];
}

const ofFrame = membersOf<FrameSource>();
const MODEL = ofFrame("model");
const OPTIONS = ofFrame("options");
const ROLE = ofFrame("role");
const CALLER = ofFrame("caller");
const SESSION_NAMES = ofFrame("sessionNames");
const SETTING_COUNT = ofFrame("settingCount");
const SCHEMA = ofFrame("schema");
const KEEPS_LOGIN_PATH = ofFrame("keepsLoginPath");
const ACCESS = ofFrame("access");
const ISOLATION = ofFrame("isolation");
const END = ofFrame("end");
const LOOKS_FIRST = ofFrame("looksFirst");
const SHARING = ofFrame("sharing");
const RUNS_USER_CODE = ofFrame("runsUserCode");
const IS_WITHIN = ofFrame("isWithin");
const PLANS_EACH_TIME = ofFrame("plansEachTime");

const aboutSettings = questionsAbout(({ settings }: FrameSource) => settings);
const settingNames: Question<FrameSource, string>[] = [];

/** The same few names with every request: looking at each costs less than writing them together. */
const nameOfSetting = (i: number): Question<FrameSource, string> =>
  (settingNames[i] ??= aboutSettings(`setting ${i}`, (settings) => settings[i]?.[0] ?? ""));

const NO_SETTINGS: readonly DatabaseSetting[] = [];
const NOTHING: readonly WireStatement[] = [];
/** It has no name, because user-defined code may have deallocated prepared statements. */
export const COMMITTED: readonly WireStatement[] = [{ text: "commit", name: "", values: [] }];
/** What is deferred to the end is checked all the same. */
export const ROLLED_BACK: readonly WireStatement[] = [
  { text: "set constraints all immediate", name: "", values: [] },
  ...ROLLBACK,
];

const ROLE_SETTINGS: ReadonlySet<string> = new Set(["role", "session_authorization"]);

/** @rule R-TX-1 R-TX-3 R-TX-5 R-TX-6 R-TX-15 G-SES-1 G-SES-2 G-SES-3 G-SES-4 G-SES-7 G-SES-10 G-SES-11 */
const buildFrame = (ask: Ask<FrameSource>): Frame => {
  const model = ask(MODEL);
  const options = ask(OPTIONS);
  const role = ask(ROLE);
  const isReadOnly = ask(ACCESS) === "read only";
  const end = ask(END);
  // the login role's default must not apply (R-TX-3)
  const isolation =
    ask(ISOLATION) ?? (model?.roles.get(model.loginRole)?.isolation === undefined ? undefined : "read committed");
  const sharing = ask(SHARING);
  // whose backend changes: what user code may find and leave there is part of the transaction, which must stay open
  // after a failure, because the backend is gone with its end
  const isWithin = ask(IS_WITHIN);
  const cleansItself = !isWithin && sharing !== undefined && ask(RUNS_USER_CODE) ? sharing : undefined;
  const isImplicit =
    isWithin || (end === "commit" && !ask(LOOKS_FIRST) && isolation === undefined && cleansItself === undefined);
  const setsReadOnly = isImplicit && isReadOnly;
  const ofCaller =
    (model?.callerSettings === undefined ? undefined : model.callerSettings.get(ask(CALLER))?.settings) ?? NO_SETTINGS;
  const ofRole = role === undefined ? NO_SETTINGS : (model?.roles.get(role)?.settings ?? NO_SETTINGS);
  const ofRequest = Array.from({ length: ask(SETTING_COUNT) }, (_, i) => ask(nameOfSetting(i)));
  const ofApp = Object.entries(options.appSettings);
  const plansEachTime = ask(PLANS_EACH_TIME);
  const path = searchPath(
    [ask(SCHEMA), ...options.dbExtraSearchPath],
    ask(KEEPS_LOGIN_PATH) === true ? model?.loginPath : undefined,
  );
  const settingsText = compileSettings([
    ...(setsReadOnly ? ["transaction_read_only"] : []),
    ...(sharing?.setsJit === true ? ["jit"] : []),
    ...(plansEachTime ? ["plan_cache_mode"] : []),
    "search_path",
    ...ofCaller.map(([name]) => name),
    ...ofRole.map(([name]) => name),
    ...namesIn(ask(SESSION_NAMES)),
    ...ofRequest,
    ...ofApp.map(([name]) => `app.settings.${name}`),
  ]);
  const committed = isImplicit ? NOTHING : COMMITTED;
  return {
    opening: [
      ...(isImplicit ? NOTHING : [plain(beginText(isolation, isReadOnly))]),
      ...(cleansItself === undefined ? NOTHING : FORGET_OTHERS),
    ],
    settingsText,
    settingsName: nameOfText(settingsText),
    first: [
      ...(setsReadOnly ? ["on"] : []),
      ...(sharing?.setsJit === true ? ["off"] : []),
      ...(plansEachTime ? ["force_custom_plan"] : []),
      path,
      ...ofCaller.map(([, value]) => value),
      ...ofRole.map(([, value]) => value),
    ],
    afterwards: ofApp.map(([, value]) => value),
    setsRole: ofRequest.some((name) => ROLE_SETTINGS.has(name.toLowerCase())),
    isImplicit,
    isShared: sharing !== undefined,
    last: isWithin
      ? NOTHING
      : [
          ...(cleansItself === undefined ? NOTHING : leaveNothing(cleansItself)),
          ...(end === "rollback" ? ROLLED_BACK : committed),
        ],
    undo: cleansItself === undefined ? ROLLBACK : rollBackAll(cleansItself),
  };
};

// --- values ----------------------------------------------------------------------------------------------------------

const NO_VALUES: readonly SentValue[] = [];

/** The values of a statement's parameters. `path`: its place in the request. @throws RelApiError
 *  `missing-session-variable`, `22021`, `22P05` @rule G-FIL-7 R-ERR-7 */
export const fillSlots = (
  slots: readonly Slot[],
  values: readonly SentValue[],
  session: Session,
  path?: string,
): readonly SentValue[] => {
  if (slots.length === 0) return NO_VALUES;
  const filled: SentValue[] = [];
  for (const source of slots) {
    if ("param" in source) {
      const value = values[source.param] ?? null;
      refuseNul(value, source.isJson, path);
      filled.push(value);
    } else if ("fixed" in source) filled.push(source.fixed);
    else if ("sessionJson" in source) filled.push(sessionJson(session, source.sessionJson));
    else {
      const variable = session.variables[source.session];
      if (variable === undefined && source.optional !== true) throw missingSessionVariable(source.session);
      if (variable !== undefined) refuseNul(variable);
      filled.push(variable ?? null);
    }
  }
  return filled;
};

const placeOf = (run: Execution["programs"][number] | undefined): string | undefined =>
  run?.program.statements[run.program.main]?.path ?? run?.path;

/** Those of the request first. */
export const allSettings = ({ requestSettings, settings }: Execution): readonly DatabaseSetting[] =>
  requestSettings === undefined ? (settings ?? NO_SETTINGS) : [...requestSettings(), ...(settings ?? NO_SETTINGS)];

// --- both together ---------------------------------------------------------------------------------------------------

export interface TransactionParts {
  readonly current: Current;
  readonly caches: Caches;
  readonly sessions: readonly SessionSpec[];
}

export interface Transactions {
  /** `isWithin`: another one is open, and begins and ends it. `isCoalesced`: wanted together with others, so without what
   *  is set for code of users. @throws RelApiError when a session variable is missing */
  build(execution: Execution, sending: Sending, isWithin?: boolean, isCoalesced?: boolean): Transaction;
}

const BYTES_PER_LINE = 200;

export const createTransactions = ({ current, caches, sessions }: TransactionParts): Transactions => {
  const frames: Cache<FrameSource, Frame> = caches.create({
    name: "transactions",
    make: buildFrame,
    bytesOf: ({ settingsText }) => settingsText.length * 2,
  });
  const scripts: Cache<ScriptSource, Script> = caches.create({
    name: "statements of transactions",
    make: buildScript,
    // the texts are those of programs, which may have gone meanwhile
    bytesOf: ({ lines }) => lines.reduce((bytes, { text }) => bytes + text.length * 2 + BYTES_PER_LINE, 0),
  });
  const ofSessions = new WeakMap<Session, SessionSettings>();

  return {
    build: (execution, sending, isWithin = false, isCoalesced = false) => {
      const { session, programs, access, end, schema, isolation, keepsLoginPath, comment } = execution;
      const { model, options } = current;
      const role = session.databaseRole;
      let ofSession = ofSessions.get(session);
      if (ofSession === undefined) ofSessions.set(session, (ofSession = buildSessionSettings(session, sessions)));
      let looksFirst = execution.check !== undefined;
      let plansEachTime = false;
      const { dbPreRequest } = options;
      const preRequest = dbPreRequest === "" || execution.skipPreRequest === true ? undefined : dbPreRequest;
      // nothing in it could read what is set for code of users
      let isQuiet = isCoalesced && access === "read only" && preRequest === undefined && programs.length === 1;
      for (const { program } of programs) {
        if (program.checks.length > 0) looksFirst = true;
        if (program.plansEachTime === true) plansEachTime = true;
        if (program.isProven !== true) isQuiet = false;
      }
      const given = execution.settings ?? NO_SETTINGS;
      const settings = isQuiet ? given : allSettings(execution);
      const { names: sessionNames, values: sessionValues } = isQuiet ? ofSession.own : ofSession;
      const { prepares, sharing } = sending;
      const frame = frames.take({
        model,
        options,
        role,
        caller: session.role,
        sessionNames,
        settings,
        settingCount: settings.length,
        schema,
        keepsLoginPath,
        access,
        isolation,
        end,
        looksFirst,
        sharing,
        isWithin,
        runsUserCode:
          sharing !== undefined &&
          mayRunUserCode(
            programs.map(({ program }) => program),
            preRequest,
          ),
        plansEachTime,
      });
      const script = scripts.take({
        frame,
        role,
        access,
        programs,
        programCount: programs.length,
        program: programs[0]?.program,
        preRequest,
        prepares,
      });

      const statements: WireStatement[] = [...frame.opening];
      const values: string[] = [...frame.first, ...sessionValues];
      for (const [, value] of settings) {
        refuseNul(value);
        values.push(value);
      }
      for (const value of frame.afterwards) values.push(value);
      statements.push({ text: frame.settingsText, name: frame.settingsName, values });
      for (const line of script.lines) {
        const { text, name, isMultiRow, rowOf, slots, program = 0 } = line;
        if (slots === undefined) statements.push(line);
        else
          statements.push({
            text: comment === undefined ? text : `${text} /*${comment}*/`,
            name: comment === undefined ? name : "",
            isMultiRow,
            rowOf,
            values: fillSlots(slots, programs[program]?.values ?? [], session, placeOf(programs[program])),
          });
      }
      const mayCoalesce =
        isQuiet &&
        prepares &&
        frame.isImplicit &&
        !looksFirst &&
        comment === undefined &&
        given.length === 0 &&
        sessionValues.length === 1 && // the role
        script.lines.length === 1;
      if (!looksFirst) for (const statement of frame.last) statements.push(statement);
      const cleansItself = script.cleaning === "sequences" && frame.isImplicit && !isWithin && !looksFirst;
      if (cleansItself) statements.push(FORGET_SEQUENCES);
      return {
        statements,
        owner: script.owner,
        offset: script.offset,
        firstEffect: access === "read only" ? undefined : frame.opening.length + 1,
        isImplicit: frame.isImplicit,
        last: looksFirst ? frame.last : NOTHING,
        undo: frame.undo,
        cleaning: script.cleaning,
        cleansItself,
        sending,
        frame: mayCoalesce ? frame : undefined,
      };
    },
  };
};

// --- rows -----------------------------------------------------------------------------------------------------------

/** Of each program, the columns of its statements as one row. */
export const mergeRows = (
  execution: Execution,
  rows: readonly (WireRow | undefined)[],
  offset: number,
): readonly ResultRow[] => {
  let at = offset;
  const found: ResultRow[] = [];
  for (const { program } of execution.programs) {
    const { statements, main } = program;
    const merged: Record<string, string | null> = {};
    for (let turn = 1; turn <= statements.length; turn++) {
      // the main one's columns win: it comes last
      const i = turn === statements.length ? main : turn <= main ? turn - 1 : turn;
      const { columns } = statements[i] as ProgramStatement; // i is within its length
      const row = rows[at + i];
      if (row !== undefined)
        for (let column = 0; column < columns.length; column++) merged[columns[column] as string] = row[column] ?? null; // column is within its length
    }
    at += statements.length;
    found.push(merged);
  }
  return found;
};
