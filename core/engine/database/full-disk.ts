/** Reports that the database's disk is full. The database then refuses writes, and continues to answer reads. */
import type { Troubles } from "../../kernel/troubles.ts";
import { sqlstateOf } from "./pg-errors.ts";

const ABOUT = "database";
/** The time for which the problem is reported after the last refused statement. */
const SHOWN_MS = 15_000;

/** Returns a function that inspects errors of statements. It logs the problem once, until no statement has failed for a
 *  while. @rule R-ADM-7 */
export const createFullDisk = (
  troubles: Troubles,
  warn: (message: string, facts: Readonly<Record<string, unknown>>) => void,
): ((error: unknown) => void) => {
  let timer: NodeJS.Timeout | undefined;
  return (error) => {
    if (sqlstateOf(error) !== "53100") return;
    if (timer === undefined) {
      warn("the disk of the database is full: writes are refused", { reason: (error as Error).message });
      troubles.set(ABOUT, "its disk is full, writes are refused");
    }
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      troubles.set(ABOUT, undefined);
    }, SHOWN_MS).unref();
  };
};
