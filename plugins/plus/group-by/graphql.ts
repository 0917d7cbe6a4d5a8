/** `{ album_group_by(by: [artist_id], having: { count: { _gt: 1 } }, order_by: { sum: { sold: desc } }) { artist_id aggregate { count } } }` */
import { getNamedType, GraphQLList, GraphQLNonNull, type GraphQLInputType } from "graphql";
import { definePlugin, RelApiError, type Expression, type Output, type Read } from "../../../core/index.ts";
import type {
  GqlBuild,
  GqlField,
  GqlFieldContext,
  GqlFields,
  GqlPart,
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

const rootFields = ({ build, scope }: GqlFieldContext): GqlFields => {
  const added: Record<string, GqlField> = {};
  for (const table of build.source.tables) {
    const { relation } = table;
    const { select } = build.rights(table);
    const offered = scope === "subscription_root" ? select?.subscriptionRootFields : select?.queryRootFields;
    if (select?.mayAggregate !== true || offered?.has("select_aggregate") === false) continue;
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
    if (columns === undefined || type === undefined || having === undefined || order === undefined) continue;
    const { where, limit, offset } = lists;
    added[build.rootName(table.word, "group_by")] = {
      config: {
        type: required(new GraphQLList(required(type as never)) as never),
        args: {
          ...(where && { where }),
          ...(limit && { limit }),
          ...(offset && { offset }),
          by: { type: required(new GraphQLList(required(getNamedType(columns.type) as GraphQLInputType))) },
          having: { type: having, ...partOf({ kind: "argument", name: "having" }) },
          [build.fieldName("order_by")]: {
            type: new GraphQLList(required(order)),
            ...partOf({ kind: "argument", name: "order_by" }),
          },
        },
        description: `groups of rows of the table "${relation.name}", with what aggregates make of each`,
      },
      toPlan: {
        kind: "custom",
        plan: (selection, { rows, list }) => {
          const wanted = new Set(selection.arguments["by"] as readonly string[]); // as its type has it
          const by = keysOf(build, table).flatMap(({ name, column }) => (wanted.has(name) ? [column] : []));
          const read: Read = {
            kind: "read",
            from: { relation: { schema: relation.schema, name: relation.name } },
            shape: "rows",
            output: rows(),
            ...list(),
            groupBy: by.map((name) => ({ kind: "column", name })),
          };
          checkKeys(by, read, selection.path);
          return read;
        },
      },
    };
  }
  return added;
};

/** Groups in GraphQL. @rule P-GRP-1 P-GRP-2 */
export const graphqlGroupBy = definePlugin({
  name: "graphql-group-by",
  requires: ["graphql-aggregates"],
  apply: (hooks) =>
    hooks.buildGqlField.tap("graphql-group-by", (fields: GqlFields, context: GqlFieldContext) => {
      const { scope, fn, build, relation } = context;
      if (scope === "query_root" || scope === "subscription_root") return { ...fields, ...rootFields(context) };
      const table = relation && build.table(relation);
      if (table === undefined) return fields;
      if (scope === "record" && fn === GROUP) return { ...fields, ...groupFields(context, table) };
      return scope === "terms" && fn?.startsWith(`${GROUP}-`) === true
        ? { ...fields, ...termFields(context, table) }
        : fields;
    }),
});
