/** `{ album_group_by(by: [artist_id], having: { count: { _gt: 1 } }, order_by: { sum: { sold: desc } }) { artist_id aggregate { count } } }` */
import { getNamedType, GraphQLList, GraphQLNonNull, type GraphQLInputType } from "graphql";
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

/** Which of the plugin's types it is: `fn` of the type, with the function behind it. */
const GROUP = "group";
const HAVING = "group-having";
const ORDER = "group-order";

const required = <Type extends GraphQLInputType>(type: Type) => new GraphQLNonNull(type);
const partOf = (part: GqlPart) => ({ extensions: { relapi: part } });

interface Key {
  readonly name: string;
  readonly column: string;
  readonly value: GqlValueType;
  readonly part: GqlPart;
}

/** Columns that the role reads in every row. */
const keysOf = (build: GqlBuild, table: GqlTable): readonly Key[] => {
  const { columns, masked } = build.rights(table).select ?? {};
  return table.columns.flatMap((each): readonly Key[] => {
    const { name, column } = each;
    const value =
      columns?.has(column.name) === true && masked?.has(column.name) !== true ? build.columnValue(each) : undefined;
    return value === undefined
      ? []
      : [{ name, column: column.name, value, part: { kind: "column", column, relation: table.relation, value } }];
  });
};

const aggregated = (fn: string, of: readonly Expression[], value: GqlValueType): GqlPart => ({
  kind: "expression",
  expression: { kind: "aggregate", fn, of },
  value,
});

/** Of a condition or an order: `count`, and an object for each function. `leaf`: the type at the end. */
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

/** Columns that the function takes. */
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
  if (role === ORDER)
    for (const { name, part } of keysOf(build, table))
      if (direction !== undefined) fields[name] ??= { config: { type: direction }, toPlan: part };
  const self = role === HAVING ? termsOf(build, table, HAVING) : undefined;
  if (self === undefined) return fields;
  return {
    ...fields,
    [build.fieldName("_and")]: { config: { type: new GraphQLList(required(self)) }, toPlan: { kind: "and" } },
    [build.fieldName("_or")]: { config: { type: new GraphQLList(required(self)) }, toPlan: { kind: "or" } },
    [build.fieldName("_not")]: { config: { type: self }, toPlan: { kind: "not" } },
  };
};

const groupFields = ({ build }: GqlFieldContext, table: GqlTable): GqlFields => {
  const fields: Record<string, GqlField> = {};
  for (const { name, value, part } of keysOf(build, table))
    fields[name] = { config: { type: build.valueOutput(value) }, toPlan: part };
  const type = build.aggregateFields(table);
  if (type !== undefined)
    fields[build.fieldName("aggregate")] = {
      config: { type },
      toPlan: { kind: "custom", output: ({ as }, { aggregates }) => ({ kind: "object", as, of: aggregates() }) },
    };
  return fields;
};

/** The column that is shown: as it is, or as text. */
const columnIn = (value: Expression): string | undefined => {
  if (value.kind === "cast" || value.kind === "apply") return columnIn(value.of);
  return value.kind === "column" ? value.name : undefined;
};

/** @throws RelApiError `validation-failed` @rule P-GRP-2 */
const checkKeys = (by: readonly string[], read: Read, path: string): void => {
  const refuse = (message: string, place: string): RelApiError =>
    new RelApiError({ code: "validation-failed", status: 400, message, path: `${path}.${place}` });
  if (by.length === 0) throw refuse('"by" names no column', "args.by");
  const shown = read.output.flatMap((output: Output) => (output.kind === "value" ? [columnIn(output.value)] : []));
  const ordered = (read.orderBy ?? []).flatMap((term) => (term.by.kind === "column" ? [term.by.name] : []));
  const isOther = (name: string | undefined): boolean => name === undefined || !by.includes(name);
  const refuseOther = (name: string | undefined, place: string): void => {
    if (name !== undefined) throw refuse(`the column "${name}" is not among those of "by"`, place);
  };
  const selected = shown.find(isOther);
  refuseOther(selected, `selectionSet.${selected}`);
  refuseOther(ordered.find(isOther), "args.order_by");
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

/** The read, with times of `by` in place of the periods that they belong to. @rule P-GRP-6 */
const byPeriod = (read: Read, keys: readonly Key[], period: string): Read => {
  const timeTypes = new Map(
    keys.flatMap(({ column, value: { type } }) => (TIMES.has(type.name) ? [[column, type.name] as const] : [])),
  );
  const begun = (value: Expression): Expression => {
    if (value.kind === "cast" || value.kind === "apply") return { ...value, of: begun(value.of) };
    const type = value.kind === "column" && value.path === undefined ? timeTypes.get(value.name) : undefined;
    if (type === undefined) return value;
    const begin: Expression = { kind: "apply", function: periodFunction(period), of: value };
    return type === "date" ? { kind: "cast", of: begin, type } : begin;
  };
  return {
    ...read,
    output: read.output.map((output) => (output.kind === "value" ? { ...output, value: begun(output.value) } : output)),
    groupBy: (read.groupBy ?? []).map(begun),
    ...(read.orderBy && { orderBy: read.orderBy.map((term) => ({ ...term, by: begun(term.by) })) }),
  };
};

// --- fields ----------------------------------------------------------------------------------------------------------

/** A list of groups: its type, its arguments, and the read that it stands for. */
interface GroupList {
  readonly config: GqlField["config"];
  readonly plan: (selection: GqlSelection, context: GqlSelectionContext) => Read;
}

/** Undefined: the role may not aggregate the table. */
const groupList = (build: GqlBuild, table: GqlTable): GroupList | undefined => {
  const { relation } = table;
  if (build.rights(table).select?.mayAggregate !== true) return undefined;
  const lists = build.listArguments(table);
  const columns = lists[build.fieldName("distinct_on")];
  const type = build.object({
    name: build.typeName(table.word, GROUP),
    scope: "record",
    relation,
    fn: GROUP,
    description: `rows of the table "${relation.name}" that have the same values in some columns`,
  });
  const having = termsOf(build, table, HAVING);
  const order = termsOf(build, table, ORDER);
  if (columns === undefined || type === undefined || having === undefined || order === undefined) return undefined;
  const { where, limit, offset } = lists;
  const period = keysOf(build, table).some(({ value }) => TIMES.has(value.type.name)) ? periods(build) : undefined;
  return {
    config: {
      type: required(new GraphQLList(required(type as never)) as never),
      args: {
        ...(where && { where }),
        ...(limit && { limit }),
        ...(offset && { offset }),
        by: { type: required(new GraphQLList(required(getNamedType(columns.type) as GraphQLInputType))) },
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
      const wanted = new Set(selection.arguments["by"] as readonly string[]); // as its type has it
      const keys = keysOf(build, table).filter(({ name }) => wanted.has(name));
      const by = keys.map(({ column }) => column);
      const given = period && (selection.arguments[build.fieldName("period")] as string | null | undefined);
      const read: Read = {
        kind: "read",
        from: { relation: { schema: relation.schema, name: relation.name } },
        shape: "rows",
        output: rows(),
        ...list(),
        groupBy: by.map((name) => ({ kind: "column", name })),
      };
      checkKeys(by, read, selection.path);
      const chosen = PERIODS.find((each) => build.enumValue(each) === given);
      return chosen === undefined ? read : byPeriod(read, keys, chosen);
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

/** Beside each array relationship, as its aggregate is. @rule P-GRP-5 */
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

/** Groups in GraphQL. @rule P-GRP-1 P-GRP-2 P-GRP-5 P-GRP-6 */
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
      return scope === "terms" && fn?.startsWith(`${GROUP}-`) === true
        ? { ...fields, ...termFields(context, table) }
        : fields;
    }),
});
