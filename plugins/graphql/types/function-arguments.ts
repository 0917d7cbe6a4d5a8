/** `args: { term: "a" }`: builds the input of functions and computed fields. @rule G-FN-4 G-CF-3 */
import type { GraphQLArgumentConfig } from "graphql";
import type { RoutineParameter } from "../../../core/index.ts";
import { listOwnParameters } from "./role-table.ts";
import { isLegalName } from "./names.ts";
import { argument, buildEntry, collectFields } from "./field-taps.ts";
import { wrapNonNull } from "./non-null-list.ts";
import type { GqlBuild, GqlFieldContext, GqlFields, GqlTypeSpec } from "../field-types.ts";

interface OwnParameter {
  readonly parameter: RoutineParameter;
  readonly index: number;
}

/** Returns the argument's name. Unnamed parameters are numbered among themselves, without the row of a computed field:
 *  `arg_1`, `arg_2`. */
const buildParameterName = ({ index, parameter }: OwnParameter, parameters: readonly OwnParameter[]): string =>
  parameter.name !== ""
    ? parameter.name
    : `arg_${parameters.filter((entry) => entry.parameter.name === "" && entry.index <= index).length}`;

const listParameters = (context: Pick<GqlTypeSpec, "routine" | "computedField" | "fn">): readonly OwnParameter[] => {
  if (context.computedField !== undefined) return listOwnParameters(context.computedField);
  const session = context.fn === undefined ? undefined : Number(context.fn);
  return (context.routine?.parameters ?? []).flatMap((parameter, index) =>
    index === session ? [] : [{ parameter, index }],
  );
};

export const buildFunctionArgumentFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const parameters = listParameters(context);
  return collectFields(
    parameters.map((entry) => {
      const name = build.fieldName(buildParameterName(entry, parameters));
      const value = isLegalName(name) ? build.argumentType(entry.parameter.type) : undefined;
      return value && buildEntry(name, build.valueInput(value), { kind: "function-argument", ...entry, value });
    }),
  );
};

/** Returns the `args` argument, if the function has arguments. It is required if any argument has no default. `spec.fn`
 *  is the index of the function's session argument. */
export const buildArgsArgument = (
  build: GqlBuild,
  {
    argumentDescription,
    ...spec
  }: Omit<GqlTypeSpec, "scope" | "isOptional" | "description"> & { readonly argumentDescription: string },
): Record<string, GraphQLArgumentConfig> => {
  const parameters = listParameters(spec);
  const type =
    parameters.length === 0 ? undefined : build.inputObject({ ...spec, scope: "function_args", isOptional: true });
  if (type === undefined) return {};
  const isRequired = parameters.some(({ parameter }) => !parameter.hasDefault);
  return {
    args: argument(isRequired ? wrapNonNull(type) : type, { kind: "argument", name: "args" }, argumentDescription),
  };
};
