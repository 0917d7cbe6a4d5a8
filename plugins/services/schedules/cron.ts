/** Reads cron expressions, and lists the minutes that they match in UTC. */
import { Cron } from "croner";

/** Returns the times that match, later than `after` and not later than `until`. */
export type ListTimes = (after: Date, until: Date) => readonly Date[];

/** An expression that cannot be read. */
export class InvalidCron extends Error {}

const FIVE_FIELDS = /^(?:\S+(?:\s+\S+){4}|@\S+)$/; // `0 3 * * *`, `@daily`

const createError = (text: string): InvalidCron =>
  new InvalidCron(`"${text}" is no cron expression, which has five fields: minute, hour, day, month, weekday`);

const parsePattern = (text: string): Cron => {
  if (!FIVE_FIELDS.test(text)) throw createError(text);
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
