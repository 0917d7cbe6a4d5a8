/** `Content-Type: text/csv` bodies: a strict reader whose error messages are part of the contract. */
import {
  bodyTooLarge,
  createJsonArray,
  definePlugin,
  type RequestLimits,
  type ResolvedOptions,
} from "../../core/index.ts";
import { receiveBodyHook, type BodyReader, type Payload } from "./api.ts";
import { bodyNotUtf8, csvInvalid, csvFieldCountDifferent, columnCountExceeded } from "./errors.ts";
import { escapeCharacter } from "./syntax/lex.ts";

/** The settings that the reader of a body uses. */
type BodyLimits = RequestLimits & Pick<ResolvedOptions, "maxBodyBytes" | "compatMode">;

/** The number of bytes of the body that an error shows. */
const SHOWN_BYTES = 100;

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** Writes bytes as the inside of a Haskell string literal: `\"`, `\n`, `\195\169`. */
const escapeBytes = (bytes: Uint8Array): string => {
  let text = "";
  let previous = 0;
  for (const byte of bytes) {
    // `\&` ends an escape that the next character would prolong: a digit after a number, or `\SO` before `H`.
    if ((previous > 0x7f && isDigit(byte)) || (previous === 0x0e && byte === 0x48)) text += "\\&";
    text += escapeCharacter(byte, '"');
    previous = byte;
  }
  return text;
};

/** `unexpectedText` is the body from the first unexpected character on. It may lack text that the message does not
 *  show. */
const csvTextUnexpected = (unexpectedText: string): Error => {
  const bytes = Buffer.from(unexpectedText);
  const shownText =
    bytes.length > SHOWN_BYTES ? `${bytes.toString("utf8", 0, SHOWN_BYTES)} (truncated)` : `"${escapeBytes(bytes)}"`;
  return csvInvalid(`parse error (Failed reading: satisfy) at ${shownText}`);
};

const csvIncomplete = (): Error => csvInvalid('parse error (not enough input) at ""');

/** The text of a field, or null for a field without a value. */
type CsvField = string | null;

type ReadValue = (text: string, isQuoted: boolean) => CsvField;

/** Reads a field. Without quotes, an empty field and `NULL` mean no value. @rule R-BODY-6 */
const readPlainValue: ReadValue = (text, isQuoted) => (!isQuoted && (text === "" || text === "NULL") ? null : text);
const readCompatValue: ReadValue = (text) => (text === "NULL" ? null : text);

/** Collects the lines of a body as JSON, whose values are strings or null. The JSON may be many times as large as the
 *  CSV. */
const createLines = (limits: BodyLimits) => {
  const rows = createJsonArray();
  let names: readonly string[] | undefined;
  /** The keys of the first row. */
  let keys: readonly string[] | undefined;
  let isUneven = false;
  return {
    /** Adds a line. `isEnded` is false for a line that ends with the body. @throws RelApiError `bad-body`,
     *  `body-too-large` */
    add: (fields: readonly CsvField[], isEnded: boolean): void => {
      if (names === undefined) {
        if (fields.length > limits.maxColumns) throw columnCountExceeded(limits);
        if (!isEnded) throw csvIncomplete();
        names = fields as readonly string[]; // the reader of the first line never returns null
        return;
      }
      if (limits.compatMode && fields.length === 1 && fields[0] === "") return;
      // If two columns have one name, the last one counts.
      const row = Object.fromEntries(fields.map((field, i) => [names?.[i], field]));
      const rowKeys = Object.keys(row);
      keys ??= rowKeys;
      // Every line begins with the first column, so lines with equally many keys have the same keys.
      if (fields.length > names.length || rowKeys.length !== keys.length) isUneven = true;
      if (!isUneven && rows.add(JSON.stringify(row)) > limits.maxBodyBytes) throw bodyTooLarge(limits.maxBodyBytes);
    },
    hasNames: (): boolean => names !== undefined,
    maxFields: (): number => names?.length ?? limits.maxColumns,
    /** Returns the payload when the text has ended. @throws RelApiError `bad-body` */
    end: (): Omit<Payload, "isUninspected"> => {
      if (isUneven) throw csvFieldCountDifferent();
      return {
        text: rows.end(),
        keys: [...(keys ?? [])].sort(),
        isEmpty: keys === undefined,
        shape: "array",
        ...(limits.compatMode ? {} : { isText: true }),
      };
    },
  };
};

/** The characters of a field without quotes. */
const UNQUOTED_RUN = /[^",\r\n]*/y;

const findUnquotedEnd = (text: string, at: number): number => {
  UNQUOTED_RUN.lastIndex = at;
  UNQUOTED_RUN.test(text);
  return UNQUOTED_RUN.lastIndex;
};

/** Returns the position of the first quote that is not doubled, or the end of the text. */
const findSingleQuote = (text: string, from: number): number => {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at === -1 ? text.length : at;
};

/** The number of bytes that are decoded at once. */
const CHUNK_BYTES = 64 * 1024;

/** Reads a body while it arrives, without keeping its bytes. Errors are thrown at its end, because bytes that are not
 *  UTF-8 come before all other errors. @rule R-BODY-6 R-BODY-8 R-BODY-9 R-BND-3 X-BODY-2 */
const createCsvReader = (limits: BodyLimits): BodyReader => {
  const lines = createLines(limits);
  const readValue = limits.compatMode ? readCompatValue : readPlainValue;
  const decoder = new TextDecoder("utf-8", { fatal: true }); // the decoder removes a byte order mark
  let isUtf8 = true;
  let error: unknown;
  /** The beginning of the text from the first unexpected character on. */
  let unexpectedText: string | undefined;
  let state: "field start" | "unquoted" | "quoted" | "quote" | "field end" = "field start";
  let field = "";
  let isQuoted = false;
  let fields: CsvField[] = [];

  const endField = (): void => {
    // A line with too many fields keeps one more than is allowed.
    if (fields.length <= lines.maxFields()) fields.push(lines.hasNames() ? readValue(field, isQuoted) : field);
    field = "";
    isQuoted = false;
    state = "field start";
  };
  const endLine = (isEnded: boolean): void => {
    endField();
    lines.add(fields, isEnded);
    fields = [];
  };
  const read = (text: string): void => {
    for (let at = 0; at < text.length && unexpectedText === undefined;) {
      const character = text[at];
      const isLineEnd = character === "\n" || character === "\r";
      switch (state) {
        case "field start":
          isQuoted = character === '"';
          // The loop skips a blank line, and LF after CR.
          if (isLineEnd && fields.length === 0 && lines.hasNames()) at++;
          else if (isQuoted) {
            state = "quoted";
            at++;
          } else state = "unquoted";
          break;
        case "unquoted": {
          const end = findUnquotedEnd(text, at);
          field += text.slice(at, end);
          if (end < text.length) state = "field end";
          at = end;
          break;
        }
        case "quoted": {
          const end = findSingleQuote(text, at);
          field += text.slice(at, end).split('""').join('"'); // `replaceAll` makes a string for each match
          if (end < text.length) state = "quote";
          at = end + 1;
          break;
        }
        case "quote":
          // The text ended between two quotes, which mean one.
          if (character === '"') {
            field += character;
            state = "quoted";
            at++;
          } else state = "field end";
          break;
        case "field end":
          if (character === ",") endField();
          else if (isLineEnd) endLine(true);
          else unexpectedText = text.slice(at);
          at++;
          break;
      }
    }
  };
  const runGuarded = (step: () => void): void => {
    try {
      step();
    } catch (thrownValue) {
      error = thrownValue;
    }
  };
  const decode = (bytes?: Buffer): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      isUtf8 = false;
      return "";
    }
  };
  const take = (text: string): void => {
    if (unexpectedText === undefined) runGuarded(() => read(text));
    else if (unexpectedText.length <= SHOWN_BYTES) unexpectedText += text;
  };
  const endBody = (): void => {
    if (state === "quoted") throw csvIncomplete();
    if (state !== "field start" || fields.length > 0 || !lines.hasNames()) endLine(false);
  };
  return {
    take: (piece) => {
      for (let at = 0; at < piece.length && isUtf8; at += CHUNK_BYTES) {
        const text = decode(piece.subarray(at, at + CHUNK_BYTES));
        if (error === undefined) take(text);
      }
    },
    end: () => {
      decode();
      if (!isUtf8) throw bodyNotUtf8();
      if (unexpectedText !== undefined) throw csvTextUnexpected(unexpectedText);
      if (error === undefined) runGuarded(endBody);
      if (error !== undefined) throw error;
      return lines.end();
    },
  };
};

/** Reads bodies of writes in CSV. @rule R-BODY-6 */
export const csvBodies = definePlugin({
  name: "csv-bodies",
  requires: ["rest"],
  apply: (_hooks, context) => {
    context
      .use(receiveBodyHook)
      .tap("csv-bodies", ({ name }) => (name === "text/csv" ? createCsvReader(context.options) : undefined));
  },
});
