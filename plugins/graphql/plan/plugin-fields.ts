/** Plans plugins' own fields: their arguments, and the parts of plans that plugins make. @rule X-GQL-1 X-GQL-2
 *  X-GQL-3 */
import { getNamedType, getNullableType, isInterfaceType, isListType, type GraphQLObjectType } from "graphql";
import type { BundleField, Json, Output, Relation, ValueRef } from "../../../core/index.ts";
import { mapSource, type Source } from "../document/variables.ts";
import { describeLiteral, convertLiteral } from "../values/leaf.ts";
import { coercePlain, encodePlain } from "../values/plain-values.ts";
import type { GqlOwnSelected, GqlSelection, GqlSelectionContext } from "../plan-parts.ts";
import { getTypeExtension } from "../field-types.ts";
import { planAggregateFields } from "./aggregate.ts";
import type { CustomPart, CustomPartWith, FunctionField } from "./function-field.ts";
import { readLeaf, type LocatedInput } from "./input.ts";
import { getRowLimit, planListArguments, type ListArguments } from "./list-arguments.ts";
import { bind, coerceLeaf, type Planner, type SelectedField } from "./planner.ts";
import { visitArguments, visitSelections, checkSubselection } from "./selection.ts";

/** Returns the error for a field in the wrong type. The builder excludes such fields from schemas. */
export const fieldMisplaced = ({ plugin }: CustomPart): Error =>
  new TypeError(`plugin "${plugin ?? "?"}" adds a field at a position where it cannot be served`);

/** Describes the source of a field in log lines. */
export const describeOrigin = ({ name }: SelectedField, { plugin }: CustomPart): string =>
  `plugin "${plugin ?? "?"}", field "${name}"`;

/** An argument that is bound or read. The value of a read argument becomes part of the plan's cache key. */
interface ReadArgument {
  readonly leaf: Source<Json>;
  readValue(): Json;
}

const readArgument = (planner: Planner, locatedInput: LocatedInput): ReadArgument => {
  const { input, path } = locatedInput;
  const { type } = locatedInput.position;
  if (input.kind === "variable") throw new TypeError("an argument is given in the document");
  const { node } = input;
  const coerceValue = (value: Json): Json =>
    coercePlain(type, value, path, node.kind === "Variable" ? undefined : describeLiteral(node));
  return {
    leaf: coerceLeaf(planner, readLeaf(planner, locatedInput, false), coerceValue).source,
    readValue: () =>
      coerceValue(
        convertLiteral(node, (variable) => {
          const variableInput = planner.variables.open(variable);
          return variableInput === undefined
            ? null
            : "literal" in variableInput
              ? convertLiteral(variableInput.literal, () => null)
              : variableInput.value();
        }),
      ),
  };
};

const readArguments = (planner: Planner, selectedField: SelectedField): ReadonlyMap<string, ReadArgument> => {
  const args = new Map<string, ReadArgument>();
  for (const { name, defaultValue } of selectedField.field.args) {
    if (defaultValue === undefined) continue;
    const value = defaultValue as Json; // the plugin wrote the default value
    args.set(name, { leaf: { fixed: value }, readValue: () => value });
  }
  // `list` reads the arguments that have a part.
  visitArguments(planner, selectedField, (argument) => {
    if (argument.part === undefined) args.set(argument.name, readArgument(planner, argument));
  });
  return args;
};

/** Returns the arguments as leaves, whose values are made when the request runs. */
export const readArgumentLeaves = (planner: Planner, selectedField: SelectedField): FunctionField["leaves"] =>
  [...readArguments(planner, selectedField)].map(([name, { leaf }]) => [name, leaf]);

/** Returns the selection on an object of a plugin's own type. */
const planOwnFields = (planner: Planner, selectedField: SelectedField): readonly GqlOwnSelected[] => {
  const type = checkSubselection(selectedField);
  const fields: GqlOwnSelected[] = [];
  if (type === undefined) return fields;
  visitSelections(planner, type, selectedField, (selection) => {
    const { as } = selection;
    const returnNothing = (): readonly never[] => [];
    if (selection.kind === "typename")
      return void fields.push({ as, name: "__typename", type, fields: returnNothing, rows: returnNothing });
    fields.push({
      as,
      name: selection.name,
      type,
      fields: () => planOwnFields(planner, selection),
      rows: () => {
        const row = checkSubselection(selection);
        if (row === undefined || getTypeExtension(row)?.scope !== "row")
          throw new TypeError("rows() is for fields that lead to rows of a table");
        return planner.planRow(planner, row, selection);
      },
    });
    if (checkSubselection(selection) === undefined) visitArguments(planner, selection, () => {});
  });
  return fields;
};

/** Calls `make` with the selection. All arguments that `make` has not bound or read are read afterwards, so that each
 *  request checks them. */
const withSelection = <Result>(
  planner: Planner,
  selectedField: SelectedField,
  relation: Relation | undefined,
  fieldType: GraphQLObjectType | undefined,
  make: (selection: GqlSelection, context: GqlSelectionContext) => Result,
): Result => {
  const args = readArguments(planner, selectedField);
  const usedKeys = new Set<string>();
  let list: ListArguments | undefined;
  const values = {};
  for (const [name, { readValue }] of args) {
    const get = (): Json => {
      usedKeys.add(name);
      return readValue();
    };
    Object.defineProperty(values, name, { get, enumerable: true });
  }
  const read = make(
    { as: selectedField.as, path: selectedField.path, node: selectedField.node, arguments: values },
    {
      schema: planner.schema,
      relation,
      bind: (boundValue) => ({ param: bind(planner, { fixed: boundValue }) }),
      argument: (name, type) => {
        const argument = args.get(name);
        if (argument === undefined) return undefined;
        usedKeys.add(name);
        return { param: bind(planner, mapSource(argument.leaf, encodePlain)), ...(type === undefined ? {} : { type }) };
      },
      rows: (type = fieldType) => {
        const scope = type && getTypeExtension(type)?.scope;
        if (type === undefined || (scope !== "row" && scope !== "record"))
          throw new TypeError("rows() is for fields that lead to rows of a table");
        return planner.planRow(planner, type, selectedField);
      },
      aggregates: () => planAggregateFields(planner, selectedField),
      list: () => ({ ...(list ??= planListArguments(planner, selectedField)), ...getRowLimit(planner) }),
      fields: () => planOwnFields(planner, selectedField),
    },
  );
  for (const [name, { readValue }] of args) if (!usedKeys.has(name)) readValue();
  if (list === undefined) planListArguments(planner, selectedField);
  return read;
};

/** Plans a field of rows. */
export const planOutput = (
  planner: Planner,
  selectedField: SelectedField,
  part: CustomPartWith<"output">,
  relation: Relation | undefined,
): Output => withSelection(planner, selectedField, relation, checkSubselection(selectedField), part.output);

/** Plans a field of a root. */
export const planPluginRoot = (
  planner: Planner,
  selectedField: SelectedField,
  part: CustomPartWith<"plan">,
): ReturnType<CustomPartWith<"plan">["plan"]> => {
  const fieldType = isInterfaceType(getNamedType(selectedField.field.type))
    ? undefined
    : checkSubselection(selectedField);
  const typeExtension = fieldType && getTypeExtension(fieldType);
  return withSelection(planner, selectedField, typeExtension?.relation, fieldType, part.plan);
};

/** Returns whether the field is a list in the schema. */
export const isListField = ({ field }: SelectedField): boolean => isListType(getNullableType(field.type));

/** Plans a root field whose statement a plugin compiles. */
export const planStatement = (
  planner: Planner,
  selectedField: SelectedField,
  part: CustomPartWith<"statement">,
): BundleField => {
  checkSubselection(selectedField);
  const args: [string, ValueRef][] = readArgumentLeaves(planner, selectedField).map(([name, leaf]) => [
    name,
    { param: bind(planner, mapSource(leaf, encodePlain)) },
  ]);
  return { as: selectedField.as, statement: part.statement, arguments: Object.fromEntries(args) };
};
