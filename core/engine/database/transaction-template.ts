/** A transaction without its values: its settings, the statements of its programs, its end, and what it may leave
 *  behind. Transactions that differ in nothing but values share one. */
import {
  membersIn,
  membersOf,
  questionsAbout,
  type Ask,
  type Cache,
  type Caches,
  type CacheSpec,
  type Question,
} from "../../kernel/cache.ts";
import type { ResolvedOptions } from "../../kernel/options.ts";
import type { Execution, SessionSpec } from "../../plugin.ts";
import type { Model } from "../model/model.ts";
import type { Slot } from "../sql/fragment.ts";
import type { Program } from "../sql/program.ts";
import { FORGET_OTHERS, FORGET_SEQUENCES, fullCleaning, rollBackAll, type CleaningKind } from "./cleaning.ts";
import { UNKNOWN_ROLE, type PlanOwner } from "./prepared.ts";
import type { Sharing } from "./sharing.ts";
import { compileSettings, namesIn, searchPath, type DatabaseSetting } from "./settings.ts";
import { beginText, nameOfText, ownedName, plainStatement, preRequestCall, ROLLBACK } from "./statements.ts";
import type { WireStatement } from "./wire.ts";

/** How a transaction is sent. */
export interface Sending {
  /** Statements are prepared, which they never are on shared connections. */
  readonly prepares: boolean;
  /** The sharing of the pool that it is sent to. Undefined if the connection has a backend of its own. */
  readonly sharing: Sharing | undefined;
  /** Another transaction is open, and begins and ends this one. */
  readonly isNested?: true;
  /** False if no user-defined code runs, so that nothing is set for it. The default is true. @rule R-TX-17 */
  readonly runsUserCode?: boolean;
}

/** The facts that a template depends on. */
export interface TemplateSource {
  readonly model: Model | undefined;
  readonly options: ResolvedOptions;
  readonly execution: Execution;
  readonly sending: Sending;
  /** The names of the session's settings in one text. */
  readonly sessionNames: string;
  readonly settings: readonly DatabaseSetting[];
}

/** A statement of a program without its values. */
export interface TemplateStatement extends WireStatement {
  /** The index of the program that the statement belongs to. Undefined for a statement without parameters. */
  readonly program?: number;
  /** Where its values come from. */
  readonly slots?: readonly Slot[];
}

export interface TransactionTemplate {
  /** The statements in front of the settings. */
  readonly opening: readonly WireStatement[];
  readonly settingsText: string;
  readonly settingsName: string;
  /** The values of the settings before those of the session. */
  readonly first: readonly string[];
  /** The values of the settings after those of the request. */
  readonly afterwards: readonly string[];
  /** The statements between the settings and the end. */
  readonly statements: readonly TemplateStatement[];
  /** The end of a transaction whose rows need no check. */
  readonly end: readonly WireStatement[];
  /** The end that is sent once the rows have been checked. */
  readonly last: readonly WireStatement[];
  /** The statements that replace the end after a failure. */
  readonly undo: readonly WireStatement[];
  /** The role as which user code runs. Undefined if none runs. */
  readonly owner: PlanOwner | undefined;
  /** The index of the first statement of the programs. */
  readonly offset: number;
  /** The transaction has no begin and commit: one Sync makes all of it one transaction. */
  readonly isImplicit: boolean;
  /** The session state that it may leave behind on a connection with a backend of its own. */
  readonly cleaning: CleaningKind | undefined;
  /** Its last statement cleans up, so only a failure leaves something behind. */
  readonly cleansItself: boolean;
}

const sourceQuestion = membersOf<TemplateSource>();
const ofExecution = membersIn<TemplateSource>()("execution");
const ofSending = membersIn<TemplateSource>()("sending");
const about = questionsAbout((source: TemplateSource) => source);
const MODEL = sourceQuestion("model");
const OPTIONS = sourceQuestion("options");
const SESSION_NAMES = sourceQuestion("sessionNames");
const ACCESS = ofExecution("access");
const ISOLATION = ofExecution("isolation");
const END = ofExecution("end");
const SCHEMA = ofExecution("schema");
const KEEPS_LOGIN_PATH = ofExecution("keepsLoginPath");
const SKIPS_PRE_REQUEST = ofExecution("skipPreRequest");
const SHARING = ofSending("sharing");
const PREPARES = ofSending("prepares");
const IS_NESTED = ofSending("isNested");
const DATABASE_ROLE = about("database role", ({ execution }) => execution.session.databaseRole);
const CALLER = about("role", ({ execution }) => execution.session.role);
/** The execution checks the rows before the transaction ends. */
const HAS_CHECK = about("has check", ({ execution }) => execution.check !== undefined);
const SETTING_COUNT = about("setting count", ({ settings }) => settings.length);
const PROGRAM_COUNT = about("program count", ({ execution }) => execution.programs.length);

/** One question for each member of a list, made when it is first asked. */
const indexedQuestions = <Answer>(
  name: string,
  at: (source: TemplateSource, i: number) => Answer,
): ((i: number) => Question<TemplateSource, Answer>) => {
  const questions: Question<TemplateSource, Answer>[] = [];
  return (i) => (questions[i] ??= about(`${name} ${i}`, (source) => at(source, i)));
};

const settingName = indexedQuestions("setting", ({ settings }, i) => settings[i]?.[0] ?? "");
const program = indexedQuestions("program", ({ execution }, i) => execution.programs[i]?.program as Program); // asked below the count

/** The name of the pre-request function, if it is called. */
const preRequestOf = (ask: Ask<TemplateSource>): string | undefined => {
  const { dbPreRequest } = ask(OPTIONS);
  return dbPreRequest === "" || ask(SKIPS_PRE_REQUEST) === true ? undefined : dbPreRequest;
};

const NO_SETTINGS: readonly DatabaseSetting[] = [];
const NO_STATEMENTS: readonly WireStatement[] = [];
const NO_VALUES: WireStatement["values"] = [];

/** It has no name, because user-defined code may have deallocated prepared statements. */
export const COMMITTED: readonly WireStatement[] = [{ text: "commit", name: "", values: [] }];
/** Deferred constraints are checked before the rollback. */
export const ROLLED_BACK: readonly WireStatement[] = [
  { text: "set constraints all immediate", name: "", values: [] },
  ...ROLLBACK,
];

const ROLE_SETTINGS: ReadonlySet<string> = new Set(["role", "session_authorization"]);

/** The names and values of the settings around those of the session and of the request. */
interface SettingStatements {
  readonly text: string;
  readonly first: readonly string[];
  readonly afterwards: readonly string[];
}

const buildSettings = (
  ask: Ask<TemplateSource>,
  sessions: readonly SessionSpec[],
  ofRequest: readonly string[],
  own: readonly DatabaseSetting[],
): SettingStatements => {
  const model = ask(MODEL);
  const options = ask(OPTIONS);
  const role = ask(DATABASE_ROLE);
  const path = searchPath(
    [ask(SCHEMA), ...options.dbExtraSearchPath],
    ask(KEEPS_LOGIN_PATH) === true ? model?.loginPath : undefined,
  );
  const first: readonly DatabaseSetting[] = [
    ...own,
    ["search_path", path],
    ...(model?.callerSettings?.get(ask(CALLER))?.settings ?? NO_SETTINGS),
    ...((role === undefined ? undefined : model?.roles.get(role)?.settings) ?? NO_SETTINGS),
  ];
  const afterwards = sessions.flatMap(({ ofOptions }) => ofOptions?.(options) ?? []);
  return {
    text: compileSettings([
      ...first.map(([name]) => name),
      ...namesIn(ask(SESSION_NAMES)),
      ...ofRequest,
      ...afterwards.map(([name]) => name),
    ]),
    first: first.map(([, value]) => value),
    afterwards: afterwards.map(([, value]) => value),
  };
};

/** The statements of the programs, and who runs user code in them. */
interface TransactionBody {
  readonly statements: readonly TemplateStatement[];
  readonly owner: PlanOwner | undefined;
}

/** Nothing is prepared behind user code: it may have switched the role (a function may `set role`), and the name of a
 *  prepared statement contains the role. @rule R-TX-11 R-TX-12 R-TX-13 R-TX-14 */
const buildBody = (ask: Ask<TemplateSource>, programs: readonly Program[], setsRole: boolean): TransactionBody => {
  const role = ask(DATABASE_ROLE);
  const preRequest = preRequestOf(ask);
  const prepares = ask(PREPARES);
  const statements: TemplateStatement[] = [];
  let isRoleKnown = !setsRole;
  let owner: PlanOwner | undefined;
  const runUserCode = (): void => {
    owner = isRoleKnown ? (role ?? "") : UNKNOWN_ROLE;
    isRoleKnown = false;
  };
  if (preRequest !== undefined) {
    const call = preRequestCall(preRequest, role);
    statements.push(prepares && isRoleKnown ? call : { ...call, name: "" });
    runUserCode();
  }
  for (const [at, { statements: own, isProven }] of programs.entries())
    for (const { text, isMultiRow, rowOf, slots } of own) {
      const name = prepares && isRoleKnown ? ownedName(text, role) : "";
      statements.push({ text, name, isMultiRow, rowOf, program: at, slots, values: NO_VALUES });
      if (isProven !== true) runUserCode();
    }
  return { statements, owner };
};

/** @rule R-TX-1 R-TX-3 R-TX-5 R-TX-6 R-TX-15 G-SES-1 G-SES-2 G-SES-3 G-SES-4 G-SES-7 G-SES-10 G-SES-11 */
const buildTemplate = (ask: Ask<TemplateSource>, sessions: readonly SessionSpec[]): TransactionTemplate => {
  const model = ask(MODEL);
  const isReadOnly = ask(ACCESS) === "read only";
  const end = ask(END);
  // the login role's default must not apply (R-TX-3)
  const isolation =
    ask(ISOLATION) ?? (model?.roles.get(model.loginRole)?.isolation === undefined ? undefined : "read committed");
  const sharing = ask(SHARING);
  const isNested = ask(IS_NESTED) === true;
  const preRequest = preRequestOf(ask);
  const ofRequest = Array.from({ length: ask(SETTING_COUNT) }, (_, i) => ask(settingName(i)));
  const programs = Array.from({ length: ask(PROGRAM_COUNT) }, (_, i) => ask(program(i)));
  const isChecked = ask(HAS_CHECK) || programs.some(({ checks }) => checks.length > 0);
  // On a backend that changes, cleaning after user code is part of the transaction. The transaction must stay open after
  // a failure, because the backend is gone with its end.
  const runsUserCode = preRequest !== undefined || programs.some(({ isProven }) => isProven !== true);
  const cleaned = !isNested && runsUserCode ? sharing : undefined;
  const isImplicit = isNested || (end === "commit" && !isChecked && isolation === undefined && cleaned === undefined);
  const settings = buildSettings(ask, sessions, ofRequest, [
    ...(isImplicit && isReadOnly ? [["transaction_read_only", "on"] as const] : []),
    ...(sharing?.setsJit === true ? [["jit", "off"] as const] : []),
    ...(programs.some(({ plansEachTime }) => plansEachTime === true)
      ? [["plan_cache_mode", "force_custom_plan"] as const]
      : []),
  ]);
  const opening: readonly WireStatement[] = [
    ...(isImplicit ? NO_STATEMENTS : [plainStatement(beginText(isolation, isReadOnly))]),
    ...(cleaned === undefined ? NO_STATEMENTS : FORGET_OTHERS),
  ];
  const setsRole = ofRequest.some((name) => ROLE_SETTINGS.has(name.toLowerCase()));
  const { statements, owner } = buildBody(ask, programs, setsRole);
  const cleaning: CleaningKind | undefined =
    sharing !== undefined // what follows may run on another backend
      ? undefined
      : owner !== undefined
        ? owner === UNKNOWN_ROLE
          ? "plans"
          : "all"
        : !isReadOnly && programs.length > 0
          ? "sequences"
          : undefined;
  const cleansItself = cleaning === "sequences" && isImplicit && !isNested && !isChecked;
  const committing = isNested
    ? NO_STATEMENTS
    : [
        ...(cleaned === undefined ? NO_STATEMENTS : fullCleaning(cleaned)),
        ...(end === "rollback" ? ROLLED_BACK : isImplicit ? NO_STATEMENTS : COMMITTED),
      ];
  return {
    opening,
    settingsText: settings.text,
    settingsName: nameOfText(settings.text),
    first: settings.first,
    afterwards: settings.afterwards,
    statements,
    end: isChecked ? NO_STATEMENTS : cleansItself ? [...committing, FORGET_SEQUENCES] : committing,
    last: isChecked ? committing : NO_STATEMENTS,
    undo: cleaned === undefined ? ROLLBACK : rollBackAll(cleaned),
    owner: sharing === undefined ? owner : undefined,
    offset: opening.length + 1 + (preRequest === undefined ? 0 : 1),
    isImplicit,
    cleaning,
    cleansItself,
  };
};

const BYTES_PER_STATEMENT = 200;

const templateSpec = (sessions: readonly SessionSpec[]): CacheSpec<TemplateSource, TransactionTemplate> => ({
  name: "transactions",
  make: (ask) => buildTemplate(ask, sessions),
  bytesOf: ({ settingsText, statements }) =>
    statements.reduce((bytes, { text }) => bytes + text.length * 2 + BYTES_PER_STATEMENT, settingsText.length * 2),
});

export const createTemplates = (
  caches: Caches,
  sessions: readonly SessionSpec[],
): Cache<TemplateSource, TransactionTemplate> => caches.create(templateSpec(sessions));
