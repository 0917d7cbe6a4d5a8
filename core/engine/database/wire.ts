/** Several statements in one write, up to one ReadyForQuery: what pg calls a query, built for our transactions. The
 *  columns are known, so a Describe only asks whether a statement is there. Values come back as the text PostgreSQL
 *  wrote. */
import type { SentValue, TextBytes } from "../sql/fragment.ts";

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
    cork(): void;
    uncork(): void;
  };
  sendCopyFail(message: string): void;
}

const MIN_SCRATCH = 64 * 1024;
const MAX_KEPT_SCRATCH = 4 * 1024 * 1024;
/** Each batch is written here, then copied out. */
let scratch = Buffer.allocUnsafe(MIN_SCRATCH);
let end = 0;

/** Short strings count as their longest possible encoding; long ones are measured. */
const bytesOfText = (text: string): number => (text.length < 8192 ? text.length * 3 : Buffer.byteLength(text));

const bytesOfPieces = ({ utf8 }: TextBytes): number => utf8.reduce((bytes, piece) => bytes + piece.byteLength, 0);

/** A longer text is written by itself, between what comes before and after it. */
const MAX_COPIED_BYTES = 64 * 1024;

const isAside = (text: TextBytes): boolean => bytesOfPieces(text) > MAX_COPIED_BYTES;

/** Texts that are not copied, and where they belong. */
let aside: { readonly at: number; readonly text: TextBytes }[] = [];

/** All messages of a statement, without its strings. */
const BYTES_PER_STATEMENT = 64;
const BYTES_PER_VALUE = 6;
/** A message that has only a name. */
const BYTES_PER_NAME = 16;

/** At most. */
const bytesOfBatch = ({ statements, parses, closes, described }: WirePlan): number => {
  let bytes = SYNC.length;
  for (const name of closes) bytes += BYTES_PER_NAME + bytesOfText(name);
  if (described !== undefined) for (const name of described.names) bytes += BYTES_PER_NAME + bytesOfText(name);
  for (let i = 0; i < statements.length; i++) {
    const { name, text, values } = statements[i] as WireStatement; // i is within its length
    bytes += BYTES_PER_STATEMENT + 2 * bytesOfText(name) + values.length * BYTES_PER_VALUE;
    if (parses[i] === true) bytes += bytesOfText(text);
    for (const value of values)
      if (typeof value === "string") bytes += bytesOfText(value);
      else if (value !== null && !("utf8" in value)) bytes += value.byteLength;
      else if (value !== null && !isAside(value)) bytes += bytesOfPieces(value);
  }
  return bytes;
};

const putInt32 = (number: number, at: number): void => {
  scratch[at] = number >>> 24;
  scratch[at + 1] = number >>> 16;
  scratch[at + 2] = number >>> 8;
  scratch[at + 3] = number;
};

const putInt16 = (number: number): void => {
  scratch[end++] = number >>> 8;
  scratch[end++] = number;
};

/** Up to this length, a loop takes less time than a call into Node. */
const MAX_LOOP_LENGTH = 24;

const putText = (text: string): void => {
  const { length } = text;
  if (length > MAX_LOOP_LENGTH) {
    end += scratch.write(text, end, "utf8");
    return;
  }
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) {
      end += scratch.write(text, end, "utf8");
      return;
    }
    scratch[end + i] = code;
  }
  end += length;
};

const putName = (name: string): void => {
  putText(name);
  scratch[end++] = 0;
};

const CLOSE = 0x43;
const DESCRIBE = 0x44;
const PARSE = 0x50;
const BIND = 0x42;
const STATEMENT = 0x53; // not a portal
const EXECUTE = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0]); // the unnamed portal, all rows
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

/** Their number goes out in two bytes. */
const MAX_VALUES = 0xffff;

/** Opens a message. @returns where its length belongs */
const open = (type: number): number => {
  scratch[end] = type;
  end += 5;
  return end - 4;
};

const putBind = (name: string, values: readonly SentValue[]): void => {
  const at = open(BIND);
  scratch[end++] = 0; // the unnamed portal
  putName(name);
  const count = values.length;
  if (count > MAX_VALUES) throw new RangeError(`${count} values are more than a statement takes`);
  let hasBytes = false;
  let asideBytes = 0;
  for (let i = 0; i < count; i++) if (values[i] instanceof Uint8Array) hasBytes = true;
  if (hasBytes) {
    putInt16(count);
    for (const value of values) putInt16(value instanceof Uint8Array ? 1 : 0);
  } else putInt16(0);
  putInt16(count);
  for (const value of values) {
    const lengthAt = end;
    end += 4;
    if (value === null) {
      putInt32(-1, lengthAt);
      continue;
    }
    if (typeof value === "string") putText(value);
    else if ("utf8" in value) {
      if (isAside(value)) {
        const bytes = bytesOfPieces(value);
        aside.push({ at: end, text: value });
        asideBytes += bytes;
        putInt32(bytes, lengthAt);
        continue;
      }
      for (const piece of value.utf8) {
        scratch.set(piece, end);
        end += piece.byteLength;
      }
    } else {
      scratch.set(value, end);
      end += value.byteLength;
    }
    putInt32(end - lengthAt - 4, lengthAt);
  }
  putInt16(0); // results as text
  putInt32(end - at + asideBytes, at);
};

const putOfStatement = (type: number, name: string): void => {
  const at = open(type);
  scratch[end++] = STATEMENT;
  putName(name);
  putInt32(end - at, at);
};

const putBatch = ({ statements, parses, closes, described }: WirePlan): void => {
  for (const name of closes) putOfStatement(CLOSE, name);
  for (let i = 0; i < statements.length; i++) {
    if (described?.before === i) for (const name of described.names) putOfStatement(DESCRIBE, name);
    const { name, text, values } = statements[i] as WireStatement; // i is within its length
    if (parses[i] === true) {
      const at = open(PARSE);
      putName(name);
      putName(text);
      putInt16(0); // no declared parameter types (R-FLT-3)
      putInt32(end - at, at);
    }
    putBind(name, values);
    scratch.set(EXECUTE, end);
    end += EXECUTE.length;
  }
  scratch.set(SYNC, end);
  end += SYNC.length;
};

/** In pieces, where there are long texts. */
const encodeBatches = (batch: WirePlan, following?: WirePlan): Uint8Array | readonly Uint8Array[] => {
  const most = bytesOfBatch(batch) + (following === undefined ? 0 : bytesOfBatch(following));
  if (most > scratch.length) scratch = Buffer.allocUnsafe(most);
  end = 0;
  if (aside.length > 0) aside = []; // a batch before could not be encoded
  putBatch(batch);
  if (following !== undefined) putBatch(following);
  const bytes = Buffer.allocUnsafe(end);
  scratch.copy(bytes, 0, 0, end);
  if (scratch.length > MAX_KEPT_SCRATCH) scratch = Buffer.allocUnsafe(MIN_SCRATCH);
  return aside.length === 0 ? bytes : withAside(bytes);
};

const withAside = (bytes: Buffer): readonly Uint8Array[] => {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { at, text } of aside) {
    pieces.push(bytes.subarray(from, at), ...text.utf8);
    from = at;
  }
  pieces.push(bytes.subarray(from));
  aside = [];
  return pieces;
};

const writeTogether = (stream: WireConnection["stream"], pieces: readonly Uint8Array[]): void => {
  stream.cork();
  for (const piece of pieces) stream.write(piece);
  stream.uncork();
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
    const bytes = encodeBatches(this.plan, follower?.send());
    if (bytes instanceof Uint8Array) connection.stream.write(bytes);
    else writeTogether(connection.stream, bytes);
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
