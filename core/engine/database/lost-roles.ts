/** Roles that the login role could become when the schema was loaded, and may no longer. */
import type { Current } from "../current.ts";
import { sqlstateOf } from "./pg-errors.ts";
import type { WireStatement } from "./wire.ts";

const QUIET_MS = 60_000;

/** The first statement of a transaction, which switches the role. */
const isOfSettings = ({ text }: Pick<WireStatement, "text">): boolean =>
  text.startsWith("select pg_catalog.num_nonnulls(pg_catalog.set_config(");

/** Hears of statements that failed, and tells of each such role once a minute. @rule R-ADM-6 */
export const createLostRoles = (
  current: Current,
  warn: (message: string) => void,
): ((error: unknown, statement: WireStatement | undefined, role: string | undefined) => void) => {
  const toldAtMs = new Map<string, number>();
  return (error, statement, role) => {
    if (role === undefined || sqlstateOf(error) !== "42501" || statement === undefined || !isOfSettings(statement))
      return;
    const { model } = current;
    // others are a matter of tokens, which may name any role
    if (model?.roles.get(role)?.isAssumable !== true) return;
    const nowMs = Date.now();
    if (nowMs - (toldAtMs.get(role) ?? 0) < QUIET_MS) return;
    toldAtMs.set(role, nowMs);
    const { loginRole } = model;
    warn(`the login role "${loginRole}" may no longer become "${role}": GRANT "${role}" TO "${loginRole}"`);
  };
};
