/** `?select=id,name&tonnage=gte.500;order=name`: parses the query string. */
import type { Limit } from "../../../core/index.ts";
import { checkPathLength, restLimitExceeded } from "../errors.ts";
import type {
  AddressedPart,
  Condition,
  PluginParameter,
  Grammar,
  LogicTree,
  NodeRange,
  OrderTerm,
  ParsedQuery,
  QueryKind,
} from "../request.ts";
import { parseFilter, parseOptionalOperation } from "./filter.ts";
import { parseNames, parseNodePath, parseTreePath } from "./lex.ts";
import { countConditions, parseLogic } from "./logic.ts";
import { parseOrder } from "./order.ts";
import { decodePart, isReserved, getLastPart, LOGIC, buildNestedHookName } from "./parameters.ts";
import { parseWholeNumber } from "./range.ts";
import { parseSelect } from "./select.ts";

type Pair = readonly [name: string, value: string | undefined];

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
  const checkCount = (limit: Limit, count: number, items: string): void => {
    if (count > grammar.limits[limit]) throw restLimitExceeded(grammar.limits, limit, items);
  };
  checkCount("maxParameters", pairs.length, "parameters");
  const parametersWithValue = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const findFirstValue = (name: string): string | undefined =>
    parametersWithValue.find((pair) => pair[0] === name)?.[1];
  const buildHookName = (name: string): string => (name.includes(".") ? buildNestedHookName(getLastPart(name)) : name);
  const isOfPlugin = ([name]: readonly [string, string]): boolean =>
    (kind === "reads" || (kind === "arguments" && name.includes("."))) &&
    grammar.isPluginParameter(buildHookName(name));
  const pluginParameters = parametersWithValue
    .filter(isOfPlugin)
    .map(([name, text]): AddressedPart<PluginParameter> => ({
      path: parseNodePath(name),
      part: { hook: buildHookName(name), name: getLastPart(name), text },
    }));
  const unreservedParameters = parametersWithValue.filter((pair) => !isReserved(pair[0]) && !isOfPlugin(pair));

  const orders: AddressedPart<readonly OrderTerm[]>[] = [];
  for (const [name, value] of parametersWithValue)
    if (getLastPart(name) === "order") orders.push(parseOrder(grammar, name, value));
  for (const { part } of orders) checkCount("maxOrderTerms", part.length, "terms in an order");
  const logic: AddressedPart<LogicTree>[] = [];
  for (const [name, value] of parametersWithValue)
    if (LOGIC.has(getLastPart(name))) logic.push(parseLogic(grammar, name, value));
  const columns = parseNameList(findFirstValue("columns"), "columns parameter");
  checkCount("maxColumns", columns?.length ?? 0, "columns");
  const selectText = findFirstValue("select");
  const select = selectText === undefined ? undefined : parseSelect(grammar, selectText);
  const { filters, argumentPairs } =
    kind !== "arguments"
      ? { filters: unreservedParameters.map(([name, value]) => parseFilter(grammar, name, value)), argumentPairs: [] }
      : parseArguments(grammar, unreservedParameters);
  checkCount(
    "maxFilters",
    logic.reduce((count, { part }) => count + countConditions(part), filters.length + pluginParameters.length),
    "conditions",
  );
  const onConflict = parseNameList(findFirstValue("on_conflict"), "on_conflict parameter");
  const { range, ranges } = parseRanges(parametersWithValue);
  return {
    pairs,
    select,
    filters,
    pluginParameters,
    logic,
    orders: keepFirstOrders(orders),
    ranges,
    range,
    columns,
    onConflict,
    argumentPairs,
  };
};

const parseNameList = (raw: string | undefined, name: string): readonly string[] | undefined =>
  raw === undefined ? undefined : parseNames(raw, name);

/** Separates the arguments of a function from filters on its rows. @rule R-RPC-2 */
const parseArguments = (
  grammar: Grammar,
  free: readonly (readonly [string, string])[],
): Pick<ParsedQuery, "filters" | "argumentPairs"> => {
  const filters: AddressedPart<Condition>[] = [];
  const parameters: (readonly [string, string])[] = [];
  for (const [name, value] of free) {
    const operation = parseOptionalOperation(grammar, value);
    if (operation === undefined) {
      parameters.push([name, value]);
      continue;
    }
    const { names, field } = parseTreePath(name);
    checkPathLength(grammar.limits, field);
    filters.push({ path: names, part: { field, ...operation } });
  }
  return { filters, argumentPairs: parameters };
};

/** Keeps the first of several orders of one node. @rule R-URL-2 */
const keepFirstOrders = (
  orders: readonly AddressedPart<readonly OrderTerm[]>[],
): readonly AddressedPart<readonly OrderTerm[]>[] => {
  const seenPaths = new Set<string>();
  return orders.filter(({ path }) => {
    const key = path.join("\u0000");
    return !seenPaths.has(key) && seenPaths.add(key);
  });
};

/** Keeps the last whole number of several limits or offsets of one node. @rule R-URL-2 R-RNG-1 */
const parseRanges = (present: readonly (readonly [string, string])[]): Pick<ParsedQuery, "range" | "ranges"> => {
  let range: NodeRange = {};
  const ranges = new Map<string, AddressedPart<NodeRange>>();
  for (const [name, value] of present) {
    const part = getLastPart(name);
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
