/** A value too long to be held: its bytes go to whoever takes them while they arrive, and the row comes without it. Read
 *  here, before pg would put the whole message together. */
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
/** What comes before a long value is a few counts. */
const MAX_BEFORE_BYTES = 64 * 1024;

const headerOf = (bodyBytes: number): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = DATA_ROW;
  header.writeUInt32BE(bodyBytes + LENGTH_BYTES, 1);
  return header;
};

interface Start {
  readonly before: WireRow;
  /** Of the value. */
  readonly at: number;
  readonly bytes: number;
  /** Number of columns behind it. */
  readonly behind: number;
}

/** Where the value of a column begins; undefined: more of the row is needed. `null`: it has no such value. */
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

/** More than this takes longer to read than another connection to open. */
const MAX_DROPPED_BYTES = 4 * 1024 * 1024;

const NOBODY: ValueTaker = { write: () => true, end: () => undefined, fail: () => undefined };

/** Columns behind the value must be empty: who takes it acts before they arrive. Their lengths tell, since the message's is
 *  known. */
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
  /** PostgreSQL cannot be interrupted while it sends a row. */
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

/** The body of the one row that an execution returns; undefined: nobody takes it, or what comes behind it counts. A
 *  transaction that only reads has its result when it has the row. `taken`: called with that, without the body.
 *  @rule R-STR-1 R-STR-6 */
export const openLongBody = (
  { statement, bytes, reader }: { readonly statement: number; readonly bytes: number; readonly reader: RowReader },
  execution: Execution,
  { offset, last }: Transaction,
  taken: (rows: readonly ResultRow[]) => void,
): LongRow | undefined => {
  const { longBody, programs, access, isolation } = execution;
  const program = programs[0]?.program;
  if (longBody === undefined || program === undefined || programs.length > 1 || program.statements.length > 1)
    return undefined;
  // a serializable one may fail at its end
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
