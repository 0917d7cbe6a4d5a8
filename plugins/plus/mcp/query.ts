/** Builds the REST requests of tools: names are quoted, and each value has its own parameter. */
import { quoteRestValue } from "../../rest/api.ts";
import { findColumn, isJsonObject, RelApiError, type Json, type Relation } from "../../../core/index.ts";

const ARGUMENTS = "mcp-arguments";

/** Returns the error for invalid tool arguments, which the model sees. */
export const toolArgumentsInvalid = (message: string): RelApiError =>
  new RelApiError({ code: ARGUMENTS, status: 400, message });

export const isArgumentsError = (error: unknown): error is RelApiError =>
  error instanceof RelApiError && error.code === ARGUMENTS;

export type Arguments = Readonly<Record<string, unknown>>;

export const OPERATORS = [
  "eq",
  "neq",
  "gt",
  "gte",
  "lt",
  "lte",
  "like",
  "ilike",
  "match",
  "imatch",
  "in",
  "is",
  "isdistinct",
  "cs",
  "cd",
  "ov",
  "fts",
  "plfts",
  "phfts",
  "wfts",
] as const;

const encodeOperandText = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

export const readTextArgument = (args: Arguments, key: string): string | undefined => {
  const value = args[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw toolArgumentsInvalid(`"${key}" is a string`);
  return value;
};

export const readNumberArgument = (args: Arguments, key: string): number | undefined => {
  const value = args[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw toolArgumentsInvalid(`"${key}" is a whole number from 0 on`);
  return value;
};

export const readListArgument = (args: Arguments, key: string): readonly unknown[] => {
  const value = args[key] ?? [];
  if (!Array.isArray(value)) throw toolArgumentsInvalid(`"${key}" is a list`);
  return value;
};

export const readObjectArgument = (args: Arguments, key: string): Arguments => {
  const value = args[key];
  if (!isJsonObject(value)) throw toolArgumentsInvalid(`"${key}" is an object`);
  return value;
};

/**
 * Quotes the names in a key such as `price`, `artist.name` or `stats->>genre`, so that none is taken for a reserved
 * word.
 */
const quoteColumnKey = (relation: Relation, column: string): string => {
  if (findColumn(relation, column) !== undefined) return quoteRestValue(column);
  const [, names = column, path = ""] = /^([^>]*?)(->.*)?$/s.exec(column) ?? [];
  if (path.includes("."))
    throw toolArgumentsInvalid(`"${column}" is not a column: a path into JSON cannot contain a dot here`);
  return names.split(".").map(quoteRestValue).join(".") + path;
};

const MAX_FILTERS = 50;
const MAX_LIST = 1000;

const encodeOperand = (operator: string, value: unknown): string => {
  if (operator === "in") {
    if (!Array.isArray(value) || value.length > MAX_LIST)
      throw toolArgumentsInvalid(`the value of "in" is a list of up to ${MAX_LIST}`);
    return `in.(${value.map((element) => quoteRestValue(encodeOperandText(element))).join(",")})`;
  }
  if ((operator === "eq" || operator === "is") && value === null) return "is.null";
  // Overlaps and similar operators expect array literals.
  if (Array.isArray(value))
    return `${operator}.{${value.map((element) => quoteRestValue(encodeOperandText(element))).join(",")}}`;
  return `${operator}.${encodeOperandText(value)}`;
};

/** Adds the filters of a tool: `[{ column, operator, value, not }]`. @returns how many there are */
export const addFilters = (query: URLSearchParams, relation: Relation, args: Arguments): number => {
  const filters = readListArgument(args, "filters");
  if (filters.length > MAX_FILTERS) throw toolArgumentsInvalid(`more than ${MAX_FILTERS} filters`);
  for (const filter of filters) {
    if (!isJsonObject(filter)) throw toolArgumentsInvalid("a filter is an object: {column, operator, value}");
    const column = readTextArgument(filter, "column");
    const operator = readTextArgument(filter, "operator") ?? "eq";
    if (column === undefined || column === "") throw toolArgumentsInvalid("a filter names a column");
    if (!OPERATORS.some((knownOperator) => knownOperator === operator))
      throw toolArgumentsInvalid(`"${operator}" is not an operator`);
    query.append(
      quoteColumnKey(relation, column),
      `${filter["not"] === true ? "not." : ""}${encodeOperand(operator, filter["value"] ?? null)}`,
    );
  }
  return filters.length;
};

/** Adds a search for rows that contain the text in one of the columns. */
export const addSearch = (query: URLSearchParams, columns: readonly string[], text: string): void => {
  const pattern = quoteRestValue(`*${text.replace(/[\\%_]/g, "\\$&")}*`);
  query.append("or", `(${columns.map((column) => `${quoteRestValue(column)}.ilike.${pattern}`).join(",")})`);
};

const AGGREGATES = ["count", "sum", "avg", "min", "max"];

/** Returns the `select` of an aggregate: `region,price.sum()`. */
export const buildAggregateSelect = (args: Arguments): string => {
  const groups = readListArgument(args, "group_by").map((column) => {
    if (typeof column !== "string") throw toolArgumentsInvalid('"group_by" is a list of columns');
    return quoteRestValue(column);
  });
  const aggregates = readListArgument(args, "aggregates").map((aggregate) => {
    const { function: name, column } = isJsonObject(aggregate) ? aggregate : {};
    if (typeof name !== "string" || !AGGREGATES.includes(name))
      throw toolArgumentsInvalid(`an aggregate has a function: ${AGGREGATES.join(", ")}`);
    if (column === undefined || column === null) {
      if (name !== "count") throw toolArgumentsInvalid(`"${name}" takes a column`);
      return "count()";
    }
    if (typeof column !== "string") throw toolArgumentsInvalid("a column is a string");
    return `${quoteRestValue(`${name}_${column}`)}:${quoteRestValue(column)}.${name}()`;
  });
  if (aggregates.length === 0) throw toolArgumentsInvalid('"aggregates" is a list of at least one');
  return [...groups, ...aggregates].join(",");
};

/** Returns the rows to write, each of them an object. */
export const readRows = (args: Arguments, key: string, maxRows: number): Json => {
  const rows = readListArgument(args, key);
  if (rows.length === 0 || rows.length > maxRows)
    throw toolArgumentsInvalid(`"${key}" is a list of 1 to ${maxRows} rows`);
  if (!rows.every(isJsonObject)) throw toolArgumentsInvalid("a row is an object");
  return rows as unknown as Json; // the arguments were parsed from JSON
};
