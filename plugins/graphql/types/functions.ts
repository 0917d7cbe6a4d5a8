/** `{ search_albums(args: { term: "a" }, limit: 3) { title } }`: adds functions that return rows as root fields.
 *  @rule G-FN-1 … G-FN-4 G-FN-7 G-FN-9 G-FN-10 */
import { definePlugin } from "../../../core/index.ts";
import { argsArgument, functionArgumentFields } from "./function-arguments.ts";
import { hasOperator, roleTableOf } from "./role-table.ts";
import { describedName } from "./names.ts";
import { aggregateType, listArguments, quoted, rowType } from "./type-names.ts";
import { fieldsOf, tapFields } from "./field-taps.ts";
import { required, requiredList } from "./non-null-list.ts";
import type { GqlBuild, GqlField, GqlFieldContext, GqlFields } from "../build.ts";
import type { GqlFunction, GqlTable } from "../catalog-types.ts";

const argumentsOf = (build: GqlBuild, fn: GqlFunction, table: GqlTable) => ({
  ...argsArgument(build, {
    name: build.typeName(fn.word, "args"),
    routine: fn.routine,
    ...(fn.sessionArgument === undefined ? {} : { fn: String(fn.sessionArgument) }),
    argumentDescription: `input parameters for function "${describedName(fn.routine)}"`,
  }),
  ...listArguments(build, table),
});

const partOf = ({ routine, relation, sessionArgument }: GqlFunction, isAggregate: boolean) =>
  ({
    kind: "function",
    routine,
    relation,
    isAggregate,
    ...(sessionArgument === undefined ? {} : { sessionArgument }),
  }) as const;

const rowsField = (build: GqlBuild, fn: GqlFunction, table: GqlTable): readonly [string, GqlField] | undefined => {
  const row = rowType(build, table);
  if (row === undefined) return undefined;
  const standard =
    fn.comment === undefined
      ? `execute ${fn.isMutation ? "VOLATILE " : ""}function "${describedName(fn.routine)}" which returns ${quoted(table)}`
      : fn.comment;
  const own = fn.rootFields.function;
  return [
    own?.name ?? build.rootName(fn.word),
    {
      config: {
        type: fn.routine.returns.isSet ? requiredList(row) : row,
        args: argumentsOf(build, fn, table),
        description: own?.comment === undefined ? standard : own.comment || null,
      },
      toPlan: partOf(fn, false),
    },
  ];
};

const aggregateField = (build: GqlBuild, fn: GqlFunction, table: GqlTable): readonly [string, GqlField] | undefined => {
  const type =
    build.schema.registry.has("graphql-aggregates") && roleTableOf(build, table).mayAggregate
      ? aggregateType(build, table)
      : undefined;
  if (type === undefined) return undefined;
  const standard = `execute function "${describedName(fn.routine)}" and query aggregates on result of table type ${quoted(table)}`;
  const own = fn.rootFields.function_aggregate;
  return [
    own?.name ?? build.rootName(fn.word, "aggregate"),
    {
      config: {
        type: required(type),
        args: argumentsOf(build, fn, table),
        description: own?.comment === undefined ? standard : own.comment || null,
      },
      toPlan: partOf(fn, true),
    },
  ];
};

/** A function that returns a single row needs the operator `is`, which checks that there is a row. @rule G-FN-3 */
const isPlannable = (build: GqlBuild, { routine }: GqlFunction): boolean =>
  routine.returns.isSet || hasOperator(build, "is");

/** Returns the functions of one root whose rows the role may read. */
const servedFunctions = (build: GqlBuild, isMutation: boolean): { fn: GqlFunction; table: GqlTable }[] =>
  build.source.functions.flatMap((fn) => {
    const table =
      fn.isMutation === isMutation && isPlannable(build, fn) && build.view.mayCall(fn)
        ? build.table(fn.relation)
        : undefined;
    return table === undefined || build.rights(table).select === undefined ? [] : [{ fn, table }];
  });

const readFields = ({ build }: GqlFieldContext): GqlFields =>
  fieldsOf(
    servedFunctions(build, false).flatMap(({ fn, table }) => [
      rowsField(build, fn, table),
      aggregateField(build, fn, table),
    ]),
  );

const writeFields = ({ build }: GqlFieldContext): GqlFields =>
  fieldsOf(servedFunctions(build, true).map(({ fn, table }) => rowsField(build, fn, table)));

export const graphqlFunctions = definePlugin({
  name: "graphql-functions",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-functions", {
      query_root: readFields,
      subscription_root: readFields,
      mutation_root: writeFields,
      function_args: (context) => (context.computedField === undefined ? functionArgumentFields(context) : {}),
    }),
});
