/** Reads bodies of JSON lines, each of them an object. */
import { isUtf8 } from "node:buffer";
import { RelApiError } from "../../../core/index.ts";
import type { BodyReader } from "../../rest/api.ts";

const LF = 0x0a;
const COMMA = 0x2c;
const BYTE_ORDER_MARK = Buffer.from("\ufeff");
const [OPEN, CLOSE] = [Buffer.from("["), Buffer.from("]")];

/** Returns the position at which a text stops being valid JSON. */
type FindJsonError = (text: string) => string | undefined;

const lineInvalid = (line: string, number: number, findJsonError: FindJsonError): RelApiError =>
  new RelApiError({
    code: "bad-body",
    status: 400,
    message: `Line ${number} of the body is not a JSON object`,
    details: findJsonError(line)?.replace(/^line 1,/, `line ${number},`) ?? null,
  });

const BLANK = /^[ \t\r]*$/;

const isObject = (line: string): boolean => {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

/**
 * Converts the lines to a JSON array without changing their text. Line ends become commas or blanks.
 * @throws RelApiError `bad-body`
 */
const convertToArray = (chunks: readonly Buffer[], findJsonError: FindJsonError): Buffer => {
  const bytes = Buffer.concat([OPEN, ...chunks, CLOSE]);
  const end = bytes.length - 1;
  let from = 1;
  if (bytes.subarray(from, from + BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) from += BYTE_ORDER_MARK.length;
  bytes.fill(" ", 1, from);
  let isFirst = true;
  for (let number = 1; from < end; number++) {
    const lineEnd = bytes.indexOf(LF, from);
    const to = lineEnd === -1 ? end : lineEnd;
    const line = bytes.subarray(from, to);
    const text = line.toString("utf8");
    if (!BLANK.test(text)) {
      if (!isFirst) bytes[from - 1] = COMMA;
      isFirst = false;
      if (!isUtf8(line) || !isObject(text)) throw lineInvalid(text, number, findJsonError);
    }
    from = to + 1;
  }
  return bytes;
};

/** Creates the reader of a body that has one JSON value on each line. @rule P-NDJ-3 */
export const createLinesReader = (findJsonError: FindJsonError): BodyReader => {
  const chunks: Buffer[] = [];
  return {
    take: (piece) => {
      chunks.push(piece);
    },
    end: () => ({ json: convertToArray(chunks, findJsonError) }),
  };
};
