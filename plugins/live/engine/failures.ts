/** Decides which subscribers an error of a run affects. */
import { RelApiError } from "../../../core/index.ts";

/** The errors of an unreachable or temporarily failing database. They are not results, because the query runs again. */
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set([
  "connection-lost",
  "connection-failed",
  "pool-timeout",
  "model-not-loaded",
  "57P01",
  "57P02",
  "57P03",
  "57P05",
  "40001",
  "40P01",
  "53300",
]);

/** Returns whether the database is unavailable, so that the query runs again. An error that a function raises on
 *  purpose is a result, whatever its code. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof RelApiError &&
  error.facts["isRaised"] !== true &&
  (UNAVAILABLE_CODES.has(error.code) || error.code.startsWith("08"));

/** Returns whether the statement exceeded its time limit. Running it again would fail in the same way. */
export const isStatementTimeout = (error: unknown): boolean =>
  error instanceof RelApiError && error.code === "57014" && error.facts["isRaised"] !== true;

/** The errors about names and rights, which are the same for every subscriber and all values. */
const SHARED_FAILURE_CODES: ReadonlySet<string> = new Set(["42501", "42P01", "42703", "42883", "3F000"]);

/** Returns whether the error affects all subscribers. An error within a function does not, because a row or a value may
 *  be the cause. */
export const isSharedFailure = (error: unknown): boolean =>
  error instanceof RelApiError && SHARED_FAILURE_CODES.has(error.code) && error.facts["isWithin"] !== true;
