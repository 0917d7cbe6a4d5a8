/** `Content-Type: text/csv` bodies: a strict reader whose error messages are part of the contract. */
import { isUtf8 } from "node:buffer";
import { bodyTooLarge, definePlugin, type Limits, type ResolvedOptions, type TextBytes } from "../../core/index.ts";
import type { ReadBody } from "./api.ts";
import { csvError, csvFieldsError, tooManyColumns } from "./errors.ts";

/** What is looked at while a body is read. */
type BodyLimits = Limits & Pick<ResolvedOptions, "maxBodyBytes">;

const QUOTE = 0x22;
const COMMA = 0x2c;
const LF = 0x0a;
const CR = 0x0d;

/** How much of the body an error shows. */
const SHOWN_BYTES = 100;

const CONTROL_NAMES = [
  "NUL",
  "SOH",
  "STX",
  "ETX",
  "EOT",
  "ENQ",
  "ACK",
  "a",
  "b",
  "t",
  "n",
  "v",
  "f",
  "r",
  "SO",
  "SI",
  "DLE",
  "DC1",
  "DC2",
  "DC3",
  "DC4",
  "NAK",
  "SYN",
  "ETB",
  "CAN",
  "EM",
  "SUB",
  "ESC",
  "FS",
  "GS",
  "RS",
  "US",
];

/** Bytes as the inside of a Haskell string literal: `\"`, `\n`, `\195\169`. */
const showBytes = (bytes: Uint8Array): string => {
  let text = "";
  let mayTakeDigit = false;
  let isShiftOut = false;
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    // `\&` ends an escape that the next character would prolong
    if ((mayTakeDigit && byte >= 0x30 && byte <= 0x39) || (isShiftOut && character === "H")) text += "\\&";
    mayTakeDigit = byte > 0x7f;
    isShiftOut = byte === 0x0e;
    if (byte === QUOTE) text += '\\"';
    else if (byte === 0x5c) text += "\\\\";
    else if (byte < 0x20)
      text += `\\${CONTROL_NAMES[byte]!}`; // 32 names
    else if (byte === 0x7f) text += "\\DEL";
    else if (byte > 0x7f) text += `\\${byte}`;
    else text += character;
  }
  return text;
};

const showRest = (bytes: Buffer, from: number): string => {
  const rest = bytes.subarray(from);
  return rest.length > SHOWN_BYTES ? `${rest.toString("utf8", 0, SHOWN_BYTES)} (truncated)` : `"${showBytes(rest)}"`;
};

const notEnough = (): never => {
  throw csvError('parse error (not enough input) at ""');
};

const unexpected = (bytes: Buffer, at: number): never => {
  throw csvError(`parse error (Failed reading: satisfy) at ${showRest(bytes, at)}`);
};

interface Line {
  readonly fields: readonly string[];
  /** Behind its end. */
  readonly next: number;
  /** Ended by a line end, not by the end of the body. */
  readonly isEnded: boolean;
}

/** A field may be all of the body, and all of it quotes. */
const withoutDoubling = (bytes: Buffer, from: number, to: number): string => {
  const single = Buffer.allocUnsafe(to - from);
  let length = 0;
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!; // i is within the field
    single[length++] = byte;
    if (byte === QUOTE) i++;
  }
  return single.toString("utf8", 0, length);
};

const readQuoted = (bytes: Buffer, start: number): { readonly field: string; readonly next: number } => {
  let hasQuotes = false;
  for (let i = start + 1; i < bytes.length; i++) {
    if (bytes[i] !== QUOTE) continue;
    if (bytes[i + 1] !== QUOTE)
      return {
        field: hasQuotes ? withoutDoubling(bytes, start + 1, i) : bytes.toString("utf8", start + 1, i),
        next: i + 1,
      };
    hasQuotes = true;
    i++;
  }
  return notEnough();
};

const readLine = (bytes: Buffer, start: number): Line => {
  const fields: string[] = [];
  let i = start;
  for (;;) {
    if (bytes[i] === QUOTE) {
      const { field, next } = readQuoted(bytes, i);
      fields.push(field);
      i = next;
    } else {
      const from = i;
      while (i < bytes.length && bytes[i] !== COMMA && bytes[i] !== LF && bytes[i] !== CR && bytes[i] !== QUOTE) i++;
      fields.push(bytes.toString("utf8", from, i));
    }
    if (i >= bytes.length) return { fields, next: i, isEnded: false };
    if (bytes[i] === COMMA) i++;
    else if (bytes[i] === LF) return { fields, next: i + 1, isEnded: true };
    else if (bytes[i] === CR) return { fields, next: bytes[i + 1] === LF ? i + 2 : i + 1, isEnded: true };
    else return unexpected(bytes, i);
  }
};

/** Rows are joined in pieces of about so many characters. */
const PIECE_LENGTH = 64 * 1024;

/** Collects rows as JSON text, which may be many times as large as the CSV. */
const createRows = (names: readonly string[], maxBytes: number) => {
  const keys = names.map((name) => `${JSON.stringify(name)}:`);
  /** Of two columns with one name the later counts, where a line has it. */
  const again = names.map((name, i) => names.indexOf(name, i + 1));
  const pieces: Buffer[] = [];
  let piece = "[";
  let isFirst = true;
  let bytes = 0;
  const flush = (): void => {
    const encoded = Buffer.from(piece);
    bytes += encoded.length;
    if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
    pieces.push(encoded);
    piece = "";
  };
  return {
    add: (fields: readonly string[]): void => {
      let row = "";
      for (let i = 0; i < fields.length; i++) {
        const later = again[i]!; // no line is longer than the header here
        if (later !== -1 && later < fields.length) continue;
        const field = fields[i]!; // i is within its length
        row += `${row === "" ? "" : ","}${keys[i]}${field === "NULL" ? "null" : JSON.stringify(field)}`;
      }
      piece += `${isFirst ? "" : ","}{${row}}`;
      isFirst = false;
      if (piece.length > PIECE_LENGTH) flush();
    },
    end: (): TextBytes => {
      piece += "]";
      flush();
      return { utf8: pieces };
    },
  };
};

/** How many different names there are among the first of them, by how many those are. */
const countNames = (names: readonly string[]): readonly number[] => {
  const seen = new Set<string>();
  return [0, ...names.map((name) => seen.add(name).size)];
};

/** Rows of a CSV body as JSON text, every value a string or null.
 *  @throws RelApiError `body`, `body-too-large` @rule R-BODY-6 R-BODY-8 R-BND-3 */
export const readCsv = (
  bytes: Buffer,
  limits: BodyLimits,
): { readonly text: TextBytes; readonly keys: readonly string[]; readonly isEmpty: boolean } => {
  const { fields: names, next: start, isEnded } = readLine(bytes, 0);
  if (!isEnded) return notEnough();
  if (names.length > limits.maxColumns) throw tooManyColumns(limits);
  const rows = createRows(names, limits.maxBodyBytes);
  const different = countNames(names);
  let fieldCount: number | undefined;
  let isUneven = false;
  for (let next = start; next < bytes.length;) {
    if (bytes[next] === LF || bytes[next] === CR) {
      next++;
      continue;
    }
    const { fields, next: after } = readLine(bytes, next);
    next = after;
    if (fields.length === 1 && fields[0] === "") continue;
    const count = fields.length;
    fieldCount ??= count;
    // A field without a name would be lost. Lines of other lengths still have the same keys when the columns they lack
    // are named before as well.
    if (count > names.length || different[count] !== different[fieldCount]) isUneven = true;
    if (!isUneven) rows.add(fields);
  }
  if (isUneven) throw csvFieldsError();
  return {
    text: rows.end(),
    keys: [...new Set(names.slice(0, fieldCount ?? 0))].sort(),
    isEmpty: fieldCount === undefined,
  };
};

/** @rule R-BODY-6 */
export const csvBodies = definePlugin({
  name: "csv-bodies",
  requires: ["rest"],
  apply: (hooks, context) => {
    hooks.use<ReadBody>("readBody").tap("csv-bodies", (body, { name }) => {
      if (name !== "text/csv") return undefined;
      if (!isUtf8(body)) throw csvError("The body is not UTF-8");
      return { ...readCsv(body, context.options), shape: "array" };
    });
  },
});
