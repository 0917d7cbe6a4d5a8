/**
 * `POST /v2/query {"type": "run_sql", "args": {"sql": "…"}}`: administrators run SQL if the setting `runSql` allows it.
 */
import {
  isJsonObject,
  trustedSql,
  definePlugin,
  RelApiError,
  type Exchange,
  type Json,
  type PluginContext,
} from "../../../core/index.ts";
import { metadataSourceService } from "../../metadata/api.ts";
import { reloadOthersService } from "../../database/api.ts";
import { createAdminSurface } from "./admin-surface.ts";
import {
  readEntry,
  isServedSource,
  readListOrEmpty,
  normalizeMetadata,
  objectMissing,
  requireText,
  type Arguments,
} from "./document.ts";
import { keyMissing, metadataError, kindUnexpected } from "./errors.ts";
import { runSqlSettings } from "./settings.ts";

const MAX_BULK = 1000;

/** Matches the code of a database error, as opposed to the code of a connection error. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Matches statements that only read or write rows, which need no reload of the schema. */
const ROWS_ONLY = /^\s*(?:select|insert|update|delete|values|table|explain|show)\b[^;]*(?:;\s*)?$/i;

/** Returns the name of the source that is served. */
const findServedSourceName = async (context: PluginContext): Promise<Json> => {
  const read = await context.use(metadataSourceService)?.read();
  const sources = read === undefined ? [] : readListOrEmpty(normalizeMetadata(read.raw)["sources"]).map(readEntry);
  return sources.find(isServedSource)?.["name"] ?? "default";
};

const runScript = async (context: PluginContext, exchange: Exchange, from: Arguments): Promise<Json> => {
  const { args, path } = from;
  const text = requireText(from, "sql");
  const { read_only: readOnly = false } = args;
  if (typeof readOnly !== "boolean") throw kindUnexpected("read_only", "a boolean", path);
  if (args["source"] !== undefined && args["source"] !== null) {
    const source = requireText(from, "source");
    if (source !== (await findServedSourceName(context))) throw objectMissing(`source with name "${source}"`, path);
  }
  try {
    const results = await context.script(trustedSql(text), {
      access: readOnly ? "read only" : "read write",
      onDisconnect: (listener) => exchange.onDisconnect(listener),
    });
    if (!readOnly && !ROWS_ONLY.test(text)) {
      await context.reload();
      context.use(reloadOthersService)?.requestReload();
    }
    // As in Hasura, only the result of the last statement is returned.
    const { columns = [], rows = [] } = results.at(-1) ?? {};
    if (columns.length === 0) return { result_type: "CommandOk", result: null };
    return { result_type: "TuplesOk", result: [columns, ...rows.map((row) => row.map((value) => value ?? "NULL"))] };
  } catch (error) {
    if (!(error instanceof RelApiError) || !SQLSTATE.test(error.code)) throw error;
    const { message, details, hint, code } = error;
    throw metadataError("postgres-error", "query execution failed", path, {
      error: { exec_status: "FatalError", message, description: details, hint, status_code: code },
      statement: text,
      prepared: false,
      arguments: [],
    });
  }
};

const answerRequest = async (context: PluginContext, exchange: Exchange, body: Json, at = "$"): Promise<Json> => {
  if (!isJsonObject(body)) throw metadataError("parse-failed", "expected an object", at);
  const { type, args } = body;
  if (type === undefined) throw keyMissing("type", at);
  if (type === "run_sql") {
    if (!isJsonObject(args)) throw kindUnexpected("args", "an object", at);
    return runScript(context, exchange, { args, path: `${at}.args` });
  }
  if ((type === "bulk" || type === "concurrent_bulk") && at === "$") {
    if (!Array.isArray(args) || args.length > MAX_BULK) throw kindUnexpected("args", `a list of up to ${MAX_BULK}`, at);
    const results: Json[] = [];
    for (const [i, command] of (args as readonly Json[]).entries())
      results.push(await answerRequest(context, exchange, command, `$.args[${i}]`));
    return results;
  }
  throw metadataError("parse-failed", "expected one of run_sql and, not inside itself, bulk", `${at}.type`);
};

/** Lets administrators run SQL: `POST /v2/query`. @rule P-HAS-6 */
export const runSql = definePlugin({
  name: "run-sql",
  settings: runSqlSettings,
  before: ["graphql"],
  apply: (_hooks, context) => {
    context.addSurface(
      createAdminSurface(context, {
        path: "/v2/query",
        kind: "run_sql",
        isEnabled: () => context.options.runSql,
        answer: (body, { exchange }) => answerRequest(context, exchange, body),
      }),
    );
  },
});
