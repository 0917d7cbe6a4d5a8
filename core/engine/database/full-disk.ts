/** The disk of the database is full: it refuses what needs room, and goes on answering reads. */
import type { Troubles } from "../../kernel/troubles.ts";
import { sqlstateOf } from "./pg-errors.ts";

const ABOUT = "database";
/** After the last statement that was refused for it. */
const SHOWN_MS = 15_000;

/** Hears of statements that failed; tells of it once, until none has failed for a while. @rule R-ADM-7 */
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
