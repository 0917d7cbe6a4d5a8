/** Compiles the first statement of each transaction, which sets the search path, the role, the settings of session
 *  plugins, and other settings. All settings apply only to the transaction. Names are part of the statement's text,
 *  and values are bound. */
import type { SessionSpec } from "../plugin.ts";
import { VARIABLE_PREFIX, type Session } from "../kernel/session.ts";
import { empty, quoteIdentifier, joinSql, quoteLiteral, bindSlot, sql, compileSql, type Sql } from "../sql/fragment.ts";
import { roleNotFound } from "../kernel/errors.ts";
import { rejectInvalidText } from "../values/invalid-text.ts";

export type DatabaseSetting = readonly [name: string, value: string];

/** The settings of a session before and after its role. */
interface SessionSettings {
  /** The names in one text, which `splitNames` reads. */
  readonly names: string;
  readonly values: readonly string[];
  /** The settings that are necessary even if no user-defined code runs. */
  readonly withoutUserCode: Omit<SessionSettings, "withoutUserCode">;
}

/** The largest number of calls in one statement, because PostgreSQL's functions take at most a hundred arguments. */
const MAX_CALLS_PER_STATEMENT = 90;

/** Compiles a statement that sets all values. The statement returns only the number of settings, so the result is
 *  short. PostgreSQL skips no call, and evaluates the arguments in order. */
export const compileSettings = (names: readonly string[]): string => {
  const calls = names.map(
    (name, i) => sql`pg_catalog.set_config(${quoteLiteral(name)}, ${bindSlot({ param: i })}, true)`,
  );
  const sums: Sql[] = [];
  for (let i = 0; i < calls.length; i += MAX_CALLS_PER_STATEMENT)
    sums.push(sql`pg_catalog.num_nonnulls(${joinSql(calls.slice(i, i + MAX_CALLS_PER_STATEMENT))})`);
  return compileSql(sql`select ${sums.length === 0 ? empty : joinSql(sums, " + ")}`).text;
};

/** Joins the names to one text. The separator is NUL, which no name contains. */
const listNames = (names: Iterable<string>): string => [...names].join("\u0000");
/** Returns the names of a text that `listNames` has joined. */
export const splitNames = (text: string): readonly string[] => (text === "" ? [] : text.split("\u0000"));

/** Returns the search path. `login` is the login role's own path, if that path still applies. */
export const buildSearchPath = (schemas: readonly string[], login: readonly string[] | undefined): string =>
  // Duplicates are removed, because each name costs a catalog look-up in every transaction.
  compileSql(
    joinSql(
      (login === undefined ? schemas : [...new Set([...schemas, ...login])]).map((name) => quoteIdentifier(name)),
    ),
  ).text;

/** Collects the settings of a session from the session plugins, and adds the role. @throws RelApiError
 *  `22023` for the role `none`, `22021` for a value with NUL  @rule R-ERR-7 */
export const buildSessionSettings = (session: Session, specs: readonly SessionSpec[]): SessionSettings => {
  const settings = new Map<string, string>();
  const alwaysApplied = new Map<string, string>();
  for (const spec of specs)
    for (const [name, value] of spec.settings?.(session) ?? []) {
      settings.set(name, value);
      if (spec.isForUserCode !== true) alwaysApplied.set(name, value);
    }
  // A role named "none" is rejected, because `set role none` would make the caller the login role.
  if (session.databaseRole === "none") throw roleNotFound("none");
  for (const settingMap of [settings, alwaysApplied]) settingMap.set("role", session.databaseRole ?? "none");
  for (const text of settings.values()) rejectInvalidText(text);
  return { ...buildSettingTexts(settings), withoutUserCode: buildSettingTexts(alwaysApplied) };
};

const buildSettingTexts = (settings: ReadonlyMap<string, string>): SessionSettings["withoutUserCode"] => ({
  names: listNames(settings.keys()),
  values: [...settings.values()],
});

/** Returns the session argument of functions. It contains every session variable, under its own name and under each of
 *  the prefixes. @rule G-SES-5 */
export const buildSessionJson = ({ variables }: Session, prefixes: readonly string[]): string => {
  const sessionVariables: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    sessionVariables[name] = value;
    for (const prefix of prefixes) sessionVariables[prefix + name.slice(VARIABLE_PREFIX.length)] = value;
  }
  return JSON.stringify(sessionVariables);
};
