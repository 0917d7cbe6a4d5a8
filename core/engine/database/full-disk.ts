/** Reports that the database's disk is full. The database then refuses writes, and continues to answer reads. */
import type { HealthProblems } from "../../kernel/health-problems.ts";
import { readSqlstate } from "./pg-errors.ts";

const PROBLEM_NAME = "database";
/** The time for which the problem is reported after the last refused statement. */
const PROBLEM_LIFETIME_MS = 15_000;

/** Returns a function that inspects errors of statements. The function logs the problem once, until no statement has
 *  failed for a while. @rule R-ADM-7 */
export const createFullDiskReporter = (
  healthProblems: HealthProblems,
  warn: (message: string, fields: Readonly<Record<string, unknown>>) => void,
): ((error: unknown) => void) => {
  let timer: NodeJS.Timeout | undefined;
  return (error) => {
    if (readSqlstate(error) !== "53100") return;
    if (timer === undefined) {
      warn("the disk of the database is full: writes are refused", { reason: (error as Error).message });
      healthProblems.set(PROBLEM_NAME, "its disk is full, writes are refused");
    }
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      healthProblems.set(PROBLEM_NAME, undefined);
    }, PROBLEM_LIFETIME_MS).unref();
  };
};
