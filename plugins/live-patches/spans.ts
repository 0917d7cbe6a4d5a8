/** Where the parts of a JSON text stand. Nothing is parsed: numbers keep their digits, and equal parts are found by
 *  comparing their text. */

/** Part of a text: from, to (after it). */
export interface Span {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export type Kind = "object" | "list" | "scalar";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;
const BLANK = 0x20;

export const textOf = ({ text, start, end }: Span): string => text.slice(start, end);

export const isSame = (a: Span, b: Span): boolean => a.end - a.start === b.end - b.start && textOf(a) === textOf(b);

export const kindOf = ({ text, start }: Span): Kind => {
  const first = text.charCodeAt(start);
  return first === OPEN_OBJECT ? "object" : first === OPEN_LIST ? "list" : "scalar";
};

/** The whole text, without blanks around it. */
export const spanOf = (text: string): Span => {
  const start = skipBlanks(text, 0);
  return { text, start, end: endOfValue(text, start) };
};

/** Blanks are the only characters below and at 0x20 outside of strings. */
const skipBlanks = (text: string, from: number): number => {
  let at = from;
  while (text.charCodeAt(at) <= BLANK) at++;
  return at;
};

/** After the closing quote. */
const endOfString = (text: string, from: number): number => {
  let quote = from;
  for (;;) {
    quote = text.indexOf('"', quote + 1);
    if (quote === -1) return text.length;
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    // an even number of backslashes stands for themselves
    if ((quote - before) % 2 === 1) return quote + 1;
  }
};

const endOfValue = (text: string, from: number): number => {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return endOfString(text, from);
  let at = from;
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
    for (; at < text.length; at++) {
      const character = text.charCodeAt(at);
      if (character === COMMA || character === CLOSE_OBJECT || character === CLOSE_LIST || character <= BLANK) break;
    }
    return at;
  }
  for (let depth = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at) - 1;
    else if (character === OPEN_OBJECT || character === OPEN_LIST) depth++;
    else if ((character === CLOSE_OBJECT || character === CLOSE_LIST) && --depth === 0) return at + 1;
  }
  return at;
};

/** Elements of a list. */
export const itemsOf = ({ text, start, end }: Span): readonly Span[] => {
  const items: Span[] = [];
  let at = skipBlanks(text, start + 1);
  while (at < end - 1) {
    const stop = endOfValue(text, at);
    items.push({ text, start: at, end: stop });
    at = skipBlanks(text, skipBlanks(text, stop) + 1); // behind the comma
  }
  return items;
};

/** Members of an object by name; of several with one name the last counts. */
export const membersOf = ({ text, start, end }: Span): ReadonlyMap<string, Span> => {
  const members = new Map<string, Span>();
  let at = skipBlanks(text, start + 1);
  while (at < end - 1) {
    const nameEnd = endOfString(text, at);
    const name = text.slice(at + 1, nameEnd - 1);
    const from = skipBlanks(text, skipBlanks(text, nameEnd) + 1); // behind the colon
    const stop = endOfValue(text, from);
    members.set(name.includes("\\") ? (JSON.parse(`"${name}"`) as string) : name, { text, start: from, end: stop });
    at = skipBlanks(text, skipBlanks(text, stop) + 1);
  }
  return members;
};
