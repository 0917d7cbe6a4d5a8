/** Sends several statements in one write, up to one ReadyForQuery. For pg, such a batch is a query. The columns are
 *  known, so a Describe only asks whether a prepared statement exists. Values are returned as the text of
 *  PostgreSQL. */
import { serialize } from "pg-protocol";
import type { SentValue } from "../sql/fragment.ts";

/** A statement that is sent to the server, with its values. @experimental */
export interface WireStatement {
  readonly text: string;
  /** The name of the prepared statement, or "" if the statement is not prepared. */
  readonly name: string;
  readonly values: readonly SentValue[];
  /** True if the rows have one column and line feeds join them to one text. By default, only the first row is
   *  returned. */
  readonly isMultiRow?: boolean;
  /** Returns the row of a statement without rows, from the number of written rows. */
  readonly buildRow?: (count: string) => WireRow;
}

/** The messages of one batch, in the order in which they are sent. */
export interface WirePlan {
  readonly statements: readonly WireStatement[];
  /** One value per statement: true if the text of the statement is sent. */
  readonly parses: readonly boolean[];
  /** The names of the prepared statements that are closed first. */
  readonly closes: readonly string[];
  /** The prepared statements that must exist. Otherwise the batch fails before the statement of that index. */
  readonly described?: { readonly before: number; readonly names: readonly string[] };
}

/** Plans a batch without prepared statements. */
export const planUnprepared = (statements: readonly WireStatement[]): WirePlan => ({
  statements: statements.map((statement) => ({ ...statement, name: "" })),
  parses: statements.map(() => true),
  closes: [],
});

/** The values of a row as text, in the order of the columns. @experimental */
export type WireRow = readonly (string | null)[];

/** The result of a batch. After an error, `failedAt` is the index of the statement that failed, or the number of
 *  statements if all had succeeded. `rows` are the rows of the statements before that one. @experimental */
export type WireResult =
  | { readonly rows: readonly (WireRow | undefined)[] }
  | { readonly error: unknown; readonly failedAt: number; readonly rows: readonly (WireRow | undefined)[] };

/** The part of pg's Connection that a batch needs. */
interface WireConnection {
  readonly stream: {
    readonly writable: boolean;
    write(bytes: Uint8Array): unknown;
  };
  sendCopyFail(message: string): void;
}

/** The largest number of values in a statement, because the protocol counts values in two bytes. */
const MAX_VALUES = 0xffff;

/** The total size up to which messages are copied into one buffer, because one short write costs less than several. */
const MAX_JOINED_BYTES = 64 * 1024;

/** Converts a value for the serializer, which sends a Buffer in the binary format and a string in the text format. */
const toSerializable = (value: SentValue): string | Buffer | null => {
  if (value === null || typeof value === "string") return value;
  if ("json" in value) return value.json;
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
};

const encodeBind = ({ name, values }: WireStatement): Buffer => {
  if (values.length > MAX_VALUES) throw new RangeError(`a statement cannot have ${values.length} values`);
  return serialize.bind({ statement: name, values: values as SentValue[], valueMapper: toSerializable });
};

/** Encodes the messages of a batch. Parameters have no declared types (R-FLT-3). */
const encodeBatch = ({ statements, parses, closes, described }: WirePlan): readonly Buffer[] => {
  const messages = closes.map((name) => serialize.close({ type: "S", name }));
  statements.forEach((statement, i) => {
    if (described?.before === i)
      for (const name of described.names) messages.push(serialize.describe({ type: "S", name }));
    if (parses[i] === true) messages.push(serialize.parse(statement));
    messages.push(encodeBind(statement), serialize.execute());
  });
  messages.push(serialize.sync());
  return messages;
};

/** A batch in the form that `pg.Client.query` takes: pg calls the `handle…` methods with the messages of the server. */
export class WireBatch {
  private plan: WirePlan;
  private readonly onResult: (result: WireResult) => void;
  private readonly follower: FollowingBatch | undefined;
  private readonly enqueue: ((follower: FollowingBatch) => void) | undefined;
  private isSent = false;
  /** The row of each statement. Undefined for a statement without rows. */
  private readonly rows: (WireRow | undefined)[] = [];
  private statementIndex = 0;

  /** Creates a batch. `follower` is sent in the same write. `enqueue` passes it to pg once this batch is sent. */
  constructor(
    plan: WirePlan,
    onResult: (result: WireResult) => void,
    follower?: FollowingBatch,
    enqueue?: (follower: FollowingBatch) => void,
  ) {
    this.plan = plan;
    this.onResult = onResult;
    this.follower = follower;
    this.enqueue = enqueue;
  }

  submit(connection: WireConnection): Error | null {
    if (!connection.stream.writable) return new Error("Connection terminated");
    this.isSent = true;
    const { follower } = this;
    const messages = [...encodeBatch(this.plan), ...(follower === undefined ? [] : encodeBatch(follower.send()))];
    const bytes = messages.reduce((sum, { length }) => sum + length, 0);
    for (const part of bytes <= MAX_JOINED_BYTES ? [Buffer.concat(messages, bytes)] : messages)
      connection.stream.write(part);
    if (follower !== undefined) this.enqueue?.(follower);
    return null;
  }

  handleDataRow(message: { readonly fields: (string | null)[] }): void {
    const first = this.rows[this.statementIndex];
    if (first === undefined) this.rows[this.statementIndex] = message.fields;
    else if (this.plan.statements[this.statementIndex]?.isMultiRow === true)
      this.rows[this.statementIndex] = [`${first[0]}\n${message.fields[0]}`];
  }

  /** Completes a statement. `text` ends with the number of rows: `INSERT 0 100`. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    const buildRow = this.plan.statements[this.statementIndex]?.buildRow;
    if (buildRow !== undefined) this.rows[this.statementIndex] = buildRow(text.slice(text.lastIndexOf(" ") + 1));
    this.statementIndex++;
  }

  handleEmptyQuery(): void {
    this.statementIndex++;
  }

  handlePortalSuspended(): void {
    this.statementIndex++;
  }

  handleReadyForQuery(): void {
    this.onResult({ rows: this.rows });
  }

  handleError(error: unknown): void {
    if (!this.isSent) this.follower?.handleError(error); // the error also ends the follower, which pg does not know yet
    this.onResult({ error, failedAt: this.statementIndex, rows: this.rows });
  }

  /** A batch contains no copy. If the server expects a copy, the batch rejects the copy. */
  handleCopyInResponse(connection: WireConnection): void {
    connection.sendCopyFail("no data");
  }

  handleCopyData(): void {}

  handleRowDescription(): void {}
}

/** A batch whose bytes are created and sent together with those of the previous batch. The rows of the batch are
 *  ignored. */
export class FollowingBatch {
  private readonly createPlan: () => WirePlan;
  private readonly onEnd: (error?: unknown) => void;

  constructor(createPlan: () => WirePlan, onEnd: (error?: unknown) => void) {
    this.createPlan = createPlan;
    this.onEnd = onEnd;
  }

  send(): WirePlan {
    return this.createPlan();
  }

  /** Does nothing, because the previous batch has sent the bytes. */
  submit(): null {
    return null;
  }

  handleReadyForQuery(): void {
    this.onEnd();
  }

  handleError(error: unknown): void {
    this.onEnd(error ?? new Error("the connection has ended"));
  }

  handleDataRow(): void {}

  handleCommandComplete(): void {}

  handleEmptyQuery(): void {}

  handleRowDescription(): void {}
}
