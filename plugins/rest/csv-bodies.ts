/** `Content-Type: text/csv` bodies: a strict reader whose error messages are part of the contract. */
import { isUtf8 } from "node:buffer";
import {
  bodyTooLarge,
  createJsonArray,
  definePlugin,
  byteOrderMarkBytes,
  type Limits,
  type ResolvedOptions,
} from "../../core/index.ts";
import { receiveBodyHook, type BodyReader, type Payload } from "./api.ts";
import { escapeBytes } from "./syntax/shown-bytes.ts";
import { csvError, csvFieldsError, tooManyColumns } from "./errors.ts";

/** The settings that the reader of a body uses. */
type BodyLimits = Limits & Pick<ResolvedOptions, "maxBodyBytes" | "compatMode">;

const QUOTE = 0x22;
const COMMA = 0x2c;
const LF = 0x0a;
const CR = 0x0d;

/** How much of the body an error shows. */
const SHOWN_BYTES = 100;

/** `rest` is the body from the first unexpected byte on. It may lack bytes that the message does not show. */
const buildUnexpectedError = (rest: Buffer): Error => {
  const shown =
    rest.length > SHOWN_BYTES ? `${rest.toString("utf8", 0, SHOWN_BYTES)} (truncated)` : `"${escapeBytes(rest)}"`;
  return csvError(`parse error (Failed reading: satisfy) at ${shown}`);
};

const buildIncompleteError = (): Error => csvError('parse error (not enough input) at ""');

/** The text of a field, or null for a field without a value. */
type CsvField = string | null;

interface CsvLine {
  /** A line with too many fields keeps one more than is allowed. */
  readonly fields: readonly CsvField[];
  /** Behind its end. */
  readonly next: number;
  /** Ended by a line end, not by the end of the body. */
  readonly isEnded: boolean;
  /** The byte that does not fit: the line is read no further. */
  readonly badAt?: number;
}

/** A field may be all of the body, and all of it quotes. */
const unescapeQuotes = (bytes: Buffer, from: number, to: number): string => {
  const single = Buffer.allocUnsafe(to - from);
  let length = 0;
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!; // i is within the field
    single[length++] = byte;
    if (byte === QUOTE) i++;
  }
  return single.toString("utf8", 0, length);
};

/** Returns undefined if the end of the field has not arrived. `isLast`: no more bytes follow. @throws RelApiError `body` */
const readQuoted = (
  bytes: Buffer,
  start: number,
  isLast: boolean,
): { readonly field: string; readonly next: number } | undefined => {
  let hasQuotes = false;
  for (let i = start + 1; i < bytes.length; i++) {
    if (bytes[i] !== QUOTE) continue;
    if (i + 1 === bytes.length && !isLast) return undefined;
    if (bytes[i + 1] !== QUOTE)
      return {
        field: hasQuotes ? unescapeQuotes(bytes, start + 1, i) : bytes.toString("utf8", start + 1, i),
        next: i + 1,
      };
    hasQuotes = true;
    i++;
  }
  if (isLast) throw buildIncompleteError();
  return undefined;
};

type ReadValue = (text: string, isQuoted: boolean) => CsvField;

/** Without quotes, an empty field and `NULL` mean no value. @rule R-BODY-6 */
const readPlainValue: ReadValue = (text, isQuoted) => (!isQuoted && (text === "" || text === "NULL") ? null : text);
const readCompatValue: ReadValue = (text) => (text === "NULL" ? null : text);
const keepValue: ReadValue = (text) => text;

/** Returns undefined if the end of the line has not arrived. `isLast`: no more bytes follow. @throws RelApiError `body` */
const readLine = (
  bytes: Buffer,
  start: number,
  isLast: boolean,
  readValue: ReadValue,
  maxFields: number,
): CsvLine | undefined => {
  const fields: CsvField[] = [];
  const hasRoom = (): boolean => fields.length <= maxFields;
  let i = start;
  for (;;) {
    if (bytes[i] === QUOTE) {
      const quoted = readQuoted(bytes, i, isLast);
      if (quoted === undefined) return undefined;
      if (hasRoom()) fields.push(readValue(quoted.field, true));
      i = quoted.next;
    } else {
      const from = i;
      while (i < bytes.length && bytes[i] !== COMMA && bytes[i] !== LF && bytes[i] !== CR && bytes[i] !== QUOTE) i++;
      if (i === bytes.length && !isLast) return undefined;
      if (hasRoom()) fields.push(readValue(bytes.toString("utf8", from, i), false));
    }
    if (i >= bytes.length) return isLast ? { fields, next: i, isEnded: false } : undefined;
    if (bytes[i] === COMMA) i++;
    else if (bytes[i] === LF) return { fields, next: i + 1, isEnded: true };
    else if (bytes[i] !== CR) return { fields, next: i, isEnded: false, badAt: i };
    else if (i + 1 === bytes.length && !isLast) return undefined;
    else return { fields, next: bytes[i + 1] === LF ? i + 2 : i + 1, isEnded: true };
  }
};

/** Collects rows as JSON text, which may be many times as large as the CSV. */
const createRows = (names: readonly string[], maxBytes: number) => {
  const keys = names.map((name) => `${JSON.stringify(name)}:`);
  /** If two columns have one name, the later one counts in lines that have it. */
  const laterDuplicate = names.map((name, i) => names.indexOf(name, i + 1));
  const array = createJsonArray();
  return {
    add: (fields: readonly CsvField[]): void => {
      let row = "";
      for (let i = 0; i < fields.length; i++) {
        const later = laterDuplicate[i]!; // no line is longer than the header here
        if (later !== -1 && later < fields.length) continue;
        const field = fields[i]!; // i is within its length
        row += `${row === "" ? "" : ","}${keys[i]}${JSON.stringify(field)}`;
      }
      if (array.add(`{${row}}`) > maxBytes) throw bodyTooLarge(maxBytes);
    },
    end: array.end,
  };
};

/** How many different names there are among the first of them, by how many those are. */
const countNames = (names: readonly string[]): readonly number[] => {
  const seen = new Set<string>();
  return [0, ...names.map((name) => seen.add(name).size)];
};

type CsvRows = Omit<Payload, "isUninspected">;

/** Lines as they come: a row for each, every value a string or null. */
const createLines = (limits: BodyLimits) => {
  let names: readonly string[] = [];
  let distinctCounts: readonly number[] = [];
  let rows: ReturnType<typeof createRows> | undefined;
  let fieldCount: number | undefined;
  let isUneven = false;
  return {
    /** @throws RelApiError `body`, `body-too-large` */
    add: ({ fields, isEnded }: CsvLine): void => {
      if (rows === undefined) {
        if (fields.length > limits.maxColumns) throw tooManyColumns(limits);
        if (!isEnded) throw buildIncompleteError();
        names = fields as readonly string[]; // read by `nameOf`
        distinctCounts = countNames(names);
        rows = createRows(names, limits.maxBodyBytes);
        return;
      }
      const count = fields.length;
      if (limits.compatMode && count === 1 && fields[0] === "") return;
      fieldCount ??= count;
      // A field without a name would be lost. Lines of other lengths still have the same keys when the columns they lack
      // are named before as well.
      if (count > names.length || distinctCounts[count] !== distinctCounts[fieldCount]) isUneven = true;
      if (!isUneven) rows.add(fields);
    },
    hasNames: (): boolean => rows !== undefined,
    maxFields: (): number => (rows === undefined ? limits.maxColumns : names.length),
    /** @throws RelApiError `body`, `body-too-large` */
    end: (): CsvRows => {
      if (rows === undefined) throw buildIncompleteError();
      if (isUneven) throw csvFieldsError();
      const keys = [...new Set(names.slice(0, fieldCount ?? 0))].sort();
      const isText = limits.compatMode ? {} : { isText: true as const };
      return { text: rows.end(), keys, isEmpty: fieldCount === undefined, shape: "array", ...isText };
    },
  };
};

/** The rest of a body that is refused: only whether it is UTF-8 matters, and the first bytes, which the message shows. */
interface RejectedBody {
  readonly buildError: (rest: Buffer) => unknown;
  shown: Buffer;
}

const BUFFER_BYTES = 64 * 1024;

/** Reads a body while it arrives: neither all of its bytes nor all of its rows are ever there beside their JSON text.
 *  Bytes that are not UTF-8 come before all other errors. @throws RelApiError `body`, `body-too-large` at its end
 *  @rule R-BODY-6 R-BODY-8 R-BND-3 X-BODY-2 */
export const createCsvReader = (limits: BodyLimits): BodyReader => {
  const lines = createLines(limits);
  const valueOf = limits.compatMode ? readCompatValue : readPlainValue;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let isValidUtf8 = true;
  let rejected: RejectedBody | undefined;
  /** It begins with the arrived part of the lines whose end has not arrived. */
  let buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let bufferedLength = 0;
  /** A line that was looked through in vain is not looked through again before it has doubled. */
  let wantedBytes = 0;
  let isBeginning = true;

  const checkRest = (bytes?: Buffer): void => {
    try {
      if (isValidUtf8) decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      isValidUtf8 = false;
    }
  };
  const rejectBody = (errorOf: RejectedBody["buildError"], line: Buffer, rest: Buffer): void => {
    rejected = { buildError: errorOf, shown: Buffer.from(rest.subarray(0, SHOWN_BYTES + 1)) };
    checkRest(line);
  };
  const read = (isLast: boolean): void => {
    const bytes = buffer.subarray(0, bufferedLength);
    let at = isBeginning ? byteOrderMarkBytes(bytes) : 0; // spreadsheets write one
    try {
      while (rejected === undefined && (at < bytes.length || (isLast && !lines.hasNames()))) {
        if (lines.hasNames() && (bytes[at] === LF || bytes[at] === CR)) {
          at++;
          continue;
        }
        const line = readLine(bytes, at, isLast, lines.hasNames() ? valueOf : keepValue, lines.maxFields());
        if (line === undefined) break;
        if (line.badAt === undefined) {
          lines.add(line);
          at = line.next;
        } else rejectBody(buildUnexpectedError, bytes.subarray(at), bytes.subarray(line.badAt));
      }
    } catch (error) {
      rejectBody(() => error, bytes.subarray(at), bytes);
    }
    if (!isUtf8(bytes.subarray(0, at))) isValidUtf8 = false;
    buffer.copyWithin(0, at, bufferedLength);
    bufferedLength -= at;
    wantedBytes = at === 0 ? 2 * bufferedLength : 0;
    if (at > 0) isBeginning = false;
  };
  return {
    take: (piece) => {
      if (rejected !== undefined) {
        if (rejected.shown.length <= SHOWN_BYTES) rejected.shown = Buffer.concat([rejected.shown, piece]);
        return checkRest(piece);
      }
      if (bufferedLength + piece.length > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(2 * (bufferedLength + piece.length));
        buffer.copy(larger, 0, 0, bufferedLength);
        buffer = larger;
      }
      piece.copy(buffer, bufferedLength);
      bufferedLength += piece.length;
      if (bufferedLength >= wantedBytes) read(false);
    },
    end: () => {
      if (rejected === undefined) read(true);
      if (rejected !== undefined) checkRest();
      if (!isValidUtf8) throw csvError("The body is not UTF-8");
      if (rejected !== undefined) throw rejected.buildError(rejected.shown);
      return lines.end();
    },
  };
};

/** @rule R-BODY-6 */
export const csvBodies = definePlugin({
  name: "csv-bodies",
  requires: ["rest"],
  apply: (_hooks, context) => {
    context
      .use(receiveBodyHook)
      .tap("csv-bodies", ({ name }) => (name === "text/csv" ? createCsvReader(context.options) : undefined));
  },
});
