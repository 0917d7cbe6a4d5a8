/**
 * The statement of a native query: its SQL with bound arguments, restricted to the rows of the role, and the selected
 * fields.
 * @rule P-NAT-2 P-NAT-3
 */
import {
  isJsonObject,
  encodeArrayLiteral,
  trustedSql,
  quoteIdentifier,
  joinSql,
  matchesType,
  sessionVariableMissing,
  getNumberText,
  RelApiError,
  sql,
  compileSql,
  bindValue,
  writeJson,
  type FilterContext,
  type Json,
  type Model,
  type OperatorSpec,
  type Program,
  type Registry,
  type Session,
  type Sql,
} from "../../../core/index.ts";
import type { GqlSelected } from "../../graphql/api.ts";
import { readObjectOrEmpty } from "../../metadata/api.ts";
import type { NativeField, NativeQuery, NativeRelationship, RawFilter } from "./document.ts";

type Arguments = Readonly<Record<string, Json>>;

const argumentInvalid = (message: string): RelApiError =>
  new RelApiError({ code: "validation-failed", status: 400, message });

const encodeArgumentValue = (json: Json): string | null =>
  json === null ? null : typeof json === "string" ? json : (getNumberText(json) ?? writeJson(json));

const bindArgument = (json: Json, { type }: Pick<NativeField, "type">): Sql => {
  const text =
    Array.isArray(json) && type.kind === "array"
      ? encodeArrayLiteral((json as readonly Json[]).map(encodeArgumentValue))
      : encodeArgumentValue(json);
  return sql`(${bindValue(text, "text")}::${trustedSql(type.sqlName)})`;
};

interface ConditionContext {
  /** The alias of the rows. */
  readonly alias: string;
  readonly model: Model;
  readonly registry: Registry;
  readonly fields: readonly NativeField[];
  /** Returns the value of a string. In permissions, a string may name a session variable. In requests, a string is
   *  literal. */
  readonly resolveValue: (json: Json) => Json;
}

const getGraphqlName = ({ graphql, name }: OperatorSpec): string | undefined =>
  graphql === false
    ? undefined
    : typeof graphql === "object"
      ? graphql.name
      : (graphql ?? `_${name.replaceAll("-", "_")}`);

const compileComparison = (field: NativeField, operator: string, operand: Json, conditions: ConditionContext): Sql => {
  const { model, registry, resolveValue } = conditions;
  const spec = registry.operators.find(
    (operatorSpec) => getGraphqlName(operatorSpec) === operator && matchesType(operatorSpec, field.type),
  );
  const column = quoteIdentifier(conditions.alias, field.name);
  const buildContext = (operandFields: Partial<FilterContext>): FilterContext => ({
    model,
    column,
    type: field.type,
    declared: undefined,
    operand: sql``,
    field: () => undefined,
    keyword: undefined,
    option: undefined,
    quantifier: undefined,
    ...operandFields,
  });
  if (spec?.operand === "keyword" && typeof spec.graphql === "object") {
    const keyword = spec.graphql.keywords[String(operand)];
    if (keyword !== undefined) return spec.compile(column, sql``, buildContext({ keyword }));
  }
  const operandValue = resolveValue(operand);
  if (spec !== undefined && operandValue !== null && (spec.operand === "scalar" || spec.operand === "list")) {
    const type = trustedSql(spec.operandType ?? field.type.sqlName);
    const right =
      spec.operand === "list"
        ? sql`(${bindValue(encodeArrayLiteral((Array.isArray(operandValue) ? operandValue : [operandValue]).map((element: Json) => encodeArgumentValue(resolveValue(element)))), "text")}::${type}[])`
        : sql`(${bindValue(encodeArgumentValue(operandValue), "text")}::${type})`;
    return spec.compile(column, right, buildContext({ operand: right }));
  }
  throw argumentInvalid(`${operator} of ${field.name} is not served for native queries`);
};

/** Compiles a condition on rows; `{}` allows all. @throws RelApiError */
const compileConditions = (filter: RawFilter, conditions: ConditionContext): Sql => {
  const parts = Object.entries(filter).map(([key, condition]): Sql => {
    const list = (Array.isArray(condition) ? condition : [condition]).filter(isJsonObject);
    if (key === "_and") return joinWithAnd(list.map((nestedFilter) => compileConditions(nestedFilter, conditions)));
    if (key === "_or") return joinWithOr(list.map((nestedFilter) => compileConditions(nestedFilter, conditions)));
    if (key === "_not")
      return sql`not coalesce(${joinWithAnd(list.map((nestedFilter) => compileConditions(nestedFilter, conditions)))}, false)`;
    const field = conditions.fields.find(({ name }) => name === key);
    if (field === undefined || !isJsonObject(condition))
      throw argumentInvalid(`"${key}" is not a column of the logical model`);
    return joinWithAnd(
      Object.entries(condition).map(([operator, operand]) => compileComparison(field, operator, operand, conditions)),
    );
  });
  return joinWithAnd(parts);
};

const joinWithAnd = (parts: readonly Sql[]): Sql =>
  parts.length === 0 ? sql`true` : sql`(${joinSql(parts, " and ")})`;
const joinWithOr = (parts: readonly Sql[]): Sql => (parts.length === 0 ? sql`false` : sql`(${joinSql(parts, " or ")})`);

const SESSION_VARIABLE = /^x-(?:hasura|session)-/i;

/** Replaces the name of a session variable by its value. @throws RelApiError if the variable is missing */
const createVariableReader =
  ({ variables }: Session) =>
  (json: Json): Json => {
    if (typeof json !== "string" || !SESSION_VARIABLE.test(json)) return json;
    const variableValue = variables[json.toLowerCase().replace(SESSION_VARIABLE, "x-session-")];
    if (variableValue === undefined) throw sessionVariableMissing(json.toLowerCase());
    return variableValue;
  };

const DIRECTIONS: Readonly<Record<string, Sql>> = {
  asc: sql`asc nulls last`,
  asc_nulls_first: sql`asc nulls first`,
  asc_nulls_last: sql`asc nulls last`,
  desc: sql`desc nulls first`,
  desc_nulls_first: sql`desc nulls first`,
  desc_nulls_last: sql`desc nulls last`,
};

const readEntries = (json: Json | undefined): readonly RawFilter[] =>
  (Array.isArray(json) ? json : json === undefined ? [] : [json]).filter(isJsonObject);

const readColumns = (json: Json | undefined): readonly string[] =>
  (Array.isArray(json) ? json : json === undefined || json === null ? [] : [json]).map(String);

const compileOrder = (args: Arguments, fields: readonly NativeField[], alias: string): Sql => {
  const terms = readEntries(args["order_by"]).flatMap((entry) =>
    Object.entries(entry).flatMap(([column, direction]) => {
      const directionSql = DIRECTIONS[String(direction)];
      const isKnown = fields.some(({ name }) => name === column);
      return directionSql === undefined || !isKnown ? [] : [sql`${quoteIdentifier(alias, column)} ${directionSql}`];
    }),
  );
  return terms.length === 0 ? sql`` : sql` order by ${joinSql(terms)}`;
};

const compileWindow = (args: Arguments): Sql => {
  const { limit, offset } = args;
  const compilePart = (word: Sql, json: Json | undefined): Sql =>
    json === undefined || json === null ? sql`` : sql` ${word} ${bindValue(encodeArgumentValue(json), "text")}::bigint`;
  return sql`${compilePart(sql`limit`, limit)}${compilePart(sql`offset`, offset)}`;
};

/** Returns the SQL of the query, with each placeholder as a bound value of its declared type. */
const compileCode = ({ code, arguments: argumentFields }: NativeQuery, args: Arguments): Sql =>
  joinSql(
    code.texts.flatMap((text, i) => {
      const name = code.arguments[i];
      const field = argumentFields.find((argument) => argument.name === name);
      const fragment = trustedSql(text);
      return field === undefined ? [fragment] : [fragment, bindArgument(args[field.name] ?? null, field)];
    }),
    "",
  );

/** Returns a statement that selects the model's columns but no row, with which the database checks that the columns
 *  exist. */
export const compileTrial = (query: NativeQuery): Sql => {
  const columns = query.returns.fields.map(({ name }) => sql`_q.${quoteIdentifier(name)}`);
  return sql`select ${joinSql(columns)} from (${compileCode(query, {})}
) as _q limit 0`;
};

interface NativeRequest {
  readonly arguments: Arguments;
  readonly session: Session;
  /** The selected fields. */
  readonly selection: readonly GqlSelected[];
}

interface QueryContext {
  readonly model: Model;
  readonly registry: Registry;
  readonly session: Session;
  readonly queries: ReadonlyMap<string, NativeQuery>;
}

/** The row that related rows belong to: its alias, and the compared columns. */
interface Parent {
  readonly alias: string;
  readonly columns: NativeRelationship["columns"];
}

/**
 * Compiles the rows that the role may see, with the selected fields. `depth` counts nested queries from 1. @throws
 * RelApiError `access-denied` for a role without a permission, whose schema does not have the field either
 */
const compileRows = (
  context: QueryContext,
  query: NativeQuery,
  {
    args,
    selection,
    isSingleRow,
  }: { readonly args: Arguments; readonly selection: readonly GqlSelected[]; readonly isSingleRow: boolean },
  depth = 0,
  parent?: Parent,
): Sql => {
  const { session, queries, model, registry } = context;
  const { returns } = query;
  const isAdmin = session.isAdmin && session.role === "admin";
  const permission = returns.permissions.get(session.role);
  if (!isAdmin && permission === undefined)
    throw new RelApiError({ code: "access-denied", status: 400, message: "the native query is not for this role" });
  const readable = isAdmin ? returns.fields : returns.fields.filter(({ name }) => permission?.columns.has(name));
  const alias = depth === 0 ? "_q" : `_q${depth}`;
  const common = { alias, model, registry };
  const where = joinWithAnd([
    ...(parent?.columns ?? []).map(
      ([parentColumn, column]) =>
        sql`${quoteIdentifier(alias, column)} = ${quoteIdentifier(parent?.alias ?? "", parentColumn)}`,
    ),
    // The query's own columns are all needed, whichever of them the role may read.
    ...(isAdmin || permission === undefined
      ? []
      : [
          compileConditions(permission.filter, {
            ...common,
            fields: returns.fields,
            resolveValue: createVariableReader(session),
          }),
        ]),
    ...readEntries(args["where"]).map((filter) =>
      compileConditions(filter, { ...common, fields: readable, resolveValue: (json) => json }),
    ),
  ]);
  const distinct = readColumns(args["distinct_on"]).filter((name) => readable.some((field) => field.name === name));
  const selectedFields = readable.filter((field) => selection.some(({ name }) => name === field.name));
  const nestedOutputs = selection.flatMap((selectedField) => {
    const relationship = query.relationships.get(selectedField.name);
    const target = relationship && queries.get(relationship.target);
    if (relationship === undefined || target === undefined) return [];
    const rowSelection = {
      args: selectedField.arguments,
      selection: selectedField.selection,
      isSingleRow: !relationship.isArray,
    };
    const rows = compileRows(context, target, rowSelection, depth + 1, { alias, columns: relationship.columns });
    return [sql`(${rows}) as ${quoteIdentifier(selectedField.key)}`];
  });
  const outputs = [...selectedFields.map(({ name }) => quoteIdentifier(alias, name)), ...nestedOutputs];
  const output = outputs.length === 0 ? sql`1 as _` : joinSql(outputs);
  const on =
    distinct.length === 0
      ? sql``
      : sql`distinct on (${joinSql(distinct.map((name) => quoteIdentifier(alias, name)))}) `;
  const native = readObjectOrEmpty(args["args"]);
  const row = quoteIdentifier(`_r${depth}`);
  const rows = sql`(select ${on}${output} from (${compileCode(query, native)}
) as ${quoteIdentifier(alias)} where ${where}${compileOrder(args, readable, alias)}${compileWindow(args)}) as ${row}`;
  return isSingleRow
    ? sql`select pg_catalog.row_to_json(${row}.*) from ${rows} limit 1`
    : sql`select coalesce(pg_catalog.json_agg(pg_catalog.row_to_json(${row}.*)), '[]') as body from ${rows}`;
};

/** Builds the program that runs a native query. @throws RelApiError */
export const buildProgram = (
  query: NativeQuery,
  { arguments: args, session, selection }: NativeRequest,
  context: Omit<QueryContext, "session">,
): Program => {
  const rows = compileRows({ ...context, session }, query, { args, selection, isSingleRow: false });
  const fragment = sql`select (${rows})::text as body`;
  return {
    statements: [{ ...compileSql(fragment), columns: ["body"], fragment }],
    main: 0,
    checks: [],
    relations: new Set(),
    isOpenEnded: true,
  };
};
