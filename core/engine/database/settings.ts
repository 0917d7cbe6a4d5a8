/** The first statement of each transaction: search path, role, claims, what plugins say of the session, and more,
 *  set only for the transaction. Names are part of the text, values are bound, and everything that does not depend on the request is
 *  cached. */
import type { Ask, Caches, Question } from "../../kernel/cache.ts";
import type { Current } from "../current.ts";
import type { Model } from "../model/model.ts";
import type { Json } from "../plan/plan.ts";
import type { Execution, SessionSpec } from "../../plugin.ts";
import type { ResolvedOptions } from "../../kernel/options.ts";
import { VARIABLE_PREFIX, type Session } from "../../kernel/session.ts";
import { empty, join, literal, slot, sql, toStatement, type Sql } from "../sql/fragment.ts";
import { roleNotFound } from "../../kernel/errors.ts";

export interface SettingsStatement {
  readonly text: string;
  readonly values: readonly string[];
}

type Setting = readonly [name: string, value: string];

/** The settings of a session before and after its role. */
interface SessionSettings {
  /** In one text, as `textOfNames` writes them. */
  readonly names: string;
  readonly values: readonly string[];
}

/** Functions take a hundred arguments at most. */
const CALLS_AT_ONCE = 90;

/** Its value is the number of settings, so that little comes back and nothing is skipped: arguments are evaluated in
 *  order. */
const compileSettings = (names: readonly string[]): string => {
  const calls = names.map((name, i) => sql`pg_catalog.set_config(${literal(name)}, ${slot({ param: i })}, true)`);
  const sums: Sql[] = [];
  for (let i = 0; i < calls.length; i += CALLS_AT_ONCE)
    sums.push(sql`pg_catalog.num_nonnulls(${join(calls.slice(i, i + CALLS_AT_ONCE))})`);
  return toStatement(sql`select ${sums.length === 0 ? empty : join(sums, " + ")}`).text;
};

export interface SettingsBuilder {
  /** @rule R-TX-1 R-TX-6 G-SES-1 G-SES-2 G-SES-3 G-SES-4 G-SES-7 G-SES-10 G-SES-11 */
  build(execution: Execution, model: Model | undefined, isReadOnly: boolean): SettingsStatement;
}

/** What the text of a settings statement depends on. */
interface Layers {
  readonly isReadOnly: boolean;
  readonly ofRole: readonly Setting[];
  readonly ofSession: SessionSettings;
  readonly ofRequest: readonly Setting[];
  readonly ofApp: readonly Setting[];
}

/** Names in one text; none has a NUL. */
const textOfNames = (names: Iterable<string>): string => [...names].join("\u0000");
const namesIn = (text: string): readonly string[] => (text === "" ? [] : text.split("\u0000"));

const IS_READ_ONLY: Question<Layers, boolean> = { name: "read only", of: ({ isReadOnly }) => isReadOnly };
const ROLE: Question<Layers, readonly Setting[]> = { name: "role", of: ({ ofRole }) => ofRole };
const SESSION: Question<Layers, string> = { name: "session", of: ({ ofSession }) => ofSession.names };
const REQUEST_COUNT: Question<Layers, number> = { name: "request", of: ({ ofRequest }) => ofRequest.length };

const requestNames: Question<Layers, string>[] = [];

/** The same few names with every request: looking at each costs less than writing them together. */
const askRequest = (ask: Ask<Layers>): readonly string[] =>
  Array.from({ length: ask(REQUEST_COUNT) }, (_, i) =>
    ask((requestNames[i] ??= { name: `request ${i}`, of: ({ ofRequest }) => ofRequest[i]?.[0] ?? "" })),
  );
const APP: Question<Layers, readonly Setting[]> = { name: "app", of: ({ ofApp }) => ofApp };

const textOf = (ask: Ask<Layers>): string =>
  compileSettings([
    ...(ask(IS_READ_ONLY) ? ["transaction_read_only"] : []),
    "search_path",
    ...namesOf(ask(ROLE)),
    ...namesIn(ask(SESSION)),
    ...askRequest(ask),
    ...namesOf(ask(APP)),
  ]);

interface Path {
  readonly schema: string;
  readonly extra: readonly string[];
  /** The login role's own, where it stays in force. */
  readonly login: readonly string[] | undefined;
}

const SCHEMA: Question<Path, string> = { name: "schema", of: ({ schema }) => schema };
const EXTRA: Question<Path, readonly string[]> = { name: "extra", of: ({ extra }) => extra };
const LOGIN: Question<Path, readonly string[] | undefined> = { name: "login", of: ({ login }) => login };

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const pathOf = (ask: Ask<Path>): string => {
  const own = [ask(SCHEMA), ...ask(EXTRA)];
  const login = ask(LOGIN);
  // each name costs a look at the catalog in every transaction
  return (login === undefined ? own : [...new Set([...own, ...login])]).map(quoted).join(", ");
};

export const createSettingsBuilder = (
  current: Pick<Current, "options">,
  caches: Caches,
  specs: readonly SessionSpec[],
): SettingsBuilder => {
  const texts = caches.create({ name: "settings", make: textOf, bytesOf: (text) => text.length * 2 });
  const paths = caches.create({ name: "search paths", make: pathOf, bytesOf: (text) => text.length * 2 });
  const ofSessions = new WeakMap<Session, SessionSettings>();
  const settingsOf = (session: Session): SessionSettings => {
    let found = ofSessions.get(session);
    if (found === undefined) ofSessions.set(session, (found = buildSessionSettings(session, specs)));
    return found;
  };

  return {
    build: ({ session, settings, schema, keepsLoginPath }, model, isReadOnly) => {
      const { options } = current;
      const ofSession = settingsOf(session);
      const ofRole =
        session.databaseRole === undefined ? NONE : (model?.roles.get(session.databaseRole)?.settings ?? NONE);
      const ofRequest = settings ?? NONE;
      const ofApp = appSettings(options);
      const path = paths.take({
        schema,
        extra: options.dbExtraSearchPath,
        login: keepsLoginPath === true ? model?.loginPath : undefined,
      });
      const values = isReadOnly ? ["on", path] : [path];
      for (const [, value] of ofRole) values.push(value);
      for (const value of ofSession.values) values.push(value);
      for (const [, value] of ofRequest) values.push(value);
      for (const [, value] of ofApp) values.push(value);
      return { text: texts.take({ isReadOnly, ofRole, ofSession, ofRequest, ofApp }), values };
    },
  };
};

const NONE: readonly Setting[] = [];

const namesOf = (settings: readonly Setting[]): readonly string[] => settings.map(([name]) => name);

const appCache = new WeakMap<object, readonly Setting[]>();

const appSettings = ({ appSettings: given }: ResolvedOptions): readonly Setting[] => {
  let settings = appCache.get(given);
  if (settings === undefined) {
    settings = Object.entries(given).map(([name, value]): Setting => [`app.settings.${name}`, value]);
    appCache.set(given, settings);
  }
  return settings;
};

const buildSessionSettings = (session: Session, specs: readonly SessionSpec[]): SessionSettings => {
  const settings = new Map<string, string>();
  for (const spec of specs) for (const [name, value] of spec.settings?.(session) ?? NONE) settings.set(name, value);
  // as a role's name it would make the caller the login role
  if (session.databaseRole === "none") throw roleNotFound("none");
  settings.set("role", session.databaseRole ?? "none");
  settings.set("request.jwt.claims", session.claimsText ?? JSON.stringify({ ...session.claims, role: session.role }));
  return { names: textOfNames(settings.keys()), values: [...settings.values()] };
};

interface SessionText {
  readonly prefixes: readonly string[];
  readonly text: string;
}

const sessionTexts = new WeakMap<Session, SessionText>();

/** What functions get as their session argument: every variable, under these prefixes too. @rule G-SES-5 */
export const sessionJson = (session: Session, prefixes: readonly string[]): string => {
  let known = sessionTexts.get(session);
  if (known?.prefixes !== prefixes) {
    const all: Record<string, Json> = {};
    for (const [name, value] of Object.entries(session.variables)) {
      all[name] = value;
      for (const prefix of prefixes) all[prefix + name.slice(VARIABLE_PREFIX.length)] = value;
    }
    known = { prefixes, text: JSON.stringify(all) };
    sessionTexts.set(session, known);
  }
  return known.text;
};
