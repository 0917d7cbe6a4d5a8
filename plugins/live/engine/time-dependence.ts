/** Detects live queries whose result changes with time although no row changes: `where: {at: {_lte: "now()"}}`. @rule
 *  G-SUB-19 */
import {
  getBoundValue,
  flattenFragment,
  fillSlots,
  memoize,
  type Program,
  type Session,
  type Slot,
} from "../../../core/index.ts";
import type { LiveQuery } from "../api.ts";

/** Matches words of dates and times whose meaning depends on the time of the run. The words may occur next to other
 *  parts (`today 10:00`), and in lists and ranges (`[now,)`). PostgreSQL accepts any case, and any character except a
 *  letter on either side. */
const TIME_WORD = /(?<![a-z])(?:now|today|tomorrow|yesterday)(?![a-z])/i;

/** Removes the escapes of arrays, ranges and JSON: `{"n\\ow"}`, `"\u006eow"`. */
const unescape = (text: string): string =>
  text
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll("\\", "");

const hasTimeWord = (text: string): boolean => TIME_WORD.test(text.includes("\\") ? unescape(text) : text);

/** Matches time functions in SQL of plugins: `now()`, `current_date`. Names of the schema are quoted. */
const TIME_EXPRESSION =
  /(?<!["\w])(?:(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|age)\s*\(|(?:current_date|current_time|current_timestamp|localtime|localtimestamp)(?!["\w]))/i;

/** Matches a cast to a type that reads no time. */
const TIMELESS_CAST =
  /^::(?:pg_catalog\.)?(?:text|character varying|varchar|jsonb?|uuid|boolean|numeric|smallint|integer|bigint|int[248]|real|double precision|float[48])(?:\[\])?(?![\w[:. ])/;

/** Matches the text in front of an operand. A function, in contrast, may read its argument as a time. */
const OPERATOR = /(?:[=<>~!@#%^&|*/+?-]|like|any\s*\() ?$/;

interface ClockUse {
  /** True if the SQL reads the clock, whatever the values are. */
  readonly isRead: boolean;
  /** The slots whose values may be read as a time. */
  readonly slots: readonly Slot[];
}

const findClockUse = ({ statements }: Program): ClockUse => {
  const slots: Slot[] = [];
  let isRead = false;
  for (const { fragment, slots: statementSlots } of statements) {
    if (fragment === undefined) {
      slots.push(...statementSlots);
      continue;
    }
    flattenFragment(fragment).forEach((chunk, i, chunks) => {
      const getText = (at: number): string => (typeof chunks[at] === "string" ? chunks[at] : "");
      if (typeof chunk === "string") isRead ||= TIME_EXPRESSION.test(chunk);
      else if (!OPERATOR.test(getText(i - 1)) || !TIMELESS_CAST.test(getText(i + 1) + getText(i + 2)))
        slots.push(chunk.slot);
    });
  }
  return { isRead, slots };
};

/** Returns whether the result of a query may change although no row changes. */
type IsTimeDependent = (query: LiveQuery) => boolean;

export const createTimeDependence = (): IsTimeDependent => {
  const programClock = memoize(findClockUse);
  /** Returns whether a row policy could read a variable or a claim as a time. */
  const hasSessionTimeWord = memoize(({ variables, claims }: Session) =>
    hasTimeWord(JSON.stringify([variables, claims])),
  );
  return ({ programs, session }) =>
    programs.some(({ program, values }) => {
      const clock = programClock(program);
      return (
        clock.isRead ||
        (program.isProven !== true && hasSessionTimeWord(session)) ||
        fillSlots(clock.slots, values, session).some((value) => {
          const boundValue = getBoundValue(value);
          return typeof boundValue === "string" && hasTimeWord(boundValue);
        })
      );
    });
};
