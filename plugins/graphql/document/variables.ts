/** Reads declarations and values of variables. @rule G-VAR-1 … G-VAR-10 */
import {
  isListType,
  isNonNullType,
  print,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type TypeNode,
  type ValueNode,
} from "graphql";
import { memoize, type Json, type SentValue } from "../../../core/index.ts";
import { describeValue, type GetVariable, convertLiteral } from "../values/leaf.ts";
import { buildUnknownNameFacts } from "../../shared/name-hints.ts";
import { parseFailed, validationFailed } from "../errors.ts";

interface Declaration {
  readonly name: string;
  readonly type: TypeNode;
  /** The text of the declared type, such as `[Int!]!`. */
  readonly typeText: string;
  readonly default: ValueNode | undefined;
  readonly isUsed: boolean;
}

export type Declarations = ReadonlyMap<string, Declaration>;

/** A variable's value, or the literal of its default. A variable without either is not in the map, and counts as null
 *  (G-VAR-9). */
type VariableValue = { readonly json: Json } | { readonly literal: ValueNode };

export type VariableValues = ReadonlyMap<string, VariableValue>;

/** Returns the names of all variables that the operation and its fragments use, in order of their first use. */
const findUses = (
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): ReadonlySet<string> => {
  const names = new Set<string>();
  const seenNames = new Set<string>();
  const visitValue = (value: ValueNode): void => {
    if (value.kind === "Variable") names.add(value.name.value);
    else if (value.kind === "ListValue") value.values.forEach(visitValue);
    else if (value.kind === "ObjectValue") for (const field of value.fields) visitValue(field.value);
  };
  const visitArguments = (node: { readonly arguments?: readonly { readonly value: ValueNode }[] }): void => {
    for (const argument of node.arguments ?? []) visitValue(argument.value);
  };
  const visitSet = (set: SelectionSetNode): void => {
    for (const selection of set.selections) {
      selection.directives?.forEach(visitArguments);
      if (selection.kind === "FragmentSpread") {
        const fragment = fragments.get(selection.name.value);
        if (fragment === undefined || seenNames.has(selection.name.value)) continue;
        seenNames.add(selection.name.value);
        visitSet(fragment.selectionSet);
        continue;
      }
      if (selection.kind === "Field") visitArguments(selection);
      if (selection.selectionSet !== undefined) visitSet(selection.selectionSet);
    }
  };
  visitSet(operation.selectionSet);
  operation.directives?.forEach(visitArguments);
  return names;
};

export interface DeclaredVariables {
  readonly declarations: Declarations;
  readonly usedVariables: ReadonlySet<string>;
  /** A variable that is used but not declared. It is reported when values are bound, after errors of the values
   *  (G-DOC-14). */
  readonly unbound: string | undefined;
}

/** Reads the declarations of variables. @throws RelApiError `multiple definitions for variable` */
export const declareVariables = (
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): DeclaredVariables => {
  const usedVariables = findUses(operation, fragments);
  const declarations = new Map<string, Declaration>();
  for (const definition of operation.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    if (declarations.has(name)) throw parseFailed(`multiple definitions for variable "${name}"`, "$");
    declarations.set(name, {
      name,
      type: definition.type,
      typeText: print(definition.type),
      default: definition.defaultValue,
      isUsed: usedVariables.has(name),
    });
  }
  return { declarations, usedVariables, unbound: [...usedVariables].find((name) => !declarations.has(name)) };
};

/** Reads the values of the declared variables. With `takesUnknown`, values without a variable in the document are
 *  ignored. @throws RelApiError G-VAR-1, 3, 4, 5, 10 */
export const readVariables = (
  declaredVariables: DeclaredVariables,
  sentValues: Readonly<Record<string, Json>> | null | undefined,
  takesUnknown = false,
): VariableValues => {
  if (sentValues !== undefined && sentValues !== null && (typeof sentValues !== "object" || Array.isArray(sentValues)))
    throw parseFailed(
      `parsing variables failed, expected Object, but encountered ${describeValue(sentValues)}`,
      "$.variables",
    );
  const values = new Map<string, VariableValue>();
  for (const declaration of declaredVariables.declarations.values()) {
    const { name } = declaration;
    const json =
      sentValues !== undefined && sentValues !== null && Object.hasOwn(sentValues, name) ? sentValues[name] : undefined;
    const isRequired = declaration.type.kind === "NonNullType";
    if (json === undefined) {
      if (declaration.default !== undefined) values.set(name, { literal: declaration.default });
      else if (isRequired && declaration.isUsed)
        throw validationFailed(`expecting a value for non-nullable variable: "${name}"`, "$");
      continue;
    }
    if (json === null && isRequired)
      throw validationFailed(`null value found for non-nullable type: "${declaration.typeText}"`, "$");
    values.set(name, { json });
  }
  if (declaredVariables.unbound !== undefined)
    throw validationFailed(
      `unbound variable "${declaredVariables.unbound}"`,
      "$",
      buildUnknownNameFacts(declaredVariables.unbound, declaredVariables.declarations.keys()),
    );
  if (takesUnknown) return values;
  let unexpectedNames: string[] | undefined;
  for (const name in sentValues) if (!declaredVariables.usedVariables.has(name)) (unexpectedNames ??= []).push(name);
  if (unexpectedNames !== undefined)
    throw validationFailed(
      `unexpected variables in variableValues: ${unexpectedNames.sort().join(", ")}`,
      "$",
      buildUnknownNameFacts(unexpectedNames[0] ?? "", declaredVariables.usedVariables),
    );
  return values;
};

/** The source of a value: fixed by the document, or computed from the variables. */
export type Source<Value> = { readonly fixed: Value } | { readonly make: (variables: VariableValues) => Value };

/** The source of a value of a step. */
export type ValueSource = Source<SentValue>;

/** Converts the default of a variable, once for all uses in a document. */
const convertDefault = memoize((literal: ValueNode): Json => convertLiteral(literal, () => null));

/** Computes the value of a source from the variables. @throws RelApiError of the coercion */
export const computeValue = <Value>(source: Source<Value>, variables: VariableValues): Value =>
  "fixed" in source ? source.fixed : source.make(variables);

/** Returns the source of the converted value. A fixed value is converted at once. */
export const mapSource = <From, To>(source: Source<From>, convert: (value: From) => To): Source<To> =>
  "fixed" in source ? { fixed: convert(source.fixed) } : { make: (variables) => convert(source.make(variables)) };

/** Returns the function that returns the values of variables in literals. */
export const createVariableGetter =
  (values: VariableValues): GetVariable =>
  (name) => {
    const value = values.get(name);
    if (value === undefined) return null;
    return "json" in value ? value.json : convertDefault(value.literal);
  };

/** Returns whether a variable may be in a position of this type. @rule G-VAR-8 */
export const fitsType = (declaration: Declaration, type: GraphQLInputType, hasDefault: boolean): boolean => {
  const isNullable = declaration.type.kind !== "NonNullType";
  if (
    isNullable &&
    isNonNullType(type) &&
    !hasDefault &&
    (declaration.default === undefined || declaration.default.kind === "NullValue")
  )
    return false;
  return hasSameShape(declaration.type, type);
};

/** Returns true for lists of the same depth of the same named type, even if `!` differs. */
const hasSameShape = (typeNode: TypeNode, type: GraphQLInputType): boolean => {
  if (typeNode.kind === "NonNullType") return hasSameShape(typeNode.type, type);
  const nullableType = isNonNullType(type) ? type.ofType : type;
  if (typeNode.kind === "ListType") return isListType(nullableType) && hasSameShape(typeNode.type, nullableType.ofType);
  return !isListType(nullableType) && nullableType.name === typeNode.name.value;
};
