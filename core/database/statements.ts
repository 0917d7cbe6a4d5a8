/** Names prepared statements, and builds the statements that many transactions share. */
import { createHash } from "node:crypto";
import { quoteIdentifier, sql, compileSql } from "../sql/fragment.ts";
import type { WireStatement } from "./wire.ts";

/** Returns the name of a prepared statement that calls only built-in functions. All processes give equal statements
 *  equal names. */
export const nameStatement = (text: string): string =>
  `relapi_${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;

/** Returns the name of a prepared statement, which contains the role. PostgreSQL checks some rights only while
 *  planning: the use of schemas, and the execution of inlined functions. These names differ from those of
 *  `nameStatement`, because SQL does not begin with `[`. `role` is the database role, or undefined for the login role.
 *  @rule R-TX-11 */
export const nameOwnedStatement = (text: string, role: string | undefined): string =>
  nameStatement(JSON.stringify([role ?? null, text]));

/** Creates a statement without values that may be prepared. */
export const createPlainStatement = (text: string): WireStatement => ({ text, name: nameStatement(text), values: [] });

/** Creates a statement without values that is never prepared. */
export const createUnnamedStatement = (text: string): WireStatement => ({ text, name: "", values: [] });

export const ROLLBACK: readonly WireStatement[] = [createUnnamedStatement("rollback")];

const ISOLATIONS: ReadonlySet<string> = new Set([
  "read uncommitted",
  "read committed",
  "repeatable read",
  "serializable",
]);

/** Returns the text of `begin`. The isolation level comes from settings of roles and functions. An unknown level counts
 *  as the default. */
export const buildBeginText = (isolation: string | undefined, isReadOnly: boolean): string => {
  const level = isolation?.toLowerCase().trim() ?? "read committed";
  return `begin isolation level ${ISOLATIONS.has(level) ? level : "read committed"} ${isReadOnly ? "read only" : "read write"}`;
};

/** Returns the call of the pre-request function. `name` is `schema.name`, or a name in the search path. @rule R-TX-7
 *  R-TX-11 */
export const buildPreRequestCall = (name: string, role: string | undefined): WireStatement => {
  const dot = name.indexOf(".");
  const routine = dot === -1 ? quoteIdentifier(name) : quoteIdentifier(name.slice(0, dot), name.slice(dot + 1));
  const { text } = compileSql(sql`select ${routine}()`);
  return { text, name: nameOwnedStatement(text, role), values: [] };
};
