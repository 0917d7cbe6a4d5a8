/** `crew.order`, `voyages.not.and`: finds the level of the select that a reserved parameter concerns. */
import { requireToken, parseTreePath, scanName, type LexerInput } from "./lex.ts";

/**
 * The embeds named before the last part of an order, limit or offset parameter. @throws RelApiError `parse-error`
 * @rule R-LEX-8
 */
export const parseNodePath = (name: string): readonly string[] => (name.includes(".") ? parseTreePath(name).names : []);

export interface LogicPath {
  readonly path: readonly string[];
  /** The operator: `or`, `and`, `not.or` or `not.and`. */
  readonly operator: string;
}

/**
 * Parses the name of a logic tree. Any `not` among its parts negates, and the others are the path of embeds.
 * @throws RelApiError `parse-error` @rule R-LOG-2
 */
export const parseLogicPath = (name: string): LogicPath => {
  if (!name.includes(".")) return { path: [], operator: name };
  const source: LexerInput = { text: name, what: "logic path", raw: name };
  const parts: string[] = [];
  for (let at = 0; ;) {
    const part = requireToken(source, scanName(name, at));
    parts.push(part.value.text);
    if (name[part.end] !== ".") break;
    at = part.end + 1;
  }
  const operator = name.slice(name.lastIndexOf(".") + 1);
  const path = parts.slice(0, -1);
  return { path: path.filter((part) => part !== "not"), operator: path.includes("not") ? `not.${operator}` : operator };
};
