/**
 * `select=id,called:name,tonnage::text,home:ports!inner(name,...countries(code)),voyages(fare.sum())`: parses the items
 * of a row.
 */
import type { RequestLimits } from "../../../core/index.ts";
import { checkPathLength, nestingTooDeep, restLimitExceeded } from "../errors.ts";
import type { Grammar, SelectEmbed, SelectItem } from "../request.ts";
import {
  END,
  throwSyntaxError,
  isFailure,
  isNameCharacter,
  findMismatch,
  NAME,
  requireToken,
  scanField,
  scanName,
  scanType,
  skipBlanks,
  type LexFailure,
  type LexerInput,
  type ScannedToken,
} from "./lex.ts";

const LIST_END = ['")"', '","', END];
/** The expected tokens of an item after a blank that begins its list, for messages. */
const FIELD_ITEM = ['"*"', NAME, '"count()"'];
const AFTER_ALIAS = ['":"', NAME];

/** Returns whether `select` is the default, written or implied. @rule R-MED-5 */
export const isWholeRow = (select: readonly SelectItem[] | undefined): boolean =>
  select === undefined || (select.length === 1 && select[0]?.kind === "all");

interface ItemToken extends ScannedToken<SelectItem> {
  /** The tokens that could continue the item. */
  readonly continuations: readonly string[];
}

interface SelectReader {
  readonly source: LexerInput;
  readonly embeds: Grammar["embeds"];
  /** The REST names of the aggregate functions. */
  readonly aggregates: readonly string[];
  /** The expected tokens of an item, for messages. */
  readonly expectedItem: readonly string[];
  readonly limits: RequestLimits;
  /** The numbers of fields and embeds parsed so far. */
  readonly counts: { fields: number; embeds: number };
}

/**
 * Parses the items of a `select`. Returns undefined if the text has no items. @throws RelApiError `parse-error` @rule
 * R-SEL-1 R-LEX-13
 */
export const parseSelect = (grammar: Grammar, raw: string): readonly SelectItem[] | undefined => {
  const prefixes = grammar.embeds.filter(({ prefix }) => prefix !== "").map(({ prefix }) => `"${prefix}"`);
  const reader: SelectReader = {
    source: { text: raw, name: "select parameter", raw },
    embeds: grammar.embeds,
    aggregates: [...grammar.aggregates.keys()],
    expectedItem: [...prefixes, NAME, '"*"', '"count()"'],
    limits: grammar.limits,
    counts: { fields: 0, embeds: 0 },
  };
  if (!beginsWithItem(reader)) return undefined;
  const items: SelectItem[] = [];
  for (let at = 0; ; at++) {
    const start = skipBlanks(raw, at);
    const item = readItem(reader, start, at === 0 && start > 0 ? FIELD_ITEM : reader.expectedItem, 0);
    items.push(item.value);
    at = item.end;
    if (item.value.kind === "embed") at = skipBlanksAfterEmbed(reader, at);
    // An unopened `)` and any text directly after a closed embed end the list.
    if (raw[at] !== ",") return items;
  }
};

/** Returns whether the value is parsed. A value whose first character cannot begin an item counts as empty, but a value
 *  that begins with a blank is parsed. @rule R-LEX-13 */
const beginsWithItem = (reader: SelectReader): boolean => {
  const { text } = reader.source;
  const [first] = text;
  if (first === undefined) return false;
  if (first === " " || first === "\t" || first === '"') return true;
  if (first === "*") return endsItem(text, skipBlanks(text, 1));
  const prefix = findPrefix(reader, 0);
  if (prefix !== undefined) return !isFailure(scanHead(text, prefix.prefix.length));
  // The preset lacks the embedding mode of this syntax.
  if (text.startsWith("...") && !reader.expectedItem.includes('"..."'))
    throwSyntaxError(reader.source, { at: 0, expecting: reader.expectedItem });
  return isNameCharacter(text, 0);
};

const endsItem = (text: string, at: number): boolean => at >= text.length || text[at] === "," || text[at] === ")";

const findPrefix = (reader: SelectReader, at: number): Grammar["embeds"][number] | undefined =>
  reader.embeds.find(({ prefix }) => prefix !== "" && reader.source.text.startsWith(prefix, at));

/** Skips blanks after the `)` of an embed, where only a comma may follow. @rule R-LEX-9 */
const skipBlanksAfterEmbed = (reader: SelectReader, end: number): number => {
  const at = skipBlanks(reader.source.text, end);
  if (at > end && reader.source.text[at] !== ",") throwSyntaxError(reader.source, { at, expecting: ['","'] });
  return at;
};

const readItem = (reader: SelectReader, at: number, expectedTokens: readonly string[], depth: number): ItemToken => {
  const { text } = reader.source;
  const prefix = findPrefix(reader, at);
  if (prefix !== undefined) {
    const head = scanHead(text, at + prefix.prefix.length);
    // After a space that begins a list, only a field is reported.
    if (isFailure(head))
      return throwSyntaxError(reader.source, expectedTokens === FIELD_ITEM ? { at, expecting: expectedTokens } : head);
    return readEmbed(reader, prefix.mode, undefined, head, depth);
  }
  const alias = reader.embeds.some(({ takesAlias }) => takesAlias) ? scanAlias(text, at) : undefined;
  const aliasedPrefix = alias && findPrefix(reader, alias.end);
  if (alias !== undefined && aliasedPrefix?.takesAlias === true) {
    const head = requireToken(reader.source, scanHead(text, alias.end + aliasedPrefix.prefix.length));
    return readEmbed(reader, aliasedPrefix.mode, alias.value, head, depth);
  }
  const embed = readPlainEmbed(reader, at, depth);
  if (embed !== undefined) return embed;
  if (++reader.counts.fields > reader.limits.maxSelectFields)
    throw restLimitExceeded(reader.limits, "maxSelectFields", "selected fields");
  return readField(reader, at, expectedTokens);
};

type ItemHead = Pick<SelectEmbed, "name" | "hint" | "join">;

/**
 * Scans `name!hint!inner(` and returns the position after the parenthesis. The first of two hints or two joins applies.
 * @rule R-SEL-10
 */
const scanHead = (text: string, start: number): ScannedToken<ItemHead> | LexFailure => {
  const name = scanName(text, start);
  if (isFailure(name)) return name;
  let at = name.end;
  let hint: string | undefined;
  let join: "left" | "inner" | undefined;
  let { continuations } = name.value;
  let count = 0;
  for (; count < 2 && text[at] === "!"; count++) {
    // A hint that begins like a join must be quoted (R-SEL-10).
    const word = text.startsWith("left", at + 1) ? "left" : text.startsWith("inner", at + 1) ? "inner" : undefined;
    if (word !== undefined) {
      join ??= word;
      at += 1 + word.length;
      continuations = [];
      continue;
    }
    const nameToken = scanName(text, at + 1);
    if (isFailure(nameToken)) return nameToken;
    hint ??= nameToken.value.text;
    at = nameToken.end;
    ({ continuations } = nameToken.value);
  }
  if (text[at] !== "(") return { at, expecting: [...continuations, ...(count < 2 ? ['"!"'] : []), '"("'] };
  return { value: { name: name.value.text, hint, join }, end: at + 1 };
};

/** Scans `alias:name!hint(…)`. Returns undefined if the item is a field. */
const readPlainEmbed = (reader: SelectReader, at: number, depth: number): ItemToken | undefined => {
  const { text } = reader.source;
  const plain = reader.embeds.find(({ prefix }) => prefix === "");
  if (plain === undefined) return undefined;
  const alias = scanAlias(text, at);
  const head = scanHead(text, alias?.end ?? at);
  // The text `count(` does not begin an embed (`count()` counts rows).
  if (isFailure(head) || head.value.name === "count") return undefined;
  return readEmbed(reader, plain.mode, alias?.value, head, depth);
};

const scanAlias = (text: string, at: number): ScannedToken<string> | undefined => {
  const name = scanName(text, at);
  if (isFailure(name) || text[name.end] !== ":" || text[name.end + 1] === ":") return undefined;
  return { value: name.value.text, end: skipBlanks(text, name.end + 1) };
};

const readEmbed = (
  reader: SelectReader,
  mode: string,
  alias: string | undefined,
  head: ScannedToken<ItemHead>,
  depth: number,
): ItemToken => {
  const { source, limits, counts } = reader;
  if (depth >= limits.maxRelationDepth) throw nestingTooDeep(limits, "maxRelationDepth", "embeds");
  if (++counts.embeds > limits.maxEmbeds) throw restLimitExceeded(limits, "maxEmbeds", "embeds");
  const { name, hint, join } = head.value;
  const finish = (items: readonly SelectItem[], end: number): ItemToken => ({
    value: { kind: "embed", mode, name, alias, hint, join, items },
    end,
    continuations: [],
  });
  let at = skipBlanks(source.text, head.end);
  if (source.text[at] === ")") return finish([], at + 1);
  const items: SelectItem[] = [];
  for (
    let expectedTokens: readonly string[] = at > head.end ? FIELD_ITEM : [...reader.expectedItem, '")"'];
    ;
    expectedTokens = reader.expectedItem
  ) {
    const item = readItem(reader, at, expectedTokens, depth + 1);
    items.push(item.value);
    at = item.value.kind === "embed" ? skipBlanksAfterEmbed(reader, item.end) : item.end;
    if (source.text[at] === ")") return finish(items, at + 1);
    // A field checks the `,`, `)` or end after it, and needs the expected tokens of the first one.
    if (source.text[at] !== ",")
      throwSyntaxError(source, {
        at,
        expecting:
          item.value.kind === "embed" || items.length > 1 ? ['","', '")"'] : [...item.continuations, ...LIST_END],
      });
    at = skipBlanks(source.text, at + 1);
  }
};

const readField = (reader: SelectReader, start: number, expectedTokens: readonly string[]): ItemToken => {
  const { source } = reader;
  const { text } = source;
  if (text[start] === "*") return finishItem(reader, { kind: "all" }, start + 1, []);
  if (!beginsName(text, start))
    throwSyntaxError(source, {
      at: start,
      expecting: expectedTokens,
      shownAt: text[start - 1] === "(" ? findShownPosition(reader, start) : start,
    });
  const alias = scanAlias(text, start);
  const at = alias?.end ?? start;
  if (!beginsName(text, at)) throwSyntaxError(source, { at, expecting: AFTER_ALIAS });
  const count =
    reader.aggregates.includes("count") && text.startsWith("count()", at)
      ? scanCount(text, at + 7, alias?.value)
      : undefined;
  if (count !== undefined) return count;
  const { value: scannedField, end } = requireToken(source, scanField(text, at));
  checkPathLength(reader.limits, scannedField.field);
  const cast = readCast(reader, end);
  const aggregate = readAggregate(reader, cast?.end ?? end);
  const outer = readCast(reader, aggregate?.end ?? cast?.end ?? end);
  const item: SelectItem = {
    kind: "field",
    field: scannedField.field,
    alias: alias?.value,
    cast: cast?.value,
    aggregate: aggregate?.value,
    aggregateCast: outer?.value,
  };
  const expectedNext =
    outer !== undefined
      ? TYPE_CONTINUATIONS
      : aggregate !== undefined
        ? ['"::"']
        : cast !== undefined
          ? [...TYPE_CONTINUATIONS, '"."', '"::"']
          : [...scannedField.continuations, '"::"', '"."'];
  return finishItem(reader, item, outer?.end ?? aggregate?.end ?? cast?.end ?? end, expectedNext);
};

const TYPE_CONTINUATIONS = ["letter", "digit"];

/**
 * Returns the position that messages show for `ports(..x)`: directly after the parenthesis, where the text leaves the
 * prefix of an embedding mode. @rule R-LEX-12
 */
const findShownPosition = (reader: SelectReader, at: number): number => {
  const prefix = reader.embeds.find((embed) => embed.prefix !== "")?.prefix;
  return prefix === undefined ? at : findMismatch(reader.source.text, at, prefix);
};

const beginsName = (text: string, at: number): boolean => text[at] === '"' || isNameCharacter(text, at);

/**
 * Scans the rest of `count()` as a whole. If that fails, `count` is a field and the error is at its `(`. @rule R-LEX-12
 */
const scanCount = (text: string, end: number, alias: string | undefined): ItemToken | undefined => {
  const cast = text.startsWith("::", end) ? scanType(text, end + 2) : undefined;
  if (cast !== undefined && isFailure(cast)) return undefined;
  const close = skipBlanks(text, cast?.end ?? end);
  const continuations = cast === undefined ? ['"::"'] : TYPE_CONTINUATIONS;
  return endsItem(text, close)
    ? { value: { kind: "count", alias, cast: cast?.value }, end: close, continuations }
    : undefined;
};

/** Reads a cast, which may be missing. @rule R-SEL-4 */
const readCast = (reader: SelectReader, at: number): ScannedToken<string> | undefined =>
  reader.source.text.startsWith("::", at)
    ? requireToken(reader.source, scanType(reader.source.text, at + 2))
    : undefined;

/** Reads the name of an aggregate function, which may be missing. @rule R-AGG-1 R-LEX-12 X-AGG-2 */
const readAggregate = (reader: SelectReader, at: number): ScannedToken<string> | undefined => {
  const { text } = reader.source;
  if (text[at] !== ".") return undefined;
  const word = at + 1;
  const name = findLongest(reader.aggregates.filter((aggregate) => text.startsWith(aggregate, word)));
  if (name === undefined) {
    // A first letter that only one aggregate function has decides for that function.
    const [firstName, ...otherNames] = reader.aggregates.filter((aggregate) => aggregate[0] === text[word]);
    const candidates = firstName === undefined || otherNames.length > 0 ? reader.aggregates : [firstName];
    return throwSyntaxError(reader.source, {
      at: word,
      expecting: candidates.map((aggregate) => `"${aggregate}"`),
      shownAt: findMismatch(text, word, candidates[0] ?? ""),
    });
  }
  const end = word + name.length;
  if (!text.startsWith("()", end))
    throwSyntaxError(reader.source, { at: end, expecting: ['"()"'], shownAt: findMismatch(text, end, "()") });
  return { value: name, end: end + 2 };
};

const findLongest = (names: readonly string[]): string | undefined =>
  names.reduce<string | undefined>((best, name) => (name.length > (best?.length ?? 0) ? name : best), undefined);

const finishItem = (
  reader: SelectReader,
  value: SelectItem,
  at: number,
  continuations: readonly string[],
): ItemToken => {
  const { source } = reader;
  const end = skipBlanks(source.text, at);
  if (endsItem(source.text, end)) return { value, end, continuations };
  if (source.text[at] === ":" && continuations.includes('"::"'))
    return throwSyntaxError(source, { at, expecting: ['"::"'], shownAt: at + 1 });
  return throwSyntaxError(source, { at, expecting: [...continuations, ...LIST_END] });
};
