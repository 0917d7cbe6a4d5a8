/** Reads cron expressions, and finds the minutes that they match in UTC. */

/** The numbers of each field that match. */
export interface CronExpression {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** Days and weekdays are both restricted: a date matches if one of them does, as in cron of Unix. */
  readonly isEitherDay: boolean;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of the numbers from `min`. */
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const MINUTE: Field = { name: "minute", min: 0, max: 59 };
const HOUR: Field = { name: "hour", min: 0, max: 23 };
const DAY: Field = { name: "day", min: 1, max: 31 };
const MONTH: Field = { name: "month", min: 1, max: 12, names: MONTHS };
/** 7 is Sunday too. */
const WEEKDAY: Field = { name: "weekday", min: 0, max: 7, names: WEEKDAYS };

const SHORTHANDS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** Matches a part of a field: `*`, `5`, `mon-fri`, `0-30/10`. */
const PART = /^(?:\*|(\w{1,3})(?:-(\w{1,3}))?)(?:\/(\d{1,2}))?$/;

/** An expression that cannot be read. The message says which field is wrong. */
export class InvalidCron extends Error {}

/** Reads an expression of five fields, or a shorthand such as `@daily`. @throws InvalidCron @rule X-SCH-2 */
export const parseCron = (text: string): CronExpression => {
  const fields = (SHORTHANDS[text.trim()] ?? text).trim().split(/\s+/);
  if (fields.length !== 5)
    throw new InvalidCron("a cron expression has five fields: minute, hour, day, month, weekday");
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  const weekdays = readField(weekday, WEEKDAY);
  if (weekdays.has(7)) weekdays.add(0);
  return {
    minutes: readField(minute, MINUTE),
    hours: readField(hour, HOUR),
    days: readField(day, DAY),
    months: readField(month, MONTH),
    weekdays,
    isEitherDay: !day.startsWith("*") && !weekday.startsWith("*"),
  };
};

const readField = (text: string, field: Field): Set<number> => {
  const { name, min, max } = field;
  const numbers = new Set<number>();
  for (const part of text.split(",")) {
    const [matched, first, last, step] = PART.exec(part) ?? [];
    if (matched === undefined) throw new InvalidCron(`the ${name} "${part}" cannot be read`);
    const from = first === undefined ? min : readNumber(first, field);
    // `5/10` begins at 5 and has no end
    const until =
      last === undefined ? (first === undefined || step !== undefined ? max : from) : readNumber(last, field);
    const by = step === undefined ? 1 : Number(step);
    if (by === 0 || from > until) throw new InvalidCron(`the ${name} "${part}" matches nothing`);
    for (let number = from; number <= until; number += by) numbers.add(number);
  }
  return numbers;
};

const readNumber = (text: string, { name, min, max, names = [] }: Field): number => {
  const named = names.indexOf(text.toLowerCase());
  const number = named >= 0 ? named + min : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= min && number <= max)) throw new InvalidCron(`the ${name} "${text}" is not from ${min} to ${max}`);
  return number;
};

const matchesDay = ({ days, weekdays, isEitherDay }: CronExpression, at: Date): boolean => {
  const isDay = days.has(at.getUTCDate());
  const isWeekday = weekdays.has(at.getUTCDay());
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday;
};

const MINUTE_MS = 60_000;

/** Returns the times that match, later than `after` and not later than `until`. @rule X-SCH-2 */
export const listTimes = (cron: CronExpression, after: Date, until: Date): readonly Date[] => {
  const times: Date[] = [];
  const first = (Math.floor(after.getTime() / MINUTE_MS) + 1) * MINUTE_MS;
  for (let ms = first; ms <= until.getTime(); ms += MINUTE_MS) {
    const at = new Date(ms);
    if (
      cron.minutes.has(at.getUTCMinutes()) &&
      cron.hours.has(at.getUTCHours()) &&
      cron.months.has(at.getUTCMonth() + 1) &&
      matchesDay(cron, at)
    )
      times.push(at);
  }
  return times;
};
