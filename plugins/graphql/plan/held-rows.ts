/** Rows of a list that is held as bytes, as the payload's text: the bytes themselves as far as they are what would be
 *  written for them, so that they are not there twice. @rule G-VAR-12 */
import { jsonBytes, type Json, type ListedValues, type TextBytes } from "../../../core/index.ts";
import { coerceColumn, plainNumbers, takesEveryString, type PlainNumbers } from "../coerce/columns.ts";
import type { HeldBytes } from "../coerce/held-lists.ts";
import { exactNumber, numberText, parseJson } from "../coerce/numbers.ts";
import type { GqlValueType } from "../value-types.ts";

const { BACKSLASH, CLOSE_BRACKET, ObjectReader, OPEN_BRACE, QUOTE, skipSpace } = jsonBytes;

/** A field of a row that is a column. */
export interface QuickCell {
  readonly column: string;
  /** `"column":` */
  readonly key: string;
  readonly value: GqlValueType;
  /** The coerced text is JSON already. */
  readonly isText: boolean;
}

/** What of rows decides the plan. */
export interface RowShape {
  /** Columns that any of the rows gives, sorted. */
  readonly columns: readonly string[];
  /** Each of the rows gives all of them. */
  readonly isComplete: boolean;
}

export interface HeldRows {
  readonly text: TextBytes;
  /** Objects and their fields. */
  readonly valueCount: number;
  readonly shape: RowShape;
}

// --- writing --------------------------------------------------------------------------------------------------------

const CHUNK_BYTES = 64 * 1024;
/** A shorter piece of the bytes is copied. */
const MIN_PIECE_BYTES = 4096;

/** Puts together a text out of the bytes and what stands in their place. */
const createWriter = (bytes: Buffer) => {
  const pieces: Buffer[] = [];
  let chunk = Buffer.alloc(0);
  let chunkFrom = 0;
  let chunkTo = 0;
  const flush = (): void => {
    if (chunkTo > chunkFrom) pieces.push(chunk.subarray(chunkFrom, chunkTo));
    chunkFrom = chunkTo;
  };
  const roomFor = (count: number): void => {
    if (chunkTo + count <= chunk.length) return;
    flush();
    // of a short text, most goes into one
    chunk = Buffer.allocUnsafe(Math.max(Math.min(CHUNK_BYTES, bytes.length), count));
    chunkFrom = chunkTo = 0;
  };
  return {
    copy: (from: number, to: number): void => {
      if (to - from >= MIN_PIECE_BYTES) {
        flush();
        pieces.push(bytes.subarray(from, to));
        return;
      }
      roomFor(to - from);
      chunkTo += bytes.copy(chunk, chunkTo, from, to);
    },
    put: (text: string): void => {
      roomFor(text.length * 3);
      chunkTo += chunk.write(text, chunkTo, "utf8");
    },
    end: (): TextBytes => {
      flush();
      return { utf8: pieces };
    },
  };
};

// --- reading --------------------------------------------------------------------------------------------------------

const MINUS = 0x2d;
const ESCAPED_SLASH = 0x2f;
const ESCAPED_CODE = 0x75;

/** Whether strings, asked for in the order of the text, are what JSON.stringify makes of them: nothing that could be a
 *  character is written as its code. `from`, `to`: behind the one quote, and on the other. */
const plainStrings = (bytes: Buffer): ((from: number, to: number) => boolean) => {
  /** The next one, looked for once: most texts have few of them. */
  let escape = -1;
  const lookFrom = (at: number): void => {
    const found = bytes.indexOf(BACKSLASH, at);
    escape = found === -1 ? Infinity : found;
  };
  return (from, to) => {
    if (escape < from) lookFrom(from);
    while (escape < to) {
      const next = bytes[escape + 1];
      if (next === ESCAPED_CODE || next === ESCAPED_SLASH) return false;
      lookFrom(escape + 2);
    }
    return true;
  };
};

const jsonOf = (bytes: Buffer, from: number, to: number): Json => {
  const first = bytes[from] as number; // from < to
  const text = bytes.toString("utf8", from, to);
  return first === MINUS || (first >= 0x30 && first <= 0x39) ? exactNumber(text) : parseJson(text);
};

/** What goes out for a value in place of its own text; undefined: that text, which the database reads as the same. @throws
 *  RelApiError of the coercion */
const replaced = (bytes: Buffer, from: number, to: number, { value, isText }: QuickCell): string | undefined => {
  const given = jsonOf(bytes, from, to);
  const coerced = coerceColumn(value, given, ""); // the place does not matter here
  const sent = coerced === null ? "null" : isText ? coerced : JSON.stringify(coerced);
  const written = bytes.toString("utf8", from, to);
  // a number that is bound as it was written, or a truth value, is the same text to the database without quotes
  const isBare = typeof given === "boolean" || numberText(given) !== undefined;
  return sent === written || (isBare && coerced === written) ? undefined : sent;
};

interface HeldCell extends QuickCell {
  readonly takesEveryString: boolean;
  readonly plainNumbers: PlainNumbers | undefined;
  /** The field is called as the column is. */
  readonly isSameName: boolean;
}

const heldCells = (cells: ReadonlyMap<string, QuickCell>): ReadonlyMap<string, HeldCell> =>
  new Map(
    [...cells].map(([name, cell]): [string, HeldCell] => [
      name,
      {
        ...cell,
        takesEveryString: !cell.isText && takesEveryString(cell.value),
        plainNumbers: plainNumbers(cell.value),
        isSameName: cell.key === `${JSON.stringify(name)}:`,
      },
    ]),
  );

const cellsOf = new WeakMap<ReadonlyMap<string, QuickCell>, ReadonlyMap<string, HeldCell>>();

const ZERO = 0x30;
const NINE = 0x39;
const POINT = 0x2e;

/** Of the bytes of a valid JSON value. */
const isPlainNumber = (bytes: Buffer, from: number, to: number, { maxLength, isWhole }: PlainNumbers): boolean => {
  const first = bytes[from] as number; // from < to
  // minus zero is not written so
  if (to - from > maxLength || (first === MINUS ? bytes[from + 1] === ZERO : first < ZERO || first > NINE))
    return false;
  for (let i = from + 1; i < to; i++) {
    const byte = bytes[i] as number; // i < to
    if ((byte < ZERO || byte > NINE) && (byte !== POINT || isWhole)) return false;
  }
  return true;
};

/** It goes out as it is written, whatever it says. */
const isPlainValue = (
  cell: HeldCell,
  bytes: Buffer,
  from: number,
  to: number,
  isPlain: ReturnType<typeof plainStrings>,
): boolean =>
  bytes[from] === QUOTE
    ? cell.takesEveryString && isPlain(from + 1, to - 1)
    : cell.plainNumbers !== undefined && isPlainNumber(bytes, from, to, cell.plainNumbers);

/** Undefined: a list that takes a closer look. @throws RelApiError of the coercion */
const readAlike = (
  { bytes, start, end }: HeldBytes,
  { keys, places }: ListedValues,
  cells: ReadonlyMap<string, HeldCell>,
): HeldRows | undefined => {
  const columns = keys.map((name) => cells.get(name));
  if (columns.length === 0 || !columns.every((cell) => cell?.isSameName === true)) return undefined;
  const isPlain = plainStrings(bytes);
  const { length } = columns;
  for (let i = 0; i < places.length; i += 2) {
    const cell = columns[(i >> 1) % length]!; // one of them
    const from = places[i]!; // pairs
    const to = places[i + 1]!; // pairs
    if (!isPlainValue(cell, bytes, from, to, isPlain) && replaced(bytes, from, to, cell) !== undefined)
      return undefined;
  }
  return {
    text: { utf8: [bytes.subarray(start, end)], rows: { bytes, keys, places } },
    valueCount: ((places.length >> 1) / length) * (length + 1),
    shape: { columns: [...keys].sort(), isComplete: true },
  };
};

/** Undefined: rows with something else than columns, or with a name that is there twice. @throws RelApiError of the
 *  coercion */
export const readHeldRows = (held: HeldBytes, quick: ReadonlyMap<string, QuickCell>): HeldRows | undefined => {
  const { values: listed } = held;
  let cells = cellsOf.get(quick);
  if (cells === undefined) cellsOf.set(quick, (cells = heldCells(quick)));
  return (listed && readAlike(held, listed, cells)) ?? readEach(held, cells);
};

const readEach = (
  { bytes, start, end, values: listed }: HeldBytes,
  cells: ReadonlyMap<string, HeldCell>,
): HeldRows | undefined => {
  const writer = createWriter(bytes);
  const isPlain = plainStrings(bytes);
  /** Up to here everything is written. */
  let done = start;
  const replace = (from: number, to: number, text: string): void => {
    writer.copy(done, from);
    writer.put(text);
    done = to;
  };
  let isEachVerbatim = true;
  const seen = new Set<string>();
  let fewest = Infinity;
  let valueCount = 0;

  const object = new ObjectReader(bytes, { levels: Infinity, maxMembers: Infinity });
  /** Of the rows like the one before. */
  let columns: readonly HeldCell[] = [];
  for (let at = skipSpace(bytes, start + 1); ; at = skipSpace(bytes, at + 1)) {
    if (bytes[at] !== OPEN_BRACE) return undefined;
    const next = object.skip(at);
    const { values } = object;
    if (!object.isAlike) {
      const names = object.names();
      const found = names.map((name) => cells.get(name));
      if (!found.every((cell) => cell !== undefined) || new Set(names).size < names.length) return undefined;
      columns = found;
      for (const name of names) seen.add(name);
      fewest = Math.min(fewest, names.length);
    }
    for (let i = 0; i < columns.length; i++) {
      const cell = columns[i]!; // i is within its length
      const from = values[2 * i]!; // pairs, one for each name
      const to = values[2 * i + 1]!; // pairs
      if (!cell.isSameName) replace(object.nameAt(i), from, cell.key);
      if (isPlainValue(cell, bytes, from, to, isPlain)) continue;
      const text = replaced(bytes, from, to, cell);
      if (text === undefined) continue;
      replace(from, to, text);
      isEachVerbatim = false;
    }
    valueCount += 1 + columns.length;
    at = skipSpace(bytes, next);
    if (bytes[at] === CLOSE_BRACKET) break;
  }
  writer.copy(done, end);
  const rows = isEachVerbatim && listed && { ...listed, keys: columns.map(({ column }) => column) };
  return {
    text: { ...writer.end(), ...(rows && { rows }) },
    valueCount,
    shape: { columns: [...seen].sort(), isComplete: fewest === seen.size },
  };
};
