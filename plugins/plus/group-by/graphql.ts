/** `{ album_group_by(by: [artist_id], having: { count: { _gt: 1 } }, order_by: { sum: { sold: desc } }) { artist_id
 *  aggregate { count } } }`: adds lists of groups to GraphQL. */
import { GraphQLList, type GraphQLInputType } from "graphql";
import {
  definePlugin,
  quoteLiteral,
  RelApiError,
  sql,
  type Expression,
  type Output,
  type Read,
} from "../../../core/index.ts";
import type {
  GqlBuild,
  GqlField,
  GqlFieldContext,
  GqlFields,
  GqlPart,
  GqlSelection,
  GqlSelectionContext,
  GqlTable,
  GqlValueType,
} from "../../graphql/api.ts";
import {
  findChosenKeys,
  KEY,
  KEY_ORDER,
  buildKeyArguments,
  buildKeyFields,
  buildKeyInputFields,
  buildKeyOrderFields,
  listGroupKeys,
  nameColumnPath,
  nonNull,
  findColumnPath,
  type ChosenKey,
} from "./keys.ts";

/** The `fn` of the types that this plugin adds, followed by the name of an aggregate function. */
const GROUP = "group";
const HAVING = "group-having";
const ORDER = "group-order";

const buildExtensions = (part: GqlPart) => ({ extensions: { relapi: part } });

const buildAggregatePart = (fn: string, expressions: readonly Expression[], value: GqlValueType): GqlPart => ({
  kind: "expression",
  expression: { kind: "aggregate", fn, expressions },
  value,
});

/** Returns the fields of a condition or an order: `count`, and an object for each function. `leaf` is the type of their
 *  values. */
const buildAggregateTerms = (
  { build }: GqlFieldContext,
  table: GqlTable,
  role: string,
  leaf: (value: GqlValueType) => GraphQLInputType | undefined,
): Record<string, GqlField> => {
  const fields: Record<string, GqlField> = {};
  const countType = build.valueType("int4");
  const count = countType && leaf(countType);
  if (count !== undefined)
    fields[build.fieldName("count")] = {
      config: { type: count },
      toPlan: buildAggregatePart("count", [], countType as GqlValueType),
    };
  for (const { fn, name } of build.aggregateFunctions()) {
    const type = build.inputObject({
      name: build.typeName(table.namePart, role.replace("-", "_"), name),
      scope: "terms",
      relation: table.relation,
      fn: `${role}:${fn}`,
      isOptional: true,
    });
    if (type !== undefined) fields[name] = { config: { type }, toPlan: { kind: "members" } };
  }
  return fields;
};

const getTermsType = (build: GqlBuild, table: GqlTable, role: string) =>
  build.inputObject({
    name: build.typeName(table.namePart, role.replace("-", "_")),
    scope: "terms",
    relation: table.relation,
    fn: role,
  });

/** Returns the columns that the function accepts. */
const buildColumnTerms = (
  { build }: GqlFieldContext,
  table: GqlTable,
  fn: string,
  leaf: (value: GqlValueType) => GraphQLInputType | undefined,
): GqlFields => {
  const findResultType = build
    .aggregateFunctions()
    .find((aggregateFunction) => aggregateFunction.fn === fn)?.findResultType;
  return Object.fromEntries(
    listGroupKeys(build, table).flatMap(({ name, column, value }) => {
      const result = findResultType?.(value);
      const type = result && leaf(result);
      return result === undefined || type === undefined
        ? []
        : [[name, { config: { type }, toPlan: buildAggregatePart(fn, [{ kind: "column", name: column }], result) }]];
    }),
  );
};

const buildTermFields = (context: GqlFieldContext, table: GqlTable): GqlFields => {
  const { build, fn = "" } = context;
  const direction = build.orderDirection();
  const getComparison = (value: GqlValueType) => build.comparison(value);
  const [role = "", variant] = fn.split(":");
  const leaf = role === HAVING ? getComparison : () => direction;
  if (variant !== undefined) return buildColumnTerms(context, table, variant, leaf);
  const fields = buildAggregateTerms(context, table, role, leaf);
  if (role === ORDER) return { ...buildKeyOrderFields(context, table), ...fields };
  const self = role === HAVING ? getTermsType(build, table, HAVING) : undefined;
  if (self === undefined) return fields;
  return {
    ...fields,
    [build.fieldName("_and")]: { config: { type: new GraphQLList(nonNull(self)) }, toPlan: { kind: "and" } },
    [build.fieldName("_or")]: { config: { type: new GraphQLList(nonNull(self)) }, toPlan: { kind: "or" } },
    [build.fieldName("_not")]: { config: { type: self }, toPlan: { kind: "not" } },
  };
};

const buildGroupFields = (context: GqlFieldContext, table: GqlTable): GqlFields => {
  const { build } = context;
  const type = build.aggregateFields(table);
  return {
    ...buildKeyFields(context, table),
    ...(type && {
      [build.fieldName("aggregate")]: {
        config: { type },
        toPlan: { kind: "custom", output: ({ as }, { aggregates }) => ({ kind: "object", as, outputs: aggregates() }) },
      },
    }),
  };
};

/** Returns the columns among the outputs, directly or in objects of related rows. */
const listDisplayedValues = (outputs: readonly Output[]): readonly Expression[] =>
  outputs.flatMap((output) =>
    output.kind === "value" ? [output.value] : output.kind === "object" ? listDisplayedValues(output.outputs) : [],
  );

const encodePath = (path: readonly string[]): string => JSON.stringify(path);

/** Checks that the keys of groups fit the rest of the read. @throws RelApiError `validation-failed`
 *  @rule P-GRP-2 P-GRP-7 */
const checkKeys = (build: GqlBuild, table: GqlTable, keys: readonly ChosenKey[], read: Read, path: string): void => {
  const groupByInvalid = (message: string, location: string): RelApiError =>
    new RelApiError({ code: "validation-failed", status: 400, message, path: `${path}.${location}` });
  if (keys.length === 0) throw groupByInvalid('"by" names no column', "args.by");
  const columns = new Set(keys.map(({ expression }) => encodePath(findColumnPath(expression) ?? [])));
  const checkValues = (values: readonly Expression[], findPath: (names: readonly string[]) => string): void => {
    const ungroupedPath = values
      .map(findColumnPath)
      .find((columnPath) => columnPath !== undefined && !columns.has(encodePath(columnPath)));
    if (ungroupedPath === undefined) return;
    const names = nameColumnPath(build, table, ungroupedPath);
    const argument = names.length === 1 ? "by" : build.fieldName("by_related");
    throw groupByInvalid(`the column "${names.join(".")}" is not among those of "${argument}"`, findPath(names));
  };
  checkValues(listDisplayedValues(read.output), (names) => names.map((name) => `selectionSet.${name}`).join("."));
  checkValues(
    (read.orderBy ?? []).map((term) => term.expression),
    () => "args.order_by",
  );
};

const PERIODS = ["hour", "day", "week", "month", "quarter", "year"];
const TIMES: ReadonlySet<string> = new Set(["date", "timestamp", "timestamptz"]);

const namePeriodFunction = (period: string): string => `group-by-${period}`;

const getPeriodType = (build: GqlBuild): GraphQLInputType | undefined =>
  build.enumeration({
    name: build.sharedTypeName("group_period"),
    description: "what times are grouped by: the period that they belong to",
    values: () =>
      PERIODS.map((value) => ({
        name: build.enumValue(value),
        value,
        part: { kind: "own", name: value },
        description: `the beginning of the ${value}`,
      })),
  });

/** Returns the read with its time keys truncated to their periods. @rule P-GRP-6 */
const groupByPeriod = (read: Read, keys: readonly ChosenKey[], period: string): Read => {
  const timeTypes = new Map(
    keys.flatMap(({ expression, value: { type } }) =>
      TIMES.has(type.name) ? [[JSON.stringify(expression), type.name] as const] : [],
    ),
  );
  const truncateExpression = (value: Expression): Expression => {
    if (value.kind === "cast" || value.kind === "apply") return { ...value, value: truncateExpression(value.value) };
    const type = timeTypes.get(JSON.stringify(value));
    if (type === undefined) return value;
    const begin: Expression = { kind: "apply", function: namePeriodFunction(period), value };
    return type === "date" ? { kind: "cast", value: begin, type } : begin;
  };
  const truncateOutput = (output: Output): Output => {
    if (output.kind === "value") return { ...output, value: truncateExpression(output.value) };
    return output.kind === "object" ? { ...output, outputs: output.outputs.map(truncateOutput) } : output;
  };
  return {
    ...read,
    output: read.output.map(truncateOutput),
    groupBy: (read.groupBy ?? []).map(truncateExpression),
    ...(read.orderBy && {
      orderBy: read.orderBy.map((term) => ({ ...term, expression: truncateExpression(term.expression) })),
    }),
  };
};

/** A list of groups: its type, its arguments, and the read that it compiles to. */
interface GroupList {
  readonly config: GqlField["config"];
  readonly plan: (selection: GqlSelection, context: GqlSelectionContext) => Read;
}

/** Builds the list of groups. Returns undefined if the role may not aggregate the table. */
const buildGroupList = (build: GqlBuild, table: GqlTable): GroupList | undefined => {
  const { relation } = table;
  if (build.rights(table).select?.mayAggregate !== true) return undefined;
  const lists = build.listArguments(table);
  const keyArguments = buildKeyArguments(build, table);
  const type = build.object({
    name: build.typeName(table.namePart, GROUP),
    scope: "record",
    relation,
    fn: GROUP,
    description: `rows of the table "${relation.name}" that have the same values in some columns`,
  });
  const having = getTermsType(build, table, HAVING);
  const order = getTermsType(build, table, ORDER);
  if (keyArguments === undefined || type === undefined || having === undefined || order === undefined) return undefined;
  const { where, limit, offset } = lists;
  const hasTimes = listGroupKeys(build, table).some(({ value }) => TIMES.has(value.type.name));
  const period = hasTimes || build.fieldName("by_related") in keyArguments ? getPeriodType(build) : undefined;
  return {
    config: {
      type: nonNull(new GraphQLList(nonNull(type as never)) as never),
      args: {
        ...(where && { where }),
        ...(limit && { limit }),
        ...(offset && { offset }),
        ...keyArguments,
        ...(period && { [build.fieldName("period")]: { type: period } }),
        having: { type: having, ...buildExtensions({ kind: "argument", name: "having" }) },
        [build.fieldName("order_by")]: {
          type: new GraphQLList(nonNull(order)),
          ...buildExtensions({ kind: "argument", name: "order_by" }),
        },
      },
      description: `groups of rows of the table "${relation.name}", with what aggregates make of each`,
    },
    plan: (selection, { rows, list }) => {
      const keys = findChosenKeys(build, table, selection.arguments);
      const periodName = period && (selection.arguments[build.fieldName("period")] as string | null | undefined);
      const read: Read = {
        kind: "read",
        from: { relation: { schema: relation.schema, name: relation.name } },
        shape: "rows",
        output: rows(),
        ...list(),
        groupBy: keys.map(({ expression }) => expression),
      };
      checkKeys(build, table, keys, read, selection.path);
      const chosenPeriod = PERIODS.find((knownPeriod) => build.enumValue(knownPeriod) === periodName);
      return chosenPeriod === undefined ? read : groupByPeriod(read, keys, chosenPeriod);
    },
  };
};

const buildRootFields = ({ build, scope }: GqlFieldContext): GqlFields =>
  Object.fromEntries(
    build.catalog.tables.flatMap((table): readonly (readonly [string, GqlField])[] => {
      const { select } = build.rights(table);
      const rootFields = scope === "subscription_root" ? select?.subscriptionRootFields : select?.queryRootFields;
      const list = rootFields?.has("select_aggregate") === false ? undefined : buildGroupList(build, table);
      if (list === undefined) return [];
      const { config, plan } = list;
      return [[build.rootName(table.namePart, "group_by"), { config, toPlan: { kind: "custom", plan } }]];
    }),
  );

/** Adds a group field beside each array relationship, as for its aggregate. @rule P-GRP-5 */
const buildRelatedFields = ({ build }: GqlFieldContext, table: GqlTable): GqlFields =>
  Object.fromEntries(
    table.relationships.flatMap(({ name, relationship, target }): readonly (readonly [string, GqlField])[] => {
      const relatedTable = relationship.isToOne ? undefined : build.table(target);
      const list = relatedTable && buildGroupList(build, relatedTable);
      if (list === undefined) return [];
      const buildOutput = (selection: GqlSelection, context: GqlSelectionContext): Output => ({
        kind: "embed",
        as: selection.as,
        id: selection.as,
        mode: "nest",
        via: { relationship: relationship.id },
        join: "left",
        read: list.plan(selection, context),
      });
      return [
        [build.fieldName(name, "group_by"), { config: list.config, toPlan: { kind: "custom", output: buildOutput } }],
      ];
    }),
  );

/** Adds lists of groups to GraphQL. @rule P-GRP-1 P-GRP-2 P-GRP-5 P-GRP-6 */
export const graphqlGroupBy = definePlugin({
  name: "graphql-group-by",
  requires: ["graphql-aggregates", "graphql-relationships", "nest-embeds"],
  functions: PERIODS.map((period) => ({
    name: namePeriodFunction(period),
    builtIn: ["date_trunc"],
    compile: (time) => sql`pg_catalog.date_trunc(${quoteLiteral(period)}, ${time})`,
  })),
  apply: (hooks) =>
    hooks.buildGqlField.tap("graphql-group-by", (fields: GqlFields, context: GqlFieldContext) => {
      const { scope, fn, build, relation } = context;
      if (scope === "query_root" || scope === "subscription_root") return { ...fields, ...buildRootFields(context) };
      const table = relation && build.table(relation);
      if (table === undefined) return fields;
      if (scope === "row") return { ...buildRelatedFields(context, table), ...fields };
      if (scope === "record" && fn === GROUP) return { ...fields, ...buildGroupFields(context, table) };
      if (scope === "record" && fn === KEY) return { ...fields, ...buildKeyFields(context, table) };
      if (scope === "input") return { ...fields, ...buildKeyInputFields(context, table) };
      if (scope === "terms" && fn === KEY_ORDER) return { ...fields, ...buildKeyOrderFields(context, table) };
      return scope === "terms" && fn?.startsWith(`${GROUP}-`) === true
        ? { ...fields, ...buildTermFields(context, table) }
        : fields;
    }),
});
