/** Several statements in one write, up to one ReadyForQuery: what pg calls a query, built for our transactions. No
 *  Describe is sent, since the columns are known, and values come back as the text PostgreSQL wrote. */
import type { BoundValue } from "../sql/fragment.ts";

export interface WireStatement {
  readonly text: string;
  /** Prepared under this name; "" unnamed. */
  readonly name: string;
  readonly values: readonly BoundValue[];
  /** Rows of one column joined by line feeds; else the first row counts. */
  readonly isMultiRow?: boolean;
}

/** Messages of one batch in the order they go out. */
export interface WirePlan {
  readonly statements: readonly WireStatement[];
  /** Per statement: its text goes along. */
  readonly parses: readonly boolean[];
  /** Prepared statements to forget first. */
  readonly closes: readonly string[];
}

export type WireRow = readonly (string | null)[];

/** What became of a batch. `failedAt`: index of the statement during which the error came, `rows` those of the ones
 *  before it; their count: at the end. */
export type WireResult =
  | { readonly rows: readonly (WireRow | undefined)[] }
  | { readonly error: unknown; readonly failedAt: number; readonly rows: readonly (WireRow | undefined)[] };

/** The part of pg's Connection that a batch needs. */
interface WireConnection {
  readonly stream: { readonly writable: boolean; write(bytes: Uint8Array): unknown };
  sendCopyFail(message: string): void;
}

const MIN_SCRATCH = 64 * 1024;
const MAX_KEPT_SCRATCH = 4 * 1024 * 1024;
let scratch = Buffer.allocUnsafe(MIN_SCRATCH);
let end = 0;

const reserve = (bytes: number): void => {
  if (end + bytes <= scratch.length) return;
  const grown = Buffer.allocUnsafe(Math.max(scratch.length * 2, end + bytes));
  scratch.copy(grown, 0, 0, end);
  scratch = grown;
};

/** Short strings count as their longest possible encoding; long ones are measured. */
const reserveText = (text: string): void =>
  reserve(4 + (text.length < 8192 ? text.length * 3 : Buffer.byteLength(text)));

const putByte = (byte: number): void => {
  scratch[end++] = byte;
};

const putInt16 = (number: number): void => {
  end = scratch.writeUInt16BE(number, end);
};

const putInt32 = (number: number): void => {
  end = scratch.writeInt32BE(number, end);
};

const putText = (text: string): void => {
  reserveText(text);
  end += scratch.write(text, end, "utf8");
  putByte(0);
};

/** Opens a message; the result closes it with its length. */
const open = (type: number): number => {
  reserve(64);
  putByte(type);
  const lengthAt = end;
  end += 4;
  return lengthAt;
};

const close = (lengthAt: number): void => {
  scratch.writeInt32BE(end - lengthAt, lengthAt);
};

const putParse = (name: string, text: string): void => {
  const at = open(0x50);
  putText(name);
  putText(text);
  reserve(2);
  putInt16(0); // no declared parameter types (R-FLT-3)
  close(at);
};

const putBind = (name: string, values: readonly BoundValue[]): void => {
  const at = open(0x42);
  putByte(0); // the unnamed portal
  putText(name);
  const count = values.length;
  reserve(6 + count * 2);
  let hasBytes = false;
  for (let i = 0; i < count; i++) if (typeof values[i] === "object" && values[i] !== null) hasBytes = true;
  if (hasBytes) {
    putInt16(count);
    for (const value of values) putInt16(typeof value === "object" && value !== null ? 1 : 0);
  } else {
    putInt16(0);
  }
  putInt16(count);
  for (const value of values) putValue(value);
  reserve(2);
  putInt16(0); // results as text
  close(at);
};

const putValue = (value: BoundValue): void => {
  if (value === null) {
    reserve(4);
    putInt32(-1);
    return;
  }
  if (typeof value === "string") {
    reserveText(value);
    const lengthAt = end;
    end += 4;
    end += scratch.write(value, end, "utf8");
    scratch.writeInt32BE(end - lengthAt - 4, lengthAt);
    return;
  }
  reserve(4 + value.byteLength);
  putInt32(value.byteLength);
  scratch.set(value, end);
  end += value.byteLength;
};

const EXECUTE = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0]); // the unnamed portal, all rows
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

const putBytes = (bytes: Uint8Array): void => {
  reserve(bytes.length);
  scratch.set(bytes, end);
  end += bytes.length;
};

const encodeBatches = (...batches: readonly WirePlan[]): Uint8Array => {
  end = 0;
  for (const batch of batches) putBatch(batch);
  const bytes = Buffer.allocUnsafe(end);
  scratch.copy(bytes, 0, 0, end);
  if (scratch.length > MAX_KEPT_SCRATCH) scratch = Buffer.allocUnsafe(MIN_SCRATCH);
  return bytes;
};

const putBatch = ({ statements, parses, closes }: WirePlan): void => {
  for (const name of closes) {
    const at = open(0x43);
    putByte(0x53); // a statement, not a portal
    putText(name);
    close(at);
  }
  for (let i = 0; i < statements.length; i++) {
    const { name, text, values } = statements[i] as WireStatement; // i is within its length
    if (parses[i] === true) putParse(name, text);
    putBind(name, values);
    putBytes(EXECUTE);
  }
  putBytes(SYNC);
};

/** Passed to `pg.Client.query`, which calls the `handle…` methods with the server's messages. A class, since pg wants
 *  an object with methods for each batch and one prototype is cheaper than a dozen closures. */
export class WireBatch {
  private plan: WirePlan;
  private readonly done: (result: WireResult) => void;
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
    this.done = done;
    this.follower = follower;
    this.enqueue = enqueue;
  }

  submit(connection: WireConnection): Error | null {
    if (!connection.stream.writable) return new Error("Connection terminated");
    this.isSent = true;
    const { follower } = this;
    if (follower === undefined) {
      connection.stream.write(encodeBatches(this.plan));
    } else {
      connection.stream.write(encodeBatches(this.plan, follower.send()));
      this.enqueue?.(follower);
    }
    return null;
  }

  handleDataRow(message: { readonly fields: (string | null)[] }): void {
    const first = this.rows[this.at];
    if (first === undefined) this.rows[this.at] = message.fields;
    else if (this.plan.statements[this.at]?.isMultiRow === true)
      this.rows[this.at] = [`${first[0]}\n${message.fields[0]}`];
  }

  handleCommandComplete(): void {
    this.at++;
  }

  handleEmptyQuery(): void {
    this.at++;
  }

  handlePortalSuspended(): void {
    this.at++;
  }

  handleReadyForQuery(): void {
    this.done({ rows: this.rows });
  }

  handleError(error: unknown): void {
    if (!this.isSent) this.follower?.handleError(error); // pg has not heard of it
    this.done({ error, failedAt: this.at, rows: this.rows });
  }

  /** A function cannot start a copy to the client; should one, nothing is sent. */
  handleCopyInResponse(connection: WireConnection): void {
    connection.sendCopyFail("no data");
  }

  handleCopyData(): void {}

  handleRowDescription(): void {}
}

/** A batch whose bytes go out with those of the one before it, and are made when that is sent. Only its last row
 *  counts. */
export class FollowingBatch {
  private readonly make: () => WirePlan;
  private readonly done: (result: { readonly row: WireRow | undefined } | { readonly error: unknown }) => void;
  private row: WireRow | undefined;

  constructor(make: () => WirePlan, done: FollowingBatch["done"]) {
    this.make = make;
    this.done = done;
  }

  send(): WirePlan {
    return this.make();
  }

  /** It is sent already. */
  submit(): null {
    return null;
  }

  handleDataRow(message: { readonly fields: (string | null)[] }): void {
    this.row = message.fields;
  }

  handleReadyForQuery(): void {
    this.done({ row: this.row });
  }

  handleError(error: unknown): void {
    this.done({ error });
  }

  handleCommandComplete(): void {}

  handleEmptyQuery(): void {}

  handleRowDescription(): void {}
}

/** A command of the replication protocol that starts a copy in both directions. */
export class CopyBoth {
  private readonly text: string;
  private readonly take: (bytes: Buffer) => void;
  private readonly ended: (error: unknown) => void;

  constructor(text: string, take: (bytes: Buffer) => void, ended: (error: unknown) => void) {
    this.text = text;
    this.take = take;
    this.ended = ended;
  }

  submit(connection: { query(text: string): void }): null {
    connection.query(this.text);
    return null;
  }

  handleCopyData(message: { readonly chunk: Buffer }): void {
    this.take(message.chunk);
  }

  handleError(error: unknown): void {
    this.ended(error);
  }

  handleReadyForQuery(): void {
    this.ended(new Error("the server ended the stream"));
  }

  handleCommandComplete(): void {}

  handleRowDescription(): void {}

  handleDataRow(): void {}
}
