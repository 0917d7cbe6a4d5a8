/** Several statements in one write, up to one ReadyForQuery: what pg calls a query, built for our transactions. The
 *  columns are known, so a Describe only asks whether a statement is there. Values come back as the text PostgreSQL
 *  wrote. */
import { serialize } from "pg-protocol";
import type { SentValue } from "../sql/fragment.ts";

export interface WireStatement {
  readonly text: string;
  /** Prepared under this name; "" unnamed. */
  readonly name: string;
  readonly values: readonly SentValue[];
  /** Rows of one column joined by line feeds; else the first row counts. */
  readonly isMultiRow?: boolean;
  /** Its row, where it returns none: made of the number of rows that it has written. */
  readonly rowOf?: (count: string) => WireRow;
}

/** Messages of one batch in the order they go out. */
export interface WirePlan {
  readonly statements: readonly WireStatement[];
  /** Per statement: its text goes along. */
  readonly parses: readonly boolean[];
  /** Prepared statements to forget first. */
  readonly closes: readonly string[];
  /** Prepared statements that must be there, or the batch fails before the statement of that index. */
  readonly described?: { readonly before: number; readonly names: readonly string[] };
}

/** Plans a batch in which nothing is prepared. */
export const planUnprepared = (statements: readonly WireStatement[]): WirePlan => ({
  statements: statements.map((statement) => ({ ...statement, name: "" })),
  parses: statements.map(() => true),
  closes: [],
});

export type WireRow = readonly (string | null)[];

/** What became of a batch. `failedAt`: index of the statement during which the error came, `rows` those of the ones
 *  before it; their count: at the end. */
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

/** Their number goes out in two bytes. */
const MAX_VALUES = 0xffff;

/** Messages up to this total are copied into one buffer, because one short write costs less than several. */
const MAX_JOINED_BYTES = 64 * 1024;

/** The serializer sends a Buffer in the binary format, and a string in the text format. */
const toSerializable = (value: SentValue): string | Buffer | null => {
  if (value === null || typeof value === "string") return value;
  if ("json" in value) return value.json;
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
};

const encodeBind = ({ name, values }: WireStatement): Buffer => {
  if (values.length > MAX_VALUES) throw new RangeError(`${values.length} values are more than a statement takes`);
  return serialize.bind({ statement: name, values: values as SentValue[], valueMapper: toSerializable });
};

/** The messages of a batch in the order they go out. Parameters have no declared types (R-FLT-3). */
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

/** Passed to `pg.Client.query`, which calls the `handle…` methods with the server's messages. A class, since pg wants
 *  an object with methods for each batch and one prototype is cheaper than a dozen closures. */
export class WireBatch {
  private plan: WirePlan;
  private readonly onResult: (result: WireResult) => void;
  private readonly follower: FollowingBatch | undefined;
  private readonly enqueue: ((follower: FollowingBatch) => void) | undefined;
  private isSent = false;
  /** Statements without a row leave a gap. */
  private readonly rows: (WireRow | undefined)[] = [];
  private at = 0;

  /** `follower`: goes out in the same write. `enqueue`: hands it to pg, when this one is its turn. */
  constructor(
    plan: WirePlan,
    done: (result: WireResult) => void,
    follower?: FollowingBatch,
    enqueue?: (follower: FollowingBatch) => void,
  ) {
    this.plan = plan;
    this.onResult = done;
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
    const first = this.rows[this.at];
    if (first === undefined) this.rows[this.at] = message.fields;
    else if (this.plan.statements[this.at]?.isMultiRow === true)
      this.rows[this.at] = [`${first[0]}\n${message.fields[0]}`];
  }

  /** `INSERT 0 100`. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    const rowOf = this.plan.statements[this.at]?.rowOf;
    if (rowOf !== undefined) this.rows[this.at] = rowOf(text.slice(text.lastIndexOf(" ") + 1));
    this.at++;
  }

  handleEmptyQuery(): void {
    this.at++;
  }

  handlePortalSuspended(): void {
    this.at++;
  }

  handleReadyForQuery(): void {
    this.onResult({ rows: this.rows });
  }

  handleError(error: unknown): void {
    if (!this.isSent) this.follower?.handleError(error); // pg has not heard of it
    this.onResult({ error, failedAt: this.at, rows: this.rows });
  }

  /** A function cannot start a copy to the client; should one, nothing is sent. */
  handleCopyInResponse(connection: WireConnection): void {
    connection.sendCopyFail("no data");
  }

  handleCopyData(): void {}

  handleRowDescription(): void {}
}

/** A batch whose bytes go out with those of the one before it, and are made when that is sent. Its rows do not
 *  count. */
export class FollowingBatch {
  private readonly createPlan: () => WirePlan;
  private readonly onEnd: (error?: unknown) => void;

  constructor(make: () => WirePlan, done: (error?: unknown) => void) {
    this.createPlan = make;
    this.onEnd = done;
  }

  send(): WirePlan {
    return this.createPlan();
  }

  /** It is sent already. */
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
