/** `order=tonnage.desc.nullslast,ports(country)`: parses the terms of an order. */
import { checkPathLength } from "../errors.ts";
import type { AddressedPart, Grammar, OrderTerm } from "../request.ts";
import {
  DELIMITER,
  END,
  throwSyntaxError,
  isFailure,
  findMismatch,
  parseNodePath,
  requireToken,
  scanField,
  scanName,
  scanQuoted,
  skipBlanks,
  type LexFailure,
  type LexerInput,
  type ScannedToken,
} from "./lex.ts";

type OrderGrammar = Pick<Grammar, "limits" | "orderings">;

type Suffix = Pick<OrderTerm, "direction" | "nulls">;

interface SuffixToken extends ScannedToken<Suffix> {
  /** The tokens that could continue the term. */
  readonly continuations: readonly string[];
}

const DIRECTIONS = ["asc", "desc"] as const;
const NULLS = [
  ["nullsfirst", "first"],
  ["nullslast", "last"],
] as const;
const NULLS_LABELS = ['"nullsfirst"', '"nullslast"'];
const TERM_END = ['","', END];

/**
 * Parses an order. `name` is `order` or a path such as `voyages.order`. @throws RelApiError `parse-error` @rule R-ORD-1
 * R-ORD-2
 */
export const parseOrder = (grammar: OrderGrammar, name: string, raw: string): AddressedPart<readonly OrderTerm[]> => ({
  path: parseNodePath(name),
  part: parseOrderTerms(grammar, raw),
});

const parseOrderTerms = (grammar: OrderGrammar, raw: string): readonly OrderTerm[] => {
  const source: LexerInput = { text: raw, name: "order", raw };
  const terms: OrderTerm[] = [];
  for (let at = 0; ; at++) {
    const start = skipBlanks(raw, at);
    const term = readRelated(grammar, source, start) ?? readPlain(grammar, source, start);
    terms.push(term.value);
    if (term.end === raw.length) return terms;
    if (raw[term.end] !== ",")
      throwSyntaxError(source, { at: term.end, expecting: [...term.continuations, ...TERM_END] });
    at = term.end;
  }
};

type TermToken = ScannedToken<OrderTerm> & { readonly continuations: readonly string[] };

/**
 * Scans `ports(country).desc` or `ports(place.distance(1))`. Text that does not match as a whole is parsed as a plain
 * term. @rule R-ORD-3 X-ORD-2
 */
const readRelated = (grammar: OrderGrammar, source: LexerInput, start: number): TermToken | undefined => {
  const raw = source.text;
  const name = scanName(raw, start);
  if (isFailure(name) || raw[name.end] !== "(") return undefined;
  const field = scanField(raw, skipBlanks(raw, name.end + 1));
  if (isFailure(field)) return undefined;
  checkPathLength(grammar.limits, field.value.field);
  const ordering = readOrdering(grammar, source, skipBlanks(raw, field.end));
  const close = skipBlanks(raw, ordering?.end ?? field.end);
  if (raw[close] !== ")") return undefined;
  const suffix = scanSuffix(raw, close + 1);
  if (isFailure(suffix) || (suffix.end < raw.length && raw[suffix.end] !== ",")) return undefined;
  return {
    value: {
      embed: name.value.text,
      field: field.value.field,
      ...(ordering && { ordering: ordering.value }),
      ...suffix.value,
    },
    end: suffix.end,
    continuations: suffix.continuations,
  };
};

/** The term by which aggregates order groups. @rule P-GRP-4 */
const COUNT = "count()";

const readPlain = (grammar: OrderGrammar, source: LexerInput, start: number): TermToken => {
  if (source.text.startsWith(COUNT, start) && grammar.orderings.has("count")) {
    const suffix = scanSuffix(source.text, start + COUNT.length);
    if (isFailure(suffix)) return throwSyntaxError(source, suffix);
    const value = { field: { name: "count", path: [] }, isCount: true, ...suffix.value } as const;
    return { value, end: suffix.end, continuations: suffix.continuations };
  }
  const { value: scannedField, end } = requireToken(source, scanField(source.text, start));
  checkPathLength(grammar.limits, scannedField.field);
  // Blanks are part of an unquoted name, so this skips only tabs and blanks after a quoted name.
  const at = skipBlanks(source.text, end);
  if (at > end && !",.".includes(source.text[at] ?? ","))
    throwSyntaxError(source, { at: end, expecting: [...scannedField.continuations, DELIMITER, ...TERM_END] });
  const ordering = readOrdering(grammar, source, at);
  const from = ordering?.end ?? at;
  const suffix = scanSuffix(source.text, from);
  if (isFailure(suffix)) return throwSyntaxError(source, suffix);
  const hasSuffix = suffix.end > at;
  return {
    value: { field: scannedField.field, ...(ordering && { ordering: ordering.value }), ...suffix.value },
    end: suffix.end,
    continuations: hasSuffix ? suffix.continuations : [...scannedField.continuations, ...suffix.continuations],
  };
};

/**
 * Parses a declared ordering with its operands: `.distance(1,"(2,3)")`. Returns undefined if no ordering follows. @rule
 * X-ORD-2
 */
const readOrdering = (
  { orderings }: OrderGrammar,
  source: LexerInput,
  at: number,
): ScannedToken<NonNullable<OrderTerm["ordering"]>> | undefined => {
  const { text } = source;
  // A name before a parenthesis, such as `.distance(`.
  const name = /^\.([A-Za-z_]\w*)\(/.exec(text.slice(at))?.[1];
  const [spec] = (name === undefined ? undefined : orderings.get(name)) ?? [];
  if (name === undefined || spec === undefined) return undefined;
  const operands: string[] = [];
  let end = at + name.length + 2;
  for (const [i] of spec.operands.entries()) {
    const operand = requireToken(source, scanOperand(text, end));
    operands.push(operand.value);
    const delimiter = i + 1 < spec.operands.length ? "," : ")";
    if (text[operand.end] !== delimiter) throwSyntaxError(source, { at: operand.end, expecting: [`"${delimiter}"`] });
    end = operand.end + 1;
  }
  if (spec.operands.length > 0) return { value: { name, operands }, end };
  if (text[end] !== ")") throwSyntaxError(source, { at: end, expecting: ['")"'] });
  return { value: { name, operands }, end: end + 1 };
};

/** Scans an operand up to a comma or parenthesis, or in quotes, where a backslash escapes any character. */
const scanOperand = (text: string, at: number): ScannedToken<string> | LexFailure => {
  if (text[at] === '"') {
    const quotedToken = scanQuoted(text, at);
    return isFailure(quotedToken) ? { at: quotedToken.at, expecting: ['"\\""'] } : quotedToken;
  }
  let end = at;
  while (end < text.length && !",()".includes(text.charAt(end))) end++;
  return { value: text.slice(at, end), end };
};

/** Scans a suffix, which may be empty: `.desc.nullslast`, `.nullsfirst`. */
const scanSuffix = (text: string, at: number): SuffixToken | LexFailure => {
  if (text[at] !== ".") return { value: {}, end: at, continuations: [DELIMITER] };
  const word = at + 1;
  const direction = DIRECTIONS.find((keyword) => text.startsWith(keyword, word));
  if (direction === undefined) {
    const nulls = scanNulls(text, word);
    if (nulls !== undefined) return { value: { nulls: nulls.value }, end: nulls.end, continuations: [] };
    return { at: word, expecting: ['"asc"', '"desc"', ...NULLS_LABELS], shownAt: findMismatch(text, word, "asc") };
  }
  const end = word + direction.length;
  if (text[end] !== ".") return { value: { direction }, end, continuations: [DELIMITER] };
  const nulls = scanNulls(text, end + 1);
  if (nulls === undefined)
    return { at: end + 1, expecting: NULLS_LABELS, shownAt: findMismatch(text, end + 1, "nullsfirst") };
  return { value: { direction, nulls: nulls.value }, end: nulls.end, continuations: [] };
};

const scanNulls = (text: string, at: number): ScannedToken<"first" | "last"> | undefined => {
  const match = NULLS.find(([word]) => text.startsWith(word, at));
  return match === undefined ? undefined : { value: match[1], end: at + match[0].length };
};
