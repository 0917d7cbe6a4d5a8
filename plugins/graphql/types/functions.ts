/** `{ search_albums(args: { term: "a" }, limit: 3) { title } }`: adds functions that return rows as root fields.
 *  @rule G-FN-1 … G-FN-4 G-FN-7 G-FN-9 G-FN-10 */
import { definePlugin } from "../../../core/index.ts";
import { buildArgsArgument, buildFunctionArgumentFields } from "./function-arguments.ts";
import { hasOperator, getRoleTable } from "./role-table.ts";
import { formatName } from "./names.ts";
import { buildAggregateType, listArguments, quoteTableName, buildRowType } from "./type-names.ts";
import { collectFields, tapFields } from "./field-taps.ts";
import { wrapNonNull, wrapNonNullList } from "./non-null-list.ts";
import type { GqlBuild, GqlField, GqlFieldContext, GqlFields } from "../field-types.ts";
import type { GqlFunction, GqlTable } from "../catalog-types.ts";

const buildArguments = (build: GqlBuild, fn: GqlFunction, table: GqlTable) => ({
  ...buildArgsArgument(build, {
    name: build.typeName(fn.namePart, "args"),
    routine: fn.routine,
    ...(fn.sessionArgument === undefined ? {} : { fn: String(fn.sessionArgument) }),
    argumentDescription: `input parameters for function "${formatName(fn.routine)}"`,
  }),
  ...listArguments(build, table),
});

const buildFunctionPart = ({ routine, relation, sessionArgument }: GqlFunction, isAggregate: boolean) =>
  ({
    kind: "function",
    routine,
    relation,
    isAggregate,
    ...(sessionArgument === undefined ? {} : { sessionArgument }),
  }) as const;

const buildRowsField = (build: GqlBuild, fn: GqlFunction, table: GqlTable): readonly [string, GqlField] | undefined => {
  const row = buildRowType(build, table);
  if (row === undefined) return undefined;
  const standard =
    fn.comment === undefined
      ? `execute ${fn.isMutation ? "VOLATILE " : ""}function "${formatName(fn.routine)}" which returns ${quoteTableName(table)}`
      : fn.comment;
  const rootField = fn.rootFields.function;
  return [
    rootField?.name ?? build.rootName(fn.namePart),
    {
      config: {
        type: fn.routine.returns.isSet ? wrapNonNullList(row) : row,
        args: buildArguments(build, fn, table),
        description: rootField?.comment === undefined ? standard : rootField.comment || null,
      },
      toPlan: buildFunctionPart(fn, false),
    },
  ];
};

const buildAggregateField = (
  build: GqlBuild,
  fn: GqlFunction,
  table: GqlTable,
): readonly [string, GqlField] | undefined => {
  const type =
    build.schema.registry.has("graphql-aggregates") && getRoleTable(build, table).mayAggregate
      ? buildAggregateType(build, table)
      : undefined;
  if (type === undefined) return undefined;
  const standard = `execute function "${formatName(fn.routine)}" and query aggregates on result of table type ${quoteTableName(table)}`;
  const rootField = fn.rootFields.function_aggregate;
  return [
    rootField?.name ?? build.rootName(fn.namePart, "aggregate"),
    {
      config: {
        type: wrapNonNull(type),
        args: buildArguments(build, fn, table),
        description: rootField?.comment === undefined ? standard : rootField.comment || null,
      },
      toPlan: buildFunctionPart(fn, true),
    },
  ];
};

/** Returns whether the plugins can plan the function. A function that returns one row needs the operator `is`, which
 *  checks that there is a row. @rule G-FN-3 */
const isPlannable = (build: GqlBuild, { routine }: GqlFunction): boolean =>
  routine.returns.isSet || hasOperator(build, "is");

/** Returns the functions of one root whose rows the role may read. */
const listServedFunctions = (build: GqlBuild, isMutation: boolean): { fn: GqlFunction; table: GqlTable }[] =>
  build.catalog.functions.flatMap((fn) => {
    const table =
      fn.isMutation === isMutation && isPlannable(build, fn) && build.access.mayCall(fn)
        ? build.table(fn.relation)
        : undefined;
    return table === undefined || build.rights(table).select === undefined ? [] : [{ fn, table }];
  });

const readFields = ({ build }: GqlFieldContext): GqlFields =>
  collectFields(
    listServedFunctions(build, false).flatMap(({ fn, table }) => [
      buildRowsField(build, fn, table),
      buildAggregateField(build, fn, table),
    ]),
  );

const writeFields = ({ build }: GqlFieldContext): GqlFields =>
  collectFields(listServedFunctions(build, true).map(({ fn, table }) => buildRowsField(build, fn, table)));

/** Adds functions that return rows as root fields. */
export const graphqlFunctions = definePlugin({
  name: "graphql-functions",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-functions", {
      query_root: readFields,
      subscription_root: readFields,
      mutation_root: writeFields,
      function_args: (context) => (context.computedField === undefined ? buildFunctionArgumentFields(context) : {}),
    }),
});
