/** What is prepared on a connection, and what of a batch has to be prepared first. The server stores text, parse tree and
 *  plan of each statement, many times the size of its text. */
import { sqlstateOf } from "./pg-errors.ts";
import type { WirePlan, WireResult, WireStatement } from "./wire.ts";

/** User code runs as a role that is not known, because earlier code in the transaction may have switched it. */
export const UNKNOWN_ROLE = Symbol("unknown role");

/** For whom functions plan statements on a connection: the database role; "" for the login role. */
export type PlanOwner = string | typeof UNKNOWN_ROLE;

export class PreparedStatements {
  size = 0;
  /** Bytes of their SQL. */
  bytes = 0;
  /** Bytes of all SQL parsed on the connection, prepared or not. */
  parsedBytes = 0;
  /** Names that may or may not be prepared: to be closed before they are used again. */
  readonly doubtful = new Set<string>();
  private readonly sizes = new Map<string, number>();

  has(name: string): boolean {
    return this.sizes.has(name);
  }

  hasAll(statements: readonly WireStatement[]): boolean {
    for (const { name } of statements) if (!this.sizes.has(name)) return false;
    return true;
  }

  /** The text goes out, prepared or not. */
  parsed(text: string): void {
    this.parsedBytes += text.length;
  }

  /** It is used again, or for the first time. */
  use(name: string, text: string): void {
    const size = this.sizes.get(name) ?? Buffer.byteLength(text);
    this.delete(name);
    this.sizes.set(name, size); // as the youngest
    this.size++;
    this.bytes += size;
  }

  delete(name: string): void {
    const size = this.sizes.get(name);
    if (size === undefined) return;
    this.sizes.delete(name);
    this.size--;
    this.bytes -= size;
  }

  /** Something else has prepared or forgotten statements of these names. */
  doubtAll(): void {
    for (const name of this.sizes.keys()) this.doubtful.add(name);
    this.sizes.clear();
    this.size = this.bytes = 0;
  }

  /** The longest unused first. */
  names(): Iterable<string> {
    return this.sizes.keys();
  }
}

/** The server keeps the type of every row that it has ever put together, for as long as the connection lives: it is
 *  replaced when so many times the bytes that may be prepared have been read on it. @rule R-BND-6 */
export const PARSED_SHARE = 16;

export interface PreparedLimits {
  readonly maxCount: number;
  readonly maxBytes: number;
}

/** States in which a statement counted as prepared is not, or not with its present result. */
const FORGOTTEN: ReadonlySet<string> = new Set(["0A000", "26000"]);

/** The messages of a batch. Records what is prepared on the connection; `settle` has to hear of a failure.
 *  `firstEffect`: index of the statement before which it must be certain that the later ones are prepared as recorded,
 *  since nothing after it may be repeated. */
export type PlanBatch = (
  prepared: PreparedStatements,
  statements: readonly WireStatement[],
  prepares: boolean,
  firstEffect?: number,
) => WirePlan;

const MAX_NAMES = 20_000;
/** Of all that may be prepared, for one text. */
const LARGEST_SHARE = 1 / 8;

/** For all connections of an api: prepared is what was used before and leaves room for others. @rule R-BND-6 */
export const createBatchPlanner = ({ maxBytes, maxCount }: PreparedLimits): PlanBatch => {
  const usedOnce = new Set<string>();

  const isWorth = (name: string, text: string): boolean => {
    if (text.length > maxBytes * LARGEST_SHARE) return false;
    if (usedOnce.has(name)) return true;
    if (usedOnce.size >= MAX_NAMES) usedOnce.clear();
    usedOnce.add(name);
    return false;
  };

  /** Names of what has to go. */
  const makeRoom = (prepared: PreparedStatements, sent: readonly WireStatement[], closes: string[]): void => {
    for (const name of prepared.names()) {
      if (prepared.size <= maxCount && prepared.bytes <= maxBytes) return;
      if (sent.some((statement) => statement.name === name)) continue;
      prepared.delete(name);
      closes.push(name);
    }
  };

  return (prepared, statements, prepares, firstEffect = Infinity) => {
    if (!prepares) return { statements: statements.map(unnamed), parses: statements.map(() => true), closes: [] };
    // the usual batch: all of it was prepared before, and nothing is about to go
    if (prepared.size * 2 <= maxCount && prepared.bytes * 2 <= maxBytes && prepared.hasAll(statements))
      return { statements, parses: NO_PARSES, closes: NO_CLOSES, described: describedOf(statements, firstEffect) };
    const sent: WireStatement[] = [];
    const parses: boolean[] = [];
    const closes: string[] = [];
    const known: WireStatement[] = [];
    for (const statement of statements) {
      const { name, text } = statement;
      const isKnown = name !== "" && prepared.has(name);
      known.push(isKnown && !sent.some((other, i) => other.name === name && parses[i] === true) ? statement : UNNAMED);
      parses.push(!isKnown);
      if (!isKnown) prepared.parsed(text);
      if (!isKnown && (name === "" || !isWorth(name, text))) {
        sent.push(unnamed(statement));
        continue;
      }
      sent.push(statement);
      if (!isKnown || prepared.size * 2 > maxCount || prepared.bytes * 2 > maxBytes) prepared.use(name, text);
      // to close what is not there is no error
      if (!isKnown && (prepared.doubtful.delete(name) || sent.length - 1 > firstEffect)) closes.push(name);
    }
    if (prepared.size > maxCount || prepared.bytes > maxBytes) makeRoom(prepared, sent, closes);
    return { statements: sent, parses, closes, described: describedOf(known, firstEffect) };
  };
};

/** Those behind the first effect. */
const describedOf = (statements: readonly WireStatement[], firstEffect: number): WirePlan["described"] => {
  const names: string[] = [];
  for (let i = firstEffect + 1; i < statements.length; i++) {
    const { name } = statements[i] as WireStatement; // i is within its length
    if (name !== "") names.push(name);
  }
  return names.length === 0 ? undefined : { before: firstEffect, names };
};

const UNNAMED: WireStatement = { text: "", name: "", values: [] };
const NO_CLOSES: readonly string[] = [];
const NO_PARSES: readonly boolean[] = [];

export type Failed = Extract<WireResult, { readonly error: unknown }>;

/** What a failure means for the statements that count as prepared. */
export const settle = (
  prepared: PreparedStatements,
  { statements, parses, described }: WirePlan,
  { error, failedAt }: Failed,
): void => {
  const isForgotten = FORGOTTEN.has(sqlstateOf(error) ?? "");
  statements.forEach(({ name }, i) => {
    if (name === "" || i < failedAt) return;
    const isParsed = parses[i] === true;
    const isDoubtful = i === failedAt ? isParsed || isForgotten : isForgotten && described?.before === failedAt;
    if (isParsed || isDoubtful) prepared.delete(name); // behind the failure, it was never read
    if (isDoubtful && (i === failedAt || !isParsed)) prepared.doubtful.add(name);
  });
};

const unnamed = (statement: WireStatement): WireStatement =>
  statement.name === "" ? statement : { ...statement, name: "" };
