/**
 * `"hint": "Pages are made by limit and offset: limit=20&offset=20"`: suggestions in error fields that PostgREST leaves
 * empty. @rule R-HNT-1 … R-HNT-6
 */
import {
  getBoundValue,
  findColumn,
  definePlugin,
  RelApiError,
  findClosestNames,
  findRelation,
  getVisibility,
  type Exchange,
  type Model,
  type PluginContext,
  type Relation,
  type Session,
  type Visibility,
} from "../../core/index.ts";
import { formatJsonError, findJsonError } from "../shared/json-errors.ts";
import { joinWithOr, suggestLabels } from "../shared/name-hints.ts";
import { restHintsService, type RestHints } from "./api.ts";
import { requireRest } from "./routes.ts";
import type { Grammar } from "./request.ts";
import { parseOptionalOperation } from "./syntax/filter.ts";

const PAGES = "Pages are made by limit and offset: limit=20&offset=20";
const ORDER = "Rows are sorted by order: order=name.desc,id";
const SELECT = "Columns and related rows are chosen by select: select=id,name,related(name)";
const FILTER = "Rows are filtered by column=operator.value: name=eq.Oslo, name=ilike.*osl*, id=in.(1,2)";

const LIST = "Put the list in parentheses: id=in.(1,2)";

/** Parameters of other APIs, in lower case without `_` and `-`. @rule R-HNT-1 */
const PARAMETERS_OF_OTHER_APIS: ReadonlyMap<string, string> = new Map([
  ...[
    "page",
    "perpage",
    "pagesize",
    "pagenumber",
    "pageno",
    "size",
    "take",
    "top",
    "skip",
    "start",
    "first",
    "last",
    "after",
    "before",
    "cursor",
    "maxresults",
    "count",
  ].map((name) => [name, PAGES] as const),
  ...["sort", "sortby", "sorting", "sortorder", "orderby", "ordering", "orderdir", "dir", "direction"].map(
    (name) => [name, ORDER] as const,
  ),
  ...[
    "fields",
    "field",
    "attributes",
    "include",
    "includes",
    "expand",
    "populate",
    "embed",
    "with",
    "projection",
    "only",
    "exclude",
    "omit",
  ].map((name) => [name, SELECT] as const),
  ...["filter", "filters", "where", "q", "query", "search", "term", "keyword", "keywords", "conditions"].map(
    (name) => [name, FILTER] as const,
  ),
]);

/** Normalizes a parameter: `$top`, `page[number]`, `per_page`. */
const normalizeParameter = (parameter: string): string =>
  parameter.replace(/\[.*$/s, "").replace(/[_$-]/g, "").toLowerCase();

const RESERVED_PARAMETERS = ["select", "order", "limit", "offset", "and", "or", "columns", "on_conflict"];

const MAX_SHOWN = 60;

const isShown = (text: string): boolean => text.length <= MAX_SHOWN && !/[^\x20-\x7e]/.test(text);

/** Explains a filter parameter: `name=Oslo` for `name=eq.Oslo`, `name=eqq.Oslo`, `page=2`. */
const buildParameterHint = (
  grammar: Grammar,
  writtenName: string,
  writtenValue: string,
  columns: readonly string[],
): string | null => {
  const [parameter, value] = [writtenName.trim(), writtenValue.trim()];
  if (grammar.isPluginParameter(parameter))
    return columns.includes(parameter) && parseOptionalOperation(grammar, value) !== undefined
      ? `The parameter '${parameter}' is not a filter. A filter on the column '${parameter}' is written in a logic tree: and=(${parameter}.${value})`
      : null;
  const isBlank = value !== writtenValue && parseOptionalOperation(grammar, value) !== undefined;
  if (isBlank && columns.includes(parameter) && isShown(`${parameter}=${value}`))
    return `A filter has no blanks in front of its operator: perhaps you meant ${parameter}=${value}`;
  if (!columns.includes(parameter)) {
    const foreign = PARAMETERS_OF_OTHER_APIS.get(normalizeParameter(parameter));
    if (foreign !== undefined) return foreign;
    const closestNames = findClosestNames(parameter, [...RESERVED_PARAMETERS, ...columns]);
    if (closestNames.length > 0) return `Perhaps you meant ${joinWithOr(closestNames)} instead of '${parameter}'`;
  }
  const [, operator = "", delimiter = ""] = /^(?:not\.)*([A-Za-z]+)([.(]|$)/.exec(value) ?? [];
  // The operator is correct, and `details` already says what is expected after it.
  if (grammar.operators.has(operator)) return delimiter === "" ? FILTER : operator === "in" ? LIST : null;
  const operators = delimiter === "" ? [] : findClosestNames(operator, grammar.operators.keys());
  if (operators.length > 0) return `Perhaps you meant the operator ${joinWithOr(operators)} instead of '${operator}'`;
  const filterText = `${parameter}=${value}`;
  return !isShown(filterText) ? FILTER : `A filter has an operator: perhaps you meant ${parameter}=eq.${value}`;
};

/** Suggests `return=minimal` for `retrun=minimal`. @rule R-HNT-4 */
const buildPreferenceHint = ({ preferences }: Grammar, item: string): string | undefined => {
  const at = item.indexOf("=");
  const sentName = at === -1 ? item : item.slice(0, at);
  const name = preferences.has(sentName) ? sentName : findClosestNames(sentName, preferences.keys())[0];
  const values = name === undefined ? undefined : preferences.get(name)?.values;
  if (name === undefined || values === undefined) return undefined;
  const value = at === -1 ? "" : item.slice(at + 1);
  if (typeof values === "function")
    return name === sentName || value === "" ? undefined : `perhaps you meant ${name}=${value}`;
  const closestName = values.includes(value) ? value : findClosestNames(value, values)[0];
  return closestName === undefined ? `${name} takes ${values.join(", ")}` : `perhaps you meant ${name}=${closestName}`;
};

const capitalise = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const findVisibleColumns = (visibility: Visibility, relation: Relation | undefined): readonly string[] =>
  relation?.columns.filter((column) => visibility.mayNameColumn(relation, column)).map(({ name }) => name) ?? [];

/** Returns the relation of the request's path, if the path names one. */
const findRequestedRelation = (context: PluginContext, exchange: Exchange): Relation | undefined => {
  try {
    const { target } = requireRest(context).matchRoute(exchange);
    return target?.kind === "relation" ? target.relation : undefined;
  } catch {
    return undefined; // another error explains why the path of the request is wrong
  }
};

type HintRequest = Parameters<RestHints["addHint"]>[1];

const buildHint = (
  context: PluginContext,
  { code, message, facts }: RelApiError,
  exchange: HintRequest,
  model: Model,
  session: Session,
): string | null => {
  const { grammar } = requireRest(context);
  const visibility = getVisibility(model, session, "rest");
  const { parameter, value, column, schema, table, invalid } = facts;
  if (code === "parse-error" && typeof parameter === "string" && typeof value === "string")
    return buildParameterHint(
      grammar,
      parameter,
      value,
      findVisibleColumns(visibility, findRequestedRelation(context, exchange as Exchange)),
    );
  if (code === "column-not-found" && typeof column === "string") {
    const relation = findRelation(model, { schema: String(schema), name: String(table) });
    // An existing column is not misspelt.
    if (relation !== undefined && findColumn(relation, column) !== undefined) return null;
    const closestNames = findClosestNames(column, findVisibleColumns(visibility, relation));
    return closestNames.length === 0 ? null : `Perhaps you meant the column ${joinWithOr(closestNames)}`;
  }
  if (code === "preferences-invalid" && Array.isArray(invalid)) {
    const hints = (invalid as readonly string[]).flatMap((item) => buildPreferenceHint(grammar, item) ?? []);
    return hints.length === 0 ? null : capitalise(hints.join("; "));
  }
  if (UPSERT_STATES.has(code))
    return buildUpsertHint(findRequestedRelation(context, exchange as Exchange), exchange.method);
  const labels = suggestLabels(model, visibility, { code, message });
  return labels === undefined || labels.length === 0 ? null : `Perhaps you meant ${joinWithOr(labels)}`;
};

const INVALID_TEXT = "22P02";

/** SQLSTATEs of upserts: PostgreSQL has no key for `ON CONFLICT`, the relation has rules, or the key is deferrable. */
const UPSERT_STATES: ReadonlySet<string> = new Set(["42P10", "0A000", "55000"]);

/** Explains an upsert into a relation whose inserts do not support `ON CONFLICT`. @rule R-HNT-7 */
const buildUpsertHint = (relation: Relation | undefined, method: string): string | null => {
  if (method !== "POST" || relation?.rejectsConflict !== true) return null;
  const problem = `'${relation.name}' does not support Prefer: resolution, because ON CONFLICT does not work with its triggers, rules or deferrable key`;
  const [key] = relation.primaryKey;
  return key === undefined ? problem : `${problem}; PUT /${relation.name}?${key}=eq.… updates or inserts one row`;
};

/** The explained errors. Others are skipped, because the model may not be loaded. */
const CODES_WITH_HINTS: ReadonlySet<string> = new Set([
  "parse-error",
  "column-not-found",
  "preferences-invalid",
  INVALID_TEXT,
  ...UPSERT_STATES,
]);

const describeJsonError = (text: string): string | undefined => {
  const jsonError = findJsonError(text);
  return jsonError && formatJsonError(jsonError);
};

const createHints = (context: PluginContext): RestHints => ({
  findJsonError: describeJsonError,
  addPosition: (error, text) => {
    const details =
      error instanceof RelApiError && error.code === INVALID_TEXT
        ? describeJsonError(getBoundValue(text) as string)
        : undefined;
    return error instanceof RelApiError && details !== undefined
      ? new RelApiError({ ...error, message: error.message, details })
      : error;
  },
  addHint: (error, exchange) => {
    if (!CODES_WITH_HINTS.has(error.code) || error.hint !== null || exchange.session === undefined) return error;
    const hint = buildHint(context, error, exchange, context.model(), exchange.session);
    return hint === null ? error : new RelApiError({ ...error, message: error.message, hint });
  },
});

/** Adds hints to the errors that PostgREST leaves without one. Inactive in `COMPAT_MODE`, so that clients that
 *  compare whole errors get those of PostgREST. @rule R-HNT-6 */
export const restHints = definePlugin({
  name: "rest-hints",
  requires: ["rest"],
  apply: (_hooks, context) => {
    const hints = createHints(context);
    context.offer(restHintsService, hints);
  },
});
