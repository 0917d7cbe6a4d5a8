/** Under which names statements stay prepared, and the statements that are the same for many transactions. */
import { createHash } from "node:crypto";
import { ident, sql, toStatement } from "../sql/fragment.ts";
import type { ProgramStatement } from "../sql/program.ts";
import type { WireStatement } from "./wire.ts";

/** Equal names mean equal statements, whichever process prepared them. */
const hashName = (text: string): string =>
  `relapi_${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;

/** PostgreSQL checks some rights while it reads and plans a statement, and not again for who runs it prepared: to use
 *  the schemas it names, to execute a function that it puts in line. SQL does not begin with `[`. `role`: the database
 *  role; undefined: the one that logged in. @rule R-TX-11 */
const ownedName = (text: string, role: string | undefined): string => hashName(JSON.stringify([role ?? null, text]));

const MAX_ROLES = 1000;
const ownedNames = new WeakMap<ProgramStatement, Map<string | undefined, string>>();

/** Named by the role too. @rule R-TX-11 */
export const ownedNameOf = (statement: ProgramStatement, role: string | undefined): string => {
  let names = ownedNames.get(statement);
  if (names === undefined) ownedNames.set(statement, (names = new Map()));
  let name = names.get(role);
  if (name === undefined) {
    name = ownedName(statement.text, role);
    if (names.size >= MAX_ROLES) names.clear();
    names.set(role, name);
  }
  return name;
};

const MAX_TEXT_NAMES = 10_000;
const textNames = new Map<string, string>();

/** For statements that call only PostgreSQL's own functions. */
export const nameOfText = (text: string): string => {
  let name = textNames.get(text);
  if (name === undefined) {
    name = hashName(text);
    if (textNames.size >= MAX_TEXT_NAMES) textNames.clear();
    textNames.set(text, name);
  }
  return name;
};

const plainStatements = new Map<string, WireStatement>();

/** Statements without values, of which there are few. */
export const plain = (text: string): WireStatement => {
  let statement = plainStatements.get(text);
  if (statement === undefined) {
    statement = { text, name: hashName(text), values: [] };
    plainStatements.set(text, statement);
  }
  return statement;
};

export const ROLLBACK: readonly WireStatement[] = [{ text: "rollback", name: "", values: [] }];

const ISOLATIONS: ReadonlySet<string> = new Set([
  "read uncommitted",
  "read committed",
  "repeatable read",
  "serializable",
]);

/** Setting values come from roles and functions: any other text than the four means nothing to PostgreSQL either. */
export const beginText = (isolation: string | undefined, isReadOnly: boolean): string => {
  const level = isolation?.toLowerCase().trim() ?? "read committed";
  return `begin isolation level ${ISOLATIONS.has(level) ? level : "read committed"} ${isReadOnly ? "read only" : "read write"}`;
};

/** By role and name of the function. */
const preRequests = new Map<string, WireStatement>();

/** `schema.name`, or a bare name found by the search path. @rule R-TX-7 R-TX-11 */
export const preRequest = (name: string, role: string | undefined): WireStatement => {
  const key = JSON.stringify([role ?? null, name]);
  let statement = preRequests.get(key);
  if (statement === undefined) {
    const dot = name.indexOf(".");
    const routine = dot === -1 ? ident(name) : ident(name.slice(0, dot), name.slice(dot + 1));
    const { text } = toStatement(sql`select ${routine}()`);
    statement = { text, name: ownedName(text, role), values: [] };
    if (preRequests.size >= MAX_ROLES) preRequests.clear();
    preRequests.set(key, statement);
  }
  return statement;
};

const GUARD =
  "select 1 operator(pg_catalog./) (current_user operator(pg_catalog.=) $1::pg_catalog.name)::pg_catalog.int4";

/** What the guard fails with. */
export const GUARD_STATE = "22012";

/** Fails unless the statements after it run as `role`. @rule R-TX-12 */
export const guard = (role: string): WireStatement => ({ text: GUARD, name: nameOfText(GUARD), values: [role] });
