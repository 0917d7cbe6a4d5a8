/** Plans values of a row: columns, JSON paths, computed fields. @rule G-OUT-1 G-CF-2 G-TYP-22 G-TYP-30 */
import { encodeArrayLiteral, type Expression, type PathKey } from "../../../core/index.ts";
import { parseJsonPath } from "../../shared/json-path.ts";
import { describeValue } from "../values/leaf.ts";
import { valueUnexpected, graphqlLimitExceeded, validationFailed } from "../errors.ts";
import type { GqlPart } from "../plan-parts.ts";
import type { GqlValueType } from "../value-types.ts";
import { buildComputedExpression, findFixedArguments, planArguments } from "./computed-fields.ts";
import { describeInput, isNull, type LocatedInput } from "./input.ts";
import { bindLeaf, type Planner, type SelectedField } from "./planner.ts";
import { visitArguments, checkSubselection, type GivenArgument } from "./selection.ts";

/** The types that the option `stringifyNumericTypes` converts to strings. @rule G-TYP-30 */
const STRINGIFIED_TYPES: ReadonlySet<string> = new Set(["int8", "numeric", "float8", "money"]);

export const isStringified = (planner: Planner, value: GqlValueType): boolean =>
  planner.schema.options.stringifyNumericTypes && STRINGIFIED_TYPES.has(value.type.name);

/** Wraps values that JSON functions would print in another form than the contract requires. @rule G-TYP-23 G-TYP-34 */
const formatForOutput = (planner: Planner, value: GqlValueType, expression: Expression): Expression => {
  const { name } = value.type;
  if (name === "geometry" || name === "geography") return { kind: "apply", function: "to-geojson", value: expression };
  if (name === "raster") return { kind: "apply", function: "to-hexwkb", value: expression };
  // By the naming convention, the names of enum values are the keys in upper case (G-NAM-8).
  if (value.enumTable?.values.some((enumValue) => enumValue.name !== enumValue.key))
    return { kind: "apply", function: "upper", value: expression };
  return isStringified(planner, value) ? { kind: "cast", value: expression, type: "text" } : expression;
};

/** Plans the value of a column. */
export const planColumn = (
  planner: Planner,
  selectedField: SelectedField,
  part: Extract<GqlPart, { readonly kind: "column" }>,
): Expression => {
  let path: readonly PathKey[] | undefined;
  visitArguments(planner, selectedField, (argument) => {
    path = planJsonPath(planner, argument) ?? path;
  });
  checkSubselection(selectedField);
  return formatForOutput(planner, part.value, { kind: "column", name: part.column.name, ...(path && { path }) });
};

/** Plans the argument `path` of json columns. @rule G-COE-11 G-COE-12 */
const planJsonPath = (planner: Planner, argument: GivenArgument): readonly PathKey[] | undefined => {
  const { part, input } = argument;
  if (part?.kind !== "argument" || part.name !== "path") return undefined;
  if (input.kind === "literal" && input.node.kind === "NullValue") return undefined;
  return [{ arrow: "#>", key: { param: bindPath(planner, argument), type: "text[]" } }];
};

const bindPath = (planner: Planner, locatedInput: LocatedInput): number =>
  bindLeaf(planner, locatedInput, false, (value) => {
    const { input, path } = locatedInput;
    // A null variable means the whole value, like an omitted argument.
    if (value === null) return encodeArrayLiteral([]);
    const isLiteral = input.kind === "literal" && input.node.kind !== "Variable";
    if (typeof value !== "string")
      throw valueUnexpected(
        "a string",
        "String",
        isLiteral && !isNull(input) ? describeInput(input) : describeValue(value),
        path,
      );
    const { options } = planner.schema;
    const keys = parseJsonPath(value, options.maxPathKeys);
    if (keys === undefined) throw validationFailed(formatJsonPathError(value), path.slice(0, path.lastIndexOf(".")));
    if (keys.length > options.maxPathKeys)
      throw graphqlLimitExceeded(options, "maxPathKeys", "keys in a JSON path", path);
    return encodeArrayLiteral(keys);
  });

const formatJsonPathError = (text: string): string =>
  `parse json path error: ${text}. Accept letters, digits, underscore (_) or hyphen (-) only. Use quotes enclosed in bracket (["..."]) if there is any special character`;

export type ComputedPart = Extract<GqlPart, { readonly kind: "computed" }>;

/** Plans the value of a computed field. */
export const planComputedValue = (
  planner: Planner,
  selectedField: SelectedField,
  part: ComputedPart,
  value: GqlValueType,
): Expression => {
  let path: readonly PathKey[] | undefined;
  const args = planFieldArguments(planner, selectedField, part, (argument) => {
    path = planJsonPath(planner, argument) ?? path;
  });
  checkSubselection(selectedField);
  return formatForOutput(planner, value, buildComputedExpression(part.field, args, path));
};

/** Plans only the expression, for aggregates of a computed field. */
export const planComputedOperand = (planner: Planner, selectedField: SelectedField, part: ComputedPart): Expression =>
  buildComputedExpression(part.field, planFieldArguments(planner, selectedField, part));

/** Plans the arguments of a computed field. @rule G-CF-3 */
const planFieldArguments = (
  planner: Planner,
  selectedField: SelectedField,
  { field }: ComputedPart,
  handleArgument: (argument: GivenArgument) => void = () => {},
) => {
  let args: GivenArgument | undefined;
  visitArguments(planner, selectedField, (argument) => {
    if (argument.part?.kind === "argument" && argument.part.name === "args") args = argument;
    else handleArgument(argument);
  });
  return planArguments(planner, field.routine, findFixedArguments(field), args, `${selectedField.path}.args.args`);
};
