/** `{ album_group_by(by: [artist_id], having: { count: { _gt: 1 } }, order_by: { sum: { sold: desc } }) { artist_id aggregate { count } } }` */
import { GraphQLList, type GraphQLInputType } from "graphql";
import {
  definePlugin,
  literal,
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
  chosenKeys,
  KEY,
  KEY_ORDER,
  keyArguments,
  keyFields,
  keyInputFields,
  keyOrderFields,
  keysOf,
  namesOf,
  required,
  pathOf,
  type ChosenKey,
} from "./keys.ts";

/** The `fn` of the types that this plugin adds, followed by the name of an aggregate function. */
const GROUP = "group";
const HAVING = "group-having";
const ORDER = "group-order";

const partOf = (part: GqlPart) => ({ extensions: { relapi: part } });

const aggregated = (fn: string, of: readonly Expression[], value: GqlValueType): GqlPart => ({
  kind: "expression",
  expression: { kind: "aggregate", fn, of },
  value,
});

/**
 * The fields of a condition or an order: `count`, and an object for each function. `leaf` is the type of their values.
 */
const terms = (
  { build }: GqlFieldContext,
  table: GqlTable,
  role: string,
  leaf: (value: GqlValueType) => GraphQLInputType | undefined,
): Record<string, GqlField> => {
  const fields: Record<string, GqlField> = {};
  const counted = build.valueType("int4");
  const count = counted && leaf(counted);
  if (count !== undefined)
    fields[build.fieldName("count")] = {
      config: { type: count },
      toPlan: aggregated("count", [], counted as GqlValueType),
    };
  for (const { fn, name } of build.aggregateFunctions()) {
    const type = build.inputObject({
      name: build.typeName(table.word, role.replace("-", "_"), name),
      scope: "terms",
      relation: table.relation,
      fn: `${role}:${fn}`,
      isOptional: true,
    });
    if (type !== undefined) fields[name] = { config: { type }, toPlan: { kind: "members" } };
  }
  return fields;
};

const termsOf = (build: GqlBuild, table: GqlTable, role: string) =>
  build.inputObject({
    name: build.typeName(table.word, role.replace("-", "_")),
    scope: "terms",
    relation: table.relation,
    fn: role,
  });

/** The columns that the function accepts. */
const columnTerms = (
  { build }: GqlFieldContext,
  table: GqlTable,
  fn: string,
  leaf: (value: GqlValueType) => GraphQLInputType | undefined,
): GqlFields => {
  const of = build.aggregateFunctions().find((one) => one.fn === fn)?.of;
  return Object.fromEntries(
    keysOf(build, table).flatMap(({ name, column, value }) => {
      const result = of?.(value);
      const type = result && leaf(result);
      return result === undefined || type === undefined
        ? []
        : [[name, { config: { type }, toPlan: aggregated(fn, [{ kind: "column", name: column }], result) }]];
    }),
  );
};

const termFields = (context: GqlFieldContext, table: GqlTable): GqlFields => {
  const { build, fn = "" } = context;
  const direction = build.orderDirection();
  const compared = (value: GqlValueType) => build.comparison(value);
  const [role = "", over] = fn.split(":");
  const leaf = role === HAVING ? compared : () => direction;
  if (over !== undefined) return columnTerms(context, table, over, leaf);
  const fields = terms(context, table, role, leaf);
  if (role === ORDER) return { ...keyOrderFields(context, table), ...fields };
  const self = role === HAVING ? termsOf(build, table, HAVING) : undefined;
  if (self === undefined) return fields;
  return {
    ...fields,
    [build.fieldName("_and")]: { config: { type: new GraphQLList(required(self)) }, toPlan: { kind: "and" } },
    [build.fieldName("_or")]: { config: { type: new GraphQLList(required(self)) }, toPlan: { kind: "or" } },
    [build.fieldName("_not")]: { config: { type: self }, toPlan: { kind: "not" } },
  };
};

const groupFields = (context: GqlFieldContext, table: GqlTable): GqlFields => {
  const { build } = context;
  const type = build.aggregateFields(table);
  return {
    ...keyFields(context, table),
    ...(type && {
      [build.fieldName("aggregate")]: {
        config: { type },
        toPlan: { kind: "custom", output: ({ as }, { aggregates }) => ({ kind: "object", as, of: aggregates() }) },
      },
    }),
  };
};

/** The columns among the outputs, directly or in objects of related rows. */
const displayedIn = (outputs: readonly Output[]): readonly Expression[] =>
  outputs.flatMap((output) =>
    output.kind === "value" ? [output.value] : output.kind === "object" ? displayedIn(output.of) : [],
  );

const idOf = (way: readonly string[]): string => JSON.stringify(way);

/** @throws RelApiError `validation-failed` @rule P-GRP-2 P-GRP-7 */
const checkKeys = (build: GqlBuild, table: GqlTable, keys: readonly ChosenKey[], read: Read, path: string): void => {
  const refuse = (message: string, place: string): RelApiError =>
    new RelApiError({ code: "validation-failed", status: 400, message, path: `${path}.${place}` });
  if (keys.length === 0) throw refuse('"by" names no column', "args.by");
  const by = new Set(keys.map(({ expression }) => idOf(pathOf(expression) ?? [])));
  const refuseOthers = (values: readonly Expression[], placeOf: (names: readonly string[]) => string): void => {
    const other = values.map(pathOf).find((way) => way !== undefined && !by.has(idOf(way)));
    if (other === undefined) return;
    const names = namesOf(build, table, other);
    const argument = names.length === 1 ? "by" : build.fieldName("by_related");
    throw refuse(`the column "${names.join(".")}" is not among those of "${argument}"`, placeOf(names));
  };
  refuseOthers(displayedIn(read.output), (names) => names.map((name) => `selectionSet.${name}`).join("."));
  refuseOthers(
    (read.orderBy ?? []).map((term) => term.by),
    () => "args.order_by",
  );
};

// --- periods ---------------------------------------------------------------------------------------------------------

const PERIODS = ["hour", "day", "week", "month", "quarter", "year"];
const TIMES: ReadonlySet<string> = new Set(["date", "timestamp", "timestamptz"]);

const periodFunction = (period: string): string => `group-by-${period}`;

const periods = (build: GqlBuild): GraphQLInputType | undefined =>
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
  const startOfPeriod = (value: Expression): Expression => {
    if (value.kind === "cast" || value.kind === "apply") return { ...value, of: startOfPeriod(value.of) };
    const type = timeTypes.get(JSON.stringify(value));
    if (type === undefined) return value;
    const begin: Expression = { kind: "apply", function: periodFunction(period), of: value };
    return type === "date" ? { kind: "cast", of: begin, type } : begin;
  };
  const startOfPeriodInZone = (output: Output): Output => {
    if (output.kind === "value") return { ...output, value: startOfPeriod(output.value) };
    return output.kind === "object" ? { ...output, of: output.of.map(startOfPeriodInZone) } : output;
  };
  return {
    ...read,
    output: read.output.map(startOfPeriodInZone),
    groupBy: (read.groupBy ?? []).map(startOfPeriod),
    ...(read.orderBy && { orderBy: read.orderBy.map((term) => ({ ...term, by: startOfPeriod(term.by) })) }),
  };
};

// --- fields ----------------------------------------------------------------------------------------------------------

/** A list of groups: its type, its arguments, and the read that it compiles to. */
interface GroupList {
  readonly config: GqlField["config"];
  readonly plan: (selection: GqlSelection, context: GqlSelectionContext) => Read;
}

/** Returns undefined if the role may not aggregate the table. */
const groupList = (build: GqlBuild, table: GqlTable): GroupList | undefined => {
  const { relation } = table;
  if (build.rights(table).select?.mayAggregate !== true) return undefined;
  const lists = build.listArguments(table);
  const by = keyArguments(build, table);
  const type = build.object({
    name: build.typeName(table.word, GROUP),
    scope: "record",
    relation,
    fn: GROUP,
    description: `rows of the table "${relation.name}" that have the same values in some columns`,
  });
  const having = termsOf(build, table, HAVING);
  const order = termsOf(build, table, ORDER);
  if (by === undefined || type === undefined || having === undefined || order === undefined) return undefined;
  const { where, limit, offset } = lists;
  const hasTimes = keysOf(build, table).some(({ value }) => TIMES.has(value.type.name));
  const period = hasTimes || build.fieldName("by_related") in by ? periods(build) : undefined;
  return {
    config: {
      type: required(new GraphQLList(required(type as never)) as never),
      args: {
        ...(where && { where }),
        ...(limit && { limit }),
        ...(offset && { offset }),
        ...by,
        ...(period && { [build.fieldName("period")]: { type: period } }),
        having: { type: having, ...partOf({ kind: "argument", name: "having" }) },
        [build.fieldName("order_by")]: {
          type: new GraphQLList(required(order)),
          ...partOf({ kind: "argument", name: "order_by" }),
        },
      },
      description: `groups of rows of the table "${relation.name}", with what aggregates make of each`,
    },
    plan: (selection, { rows, list }) => {
      const keys = chosenKeys(build, table, selection.arguments);
      const given = period && (selection.arguments[build.fieldName("period")] as string | null | undefined);
      const read: Read = {
        kind: "read",
        from: { relation: { schema: relation.schema, name: relation.name } },
        shape: "rows",
        output: rows(),
        ...list(),
        groupBy: keys.map(({ expression }) => expression),
      };
      checkKeys(build, table, keys, read, selection.path);
      const chosen = PERIODS.find((each) => build.enumValue(each) === given);
      return chosen === undefined ? read : groupByPeriod(read, keys, chosen);
    },
  };
};

const rootFields = ({ build, scope }: GqlFieldContext): GqlFields =>
  Object.fromEntries(
    build.source.tables.flatMap((table): readonly (readonly [string, GqlField])[] => {
      const { select } = build.rights(table);
      const offered = scope === "subscription_root" ? select?.subscriptionRootFields : select?.queryRootFields;
      const list = offered?.has("select_aggregate") === false ? undefined : groupList(build, table);
      if (list === undefined) return [];
      const { config, plan } = list;
      return [[build.rootName(table.word, "group_by"), { config, toPlan: { kind: "custom", plan } }]];
    }),
  );

/** Adds a group field beside each array relationship, as for its aggregate. @rule P-GRP-5 */
const relatedFields = ({ build }: GqlFieldContext, table: GqlTable): GqlFields =>
  Object.fromEntries(
    table.relationships.flatMap(({ name, relationship, target }): readonly (readonly [string, GqlField])[] => {
      const related = relationship.isToOne ? undefined : build.table(target);
      const list = related && groupList(build, related);
      if (list === undefined) return [];
      const output = (selection: GqlSelection, context: GqlSelectionContext): Output => ({
        kind: "embed",
        as: selection.as,
        id: selection.as,
        mode: "nest",
        via: { relationship: relationship.id },
        join: "left",
        read: list.plan(selection, context),
      });
      return [[build.fieldName(name, "group_by"), { config: list.config, toPlan: { kind: "custom", output } }]];
    }),
  );

/** Adds lists of groups to GraphQL. @rule P-GRP-1 P-GRP-2 P-GRP-5 P-GRP-6 */
export const graphqlGroupBy = definePlugin({
  name: "graphql-group-by",
  requires: ["graphql-aggregates", "graphql-relationships", "nest-embeds"],
  functions: PERIODS.map((period) => ({
    name: periodFunction(period),
    builtIn: ["date_trunc"],
    compile: (time) => sql`pg_catalog.date_trunc(${literal(period)}, ${time})`,
  })),
  apply: (hooks) =>
    hooks.buildGqlField.tap("graphql-group-by", (fields: GqlFields, context: GqlFieldContext) => {
      const { scope, fn, build, relation } = context;
      if (scope === "query_root" || scope === "subscription_root") return { ...fields, ...rootFields(context) };
      const table = relation && build.table(relation);
      if (table === undefined) return fields;
      if (scope === "row") return { ...relatedFields(context, table), ...fields };
      if (scope === "record" && fn === GROUP) return { ...fields, ...groupFields(context, table) };
      if (scope === "record" && fn === KEY) return { ...fields, ...keyFields(context, table) };
      if (scope === "input") return { ...fields, ...keyInputFields(context, table) };
      if (scope === "terms" && fn === KEY_ORDER) return { ...fields, ...keyOrderFields(context, table) };
      return scope === "terms" && fn?.startsWith(`${GROUP}-`) === true
        ? { ...fields, ...termFields(context, table) }
        : fields;
    }),
});
