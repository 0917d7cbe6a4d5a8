/** What is selected of rows: columns, computed fields, related rows. @rule G-OUT-1 G-REL-1 G-REL-2 G-CF-2 G-TYP-22
 *  G-TYP-30 */
import type { GraphQLObjectType, SelectionSetNode } from "graphql";
import {
  arrayLiteral,
  parseJsonPath,
  type Embed,
  type EmbedSource,
  type Expression,
  type Output,
  type PathStep,
  type QualifiedName,
  type Read,
} from "../../../core/index.ts";
import { foundInVariable } from "../coerce/leaf.ts";
import { expectedFor, validationFailed } from "../errors.ts";
import { planAggregate } from "./aggregate.ts";
import { computedExpression, fixedOf, planArguments } from "./computed.ts";
import { misplaced, planOutput } from "./custom.ts";
import { found, isNull, type Input, type Place } from "./input.ts";
import { planLoad } from "./load.ts";
import { capOf, planListArguments } from "./lists.ts";
import { bindLeaf, type Planner } from "./planner.ts";
import { eachArgument, eachSelection, subselection, type GivenArgument, type Selected } from "./selection.ts";
import { nameOf } from "./where.ts";
import { gqlTypeFacts, type GqlPart, type GqlValueType } from "../parts.ts";

export const planRow = (
  planner: Planner,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  path: string,
): readonly Output[] => {
  const outputs: Output[] = [];
  eachSelection(planner, type, sets, path, (selection) => {
    if (selection.kind === "typename") outputs.push({ kind: "constant", as: selection.as, value: selection.value });
    else outputs.push(planRowField(planner, type, selection));
  });
  return outputs;
};

const planRowField = (planner: Planner, type: GraphQLObjectType, selected: Selected): Output => {
  const { part, as } = selected;
  switch (part?.kind) {
    case "column":
      return { kind: "value", as, value: planColumn(planner, selected, part) };
    case "computed":
      return part.value === undefined
        ? planComputedRows(planner, selected, part)
        : { kind: "value", as, value: planComputedValue(planner, selected, part, part.value) };
    case "relationship":
      return planRelationship(planner, selected, part);
    case "relationship-aggregate": {
      const list = planListArguments(planner, selected);
      const { target } = part;
      return embed(
        as,
        "aggregate",
        { relationship: part.relationship.id },
        planAggregate(planner, selected, { relation: nameOf(target) }, list),
      );
    }
    case "custom":
      if ("output" in part) return planOutput(planner, selected, part, gqlTypeFacts(type)?.relation);
      if ("load" in part) return planLoad(planner, selected, part);
      throw misplaced(part);
    default:
      throw new TypeError(`a field of a row stands for ${part?.kind ?? "nothing"}`);
  }
};

const embed = (as: string, mode: string, via: EmbedSource, read: Read): Embed => ({
  kind: "embed",
  as,
  id: as,
  mode,
  via,
  join: "left",
  read,
});

const rowsOf = (planner: Planner, selected: Selected, target: QualifiedName, list: Partial<Read>): Read => {
  const type = subselection(selected) as GraphQLObjectType; // row fields that lead to rows are objects
  return {
    kind: "read",
    from: { relation: target },
    shape: "rows",
    output: planRow(planner, type, selected.selections, selected.path),
    ...list,
  };
};

const planRelationship = (
  planner: Planner,
  selected: Selected,
  part: Extract<GqlPart, { readonly kind: "relationship" }>,
): Output => {
  const list = planListArguments(planner, selected);
  const capped = part.relationship.isToOne ? list : { ...list, ...capOf(planner) };
  return embed(
    selected.as,
    part.mode ?? "nest",
    { relationship: part.relationship.id },
    rowsOf(planner, selected, nameOf(part.target), capped),
  );
};

// --- values
// -----------------------------------------------------------------------------------------------------------

/** Types answered as strings with the option `stringifyNumericTypes`. @rule G-TYP-30 */
const STRINGIFIED: ReadonlySet<string> = new Set(["int8", "numeric", "float8", "money"]);

export const isStringified = (planner: Planner, value: GqlValueType): boolean =>
  planner.schema.options.stringifyNumericTypes && STRINGIFIED.has(value.type.name);

/** Put around values that JSON functions would not answer as the contract has them. @rule G-TYP-23 G-TYP-34 */
export const shown = (planner: Planner, value: GqlValueType, of: Expression): Expression => {
  const { name } = value.type;
  if (name === "geometry" || name === "geography") return { kind: "apply", function: "to-geojson", of };
  if (name === "raster") return { kind: "apply", function: "to-hexwkb", of };
  // by the naming convention the names of enum values are the keys in upper case (G-NAM-8)
  if (value.enumTable?.values.some((one) => one.name !== one.key)) return { kind: "apply", function: "upper", of };
  return isStringified(planner, value) ? { kind: "cast", of, type: "text" } : of;
};

const planColumn = (
  planner: Planner,
  selected: Selected,
  part: Extract<GqlPart, { readonly kind: "column" }>,
): Expression => {
  let path: readonly PathStep[] | undefined;
  eachArgument(planner, selected, (argument) => {
    path = planJsonPath(planner, argument) ?? path;
  });
  subselection(selected);
  return shown(planner, part.value, { kind: "column", name: part.column.name, ...(path && { path }) });
};

/** `path` of json columns. @rule G-COE-11 G-COE-12 */
const planJsonPath = (
  planner: Planner,
  { part, input, place, path }: GivenArgument,
): readonly PathStep[] | undefined => {
  if (part?.kind !== "argument" || part.name !== "path") return undefined;
  if (input.kind === "literal" && input.node.kind === "NullValue") return undefined;
  return [{ arrow: "#>", key: { param: bindPath(planner, input, place, path), type: "text[]" } }];
};

const bindPath = (planner: Planner, input: Input, place: Place, path: string): number =>
  bindLeaf(planner, input, place, path, false, (value) => {
    // a variable that is null asks for the whole value, as an argument that is not given
    if (value === null) return arrayLiteral([]);
    const isLiteral = input.kind === "literal" && input.node.kind !== "Variable";
    if (typeof value !== "string")
      throw expectedFor(
        "a string",
        "String",
        isLiteral && !isNull(input) ? found(input) : foundInVariable(value),
        path,
      );
    const keys = parseJsonPath(value);
    if (keys === undefined) throw validationFailed(jsonPathError(value), path.slice(0, path.lastIndexOf(".")));
    return arrayLiteral(keys);
  });

const jsonPathError = (text: string): string =>
  `parse json path error: ${text}. Accept letters, digits, underscore (_) or hyphen (-) only. Use quotes enclosed in bracket (["..."]) if there is any special character`;

type ComputedPart = Extract<GqlPart, { readonly kind: "computed" }>;

const planComputedValue = (
  planner: Planner,
  selected: Selected,
  part: ComputedPart,
  value: GqlValueType,
): Expression => {
  let path: readonly PathStep[] | undefined;
  const given = planFieldArguments(planner, selected, part, (argument) => {
    path = planJsonPath(planner, argument) ?? path;
  });
  subselection(selected);
  return shown(planner, value, computedExpression(part.field, given, path));
};

/** The expression alone, for aggregates over it. */
export const planComputedOperand = (planner: Planner, selected: Selected, part: ComputedPart): Expression =>
  computedExpression(part.field, planFieldArguments(planner, selected, part));

/** @rule G-CF-3 */
const planFieldArguments = (
  planner: Planner,
  selected: Selected,
  { field }: ComputedPart,
  other: (argument: GivenArgument) => void = () => {},
) => {
  let args: GivenArgument | undefined;
  eachArgument(planner, selected, (argument) => {
    if (argument.part?.kind === "argument" && argument.part.name === "args") args = argument;
    else other(argument);
  });
  return planArguments(planner, field.routine, fixedOf(field), args, `${selected.path}.args.args`);
};

const planComputedRows = (planner: Planner, selected: Selected, part: ComputedPart): Output => {
  const { field } = part;
  if (field.target === undefined) throw new TypeError(`computed field ${field.name} has neither a value nor rows`);
  let args: GivenArgument | undefined;
  const list = planListArguments(planner, selected, (argument) => {
    if (argument.part?.kind === "argument" && argument.part.name === "args") args = argument;
  });
  const given = planArguments(planner, field.routine, fixedOf(field), args, `${selected.path}.args.args`);
  const via = { routine: nameOf(field.routine), ...(given.length > 0 && { arguments: given }), isToOne: false };
  return embed(
    selected.as,
    "nest",
    via,
    rowsOf(planner, selected, nameOf(field.target), { ...list, ...capOf(planner) }),
  );
};

/** Does the answer look beyond the written rows themselves? Such answers are read after the write. @rule G-INS-5 */
export const looksFurther = (outputs: readonly Output[]): boolean =>
  outputs.some((output) => {
    if (output.kind === "embed") return true;
    if (output.kind === "value") return isComputed(output.value);
    return (output.kind === "object" || output.kind === "nodes") && looksFurther(output.of);
  });

const isComputed = (value: Expression): boolean =>
  value.kind === "computed" || ((value.kind === "cast" || value.kind === "apply") && isComputed(value.of));
