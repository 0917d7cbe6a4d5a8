/** Reports roles to which the login role could switch when the schema was loaded, but no longer can. */
import type { CurrentState } from "../current-state.ts";
import { readSqlstate } from "./pg-errors.ts";
import type { WireStatement } from "./wire.ts";

const QUIET_MS = 60_000;

/** Returns whether the statement sets a transaction's settings, and therefore switches the role. */
const isSettingsStatement = ({ text }: Pick<WireStatement, "text">): boolean =>
  text.startsWith("select pg_catalog.num_nonnulls(pg_catalog.set_config(");

/** Returns a function that inspects errors of statements, and logs each such role at most once a minute. @rule
 *  R-ADM-6 */
export const createLostRoleReporter = (
  current: CurrentState,
  warn: (message: string) => void,
): ((error: unknown, statement: WireStatement | undefined, role: string | undefined) => void) => {
  const loggedAtMs = new Map<string, number>();
  return (error, statement, role) => {
    if (
      role === undefined ||
      readSqlstate(error) !== "42501" ||
      statement === undefined ||
      !isSettingsStatement(statement)
    )
      return;
    const { model } = current;
    // other roles are not reported, because tokens may name any role
    if (model?.roles.get(role)?.isAssumable !== true) return;
    const nowMs = Date.now();
    if (nowMs - (loggedAtMs.get(role) ?? 0) < QUIET_MS) return;
    loggedAtMs.set(role, nowMs);
    const { loginRole } = model;
    warn(`the login role "${loginRole}" may no longer become "${role}": GRANT "${role}" TO "${loginRole}"`);
  };
};
