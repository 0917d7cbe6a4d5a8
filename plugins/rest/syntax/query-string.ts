/** `?select=id,name&tonnage=gte.500;order=name`: parses the query string. */
import type { Limit } from "../../../core/index.ts";
import { checkPath, tooMany } from "../errors.ts";
import type {
  AddressedPart,
  Condition,
  Extension,
  Grammar,
  LogicTree,
  NodeRange,
  OrderTerm,
  ParsedQuery,
  QueryKind,
} from "../request.ts";
import { parseFilter, parseOptionalOperation } from "./filter.ts";
import { parseNames, parseTreePath } from "./lex.ts";
import { countConditions, parseLogic } from "./logic.ts";
import { parseOrder } from "./order.ts";
import { decodePart, isReserved, lastPart, LOGIC, nestedHook } from "./parameters.ts";
import { parseWholeNumber } from "./range.ts";
import { parseSelect } from "./select.ts";
import { parseNodePath } from "./tree-path.ts";

export type Pair = readonly [name: string, value: string | undefined];

/**
 * Splits a query string into pairs, in URL order, decoded once. `text` is the undecoded part after `?`; `&` and `;`
 * both separate. @rule R-URL-1 R-URL-2
 */
const splitQuery = (text: string): readonly Pair[] => {
  const pairs: Pair[] = [];
  for (const part of text.split(/[&;]/)) {
    if (part === "") continue;
    const at = part.indexOf("=");
    pairs.push(
      at === -1 ? [decodePart(part), undefined] : [decodePart(part.slice(0, at)), decodePart(part.slice(at + 1))],
    );
  }
  return pairs;
};

/**
 * Parses the whole query string. Its parts are checked in the order of R-PIPE-1 step 7. @throws RelApiError
 * `parse-error` @rule R-URL-2 R-URL-3
 */
export const parseQuery = (grammar: Grammar, text: string | undefined, kind: QueryKind): ParsedQuery => {
  const pairs = text === undefined ? [] : splitQuery(text);
  const checkCount = (limit: Limit, count: number, what: string): void => {
    if (count > grammar.limits[limit]) throw tooMany(grammar.limits, limit, what);
  };
  checkCount("maxParameters", pairs.length, "parameters");
  const present = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const firstValue = (name: string): string | undefined => present.find((pair) => pair[0] === name)?.[1];
  const isNested = ([name]: readonly [string, string]): boolean =>
    kind !== "filters" && name.includes(".") && grammar.extensions(nestedHook(lastPart(name)));
  const isOfRoot = ([name]: readonly [string, string]): boolean => kind === "reads" && grammar.extensions(name);
  const isExtension = (pair: readonly [string, string]): boolean => isOfRoot(pair) || isNested(pair);
  const extensions = present.filter(isOfRoot).map(([name, text]): Extension => ({ hook: name, name, text }));
  const nestedExtensions = present.filter(isNested).map(([name, text]): AddressedPart<Extension> => {
    const last = lastPart(name);
    return { path: parseNodePath(name), part: { hook: nestedHook(last), name: last, text } };
  });
  const free = present.filter((pair) => !isReserved(pair[0]) && !isExtension(pair));

  const orders: AddressedPart<readonly OrderTerm[]>[] = [];
  for (const [name, value] of present) if (lastPart(name) === "order") orders.push(parseOrder(grammar, name, value));
  for (const { part } of orders) checkCount("maxOrderTerms", part.length, "terms in an order");
  const logic: AddressedPart<LogicTree>[] = [];
  for (const [name, value] of present) if (LOGIC.has(lastPart(name))) logic.push(parseLogic(grammar, name, value));
  const columns = parseNameList(firstValue("columns"), "columns parameter");
  checkCount("maxColumns", columns?.length ?? 0, "columns");
  const selected = firstValue("select");
  const select = selected === undefined ? undefined : parseSelect(grammar, selected);
  const { filters, parameters } =
    kind !== "arguments"
      ? { filters: free.map(([name, value]) => parseFilter(grammar, name, value)), parameters: [] }
      : parseArguments(grammar, free);
  checkCount(
    "maxFilters",
    logic.reduce(
      (count, { part }) => count + countConditions(part),
      filters.length + extensions.length + nestedExtensions.length,
    ),
    "conditions",
  );
  const onConflict = parseNameList(firstValue("on_conflict"), "on_conflict parameter");
  const { range, ranges } = parseRanges(present);
  return {
    pairs,
    select,
    filters,
    extensions,
    nestedExtensions,
    logic,
    orders: firstOfEach(orders),
    ranges,
    range,
    columns,
    onConflict,
    parameters,
  };
};

const parseNameList = (raw: string | undefined, what: string): readonly string[] | undefined =>
  raw === undefined ? undefined : parseNames(raw, what);

/** @rule R-RPC-2 */
const parseArguments = (
  grammar: Grammar,
  free: readonly (readonly [string, string])[],
): Pick<ParsedQuery, "filters" | "parameters"> => {
  const filters: AddressedPart<Condition>[] = [];
  const parameters: (readonly [string, string])[] = [];
  for (const [name, value] of free) {
    const operation = parseOptionalOperation(grammar, value);
    if (operation === undefined) {
      parameters.push([name, value]);
      continue;
    }
    const { names, field } = parseTreePath(name);
    checkPath(grammar.limits, field);
    filters.push({ path: names, part: { field, ...operation } });
  }
  return { filters, parameters };
};

/** Keeps the first of several orders of one node. @rule R-URL-2 */
const firstOfEach = (
  orders: readonly AddressedPart<readonly OrderTerm[]>[],
): readonly AddressedPart<readonly OrderTerm[]>[] => {
  const seen = new Set<string>();
  return orders.filter(({ path }) => {
    const key = path.join("\u0000");
    return !seen.has(key) && seen.add(key);
  });
};

/** Keeps the last whole number of several limits or offsets of one node. @rule R-URL-2 R-RNG-1 */
const parseRanges = (present: readonly (readonly [string, string])[]): Pick<ParsedQuery, "range" | "ranges"> => {
  let range: NodeRange = {};
  const ranges = new Map<string, AddressedPart<NodeRange>>();
  for (const [name, value] of present) {
    const part = lastPart(name);
    if (part !== "limit" && part !== "offset") continue;
    const path = parseNodePath(name);
    const number = parseWholeNumber(value);
    if (number === undefined) continue;
    if (path.length === 0) range = { ...range, [part]: number };
    else {
      const key = path.join("\u0000");
      ranges.set(key, { path, part: { ...ranges.get(key)?.part, [part]: number } });
    }
  }
  return { range, ranges: [...ranges.values()] };
};
