/** Streams a value that is too long for memory to its receiver, and returns the row without the value. It reads the
 *  bytes of the message before pg assembles them. */
import { requestCancelled, type Execution, type LongRow, type ResultRow, type RowReader } from "../../../core/index.ts";
import type { LongBodyHandler, ValueReceiver } from "../api.ts";

const DATA_ROW = 0x44;
const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;
const EMPTY_BYTES: Buffer = Buffer.alloc(0);
const NULL_LENGTH = Buffer.from([0xff, 0xff, 0xff, 0xff]);
/** The maximum size of the columns before a long value. These columns are short, such as counts. */
const MAX_BEFORE_BYTES = 64 * 1024;

const buildRowHeader = (bodyBytes: number): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = DATA_ROW;
  header.writeUInt32BE(bodyBytes + LENGTH_BYTES, 1);
  return header;
};

interface ValueStart {
  readonly columnsBefore: readonly (string | null)[];
  /** The position of the value. */
  readonly offset: number;
  readonly bytes: number;
  /** The number of columns after the value. */
  readonly columnsAfter: number;
}

/** Returns the position of a column's value. Undefined if more of the row is needed; null if there is no such value. */
const findValueStart = (row: Buffer, column: number): ValueStart | null | undefined => {
  if (row.length < 2) return undefined;
  const count = row.readUInt16BE(0);
  if (column >= count) return null;
  const before: (string | null)[] = [];
  for (let at = 2; at + LENGTH_BYTES <= row.length;) {
    const bytes = row.readInt32BE(at);
    at += LENGTH_BYTES;
    if (before.length === column) return { columnsBefore: before, offset: at, bytes, columnsAfter: count - column - 1 };
    if (bytes > 0 && at + bytes > row.length) return undefined;
    before.push(bytes < 0 ? null : row.toString("utf8", at, at + bytes));
    at += Math.max(bytes, 0);
  }
  return undefined;
};

type LongValueHandler = (
  before: readonly (string | null)[],
  bytes: number,
  discard: () => void,
) => ValueReceiver | undefined;

/** The largest remainder that is discarded. If more bytes remain, the connection is closed, because opening another
 *  one takes less time. */
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

const DISCARD: ValueReceiver = { write: () => true, end: () => undefined, fail: () => undefined };

/** Opens a row. Columns after the value must be empty, because the receiver acts before they arrive. The lengths show
 *  this, because the length of the message is known. */
const createLongRow = (
  bodyBytes: number,
  reader: RowReader,
  column: number,
  aboveBytes: number,
  onValue: LongValueHandler,
): LongRow => {
  let start: Buffer = EMPTY_BYTES;
  let receiver: ValueReceiver | undefined;
  let remainingValueBytes = 0;
  let tail: Buffer = EMPTY_BYTES;
  let tailBytes = 0;
  const row: LongRow & { remainingBytes: number | undefined } = {
    remainingBytes: undefined,
    readChunk: (chunk, at) => {
      const bodyPart = chunk.subarray(at, at + bodyBytes - start.length);
      if (receiver !== undefined)
        return deliver(chunk.subarray(at, at + remainingValueBytes + tailBytes - tail.length));
      start = start.length === 0 ? bodyPart : Buffer.concat([start, bodyPart]);
      const valueStart = findValueStart(start, column);
      if (valueStart === undefined && start.length < Math.min(bodyBytes, MAX_BEFORE_BYTES)) return bodyPart.length;
      if (valueStart !== undefined && valueStart !== null && isLong(valueStart)) {
        receiver = onValue(valueStart.columnsBefore, valueStart.bytes, discard);
        if (receiver !== undefined) {
          const first = start.subarray(valueStart.offset);
          start = Buffer.from(start.subarray(0, valueStart.offset - LENGTH_BYTES));
          remainingValueBytes = valueStart.bytes;
          tailBytes = valueStart.columnsAfter * LENGTH_BYTES;
          deliver(first);
          return bodyPart.length;
        }
      }
      reader.forwardToPg(buildRowHeader(bodyBytes));
      reader.forwardToPg(start);
      row.remainingBytes = bodyBytes - start.length;
      return bodyPart.length;
    },
    fail: () => receiver?.fail(),
  };
  /** Discards the remaining bytes, because PostgreSQL cannot be interrupted while it sends a row. */
  const discard = (): void => {
    receiver = DISCARD;
    if (remainingValueBytes > MAX_DISCARDED_BYTES) reader.kill(requestCancelled());
    else reader.resume();
  };
  const isLong = ({ offset, bytes, columnsAfter }: ValueStart): boolean =>
    bytes > aboveBytes && offset + bytes + columnsAfter * LENGTH_BYTES === bodyBytes;
  const deliver = (bytes: Buffer): number => {
    if (remainingValueBytes > 0 && bytes.length > 0) {
      const value = bytes.subarray(0, remainingValueBytes);
      remainingValueBytes -= value.length;
      const mayContinue = receiver?.write(value);
      if (remainingValueBytes === 0) receiver?.end();
      else if (mayContinue === false) reader.pause();
      if (value.length < bytes.length) tail = Buffer.concat([tail, bytes.subarray(value.length)]);
    } else tail = Buffer.concat([tail, bytes]);
    if (remainingValueBytes === 0 && tail.length === tailBytes) {
      reader.forwardToPg(buildRowHeader(start.length + NULL_LENGTH.length + tail.length));
      reader.forwardToPg(Buffer.concat([start, NULL_LENGTH, tail]));
      row.remainingBytes = 0;
    }
    return bytes.length;
  };
  return row;
};

/** Returns the column of the body in the one row of an execution. Undefined if the row is not streamed, or if the
 *  transaction can fail after the row has arrived. @rule R-STR-1 R-STR-6 */
const findBodyColumn = ({ programs, access, isolation, check }: Execution): number | undefined => {
  const [program, ...otherPrograms] = programs;
  if (program === undefined || otherPrograms.length > 0 || access !== "read only") return undefined;
  const { statements, checks } = program.program;
  const [statement, ...otherStatements] = statements;
  if (statement === undefined || otherStatements.length > 0 || statement.isMultiRow === true) return undefined;
  if (check !== undefined || checks.length > 0 || isolation === "serializable") return undefined;
  const column = statement.columns.indexOf("body");
  return column === -1 ? undefined : column;
};

/** Streams the body of an execution to its receiver. `execute` resolves with the row, without the body. */
export const createRowReader =
  ({ aboveBytes, onBody }: LongBodyHandler): NonNullable<Execution["longRows"]> =>
  ({ execution, offset, answer }) => ({
    aboveBytes,
    open: (statement, bytes, reader) => {
      const column = statement === offset ? findBodyColumn(execution) : undefined;
      if (column === undefined) return undefined;
      const columns = execution.programs[0]?.program.statements[0]?.columns ?? [];
      return createLongRow(bytes, reader, column, aboveBytes, (before, valueBytes, discard) => {
        const row: ResultRow = Object.fromEntries(columns.map((name, i) => [name, before[i] ?? null]));
        const receiver = onBody(row, { bytes: valueBytes, execution, resume: reader.resume, discard });
        if (receiver !== undefined) answer([row]);
        return receiver;
      });
    },
  });
