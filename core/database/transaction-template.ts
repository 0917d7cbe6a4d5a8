/** Builds the templates of transactions. A template has the settings, the statements, the end and the necessary
 *  cleaning, but no values. Transactions that differ only in values share one template. */
import {
  defineCacheQuestion,
  type Ask,
  type Cache,
  type CacheManager,
  type CacheSpec,
  type CacheQuestion,
} from "../kernel/cache.ts";
import type { ResolvedOptions } from "../settings/options.ts";
import type { Execution, SessionSpec } from "../plugin.ts";
import type { Model } from "../model/model.ts";
import type { Slot } from "../sql/fragment.ts";
import type { Program } from "../sql/program.ts";
import {
  DISCARD_FOREIGN_STATE,
  FORGET_SEQUENCES,
  buildFullCleaning,
  buildCleaningRollback,
  type CleaningKind,
} from "./cleaning.ts";
import { UNKNOWN_ROLE, type PlanOwner } from "./prepared-statements.ts";
import type { Sharing } from "./sharing.ts";
import { compileSettings, splitNames, buildSearchPath, type DatabaseSetting } from "./settings-statement.ts";
import {
  buildBeginText,
  nameStatement,
  nameOwnedStatement,
  createPlainStatement,
  createUnnamedStatement,
  buildPreRequestCall,
  ROLLBACK,
} from "./statements.ts";
import type { WireStatement } from "./wire.ts";

/** The way in which a transaction is sent. */
export interface SendOptions {
  /** True if statements are prepared. Statements on shared connections are never prepared. */
  readonly prepares: boolean;
  /** The sharing of the pool that the transaction is sent to. Undefined if the connection has a backend of its own. */
  readonly sharing: Sharing | undefined;
  /** True if the statements run within another transaction, which has its own begin and end. */
  readonly isNested?: true;
  /** False if no user-defined code runs, so that the settings for such code are omitted. The default is true. @rule
   *  R-TX-17 */
  readonly runsUserCode?: boolean;
}

/** The facts that a template depends on. */
interface TemplateSource {
  readonly model: Model | undefined;
  readonly options: ResolvedOptions;
  readonly execution: Execution;
  readonly programs: Execution["programs"];
  readonly sending: SendOptions;
  /** The names of the session's settings in one text. */
  readonly sessionNames: string;
  readonly settings: readonly DatabaseSetting[];
}

/** A statement of a program without its values. */
interface TemplateStatement extends WireStatement {
  /** The index of the program that the statement belongs to. Undefined for a statement without parameters. */
  readonly program?: number;
  /** The sources of the statement's values. */
  readonly slots?: readonly Slot[];
}

export interface TransactionTemplate {
  /** The statements that precede the settings. */
  readonly openingStatements: readonly WireStatement[];
  readonly settingsText: string;
  readonly settingsName: string;
  /** The values of the settings before those of the session. */
  readonly valuesBefore: readonly string[];
  /** The values of the settings after those of the request. */
  readonly valuesAfter: readonly string[];
  /** The statements between the settings and the end. */
  readonly statements: readonly TemplateStatement[];
  /** The end of a transaction whose rows need no check. */
  readonly end: readonly WireStatement[];
  /** The end that is sent once the rows have been checked. */
  readonly checkedEnd: readonly WireStatement[];
  /** The statements that replace the end after a failure. */
  readonly rollback: readonly WireStatement[];
  /** The role as which user-defined code runs. Undefined if no user-defined code runs. */
  readonly owner: PlanOwner | undefined;
  /** The index of the first statement of the programs. */
  readonly offset: number;
  /** True if the transaction has no begin and commit, because one Sync makes all statements one transaction. */
  readonly isImplicit: boolean;
  /** The cleaning that the transaction needs on a connection with its own backend. */
  readonly cleaning: CleaningKind | undefined;
  /** True if the last statement of the transaction cleans up, so that only a failure leaves traces. */
  readonly cleansItself: boolean;
}

const MODEL = defineCacheQuestion("model", ({ model }: TemplateSource) => model);
const OPTIONS = defineCacheQuestion("options", ({ options }: TemplateSource) => options);
const SESSION_NAMES = defineCacheQuestion("session names", ({ sessionNames }: TemplateSource) => sessionNames);
const ACCESS = defineCacheQuestion("access", ({ execution }: TemplateSource) => execution.access);
const ISOLATION = defineCacheQuestion("isolation", ({ execution }: TemplateSource) => execution.isolation);
const END = defineCacheQuestion("end", ({ execution }: TemplateSource) => execution.end);
const SCHEMA = defineCacheQuestion("schema", ({ execution }: TemplateSource) => execution.schema);
const KEEPS_LOGIN_PATH = defineCacheQuestion(
  "keeps login path",
  ({ execution }: TemplateSource) => execution.keepsLoginPath,
);
const SKIPS_PRE_REQUEST = defineCacheQuestion(
  "skips pre-request",
  ({ execution }: TemplateSource) => execution.skipsPreRequest,
);
const SHARING = defineCacheQuestion("sharing", ({ sending }: TemplateSource) => sending.sharing);
const PREPARES = defineCacheQuestion("prepares", ({ sending }: TemplateSource) => sending.prepares);
const IS_NESTED = defineCacheQuestion("is nested", ({ sending }: TemplateSource) => sending.isNested);
const DATABASE_ROLE = defineCacheQuestion(
  "database role",
  ({ execution }: TemplateSource) => execution.session.databaseRole,
);
const CALLER = defineCacheQuestion("role", ({ execution }: TemplateSource) => execution.session.role);
/** Asks whether the execution checks the rows before the transaction ends. */
const HAS_CHECK = defineCacheQuestion("has check", ({ execution }: TemplateSource) => execution.check !== undefined);
const SETTING_COUNT = defineCacheQuestion("setting count", ({ settings }: TemplateSource) => settings.length);
const PROGRAM_COUNT = defineCacheQuestion("program count", ({ programs }: TemplateSource) => programs.length);

/** Returns a function that creates the question about each member of a list, when that question is first asked. */
const createIndexedQuestions = <Answer>(
  name: string,
  readItem: (source: TemplateSource, i: number) => Answer,
): ((i: number) => CacheQuestion<TemplateSource, Answer>) => {
  const questions: CacheQuestion<TemplateSource, Answer>[] = [];
  return (i) => (questions[i] ??= defineCacheQuestion(`${name} ${i}`, (source: TemplateSource) => readItem(source, i)));
};

const settingNameQuestion = createIndexedQuestions("setting", ({ settings }, i) => settings[i]?.[0] ?? "");
// The index is below the number of programs.
const programQuestion = createIndexedQuestions("program", ({ programs }, i) => programs[i]?.program as Program);

/** Returns the name of the pre-request function. Undefined if the transaction does not call one. */
const findPreRequest = (ask: Ask<TemplateSource>): string | undefined => {
  const { dbPreRequest } = ask(OPTIONS);
  return dbPreRequest === "" || ask(SKIPS_PRE_REQUEST) === true ? undefined : dbPreRequest;
};

const NO_SETTINGS: readonly DatabaseSetting[] = [];
const NO_STATEMENTS: readonly WireStatement[] = [];
const NO_VALUES: WireStatement["values"] = [];

/** Ends a transaction. The statement is unnamed, because user-defined code may have deallocated prepared statements. */
export const COMMIT: readonly WireStatement[] = [createUnnamedStatement("commit")];
/** Rolls a transaction back, after a check of deferred constraints, which may fail. */
export const CHECKED_ROLLBACK: readonly WireStatement[] = [
  createUnnamedStatement("set constraints all immediate"),
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
  requestSettingNames: readonly string[],
  templateSettings: readonly DatabaseSetting[],
): SettingStatements => {
  const model = ask(MODEL);
  const options = ask(OPTIONS);
  const role = ask(DATABASE_ROLE);
  const path = buildSearchPath(
    [ask(SCHEMA), ...options.dbExtraSearchPath],
    ask(KEEPS_LOGIN_PATH) === true ? model?.loginPath : undefined,
  );
  const first: readonly DatabaseSetting[] = [
    ...templateSettings,
    ["search_path", path],
    ...(model?.callerSettings?.get(ask(CALLER))?.settings ?? NO_SETTINGS),
    ...((role === undefined ? undefined : model?.roles.get(role)?.settings) ?? NO_SETTINGS),
  ];
  const afterwards = sessions.flatMap(({ optionSettings }) => optionSettings?.(options) ?? []);
  return {
    text: compileSettings([
      ...first.map(([name]) => name),
      ...splitNames(ask(SESSION_NAMES)),
      ...requestSettingNames,
      ...afterwards.map(([name]) => name),
    ]),
    first: first.map(([, value]) => value),
    afterwards: afterwards.map(([, value]) => value),
  };
};

/** The statements of the programs, and the role as which they run user-defined code. */
interface TransactionBody {
  readonly statements: readonly TemplateStatement[];
  readonly owner: PlanOwner | undefined;
}

/** Builds the statements between the settings and the end. Statements after user-defined code are not prepared. That
 *  code may have switched the role, which the name of a prepared statement contains. @rule R-TX-11 R-TX-12 R-TX-13
 *  R-TX-14 */
const buildBody = (ask: Ask<TemplateSource>, programs: readonly Program[], setsRole: boolean): TransactionBody => {
  const role = ask(DATABASE_ROLE);
  const preRequest = findPreRequest(ask);
  const prepares = ask(PREPARES);
  const statements: TemplateStatement[] = [];
  let isRoleKnown = !setsRole;
  let owner: PlanOwner | undefined;
  const runUserCode = (): void => {
    owner = isRoleKnown ? (role ?? "") : UNKNOWN_ROLE;
    isRoleKnown = false;
  };
  if (preRequest !== undefined) {
    const call = buildPreRequestCall(preRequest, role);
    statements.push(prepares && isRoleKnown ? call : { ...call, name: "" });
    runUserCode();
  }
  for (const [programIndex, { statements: programStatements, isProven }] of programs.entries())
    for (const { text, isMultiRow, buildRow, slots } of programStatements) {
      const name = prepares && isRoleKnown ? nameOwnedStatement(text, role) : "";
      statements.push({ text, name, isMultiRow, buildRow, program: programIndex, slots, values: NO_VALUES });
      if (isProven !== true) runUserCode();
    }
  return { statements, owner };
};

/** Builds a template. Cache questions report everything that it depends on. @rule R-TX-1 R-TX-3 R-TX-5 R-TX-6 R-TX-15
 *  G-SES-1 G-SES-2 G-SES-3 G-SES-4 G-SES-7 G-SES-10 G-SES-11 */
const buildTemplate = (ask: Ask<TemplateSource>, sessions: readonly SessionSpec[]): TransactionTemplate => {
  const model = ask(MODEL);
  const isReadOnly = ask(ACCESS) === "read only";
  const end = ask(END);
  // A default of the login role must not apply to other roles (R-TX-3).
  const isolation =
    ask(ISOLATION) ?? (model?.roles.get(model.loginRole)?.isolation === undefined ? undefined : "read committed");
  const sharing = ask(SHARING);
  const isNested = ask(IS_NESTED) === true;
  const preRequest = findPreRequest(ask);
  const requestSettingNames = Array.from({ length: ask(SETTING_COUNT) }, (_, i) => ask(settingNameQuestion(i)));
  const programs = Array.from({ length: ask(PROGRAM_COUNT) }, (_, i) => ask(programQuestion(i)));
  const isChecked = ask(HAS_CHECK) || programs.some(({ checks }) => checks.length > 0);
  // On a backend that changes, cleaning after user-defined code is part of the transaction. The transaction must stay
  // open after a failure, because its end releases the backend.
  const runsUserCode = preRequest !== undefined || programs.some(({ isProven }) => isProven !== true);
  const cleanedSharing = !isNested && runsUserCode ? sharing : undefined;
  const isImplicit =
    isNested || (end === "commit" && !isChecked && isolation === undefined && cleanedSharing === undefined);
  const settings = buildSettings(ask, sessions, requestSettingNames, [
    ...(isImplicit && isReadOnly ? [["transaction_read_only", "on"] as const] : []),
    ...(sharing?.setsJit === true ? [["jit", "off"] as const] : []),
    ...(programs.some(({ plansEachTime }) => plansEachTime === true)
      ? [["plan_cache_mode", "force_custom_plan"] as const]
      : []),
  ]);
  const openingStatements: readonly WireStatement[] = [
    ...(isImplicit ? NO_STATEMENTS : [createPlainStatement(buildBeginText(isolation, isReadOnly))]),
    ...(cleanedSharing === undefined ? NO_STATEMENTS : DISCARD_FOREIGN_STATE),
  ];
  const setsRole = requestSettingNames.some((name) => ROLE_SETTINGS.has(name.toLowerCase()));
  const { statements, owner } = buildBody(ask, programs, setsRole);
  const cleaning: CleaningKind | undefined =
    sharing !== undefined // a cleaning afterwards may run on another backend
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
        ...(cleanedSharing === undefined ? NO_STATEMENTS : buildFullCleaning(cleanedSharing)),
        ...(end === "rollback" ? CHECKED_ROLLBACK : isImplicit ? NO_STATEMENTS : COMMIT),
      ];
  return {
    openingStatements,
    settingsText: settings.text,
    settingsName: nameStatement(settings.text),
    valuesBefore: settings.first,
    valuesAfter: settings.afterwards,
    statements,
    end: isChecked ? NO_STATEMENTS : cleansItself ? [...committing, FORGET_SEQUENCES] : committing,
    checkedEnd: isChecked ? committing : NO_STATEMENTS,
    rollback: cleanedSharing === undefined ? ROLLBACK : buildCleaningRollback(cleanedSharing),
    owner: sharing === undefined ? owner : undefined,
    offset: openingStatements.length + 1 + (preRequest === undefined ? 0 : 1),
    isImplicit,
    cleaning,
    cleansItself,
  };
};

const BYTES_PER_STATEMENT = 200;

const buildTemplateSpec = (sessions: readonly SessionSpec[]): CacheSpec<TemplateSource, TransactionTemplate> => ({
  name: "transactions",
  make: (ask) => buildTemplate(ask, sessions),
  estimateBytes: ({ settingsText, statements }) =>
    statements.reduce((bytes, { text }) => bytes + text.length * 2 + BYTES_PER_STATEMENT, settingsText.length * 2),
});

/** Creates the cache of templates. The answers to questions about an execution are the key of its template. */
export const createTemplates = (
  caches: CacheManager,
  sessions: readonly SessionSpec[],
): Cache<TemplateSource, TransactionTemplate> => caches.create(buildTemplateSpec(sessions));
