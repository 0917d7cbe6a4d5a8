/** What goes out in one write: which statements are prepared on the connection, and what has to go for them. */
import { CLEANER_COUNT, type Cleaning } from "./cleaning.ts";
import { sqlstateOf } from "./pg-errors.ts";
import type { Connection } from "./pool.ts";
import { createWorth, type PreparedLimits, type PreparedStatements } from "./prepared.ts";
import type { WirePlan, WireResult, WireStatement } from "./wire.ts";

/** States in which a statement counted as prepared is not, or not with its present result. */
const FORGOTTEN: ReadonlySet<string> = new Set(["0A000", "26000"]);

export interface Batches {
  /** The messages of a batch. Records what is prepared on the connection; `settle` has to hear of a failure. */
  plan(connection: Connection, statements: readonly WireStatement[], prepares: boolean): WirePlan;
  /** One write, one result. */
  send(
    connection: Connection,
    statements: readonly WireStatement[],
    prepares: boolean,
    cleaning?: Cleaning,
  ): Promise<WireResult>;
}

export const createBatches = (limits: PreparedLimits): Batches => {
  const { maxBytes } = limits;
  const maxCount = Math.max(0, limits.maxCount - CLEANER_COUNT);
  const worth = createWorth(limits);

  /** Names of what has to go. */
  const makeRoom = ({ prepared }: Connection, sent: readonly WireStatement[], closes: string[]): void => {
    for (const name of prepared.names()) {
      if (prepared.size <= maxCount && prepared.bytes <= maxBytes) return;
      if (sent.some((statement) => statement.name === name)) continue;
      prepared.delete(name);
      closes.push(name);
    }
  };

  const plan: Batches["plan"] = (connection, statements, prepares) => {
    if (!prepares) return { statements: statements.map(unnamed), parses: statements.map(() => true), closes: [] };
    const { prepared, doubtful } = connection;
    // the usual batch: all of it was prepared before, and nothing is about to go
    if (prepared.size * 2 <= maxCount && prepared.bytes * 2 <= maxBytes && areKnown(prepared, statements))
      return { statements, parses: NO_PARSES, closes: NO_CLOSES };
    const sent: WireStatement[] = [];
    const parses: boolean[] = [];
    const closes: string[] = [];
    for (const statement of statements) {
      const { name, text } = statement;
      const isKnown = name !== "" && prepared.has(name);
      parses.push(!isKnown);
      if (!isKnown) prepared.parsed(text);
      if (!isKnown && (name === "" || !worth.isWorth(name, text))) {
        sent.push(unnamed(statement));
        continue;
      }
      sent.push(statement);
      if (!isKnown || prepared.size * 2 > maxCount || prepared.bytes * 2 > maxBytes) prepared.use(name, text);
      if (!isKnown && doubtful.delete(name)) closes.push(name);
    }
    if (prepared.size > maxCount || prepared.bytes > maxBytes) makeRoom(connection, sent, closes);
    return { statements: sent, parses, closes };
  };

  return {
    plan,
    send: async (connection, statements, prepares, cleaning) => {
      const batch = plan(connection, statements, prepares);
      const result = await connection.run(batch, cleaning);
      if ("error" in result) settle(connection, batch, result);
      return result;
    },
  };
};

const NO_CLOSES: readonly string[] = [];
const NO_PARSES: readonly boolean[] = [];

const areKnown = (prepared: PreparedStatements, statements: readonly WireStatement[]): boolean => {
  for (const { name } of statements) if (!prepared.has(name)) return false;
  return true;
};

export type Failed = Extract<WireResult, { readonly error: unknown }>;

/** What a failure means for the statements that count as prepared. */
export const settle = (
  { prepared, doubtful }: Connection,
  { statements, parses }: WirePlan,
  { error, failedAt }: Failed,
): void => {
  const isForgotten = FORGOTTEN.has(sqlstateOf(error) ?? "");
  statements.forEach(({ name }, i) => {
    if (name === "" || i < failedAt) return;
    if (i > failedAt) {
      if (parses[i] === true) prepared.delete(name); // never read
    } else if (parses[i] === true || isForgotten) {
      prepared.delete(name);
      doubtful.add(name);
    }
  });
};

const unnamed = (statement: WireStatement): WireStatement =>
  statement.name === "" ? statement : { ...statement, name: "" };
