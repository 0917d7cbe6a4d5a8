/**
 * The tools: their arguments, the callers that may use them, and the requests that they make. No description contains
 * text from the database. @rule P-MCP-2 … P-MCP-6
 */
import {
  CallError,
  isJsonObject,
  buildSuggestion,
  getNumberText,
  parseJson,
  writeJson,
  type Exchange,
  type Json,
  type PluginContext,
  type Relation,
  type TableOperation,
} from "../../../core/index.ts";
import { quoteRestValue, restGuideService } from "../../rest/api.ts";
import {
  estimateEmptyResultBytes,
  buildDataResult,
  buildErrorResult,
  formatMoreRowsNotice,
  buildTooLargeResult,
  limitResultBytes,
  type ToolResult,
} from "./results.ts";
import {
  addFilters,
  addSearch,
  buildAggregateSelect,
  isArgumentsError,
  readListArgument,
  readNumberArgument,
  readObjectArgument,
  OPERATORS,
  readRows,
  readTextArgument,
  toolArgumentsInvalid,
  type Arguments,
} from "./query.ts";
import {
  describeTable,
  listVisible,
  mayWrite,
  listOperations,
  listReadableColumns,
  listTextColumns,
  type VisibleSchema,
} from "./schema.ts";
import { expandSelect } from "./select.ts";

/** The context in which a tool runs. */
export interface ToolCaller {
  readonly context: PluginContext;
  /** The request that calls the tool. */
  readonly exchange: Exchange;
  readonly schema: VisibleSchema;
  readonly signal: AbortSignal;
}

interface Tool {
  readonly name: string;
  readonly description: string;
  /** The JSON schemas of the arguments, and the names of the required ones. */
  readonly argumentSchemas: Readonly<Record<string, object>>;
  readonly requiredArguments: readonly string[];
  readonly writeOperation?: TableOperation | "call";
  isAvailableTo(caller: ToolCaller): boolean;
  run(args: Arguments, caller: ToolCaller): Promise<ToolResult> | ToolResult;
}

const SECOND_MS = 1000;

/** Converts a number to a string if parsing it would lose digits. */
const toPlainJson = (value: Json): unknown => {
  if (Array.isArray(value)) return value.map(toPlainJson);
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, toPlainJson(part)]));
  return typeof value === "object" ? (getNumberText(value) ?? null) : value;
};

interface ToolRequest {
  readonly method: string;
  readonly target: { readonly schema: string; readonly path: string };
  readonly query?: URLSearchParams;
  readonly body?: Json;
  readonly prefer?: string;
  /**
   * The part of a list to return: `limit` rows from `offset`. The request asks for one more row to find out whether
   * rows remain.
   */
  readonly page?: { readonly limit: number; readonly offset: number };
}

/** Runs a request on behalf of the caller through the REST surface, with all policies, permissions and limits. */
const sendRequest = async (caller: ToolCaller, request: ToolRequest): Promise<ToolResult> => {
  const { mcpMaxBytes, mcpTimeout } = caller.context.options;
  const timeout = AbortSignal.timeout(mcpTimeout * SECOND_MS);
  try {
    const text = await fetchBody(caller, request, timeout);
    const bytes = Buffer.byteLength(text);
    if (bytes > mcpMaxBytes) return buildTooLargeResult(bytes, mcpMaxBytes);
    if (text === "") return buildDataResult("null", { value: null });
    const body = parseJson(text);
    if (!Array.isArray(body)) return buildDataResult(text, { value: toPlainJson(body) });
    const rows = body.slice(0, request.page?.limit);
    const isCut = rows.length < body.length || (await hasMore(caller, request, rows.length, timeout));
    const next = (request.page?.offset ?? 0) + rows.length;
    return buildDataResult(
      rows.length < body.length ? writeJson(rows) : text,
      {
        rows: rows.map(toPlainJson),
        row_count: rows.length,
        ...(request.page === undefined ? {} : { has_more: isCut }),
        ...(isCut ? { next_offset: next } : {}),
      },
      isCut ? formatMoreRowsNotice(next) : undefined,
    );
  } catch (error) {
    if (timeout.aborted)
      return buildErrorResult(
        `The request took longer than ${mcpTimeout} ${mcpTimeout === 1 ? "second" : "seconds"}. Ask for less.`,
      );
    if (error instanceof CallError)
      return buildErrorResult(`The request was rejected with status ${error.status}:`, error.body);
    throw error;
  }
};

/** Returns whether rows remain, which a row limit of the server or of the role may have cut off too. */
const hasMore = async (
  caller: ToolCaller,
  request: ToolRequest,
  count: number,
  timeout: AbortSignal,
): Promise<boolean> => {
  const { page, method, query } = request;
  if (page === undefined || method !== "GET" || count === 0 || count > page.limit) return false;
  const next = new URLSearchParams(query);
  next.set("limit", "1");
  next.set("offset", String(page.offset + count));
  return (await fetchBody(caller, { ...request, query: next }, timeout)).trim() !== "[]";
};

/** Returns the body of the response. @throws CallError */
const fetchBody = async (
  { context, exchange, signal }: ToolCaller,
  request: ToolRequest,
  timeout: AbortSignal,
): Promise<string> => {
  const { method, target, query, body, prefer } = request;
  const root = context.use(restGuideService)?.roots()[0] ?? "";
  const answer = await context.call({
    method,
    path: `${root}${target.path}${query === undefined || query.size === 0 ? "" : `?${query}`}`,
    headers: {
      accept: "application/json",
      "accept-profile": target.schema,
      ...(method === "GET" ? {} : { "content-profile": target.schema }),
      ...(prefer === undefined ? {} : { prefer }),
    },
    ...(body === undefined ? {} : { body }),
    session: exchange.session,
    parent: exchange,
    signal: AbortSignal.any([signal, timeout]),
  });
  return typeof answer.body === "string" ? answer.body : Buffer.from(answer.body).toString("utf8");
};

const readTable = (args: Arguments, { schema }: ToolCaller): Relation => {
  const name = readTextArgument(args, "table") ?? "";
  const relation = schema.tables.get(name);
  if (relation === undefined)
    throw toolArgumentsInvalid("there is no such table for this role: list_tables names them");
  return relation;
};

const buildTarget = ({ schema, name }: Relation): ToolRequest["target"] => ({
  schema,
  path: `/${encodeURIComponent(name)}`,
});

/** Adds the order, the limit and the offset of the arguments to a query string. @returns the requested page */
const addWindow = (
  query: URLSearchParams,
  args: Arguments,
  { context: { options } }: ToolCaller,
): NonNullable<ToolRequest["page"]> => {
  const order = readTextArgument(args, "order");
  if (order !== undefined && order !== "") query.set("order", order);
  const limit = Math.min(readNumberArgument(args, "limit") ?? options.mcpMaxRows, options.mcpMaxRows);
  const offset = readNumberArgument(args, "offset") ?? 0;
  query.set("limit", String(limit + 1));
  if (offset > 0) query.set("offset", String(offset));
  return { limit, offset };
};

/** Adds `select` to a query string, without columns that the caller may not read. @rule P-MCP-8 */
const addSelect = (query: URLSearchParams, args: Arguments, { schema }: ToolCaller, relation: Relation): void => {
  const selectText = readTextArgument(args, "select") ?? "";
  const select = expandSelect(schema, relation, selectText === "" ? "*" : selectText);
  if (select !== "*") query.set("select", select);
};

/** Sends a read of a table, to whose query string `addConditions` adds filters. */
const sendRead = (
  args: Arguments,
  caller: ToolCaller,
  relation: Relation,
  addConditions: (query: URLSearchParams) => void,
): Promise<ToolResult> => {
  const query = new URLSearchParams();
  addSelect(query, args, caller, relation);
  addConditions(query);
  const page = addWindow(query, args, caller);
  return sendRequest(caller, { method: "GET", target: buildTarget(relation), query, page });
};

const table = { type: "string", description: "A table or view, as list_tables names it." };
const select = {
  type: "string",
  description:
    "Columns and related tables, separated by commas: id,title,artist(name). describe_table says what can be embedded. All columns that the role may read if it is left out.",
};
const order = { type: "string", description: "Columns, each with .asc or .desc: price.desc,id.asc" };
const limit = {
  type: "integer",
  minimum: 0,
  description: "How many rows at most. The server has a limit of its own: has_more says whether rows are left.",
};
const offset = { type: "integer", minimum: 0, description: "How many to skip: the next_offset of the answer before." };
const filters = {
  type: "array",
  description:
    "Conditions, all of which a row must meet. A column of an embedded table is written table.column. like and ilike take * for any text; is takes null, not_null, true, false or unknown; in takes a list.",
  items: {
    type: "object",
    properties: {
      column: { type: "string" },
      operator: { type: "string", enum: OPERATORS },
      value: {},
      not: { type: "boolean" },
    },
    required: ["column", "operator"],
  },
};

const createTableTest =
  (operation: TableOperation) =>
  ({ schema }: ToolCaller): boolean =>
    [...schema.tables.values()].some((relation) => listOperations(relation, schema.visibility).includes(operation));

const WRITE_PREFERENCES = "return=representation, handling=strict, max-affected=";

const tools: readonly Tool[] = [
  {
    name: "list_tables",
    description:
      "Lists the tables, views and functions that the caller's role may use. With has_more there are others, from next_offset on.",
    argumentSchemas: { offset },
    requiredArguments: [],
    isAvailableTo: () => true,
    run: (args, caller) => {
      const { schema, context } = caller;
      const tableList = listVisible(
        schema,
        context.options.mcpWrites,
        readNumberArgument(args, "offset") ?? 0,
        computeMaxListBytes(caller),
      );
      return buildDataResult(JSON.stringify(tableList), { ...tableList });
    },
  },
  {
    name: "describe_table",
    description:
      "Describes a table: its columns with their types, its primary key, and the tables that can be embedded.",
    argumentSchemas: { table },
    requiredArguments: ["table"],
    isAvailableTo: ({ schema }) => schema.tables.size > 0,
    run: (args, caller) => {
      const description = describeTable(caller.schema, readTable(args, caller));
      return buildDataResult(JSON.stringify(description), { ...description });
    },
  },
  {
    name: "read_rows",
    description: "Reads rows of a table, with filters, related rows, an order and a window.",
    argumentSchemas: { table, select, filters, order, limit, offset },
    requiredArguments: ["table"],
    isAvailableTo: createTableTest("select"),
    run: (args, caller) => {
      const relation = readTable(args, caller);
      return sendRead(args, caller, relation, (query) => addFilters(query, relation, args));
    },
  },
  {
    name: "search_rows",
    description: "Finds rows of a table that contain a text in one of their text columns, whatever its case.",
    argumentSchemas: { table, text: { type: "string" }, select, limit, offset },
    requiredArguments: ["table", "text"],
    isAvailableTo: createTableTest("select"),
    run: (args, caller) => {
      const relation = readTable(args, caller);
      const columns = listTextColumns(caller.schema, relation).map(({ name }) => name);
      const text = readTextArgument(args, "text") ?? "";
      if (columns.length === 0) throw toolArgumentsInvalid("the table has no text that could be searched");
      if (text === "") throw toolArgumentsInvalid('"text" is what to look for');
      return sendRead(args, caller, relation, (query) => addSearch(query, columns, text));
    },
  },
  {
    name: "aggregate_rows",
    description: "Counts rows, or computes sum, avg, min or max of columns, for all rows or by group.",
    argumentSchemas: {
      table,
      aggregates: {
        type: "array",
        items: {
          type: "object",
          properties: {
            function: { type: "string", enum: ["count", "sum", "avg", "min", "max"] },
            column: { type: "string" },
          },
          required: ["function"],
        },
      },
      group_by: { type: "array", items: { type: "string" } },
      filters,
      order,
      limit,
      offset,
    },
    requiredArguments: ["table", "aggregates"],
    isAvailableTo: createTableTest("select"),
    run: (args, caller) => {
      const relation = readTable(args, caller);
      const query = new URLSearchParams({ select: buildAggregateSelect(args) });
      addFilters(query, relation, args);
      const page = addWindow(query, args, caller);
      return sendRequest(caller, { method: "GET", target: buildTarget(relation), query, page });
    },
  },
  {
    name: "call_function",
    description: "Calls a function of the database with named arguments. list_tables names the functions.",
    argumentSchemas: { function: { type: "string" }, arguments: { type: "object" }, limit, offset },
    requiredArguments: ["function"],
    isAvailableTo: ({ schema, context }) =>
      [...schema.functions.values()].some((overloads) => context.options.mcpWrites || !mayWrite(overloads)),
    run: (args, caller) => {
      const overloads = caller.schema.functions.get(readTextArgument(args, "function") ?? "");
      const [first] = overloads ?? [];
      if (overloads === undefined || first === undefined)
        throw toolArgumentsInvalid("there is no such function for this role: list_tables names them");
      if (!caller.context.options.mcpWrites && mayWrite(overloads))
        throw toolArgumentsInvalid("the function may write, and writing is switched off");
      const body = args["arguments"] === undefined ? {} : readObjectArgument(args, "arguments");
      const query = new URLSearchParams();
      // A function that returns a single value has no rows to limit.
      const page = first.returns.isSet ? addWindow(query, { ...args, order: undefined }, caller) : undefined;
      return sendRequest(caller, {
        method: "POST",
        target: { schema: first.schema, path: `/rpc/${encodeURIComponent(first.name)}` },
        query,
        body: body as Json, // the arguments were parsed from JSON
        ...(page && { page }),
      });
    },
  },
  {
    name: "insert_rows",
    description: "Inserts rows into a table, all or none, and returns them.",
    argumentSchemas: { table, rows: { type: "array", items: { type: "object" } }, select },
    requiredArguments: ["table", "rows"],
    writeOperation: "insert",
    isAvailableTo: createTableTest("insert"),
    run: (args, caller) => {
      const relation = readTable(args, caller);
      const body = readRows(args, "rows", caller.context.options.mcpMaxRows);
      const query = new URLSearchParams();
      const isRead = listReadableColumns(caller.schema, relation).length > 0;
      if (isRead) addSelect(query, args, caller, relation);
      // Rows may have different keys: a missing one gets its default.
      const keys = new Set(readListArgument(args, "rows").flatMap((row) => Object.keys(row as object)));
      query.set("columns", [...keys].map(quoteRestValue).join(","));
      return sendRequest(caller, {
        method: "POST",
        target: buildTarget(relation),
        query,
        body,
        prefer: `return=${isRead ? "representation" : "minimal"}, missing=default`,
      });
    },
  },
  {
    name: "update_rows",
    description: "Changes columns of the rows that meet the filters, and returns them. Too many rows: none is changed.",
    argumentSchemas: { table, set: { type: "object" }, filters, select },
    requiredArguments: ["table", "set", "filters"],
    writeOperation: "update",
    isAvailableTo: createTableTest("update"),
    run: (args, caller) => runWrite("PATCH", args, caller, readObjectArgument(args, "set")),
  },
  {
    name: "delete_rows",
    description: "Deletes the rows that meet the filters, and returns them. Too many rows: none is deleted.",
    argumentSchemas: { table, filters, select },
    requiredArguments: ["table", "filters"],
    writeOperation: "delete",
    isAvailableTo: createTableTest("delete"),
    run: (args, caller) => runWrite("DELETE", args, caller),
  },
];

const runWrite = (method: string, args: Arguments, caller: ToolCaller, set?: Arguments): Promise<ToolResult> => {
  const relation = readTable(args, caller);
  const query = new URLSearchParams();
  addSelect(query, args, caller, relation);
  if (addFilters(query, relation, args) === 0) throw toolArgumentsInvalid('"filters" says which rows: at least one');
  return sendRequest(caller, {
    method,
    target: buildTarget(relation),
    query,
    prefer: `${WRITE_PREFERENCES}${caller.context.options.mcpMaxRows}`,
    ...(set === undefined ? {} : { body: set as Json }), // the arguments were parsed from JSON
  });
};

/** Returns the bytes that a response leaves for a list of tables and functions. */
export const computeMaxListBytes = ({ context }: ToolCaller): number =>
  context.options.mcpMaxBytes - estimateEmptyResultBytes();

const checkArguments = ({ argumentSchemas, requiredArguments }: Tool, args: Arguments, maxBytes: number): void => {
  for (const [name, value] of Object.entries(args)) {
    // The value becomes part of a URL.
    if (typeof value === "string" && Buffer.byteLength(value) > maxBytes)
      throw toolArgumentsInvalid(`an argument is longer than ${maxBytes} bytes`);
    if (Object.hasOwn(argumentSchemas, name)) continue;
    const shortName = shortenText(name);
    throw toolArgumentsInvalid(
      `the tool has no argument "${shortName}"${buildSuggestion(shortName, Object.keys(argumentSchemas))}`,
    );
  }
  const missingArgument = requiredArguments.find((name) => args[name] === undefined || args[name] === null);
  if (missingArgument !== undefined) throw toolArgumentsInvalid(`the argument "${missingArgument}" is missing`);
};

const MAX_SHOWN = 60;
const shortenText = (name: string): string => (name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name);

const isOffered = (tool: Tool, caller: ToolCaller): boolean =>
  (tool.writeOperation === undefined || caller.context.options.mcpWrites) && tool.isAvailableTo(caller);

/** Returns the tools of the caller's role, in the protocol's format. */
export const listTools = (caller: ToolCaller) =>
  tools
    .filter((tool) => isOffered(tool, caller))
    .map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: {
        type: "object" as const,
        properties: { ...tool.argumentSchemas },
        required: [...tool.requiredArguments],
      },
      annotations: {
        readOnlyHint:
          tool.writeOperation === undefined && !(tool.name === "call_function" && caller.context.options.mcpWrites),
        destructiveHint: tool.writeOperation === "update" || tool.writeOperation === "delete",
        openWorldHint: false,
      },
    }));

/** Calls the tool of a name. @returns undefined if the caller has no such tool */
export const callTool = async (name: string, args: Arguments, caller: ToolCaller): Promise<ToolResult | undefined> => {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined || !isOffered(tool, caller)) return undefined;
  try {
    const { maxUrlBytes, mcpMaxBytes } = caller.context.options;
    checkArguments(tool, args, maxUrlBytes);
    return limitResultBytes(await tool.run(args, caller), mcpMaxBytes);
  } catch (error) {
    if (isArgumentsError(error)) return buildErrorResult(error.message);
    throw error;
  }
};
