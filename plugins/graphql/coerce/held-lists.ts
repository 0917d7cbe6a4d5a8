/** Lists of objects in variables, held as the bytes that they came in: a list of objects takes several times as much
 *  memory as its text, and time to make it and to write it again. Whoever knows of it reads the bytes; to everybody
 *  else it is an array like any other, made when somebody looks into it. @rule G-VAR-12 */
import { jsonBytes, type Json, type ListedValues } from "../../../core/index.ts";
import { parseJson } from "./numbers.ts";

const { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, INVALID, OPEN_BRACE, OPEN_BRACKET, QUOTE } = jsonBytes;
const { ObjectReader, skipKey, skipSpace, skipString, skipValue } = jsonBytes;

/** From here on a body is looked through for lists, and a list is held. */
export const HELD_BYTES = 1024;

/** A list, from its bracket to behind the other: valid JSON in UTF-8. */
export interface HeldBytes {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** Where that is known. */
  readonly values: ListedValues | undefined;
}

const heldLists = new WeakMap<object, HeldBytes>();

/** Of such a list; undefined: another value. */
export const heldBytes = (value: Json): HeldBytes | undefined =>
  typeof value === "object" && value !== null ? heldLists.get(value) : undefined;

/** Of arrays alone: what is asked for the items. */
const isOfItems = (key: string | symbol): boolean => typeof key === "string" && !(key in Array.prototype);

const holdList = (held: HeldBytes, length: number): Json => {
  const items: Json[] = [];
  let isFilled = false;
  const fill = (): void => {
    if (isFilled) return;
    isFilled = true;
    const parsed = parseJson(held.bytes.toString("utf8", held.start, held.end)) as readonly Json[];
    for (const item of parsed) items.push(item);
  };
  const list = new Proxy(items, {
    get: (target, key) => {
      if (key === "length") return length;
      if (isOfItems(key)) fill();
      return Reflect.get(target, key) as unknown;
    },
    has: (target, key) => {
      if (isOfItems(key)) fill();
      return Reflect.has(target, key);
    },
    ownKeys: (target) => {
      fill();
      return Reflect.ownKeys(target);
    },
    getOwnPropertyDescriptor: (target, key) => {
      fill();
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    // what variables hold is nobody's to change
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  });
  heldLists.set(list, held);
  return list as unknown as Json; // arrays of Json are Json
};

interface FoundList extends HeldBytes {
  readonly name: string;
  readonly length: number;
}

/** The name between quotes; undefined: it is not written as it is. */
const plainName = (bytes: Buffer, quote: number): string | undefined => {
  const end = skipString(bytes, quote + 1);
  if (end === INVALID) return undefined;
  const name = bytes.subarray(quote + 1, end - 1);
  return name.includes(BACKSLASH) ? undefined : name.toString("utf8");
};

/** Members of an object by `visit`, which returns where a value ends. Undefined: no JSON, or names that take a closer
 *  look, such as one that is there twice. */
const eachMember = (
  bytes: Buffer,
  start: number,
  visit: (name: string, value: number) => number | undefined,
): number | undefined => {
  const names = new Set<string>();
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) return undefined;
    const name = plainName(bytes, at);
    const value = skipKey(bytes, at);
    if (name === undefined || value === INVALID || names.has(name)) return undefined;
    names.add(name);
    const end = visit(name, value);
    if (end === undefined || end < 0) return undefined;
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    if (bytes[at] !== COMMA) return undefined;
    at = skipSpace(bytes, at + 1);
  }
};

/** `start`: on the bracket. Undefined: no JSON, or nested too deeply. */
const readList = (
  bytes: Buffer,
  start: number,
  levels: number,
): Pick<FoundList, "end" | "length" | "values"> | undefined => {
  const object = new ObjectReader(bytes, { levels: levels - 1, maxMembers: Infinity });
  let isOfObjects = true;
  let at = skipSpace(bytes, start + 1);
  for (let length = 1; ; length++) {
    if (bytes[at] !== OPEN_BRACE) isOfObjects = false;
    at = bytes[at] === OPEN_BRACE ? object.skip(at) : skipValue(bytes, at, levels - 1);
    if (at < 0) return undefined;
    at = skipSpace(bytes, at);
    if (bytes[at] === CLOSE_BRACKET) return { end: at + 1, length, values: isOfObjects ? object.listed() : undefined };
    if (bytes[at] !== COMMA) return undefined;
    at = skipSpace(bytes, at + 1);
  }
};

/** The lists of objects among the variables of one request. */
const findLists = (bytes: Buffer, levels: number): readonly FoundList[] => {
  const lists: FoundList[] = [];
  const start = skipSpace(bytes, 0);
  if (bytes[start] !== OPEN_BRACE) return [];
  const ofVariable = (name: string, value: number): number | undefined => {
    if (bytes[value] !== OPEN_BRACKET || bytes[skipSpace(bytes, value + 1)] !== OPEN_BRACE || name === "__proto__")
      return skipValue(bytes, value, levels - 2);
    const list = readList(bytes, value, levels - 2);
    if (list === undefined) return undefined;
    if (list.end - value >= HELD_BYTES) lists.push({ bytes, name, start: value, ...list });
    return list.end;
  };
  const end = eachMember(bytes, start, (name, value) =>
    name === "variables" && bytes[value] === OPEN_BRACE
      ? eachMember(bytes, value, ofVariable)
      : skipValue(bytes, value, levels - 1),
  );
  return end !== undefined && skipSpace(bytes, end) === bytes.length ? lists : [];
};

/** The body of a request with its lists held; undefined: it has none, is no JSON, or is nested too deeply. `bytes`:
 *  UTF-8. */
export const readHolding = (bytes: Buffer, levels: number): Json | undefined => {
  const lists = findLists(bytes, levels);
  if (lists.length === 0) return undefined;
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { start, end } of lists) {
    pieces.push(bytes.subarray(from, start), NULL);
    from = end;
  }
  pieces.push(bytes.subarray(from));
  const body = parseJson(Buffer.concat(pieces).toString("utf8")) as { readonly variables: Record<string, Json> }; // as found
  for (const { name, length, ...held } of lists) body.variables[name] = holdList(held, length);
  return body as Json;
};

const NULL = Buffer.from("null");
