/** Reads selection sets: inlines fragments, applies directives, merges equal response names, and looks up every field.
 *  @rule G-DOC-4 … G-DOC-14 */
import {
  getNamedType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
  Kind,
  print,
  type ArgumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type SelectionSetNode,
  type ValueNode,
} from "graphql";
import { appendKey } from "../values/request-paths.ts";
import { isIncluded } from "../document/directives.ts";
import { fieldNotFound, fieldMissing, argumentNotFound, validationFailed } from "../errors.ts";
import { isAbsent, getPosition, type LocatedInput } from "./input.ts";
import type { Planner, SelectedField, SelectionSets } from "./planner.ts";
import { getFieldPart, type GqlPart } from "../plan-parts.ts";
import { getTypeExtension } from "../field-types.ts";

export interface CollectedField {
  readonly as: string;
  readonly node: FieldNode;
  readonly selections: SelectionSetNode[];
}

/** Writes a value for comparison. Objects with the same fields in another order are equal. */
const formatValue = (value: ValueNode): string => {
  switch (value.kind) {
    case Kind.OBJECT:
      return `{${value.fields
        .map((field) => `${field.name.value}:${formatValue(field.value)}`)
        .sort()
        .join()}}`;
    case Kind.LIST:
      return `[${value.values.map(formatValue).join()}]`;
    default:
      return print(value);
  }
};

/** Returns true for `order_by`, in which the order of fields is significant. @rule G-ORD-2 */
const isOrderArgument = (name: string): boolean => name === "order_by" || name === "orderBy";

const formatArguments = (node: FieldNode): string =>
  [...(node.arguments ?? [])]
    .map(({ name: { value: name }, value }) => `${name}:${isOrderArgument(name) ? print(value) : formatValue(value)}`)
    .sort()
    .join();

const haveSameArguments = (a: FieldNode, b: FieldNode): boolean => a === b || formatArguments(a) === formatArguments(b);

/** Collects fields by response name, in the order of their first occurrence. `path` is the path of the selection set.
 *  @rule G-DOC-9 G-DOC-11 G-DOC-12 */
export const collectFields = (
  planner: Planner,
  type: GraphQLCompositeType,
  sets: readonly SelectionSetNode[],
  path: string,
): ReadonlyMap<string, CollectedField> => {
  const fields = new Map<string, CollectedField>();
  const isOfType = (condition: string): boolean =>
    condition === type.name || (!isUnionType(type) && type.getInterfaces().some(({ name }) => name === condition));
  const spread = new Set<string>();
  const add = (node: FieldNode): void => {
    const as = node.alias?.value ?? node.name.value;
    const existingField = fields.get(as);
    if (existingField === undefined) {
      fields.set(as, { as, node, selections: node.selectionSet === undefined ? [] : [node.selectionSet] });
      return;
    }
    if (existingField.node.name.value !== node.name.value)
      throw validationFailed(
        `selection of both '${existingField.node.name.value}' and '${node.name.value}' specify the same response name, '${as}'`,
        path,
      );
    if (!haveSameArguments(existingField.node, node))
      throw validationFailed(`inconsistent arguments between multiple selections of field '${node.name.value}'`, path);
    if (node.selectionSet !== undefined) existingField.selections.push(node.selectionSet);
  };
  const walk = (set: SelectionSetNode): void => {
    for (const selection of set.selections) {
      if (selection.kind === "Field") {
        if (isIncluded(planner, selection.directives, "a field", path)) add(selection);
      } else if (selection.kind === "InlineFragment") {
        if (!isIncluded(planner, selection.directives, "an inline fragment", path)) continue;
        if (selection.typeCondition === undefined || isOfType(selection.typeCondition.name.value))
          walk(selection.selectionSet);
      } else {
        const name = selection.name.value;
        if (!isIncluded(planner, selection.directives, "a fragment spread", path) || spread.has(name)) continue;
        spread.add(name);
        const fragment = planner.fragments.get(name);
        if (fragment !== undefined && isOfType(fragment.typeCondition.name.value)) walk(fragment.selectionSet);
      }
    }
  };
  sets.forEach(walk);
  return fields;
};

type Selection =
  | { readonly kind: "typename"; readonly as: string; readonly value: string }
  | ({ readonly kind: "field" } & SelectedField);

const MAX_TABLES_FOR_SUGGESTIONS = 1600;

/** Returns the candidates for suggestions. With many tables, the names of a root are omitted, because building all of
 *  them takes long. */
const listSuggestionCandidates = ({ schema }: Planner, type: GraphQLObjectType): readonly string[] =>
  getTypeExtension(type)?.scope.endsWith("_root") === true && schema.model.relations.size > MAX_TABLES_FOR_SUGGESTIONS
    ? []
    : Object.keys(type.getFields());

/** Visits the fields one after another. `find` may also return meta fields. */
export const visitSelections = (
  planner: Planner,
  type: GraphQLObjectType,
  { selections: sets, path }: SelectionSets,
  visit: (selection: Selection) => void,
  find: (name: string) => GraphQLField<unknown, unknown> | undefined = () => undefined,
): void => {
  const setPath = `${path}.selectionSet`;
  for (const { as, node, selections } of collectFields(planner, type, sets, setPath).values()) {
    planner.budget.fields++;
    const name = node.name.value;
    const at = appendKey(setPath, name);
    if (name === "__typename") {
      rejectArguments(node, at);
      rejectSelections(selections, at);
      visit({ kind: "typename", as, value: type.name });
      continue;
    }
    const field = planner.schema.findField(type, name) ?? find(name);
    if (field === undefined) throw fieldNotFound(name, type.name, at, listSuggestionCandidates(planner, type));
    visit({ kind: "field", as, name, node, field, part: getFieldPart(field), path: at, selections });
  }
};

const rejectArguments = (node: FieldNode, path: string): void => {
  const [first] = node.arguments ?? [];
  if (first !== undefined) throw argumentNotFound(node.name.value, first.name.value, path, []);
};

const rejectSelections = (selections: readonly SelectionSetNode[], path: string): void => {
  if (selections.length > 0) throw validationFailed("unexpected subselection set for non-object field", path);
};

/** Returns the object type of a field, or undefined for a scalar. @rule G-DOC-6 */
export const checkSubselection = (selectedField: SelectedField): GraphQLObjectType | undefined => {
  const type = getNamedType(selectedField.field.type);
  if (!isObjectType(type)) {
    rejectSelections(selectedField.selections, selectedField.path);
    return undefined;
  }
  if (selectedField.selections.length === 0)
    throw validationFailed(`missing selection set for '${type.name}'`, `${selectedField.path}.selectionSet`);
  return type;
};

export interface GivenArgument extends LocatedInput {
  readonly name: string;
  readonly part: GqlPart | undefined;
}

/** Visits the arguments of the request in name order. @rule G-DOC-5 G-DOC-7 G-DOC-14 G-VAR-11 */
export const visitArguments = (
  planner: Planner,
  selectedField: SelectedField,
  visit: (argument: GivenArgument) => void,
): void => {
  const nodes: readonly ArgumentNode[] = selectedField.node.arguments ?? [];
  const declaredArguments = selectedField.field.args;
  const requiredNames = declaredArguments.filter(isRequiredArgument).map(({ name }) => name);
  if (nodes.length === 0 && requiredNames.length === 0) return;
  const byName = new Map(declaredArguments.map((argument) => [argument.name, argument]));
  const argumentNodes = new Map(nodes.map((node) => [node.name.value, node]));
  const names = [...new Set([...argumentNodes.keys(), ...requiredNames])].sort();
  for (const name of names)
    if (!byName.has(name)) throw argumentNotFound(selectedField.name, name, selectedField.path, byName.keys());
  for (const name of names) {
    const argument = byName.get(name) as GraphQLArgument; // the loop above has checked the name
    const node = argumentNodes.get(name);
    const path = appendKey(`${selectedField.path}.args`, name);
    if (node === undefined) throw fieldMissing(name, path);
    const locatedInput: LocatedInput = {
      input: { kind: "literal", node: node.value },
      position: getPosition(argument),
      path,
    };
    if (!isAbsent(planner, locatedInput)) visit({ ...locatedInput, name, part: getFieldPart(argument) });
  }
};
