/** Which subscribers an error of a run affects. */
import { isRelApiError } from "../../core/index.ts";

/** The database was unreachable or failed temporarily: not a result, run again. */
const LOST: ReadonlySet<string> = new Set([
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

/** What a function raises on purpose stays as it is, whatever code it chose. */
export const isLost = (error: unknown): boolean =>
  isRelApiError(error) && error.facts["isRaised"] !== true && (LOST.has(error.code) || error.code.startsWith("08"));

/** It took longer than it may, and would again. */
export const isOverTime = (error: unknown): boolean =>
  isRelApiError(error) && error.code === "57014" && error.facts["isRaised"] !== true;

/** Names and rights: the same for every subscriber, whatever its values. */
const OF_ALL: ReadonlySet<string> = new Set(["42501", "42P01", "42703", "42883", "3F000"]);

/** Within a function, a row or a value may be why. */
export const isOfAll = (error: unknown): boolean =>
  isRelApiError(error) && OF_ALL.has(error.code) && error.facts["isWithin"] !== true;
