/** `Content-Type: text/csv` bodies: a strict reader whose error texts are part of the contract. */
import type { Limits } from "../../../core/index.ts";
import { csvError, csvFieldsError, tooManyColumns } from "../errors.ts";

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

const readQuoted = (bytes: Buffer, start: number): { readonly field: string; readonly next: number } => {
  let from = start + 1;
  let field = "";
  for (;;) {
    const quote = bytes.indexOf(QUOTE, from);
    if (quote === -1) return notEnough();
    field += bytes.toString("utf8", from, quote);
    if (bytes[quote + 1] !== QUOTE) return { field, next: quote + 1 };
    field += '"';
    from = quote + 2;
  }
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

/** Rows of a CSV body as JSON text, every value a string or null.
 *  @throws RelApiError `body` @rule R-BODY-6 R-BODY-8 */
export const readCsv = (
  bytes: Buffer,
  limits: Limits,
): { readonly text: string; readonly keys: readonly string[]; readonly isEmpty: boolean } => {
  const header = readLine(bytes, 0);
  if (!header.isEnded) return notEnough();
  if (header.fields.length > limits.maxColumns) throw tooManyColumns(limits);
  const rows: Record<string, string | null>[] = [];
  let fieldCount: number | undefined;
  let isUneven = false;
  for (let next = header.next; next < bytes.length;) {
    const line = readLine(bytes, next);
    next = line.next;
    if (line.fields.length === 1 && line.fields[0] === "") continue;
    const count = line.fields.length;
    // a field without a name would be lost
    if (count > header.fields.length) isUneven = true;
    fieldCount ??= count;
    // Lines of other lengths still have the same keys when the columns they lack are named before as well
    if (
      count !== fieldCount &&
      new Set(header.fields.slice(0, count)).size !== new Set(header.fields.slice(0, fieldCount)).size
    )
      isUneven = true;
    const row: Record<string, string | null> = Object.create(null) as Record<string, string | null>; // a column may be called __proto__
    for (const [i, field] of line.fields.entries()) row[header.fields[i]!] = field === "NULL" ? null : field; // too many are refused below
    rows.push(row);
  }
  if (isUneven) throw csvFieldsError();
  return {
    text: JSON.stringify(rows),
    keys: [...new Set(header.fields.slice(0, fieldCount ?? 0))].sort(),
    isEmpty: rows.length === 0,
  };
};
