/** Streams a value that is too long for memory to its consumer, and returns the row without it. It reads the message
 *  before pg would assemble it. */
import { requestCancelled } from "../../kernel/errors.ts";
import type { Execution, ResultRow } from "../../plugin.ts";
import type { Transaction } from "./transaction.ts";
import type { LongRow, RowReader, ValueTaker } from "./value-taker.ts";
import type { WireRow } from "./wire.ts";

const DATA_ROW = 0x44;
const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;
const NOTHING: Buffer = Buffer.alloc(0);
const NULL = Buffer.from([0xff, 0xff, 0xff, 0xff]);
/** The columns before a long value are short, such as counts. */
const MAX_BEFORE_BYTES = 64 * 1024;

const headerOf = (bodyBytes: number): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = DATA_ROW;
  header.writeUInt32BE(bodyBytes + LENGTH_BYTES, 1);
  return header;
};

interface Start {
  readonly before: WireRow;
  /** The position of the value. */
  readonly at: number;
  readonly bytes: number;
  /** The number of columns after the value. */
  readonly behind: number;
}

/** Returns the position of a column's value. Undefined if more of the row is needed; null if there is no such value. */
const findStart = (row: Buffer, column: number): Start | null | undefined => {
  if (row.length < 2) return undefined;
  const count = row.readUInt16BE(0);
  if (column >= count) return null;
  const before: (string | null)[] = [];
  for (let at = 2; at + LENGTH_BYTES <= row.length;) {
    const bytes = row.readInt32BE(at);
    at += LENGTH_BYTES;
    if (before.length === column) return { before, at, bytes, behind: count - column - 1 };
    if (bytes > 0 && at + bytes > row.length) return undefined;
    before.push(bytes < 0 ? null : row.toString("utf8", at, at + bytes));
    at += Math.max(bytes, 0);
  }
  return undefined;
};

type Take = (before: WireRow, bytes: number, drop: () => void) => ValueTaker | undefined;

/** Reading more bytes than this takes longer than opening another connection. */
const MAX_DROPPED_BYTES = 4 * 1024 * 1024;

const NOBODY: ValueTaker = { write: () => true, end: () => undefined, fail: () => undefined };

/** Opens a row. Columns after the value must be empty, because the consumer acts before they arrive. The lengths show
 *  this, because the length of the message is known. */
const openRow = (bodyBytes: number, reader: RowReader, column: number, aboveBytes: number, take: Take): LongRow => {
  let start: Buffer = NOTHING;
  let taker: ValueTaker | undefined;
  let valueLeft = 0;
  let tail: Buffer = NOTHING;
  let tailBytes = 0;
  const row: LongRow & { left: number | undefined } = {
    left: undefined,
    take: (chunk, at) => {
      const piece = chunk.subarray(at, at + bodyBytes - start.length);
      if (taker !== undefined) return deliver(chunk.subarray(at, at + valueLeft + tailBytes - tail.length));
      start = start.length === 0 ? piece : Buffer.concat([start, piece]);
      const found = findStart(start, column);
      if (found === undefined && start.length < Math.min(bodyBytes, MAX_BEFORE_BYTES)) return piece.length;
      if (found !== undefined && found !== null && isLong(found)) {
        taker = take(found.before, found.bytes, drop);
        if (taker !== undefined) {
          const first = start.subarray(found.at);
          start = Buffer.from(start.subarray(0, found.at - LENGTH_BYTES));
          valueLeft = found.bytes;
          tailBytes = found.behind * LENGTH_BYTES;
          deliver(first);
          return piece.length;
        }
      }
      reader.pass(headerOf(bodyBytes));
      reader.pass(start);
      row.left = bodyBytes - start.length;
      return piece.length;
    },
    fail: () => taker?.fail(),
  };
  /** Discards the remaining bytes, because PostgreSQL cannot be interrupted while it sends a row. */
  const drop = (): void => {
    taker = NOBODY;
    if (valueLeft > MAX_DROPPED_BYTES) reader.kill(requestCancelled());
    else reader.resume();
  };
  const isLong = ({ at, bytes, behind }: Start): boolean =>
    bytes > aboveBytes && at + bytes + behind * LENGTH_BYTES === bodyBytes;
  const deliver = (bytes: Buffer): number => {
    if (valueLeft > 0 && bytes.length > 0) {
      const value = bytes.subarray(0, valueLeft);
      valueLeft -= value.length;
      const goesOn = taker?.write(value);
      if (valueLeft === 0) taker?.end();
      else if (goesOn === false) reader.pause();
      if (value.length < bytes.length) tail = Buffer.concat([tail, bytes.subarray(value.length)]);
    } else tail = Buffer.concat([tail, bytes]);
    if (valueLeft === 0 && tail.length === tailBytes) {
      reader.pass(headerOf(start.length + NULL.length + tail.length));
      reader.pass(Buffer.concat([start, NULL, tail]));
      row.left = 0;
    }
    return bytes.length;
  };
  return row;
};

/** Opens the body of the one row that an execution returns. Undefined if it is not streamed, or if later columns
 *  matter. A read-only transaction has its result with this row. `taken` is called with the row, without the body.
 *  @rule R-STR-1 R-STR-6 */
export const openLongBody = (
  { statement, bytes, reader }: { readonly statement: number; readonly bytes: number; readonly reader: RowReader },
  execution: Execution,
  { template: { offset, last } }: Transaction,
  taken: (rows: readonly ResultRow[]) => void,
): LongRow | undefined => {
  const { longBody, programs, access, isolation } = execution;
  const program = programs[0]?.program;
  if (longBody === undefined || program === undefined || programs.length > 1 || program.statements.length > 1)
    return undefined;
  // a serializable transaction may fail at its end
  if (access !== "read only" || last.length > 0 || isolation === "serializable") return undefined;
  const { columns = [], isMultiRow = false } = program.statements[0] ?? {};
  const column = columns.indexOf("body");
  if (column === -1 || isMultiRow) return undefined;
  if (statement !== offset) return undefined;
  return openRow(bytes, reader, column, longBody.aboveBytes, (before, valueBytes, drop) => {
    const row: ResultRow = Object.fromEntries(columns.map((name, i) => [name, before[i] ?? null]));
    const taker = longBody.take(row, { bytes: valueBytes, execution, resume: reader.resume, drop });
    if (taker !== undefined) taken([row]);
    return taker;
  });
};
