/** Parses the output of the plugin `test_decoding`. */
import type { ReportedCell, RowChange } from "../api.ts";

interface RelationNames {
  /** The names as `schema.name`, without quotes. */
  readonly names: readonly string[];
  /** True if the text contains all names. */
  readonly isWhole: boolean;
  /** The position after the colon that ends the names. */
  readonly end: number;
}

/** Reads names such as `public.album: UPDATE` or `"my ""odd"" schema".crates, public.b: TRUNCATE`. */
export const parseNames = (text: string, from: number): RelationNames => {
  const names: string[] = [];
  let name = "";
  let position = from;
  while (position < text.length) {
    const character = text[position] as string; // the position is less than the length of the text
    if (character === '"') {
      const end = findQuotedEnd(text, position + 1);
      name += text.slice(position + 1, end).replaceAll('""', '"');
      position = end + 1;
    } else if (character === ":" || character === ",") {
      names.push(name);
      name = "";
      if (character === ":") return { names, isWhole: true, end: position + 1 };
      position += 2; // the separator is a comma and a blank
    } else {
      name += character;
      position++;
    }
  }
  return { names, isWhole: false, end: position };
};

const OLD_KEY = "old-key: ";
const NEW_TUPLE = "new-tuple: ";

/** Reads the cells of these columns from a text such as ` UPDATE: old-key: id[integer]:1 new-tuple: id[integer]:2
 *  name[text]:'x'`. Undefined if the text is not a change of one row, or if `isCut` and the change may continue beyond
 *  the end of the text. */
export const parseRow = (
  text: string,
  from: number,
  columns: readonly string[],
  isCut: boolean,
): RowChange | undefined => {
  const end = text.indexOf(": ", from);
  if (end === -1) return undefined;
  const action = text.slice(from, end);
  const at = end + 2;
  if (action === " DELETE") {
    const before = parseTuple(text, at, columns, isCut);
    return before && [before.cells, null];
  }
  if (action !== " INSERT" && action !== " UPDATE") return undefined;
  if (!text.startsWith(OLD_KEY, at)) {
    const after = parseTuple(text, at, columns, isCut);
    return after && [action === " INSERT" ? null : NO_CELLS, after.cells];
  }
  const before = parseTuple(text, at + OLD_KEY.length, columns, isCut, true);
  if (before === undefined || !text.startsWith(NEW_TUPLE, before.end)) return undefined;
  const after = parseTuple(text, before.end + NEW_TUPLE.length, columns, isCut);
  return after && [before.cells, after.cells];
};

const NO_CELLS: readonly ReportedCell[] = [];

/** Reads the cells of a tuple. It reads to the end of the tuple if `isFollowed`, otherwise until all columns are
 *  found. */
const parseTuple = (
  text: string,
  from: number,
  columns: readonly string[],
  isCut: boolean,
  isFollowed = false,
): { readonly cells: readonly ReportedCell[]; readonly end: number } | undefined => {
  if (text.startsWith("(no-tuple-data)", from)) return { cells: NO_CELLS, end: text.length };
  const cells: ReportedCell[] = columns.map(() => 0);
  let missingCount = columns.length;
  let position = from;
  while (position < text.length) {
    if (isFollowed ? text.startsWith(NEW_TUPLE, position) : missingCount === 0) return { cells, end: position };
    const isQuoted = text[position] === '"';
    const nameEnd = isQuoted ? findQuotedEnd(text, position + 1) + 1 : text.indexOf("[", position);
    if (nameEnd === -1 || text[nameEnd] !== "[") return undefined;
    const name = isQuoted ? text.slice(position + 1, nameEnd - 1).replaceAll('""', '"') : text.slice(position, nameEnd);
    const valueAt = findTypeEnd(text, nameEnd) + 2;
    const valueEnd = findValueEnd(text, valueAt);
    if (valueEnd >= text.length && isCut) return undefined;
    const index = columns.indexOf(name);
    if (index !== -1) {
      missingCount--;
      cells[index] = parseValue(text.slice(valueAt, valueEnd));
    }
    position = valueEnd + 1;
  }
  return isCut && missingCount > 0 ? undefined : { cells, end: position };
};

const parseValue = (value: string): ReportedCell => {
  if (value === "null") return null;
  if (value === "unchanged-toast-datum") return 0;
  return value.startsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : value;
};

const findQuotedEnd = (text: string, from: number): number => {
  let position = from;
  for (;;) {
    const quote = text.indexOf('"', position);
    if (quote === -1) return text.length;
    if (text[quote + 1] !== '"') return quote;
    position = quote + 2;
  }
};

/** Finds the closing bracket of a type: `[integer]`, `[character varying]`, `[integer[]]`, `["odd]type"]`. */
const findTypeEnd = (text: string, from: number): number => {
  let depth = 0;
  for (let position = from; position < text.length; position++) {
    const character = text[position];
    if (character === '"') position = findQuotedEnd(text, position + 1);
    else if (character === "[") depth++;
    else if (character === "]" && --depth === 0) return position;
  }
  return text.length;
};

/** Finds the blank after a value, or the end: `5`, `null`, `'it''s'`, `B'101'`. */
const findValueEnd = (text: string, from: number): number => {
  const quote = text[from] === "'" ? from : text[from] === "B" && text[from + 1] === "'" ? from + 1 : -1;
  if (quote === -1) {
    const blank = text.indexOf(" ", from);
    return blank === -1 ? text.length : blank;
  }
  let position = quote + 1;
  for (;;) {
    const next = text.indexOf("'", position);
    if (next === -1) return text.length;
    if (text[next + 1] !== "'") return next + 1;
    position = next + 2;
  }
};
