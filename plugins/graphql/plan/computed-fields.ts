/** Plans computed fields, whose function takes arguments, the row and the session. @rule G-CF-1 G-CF-3 G-CF-5 G-FN-4
 *  G-FN-5 */
import {
  type Expression,
  type PathKey,
  type Routine,
  type RoutineArgument,
  type ValueRef,
} from "../../../core/index.ts";
import { requestUnsupported } from "../errors.ts";
import { visitInputFields, type LocatedInput } from "./input.ts";
import { bindColumn, type Planner } from "./planner.ts";
import { getFieldPart } from "../plan-parts.ts";
import type { GqlComputedField } from "../value-types.ts";

interface FixedArguments {
  readonly row?: number;
  readonly session?: number;
}

const ROW_ARGUMENT: RoutineArgument = { value: { constant: null }, isRow: true };

/** Orders the arguments like the parameters. Arguments are positional until one is omitted, and all later arguments are
 *  named. @rule G-FN-5 */
const orderArguments = (
  routine: Routine,
  fixedArguments: FixedArguments,
  argumentsByIndex: ReadonlyMap<number, ValueRef>,
  path: string,
): readonly RoutineArgument[] => {
  const list: RoutineArgument[] = [];
  let isByName = false;
  routine.parameters.forEach((parameter, index) => {
    const value: ValueRef | undefined =
      index === fixedArguments.session ? { session: true, type: parameter.sqlType } : argumentsByIndex.get(index);
    const argument: RoutineArgument | undefined = index === fixedArguments.row ? ROW_ARGUMENT : value && { value };
    if (argument === undefined) {
      if (!parameter.hasDefault) throw requestUnsupported("Non default arguments cannot be omitted", path);
      isByName = true;
    } else if (!isByName) {
      list.push(argument);
    } else {
      if (parameter.name === "") throw requestUnsupported("Only last set of positional arguments can be omitted", path);
      list.push({ name: parameter.name, ...argument });
    }
  });
  // The compiler passes the row as the first argument in any case.
  return list[0] === ROW_ARGUMENT ? list.slice(1) : list;
};

/** Plans `args: {…}`. `args` is undefined if the request has no such argument. `path` is the path of the `args`
 *  argument. */
export const planArguments = (
  planner: Planner,
  routine: Routine,
  fixedArguments: FixedArguments,
  args: LocatedInput | undefined,
  path: string,
): readonly RoutineArgument[] => {
  const argumentsByIndex = new Map<number, ValueRef>();
  if (args !== undefined) {
    visitInputFields(planner, args, (argument) => {
      const part = getFieldPart(argument.field);
      if (part?.kind === "function-argument")
        argumentsByIndex.set(part.index, bindColumn(planner, argument, part.value));
    });
  }
  return orderArguments(routine, fixedArguments, argumentsByIndex, path);
};

export const findFixedArguments = (field: GqlComputedField): FixedArguments => ({
  row: field.tableArgument,
  ...(field.sessionArgument === undefined ? {} : { session: field.sessionArgument }),
});

const noArguments: ReadonlyMap<number, ValueRef> = new Map();

/** Returns the arguments for positions in which the client gives none: `where`, `order_by`. */
export const buildDefaultArguments = (field: GqlComputedField): { readonly arguments?: readonly RoutineArgument[] } => {
  const list = orderArguments(field.routine, findFixedArguments(field), noArguments, "$");
  return list.length === 0 ? {} : { arguments: list };
};

/** Builds the expression that calls a computed field. */
export const buildComputedExpression = (
  field: GqlComputedField,
  args?: readonly RoutineArgument[],
  path?: readonly PathKey[],
): Expression => {
  const callArguments =
    args === undefined ? buildDefaultArguments(field) : args.length === 0 ? {} : { arguments: args };
  return {
    kind: "computed",
    routine: { schema: field.routine.schema, name: field.routine.name },
    ...callArguments,
    ...(path && { path }),
  };
};
