/** Reads cron expressions, and lists the minutes that they match in UTC. */
import { Cron } from "croner";

/** Returns the matching times that are later than `after` and not later than `until`. */
export type ListTimes = (after: Date, until: Date) => readonly Date[];

/** An expression that cannot be read. */
export class InvalidCron extends Error {}

const SHORTHANDS: ReadonlySet<string> = new Set(["@hourly", "@daily", "@weekly", "@monthly", "@yearly"]);

const NUMBER = "\\d{1,2}";
const MONTH = `${NUMBER}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec`;
const WEEKDAY = `${NUMBER}|sun|mon|tue|wed|thu|fri|sat`;

/** Matches a list of `*`, `5`, `1-5` or `mon-fri`, each with an optional step such as `/2`. */
const FIELDS = [NUMBER, NUMBER, NUMBER, MONTH, WEEKDAY].map((pattern) => {
  const item = `(?:\\*|(?:${pattern})(?:-(?:${pattern}))?)(?:/${NUMBER})?`;
  return new RegExp(`^${item}(?:,${item})*$`, "i");
});

/** The package also reads letters such as `L`, `W` and `#`, which Hasura rejects. */
const isExpression = (text: string): boolean => {
  const fields = text.split(/\s+/);
  return (
    SHORTHANDS.has(text) ||
    (fields.length === FIELDS.length && FIELDS.every((pattern, i) => pattern.test(fields[i] ?? "")))
  );
};

const createError = (text: string): InvalidCron =>
  new InvalidCron(`"${text}" is not a cron expression, which has five fields: minute, hour, day, month, weekday`);

const parsePattern = (text: string): Cron => {
  if (!isExpression(text)) throw createError(text);
  try {
    return new Cron(text, { mode: "5-part", utcOffset: 0, sloppyRanges: true, paused: true });
  } catch {
    throw createError(text);
  }
};

/** Reads an expression of five fields, or a shorthand such as `@daily`. @throws InvalidCron @rule X-SCH-2 */
export const parseCron = (text: string): ListTimes => {
  const pattern = parsePattern(text.trim());
  return (after, until) => {
    const times: Date[] = [];
    for (let at = pattern.nextRun(after); at !== null && at <= until; at = pattern.nextRun(at)) times.push(at);
    return times;
  };
};
