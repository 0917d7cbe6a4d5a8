/** Replaces values in JSON text. The rest of the text stays as PostgreSQL wrote it. */
import { findStringEnd, findValueEnd } from "../../../core/index.ts";
import type { GqlLoadTree } from "../operations.ts";

/** The position of a value in the text: `text.slice(start, end)`. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly load: number;
}

/** Finds the spans of the values in the tree, in the order of the text, also inside lists. The text must be valid
 *  JSON. */
export const findSpans = (text: string, tree: GqlLoadTree): readonly Span[] => {
  const spans: Span[] = [];
  let at = 0;

  const skipBlanks = (): void => {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      at++;
    }
  };
  const readKey = (): string => {
    const start = at;
    at = findStringEnd(text, start);
    return JSON.parse(text.slice(start, at)) as string; // the slice is one JSON string
  };
  const visitItems = (close: string, item: () => void): void => {
    at++;
    for (skipBlanks(); text[at] !== close; skipBlanks()) {
      if (text[at] === ",") at++;
      else item();
    }
    at++;
  };
  const visitValue = (node: GqlLoadTree | number | undefined): void => {
    skipBlanks();
    if (typeof node === "number") {
      const start = at;
      at = findValueEnd(text, start);
      spans.push({ start, end: at, load: node });
    } else if (node !== undefined && text[at] === "[") {
      visitItems("]", () => visitValue(node));
    } else if (node !== undefined && text[at] === "{") {
      visitItems("}", () => {
        const name = readKey();
        skipBlanks();
        at++; // the next character is the colon
        visitValue(node.get(name));
      });
    } else {
      at = findValueEnd(text, at);
    }
  };

  visitValue(tree);
  return spans;
};

/** Replaces the spans in the text. `texts` has one text per span. */
export const splice = (text: string, spans: readonly Span[], texts: readonly string[]): string => {
  const pieces: string[] = [];
  let from = 0;
  spans.forEach(({ start, end }, i) => {
    pieces.push(text.slice(from, start), texts[i] ?? "null");
    from = end;
  });
  return pieces.join("") + text.slice(from);
};
