/** Reports errors of statements that an administrator must know about. */
import type { HealthProblems } from "../kernel/health-problems.ts";
import type { CurrentState } from "../kernel/current-state.ts";
import { readSqlstate } from "./pg-errors.ts";
import type { WireStatement } from "./wire.ts";

/** Inspects an error of a statement. `role` is the database role of the session. */
type ErrorReporter = (error: unknown, statement: WireStatement | undefined, role: string | undefined) => void;

interface ReporterParts {
  readonly current: CurrentState;
  readonly healthProblems: HealthProblems;
  readonly warn: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
}

const WARNING_INTERVAL_MS = 60_000;

/** Returns whether the statement sets a transaction's settings, and therefore switches the role. */
const isSettingsStatement = ({ text }: Pick<WireStatement, "text">): boolean =>
  text.startsWith("select pg_catalog.num_nonnulls(pg_catalog.set_config(");

const DISK_PROBLEM = "database";
/** The time for which the full disk is reported after the last rejected statement. */
const DISK_PROBLEM_LIFETIME_MS = 15_000;

/** Returns a function that reports two errors. It logs a role to which the login role could switch when the schema was
 *  loaded, but no longer can, at most once a minute. It logs a full disk, on which the database rejects writes and
 *  continues to answer reads, once until no statement has failed for a while. @rule R-ADM-6 R-ADM-7 */
export const createErrorReporter = ({ current, healthProblems, warn }: ReporterParts): ErrorReporter => {
  const loggedAtMs = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  const reportLostRole = (role: string): void => {
    const { model } = current;
    // Other roles are not reported, because tokens may name any role.
    if (model?.roles.get(role)?.isAssumable !== true) return;
    const nowMs = Date.now();
    if (nowMs - (loggedAtMs.get(role) ?? 0) < WARNING_INTERVAL_MS) return;
    loggedAtMs.set(role, nowMs);
    const { loginRole } = model;
    warn(`the login role "${loginRole}" may no longer become "${role}": GRANT "${role}" TO "${loginRole}"`);
  };

  const reportFullDisk = (error: unknown): void => {
    if (timer === undefined) {
      warn("the disk of the database is full: writes are rejected", { reason: (error as Error).message });
      healthProblems.set(DISK_PROBLEM, "its disk is full, writes are rejected");
    }
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      healthProblems.set(DISK_PROBLEM, undefined);
    }, DISK_PROBLEM_LIFETIME_MS).unref();
  };

  return (error, statement, role) => {
    const sqlstate = readSqlstate(error);
    if (sqlstate === "53100") reportFullDisk(error);
    if (sqlstate === "42501" && role !== undefined && statement !== undefined && isSettingsStatement(statement))
      reportLostRole(role);
  };
};
