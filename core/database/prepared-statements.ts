/** Tracks the prepared statements of a connection, and decides which statements of a batch are prepared. For each
 *  prepared statement, the server stores text, parse tree and plan, many times the size of the text. */
import { readSqlstate } from "./pg-errors.ts";
import { planUnprepared, type WirePlan, type WireResult, type WireStatement } from "./wire.ts";

/** The owner of plans that user-defined code makes as an unknown role, because earlier code in the transaction may have
 *  switched the role. */
export const UNKNOWN_ROLE = Symbol("unknown role");

/** The database role for which functions plan statements on a connection. "" represents the login role. */
export type PlanOwner = string | typeof UNKNOWN_ROLE;

/** The prepared statements of one connection, the least recently used first. */
export class PreparedStatements {
  size = 0;
  /** The bytes of the prepared statements' SQL. */
  bytes = 0;
  /** The bytes of all SQL parsed on the connection, prepared or not. */
  parsedBytes = 0;
  /** The names whose state on the server is unknown. Each name is closed before it is used again. */
  readonly uncertain = new Set<string>();
  private readonly sizes = new Map<string, number>();

  has(name: string): boolean {
    return this.sizes.has(name);
  }

  /** Counts a text that is sent for parsing, prepared or not. */
  countParsed(text: string): void {
    this.parsedBytes += text.length;
  }

  /** Records a use of the statement. */
  use(name: string, text: string): void {
    const size = this.sizes.get(name) ?? Buffer.byteLength(text);
    this.delete(name);
    // The statement moves to the end of the map, as the most recently used.
    this.sizes.set(name, size);
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

  /** Marks the state of all names as unknown, because other code may have prepared or deallocated statements. */
  markAllUncertain(): void {
    for (const name of this.sizes.keys()) this.uncertain.add(name);
    this.sizes.clear();
    this.size = this.bytes = 0;
  }

  /** Returns the names of the prepared statements, the least recently used first. */
  names(): Iterable<string> {
    return this.sizes.keys();
  }
}

/** The multiple of the limit on prepared SQL after which a connection is replaced, counted in parsed SQL. The server
 *  keeps the type of each row that it has built for the lifetime of the connection. @rule R-BND-6 */
export const PARSED_MULTIPLE = 16;

interface PreparedLimits {
  readonly maxCount: number;
  readonly maxBytes: number;
}

/** The SQLSTATEs that mean that a recorded statement is not prepared, or now has another result. */
const STALE_STATEMENT_STATES: ReadonlySet<string> = new Set(["0A000", "26000"]);

/** Plans the messages of a batch, and records the statements that the batch prepares. Call `recordFailure` after a
 *  failure. `firstEffect` is the index of the first statement that must not be repeated. Before that statement runs,
 *  all later ones must be known to be prepared. */
type PlanBatch = (
  preparedStatements: PreparedStatements,
  statements: readonly WireStatement[],
  prepares: boolean,
  firstEffect?: number,
) => WirePlan;

const MAX_NAMES = 20_000;
/** The largest share of the limit on prepared SQL that one statement may use. */
const MAX_STATEMENT_SHARE = 1 / 8;

/** Creates the planner for all connections of an api. The planner prepares statements that were used before and are
 *  small enough. @rule R-BND-6 */
export const createBatchPlanner = ({ maxBytes, maxCount }: PreparedLimits): PlanBatch => {
  const usedNames = new Set<string>();

  const isWorthPreparing = (name: string, text: string): boolean => {
    if (text.length > maxBytes * MAX_STATEMENT_SHARE) return false;
    if (usedNames.has(name)) return true;
    if (usedNames.size >= MAX_NAMES) usedNames.clear();
    usedNames.add(name);
    return false;
  };

  /** Removes the least recently used statements from the record, and adds their names to `closes`. */
  const evictStatements = (
    preparedStatements: PreparedStatements,
    sentStatements: readonly WireStatement[],
    closes: string[],
  ): void => {
    for (const name of preparedStatements.names()) {
      if (preparedStatements.size <= maxCount && preparedStatements.bytes <= maxBytes) return;
      if (sentStatements.some((statement) => statement.name === name)) continue;
      preparedStatements.delete(name);
      closes.push(name);
    }
  };

  return (preparedStatements, statements, prepares, firstEffect = Infinity) => {
    if (!prepares) return planUnprepared(statements);
    const sentStatements: WireStatement[] = [];
    const parses: boolean[] = [];
    const closes: string[] = [];
    const knownStatements: WireStatement[] = [];
    /** The names that the batch itself prepares. */
    const newNames = new Set<string>();
    for (const statement of statements) {
      const { name, text } = statement;
      const isKnown = name !== "" && preparedStatements.has(name);
      knownStatements.push(isKnown && !newNames.has(name) ? statement : UNNAMED_STATEMENT);
      parses.push(!isKnown);
      if (!isKnown) preparedStatements.countParsed(text);
      if (!isKnown && (name === "" || !isWorthPreparing(name, text))) {
        sentStatements.push({ ...statement, name: "" });
        continue;
      }
      sentStatements.push(statement);
      preparedStatements.use(name, text);
      if (isKnown) continue;
      newNames.add(name);
      // A close is harmless, because closing a missing statement is not an error.
      if (preparedStatements.uncertain.delete(name) || sentStatements.length - 1 > firstEffect) closes.push(name);
    }
    evictStatements(preparedStatements, sentStatements, closes);
    return { statements: sentStatements, parses, closes, described: listDescribedNames(knownStatements, firstEffect) };
  };
};

/** Returns the names of the statements after the first effect. The batch describes them before that effect, so that a
 *  missing one causes no repetition. */
const listDescribedNames = (statements: readonly WireStatement[], firstEffect: number): WirePlan["described"] => {
  const names: string[] = [];
  for (let i = firstEffect + 1; i < statements.length; i++) {
    // The index is within the length.
    const { name } = statements[i] as WireStatement;
    if (name !== "") names.push(name);
  }
  return names.length === 0 ? undefined : { before: firstEffect, names };
};

const UNNAMED_STATEMENT: WireStatement = { text: "", name: "", values: [] };

export type FailedBatch = Extract<WireResult, { readonly error: unknown }>;

/** Updates the record of prepared statements after a failure. */
export const recordFailure = (
  preparedStatements: PreparedStatements,
  { statements, parses, described }: WirePlan,
  { error, failedAt }: FailedBatch,
): void => {
  const isForgotten = STALE_STATEMENT_STATES.has(readSqlstate(error) ?? "");
  statements.forEach(({ name }, i) => {
    if (name === "" || i < failedAt) return;
    const isParsed = parses[i] === true;
    const isUncertain = i === failedAt ? isParsed || isForgotten : isForgotten && described?.before === failedAt;
    // The server skips the messages after a failure, so it has not parsed this statement.
    if (isParsed || isUncertain) preparedStatements.delete(name);
    if (isUncertain && (i === failedAt || !isParsed)) preparedStatements.uncertain.add(name);
  });
};
