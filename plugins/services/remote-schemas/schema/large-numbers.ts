/** Keeps the digits of large numbers in custom scalars. The built-in scalars of graphql-js accept only JavaScript
 *  numbers. @rule X-RMT-6a */
import {
  getNullableType,
  isLeafType,
  isOutputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  typeFromAST,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from "graphql";
import {
  holdsRawNumber,
  isJsonObject,
  isRawNumber,
  getNumberText,
  parseJson,
  type Json,
  type JsonObject,
} from "../../../../core/index.ts";

/** Replaces the numbers that keep their text by JavaScript numbers. */
export const toNumbers = (value: Json): Json => {
  if (!holdsRawNumber(value)) return value;
  if (isRawNumber(value)) return Number(getNumberText(value));
  if (Array.isArray(value)) return value.map(toNumbers);
  return Object.fromEntries(Object.entries(value as JsonObject).map(([name, member]) => [name, toNumbers(member)]));
};

const convertInput = (value: Json, type: GraphQLInputType): Json => {
  const nullable = isNonNullType(type) ? type.ofType : type;
  if (isListType(nullable)) {
    const { ofType: itemType } = nullable;
    return Array.isArray(value)
      ? value.map((item: Json) => convertInput(item, itemType))
      : convertInput(value, itemType);
  }
  if (isSpecifiedScalarType(nullable)) return toNumbers(value);
  if (!isInputObjectType(nullable) || !isJsonObject(value)) return value;
  const fields = nullable.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return [name, field === undefined ? member : convertInput(member, field.type)];
    }),
  );
};

/** Converts the values of variables for the types that the operation declares. */
export const convertVariables = (
  variables: Readonly<Record<string, Json>>,
  { variableDefinitions = [] }: OperationDefinitionNode,
  schema: GraphQLSchema,
): Readonly<Record<string, Json>> => {
  if (!holdsRawNumber(variables)) return variables;
  const types = new Map(
    variableDefinitions.map(({ variable, type }) => [variable.name.value, typeFromAST(schema, type as never)]),
  );
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const type = types.get(name) as GraphQLInputType | undefined; // variables have input types
      return [name, type === undefined ? value : convertInput(value, type)];
    }),
  );
};

type VariableValues = Readonly<Record<string, Json>>;

/** Returns the value of a literal. Undefined for a variable without a value. */
export const readLiteral = (node: ValueNode, variables: VariableValues = {}): Json | undefined => {
  switch (node.kind) {
    case Kind.INT:
    case Kind.FLOAT:
      return parseJson(node.value);
    case Kind.LIST:
      return node.values.map((value) => readLiteral(value, variables) ?? null);
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.flatMap(({ name, value }) => {
          const member = readLiteral(value, variables);
          return member === undefined ? [] : [[name.value, member] as const];
        }),
      );
    case Kind.VARIABLE:
      return Object.hasOwn(variables, node.name.value) ? variables[node.name.value] : undefined;
    case Kind.NULL:
      return null;
    default:
      return node.value;
  }
};

/** Makes the custom scalars of a schema keep the digits of literals. */
export const keepDigits = (schema: GraphQLSchema): void => {
  for (const type of Object.values(schema.getTypeMap()))
    if (isScalarType(type) && !isSpecifiedScalarType(type))
      // The variables are JSON.
      type.parseLiteral = (node, variables) => readLiteral(node, (variables ?? {}) as VariableValues);
};

interface TypedSelection {
  readonly type: GraphQLOutputType;
  readonly set: SelectionSetNode | undefined;
}

/** Converts a value that has one of the types. @throws GraphQLError if the value fits none */
const convertLeaf = (value: Json, types: readonly GraphQLLeafType[]): Json => {
  const [first] = types;
  if (first === undefined || types.some((type) => isScalarType(type) && !isSpecifiedScalarType(type))) return value;
  const plain = toNumbers(value);
  if (types.every((type) => type === first)) return first.serialize(plain) as Json; // leaf values are JSON
  const fits = (type: GraphQLLeafType): boolean => {
    try {
      type.parseValue(plain);
      return true;
    } catch {
      return false;
    }
  };
  return types.some(fits) ? plain : (first.serialize(plain) as Json);
};

/** Converts the scalars and enum values of a result, for which the package would answer null if they do not fit.
 *  @throws GraphQLError */
export const convertData = (data: Json, document: DocumentNode, schema: GraphQLSchema): Json => {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);

  const collect = ({ type, set }: TypedSelection, foundFields: Map<string, TypedSelection[]>): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD) {
        const field = "getFields" in type ? type.getFields()[selection.name.value] : undefined;
        if (field === undefined) continue;
        const as = selection.alias?.value ?? selection.name.value;
        const knownFields = foundFields.get(as) ?? [];
        foundFields.set(as, [...knownFields, { type: field.type, set: selection.selectionSet }]);
      } else {
        const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
        const condition = inner?.typeCondition?.name.value;
        const innerType = condition === undefined ? type : schema.getType(condition);
        if (inner !== undefined && isOutputType(innerType))
          collect({ type: innerType, set: inner.selectionSet }, foundFields);
      }
    }
  };

  const convert = (value: Json, selections: readonly TypedSelection[]): Json => {
    if (value === null || selections.length === 0) return value;
    const nullable = selections.map(({ type, set }) => ({ type: getNullableType(type), set }));
    const leaves = nullable.flatMap(({ type }) => (isLeafType(type) ? [type] : []));
    if (leaves.length === nullable.length) return convertLeaf(value, leaves);
    if (Array.isArray(value)) {
      const items = nullable.flatMap(({ type, set }) => (isListType(type) ? [{ type: type.ofType, set }] : []));
      return value.map((item: Json) => convert(item, items));
    }
    if (!isJsonObject(value)) return value;
    const foundFields = new Map<string, TypedSelection[]>();
    for (const selection of nullable) collect(selection, foundFields);
    return Object.fromEntries(
      Object.entries(value).map(([as, member]) => [as, convert(member, foundFields.get(as) ?? [])]),
    );
  };

  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const root = operation && schema.getRootType(operation.operation);
  return operation && root ? convert(data, [{ type: root, set: operation.selectionSet }]) : data;
};
