/** Under which names statements stay prepared, and the statements that are the same for many transactions. */
import { createHash } from "node:crypto";
import { ident, sql, toStatement } from "../sql/fragment.ts";
import type { WireStatement } from "./wire.ts";

/** For statements that call only PostgreSQL's own functions. Equal names mean equal statements, whichever process
 *  prepared them. */
export const nameStatement = (text: string): string =>
  `relapi_${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;

/** Returns the name of a prepared statement, which contains the role. PostgreSQL checks some rights only while it plans
 *  a statement: to use the schemas that it names, and to execute an inlined function. SQL does not begin with `[`.
 *  `role` is the database role, or undefined for the login role. @rule R-TX-11 */
export const nameOwnedStatement = (text: string, role: string | undefined): string =>
  nameStatement(JSON.stringify([role ?? null, text]));

/** A statement without values. */
export const plainStatement = (text: string): WireStatement => ({ text, name: nameStatement(text), values: [] });

/** A statement without values that is never prepared. */
export const unnamedStatement = (text: string): WireStatement => ({ text, name: "", values: [] });

export const ROLLBACK: readonly WireStatement[] = [unnamedStatement("rollback")];

const ISOLATIONS: ReadonlySet<string> = new Set([
  "read uncommitted",
  "read committed",
  "repeatable read",
  "serializable",
]);

/** Setting values come from roles and functions: any other text than the four means nothing to PostgreSQL either. */
export const buildBeginText = (isolation: string | undefined, isReadOnly: boolean): string => {
  const level = isolation?.toLowerCase().trim() ?? "read committed";
  return `begin isolation level ${ISOLATIONS.has(level) ? level : "read committed"} ${isReadOnly ? "read only" : "read write"}`;
};

/** `schema.name`, or a bare name found by the search path. @rule R-TX-7 R-TX-11 */
export const buildPreRequestCall = (name: string, role: string | undefined): WireStatement => {
  const dot = name.indexOf(".");
  const routine = dot === -1 ? ident(name) : ident(name.slice(0, dot), name.slice(dot + 1));
  const { text } = toStatement(sql`select ${routine}()`);
  return { text, name: nameOwnedStatement(text, role), values: [] };
};
