/** Reads arguments and input fields, which are literals of the document or variable parts. @rule G-COE-1 … G-COE-8
 *  G-VAR-6 G-VAR-9 G-ERR-5 G-ERR-6 */
import {
  getNamedType,
  getNullableType,
  GraphQLBoolean,
  GraphQLInt,
  GraphQLString,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type ConstValueNode,
  type GraphQLEnumType,
  type GraphQLEnumValue,
  type GraphQLInputField,
  type GraphQLInputType,
  type ValueNode,
} from "graphql";
import type { Json, RequestLimits, ResolvedOptions } from "../../../core/index.ts";
import { describeLiteral, convertLiteral } from "../values/leaf.ts";
import { parseDecimal, convertToInteger, getNumberText, formatNumber } from "../values/numbers.ts";
import { appendIndex, appendKey } from "../values/request-paths.ts";
import type { Directives } from "../directives.ts";
import { findValue, type VariablePart, type ObservedVariables } from "../document/tracked-variables.ts";
import { MAX_DEPTH, NAME } from "../document/parse.ts";
import {
  fitsType,
  createVariableGetter,
  type Declarations,
  type Source,
  type VariableValues,
} from "../document/variables.ts";
import {
  valueUnexpected,
  listMissing,
  fieldNotFound,
  integerOutOfRange,
  fieldMissing,
  enumValueInvalid,
  graphqlLimitExceeded,
  validationFailed,
  variableTypeMismatched,
} from "../errors.ts";

export interface InputContext {
  readonly schema: {
    readonly options: Pick<ResolvedOptions, "noNullUnboundVariableDefault"> & RequestLimits;
    readonly directives: Directives;
  };
  readonly declarations: Declarations;
  readonly variables: ObservedVariables;
}

/** An input: a literal, which may be a variable, or a variable part. */
export type Input =
  | { readonly kind: "literal"; readonly node: ValueNode }
  | { readonly kind: "variable"; readonly part: VariablePart };

/** An input with its position and its path in the request. */
export interface LocatedInput {
  readonly input: Input;
  readonly position: InputPosition;
  readonly path: string;
}

/** The schema's definition of an input position. */
export interface InputPosition {
  readonly type: GraphQLInputType;
  readonly hasDefault: boolean;
}

export const getPosition = (field: {
  readonly type: GraphQLInputType;
  readonly defaultValue?: unknown;
}): InputPosition => ({
  type: field.type,
  hasDefault: field.defaultValue !== undefined,
});

const NULL_NODE: ConstValueNode = { kind: "NullValue" as never }; // graphql's Kind is an enum with this string

const NULL: Input = { kind: "literal", node: NULL_NODE };

/** Rejects a variable whose type does not fit the position. @throws RelApiError G-VAR-6 */
const checkVariable = (context: InputContext, name: string, position: InputPosition, path: string): void => {
  const declaration = context.declarations.get(name);
  if (declaration !== undefined && !fitsType(declaration, position.type, position.hasDefault))
    throw variableTypeMismatched(name, declaration.typeText, String(position.type), path);
};

/** Opens a variable. From then on, the plan may depend on the variable's value. */
export const openVariable = (context: InputContext, { input, position, path }: LocatedInput): Input => {
  if (input.kind === "variable" || input.node.kind !== "Variable") return input;
  const name = input.node.name.value;
  checkVariable(context, name, position, path);
  const value = context.variables.open(name);
  if (value === undefined) return NULL;
  return "literal" in value ? { kind: "literal", node: value.literal } : { kind: "variable", part: value };
};

/** Returns true for a variable without a value or default, if the option says that it counts as omitted.
 *  @rule G-VAR-11 */
export const isAbsent = (context: InputContext, { input, position, path }: LocatedInput): boolean => {
  if (
    !context.schema.options.noNullUnboundVariableDefault ||
    input.kind === "variable" ||
    input.node.kind !== "Variable"
  )
    return false;
  const name = input.node.name.value;
  const declaration = context.declarations.get(name);
  if (declaration === undefined || declaration.type.kind === "NonNullType" || declaration.default !== undefined)
    return false;
  checkVariable(context, name, position, path);
  return context.variables.open(name) === undefined;
};

/** Returns whether an opened input is null. */
export const isNull = (input: Input): boolean =>
  input.kind === "variable" ? input.part.isNull() : input.node.kind === "NullValue";

export const describeInput = (input: Input): string =>
  input.kind === "variable" ? input.part.description : describeLiteral(input.node);

/** The input of a field of an input object. */
export interface FieldInput extends LocatedInput {
  readonly field: GraphQLInputField;
}

interface InputMembers {
  readonly names: readonly string[];
  /** Returns the input of a field. Undefined if the object has no such field. */
  readonly findInput: (name: string) => Input | undefined;
}

const openMembers = (context: InputContext, locatedInput: LocatedInput): InputMembers => {
  const { position, path } = locatedInput;
  const input = openVariable(context, locatedInput);
  const type = getNamedType(position.type);
  if (input.kind === "literal") {
    if (input.node.kind !== "ObjectValue") throw valueUnexpected("an object", type.name, describeInput(input), path);
    const nodes = new Map(input.node.fields.map((field) => [field.name.value, field.value]));
    return {
      names: input.node.fields.map((field) => field.name.value),
      findInput: (name) => {
        const node = nodes.get(name);
        return node && { kind: "literal", node };
      },
    };
  }
  const { part: variablePart } = input;
  if (variablePart.depth > MAX_DEPTH)
    throw validationFailed(`the value of variable "${variablePart.variable}" is nested too deeply`, "$");
  const names = variablePart.members();
  if (names === undefined) throw valueUnexpected("an object", type.name, describeInput(input), path);
  const wrong = names.find((name) => !NAME.test(name));
  if (wrong !== undefined)
    throw validationFailed(
      `variable value contains object with key "${wrong}", which is not a legal GraphQL name`,
      path,
    );
  const knownNames = new Set(names);
  return {
    names,
    findInput: (name) => (knownNames.has(name) ? { kind: "variable", part: variablePart.member(name) } : undefined),
  };
};

/** Visits the fields of an input object in name order and returns their order in the request. Rejects unknown keys
 *  first, then missing fields in turn. @rule G-DOC-4 G-DOC-7 G-DOC-14 G-VAR-11 */
export const visitInputFields = (
  context: InputContext,
  locatedInput: LocatedInput,
  visit: (field: FieldInput) => void,
): readonly string[] => {
  const { path } = locatedInput;
  const type = getNamedType(locatedInput.position.type);
  if (!isInputObjectType(type)) throw new TypeError(`${type.name} is not an input object type`);
  const { names: inputNames, findInput } = openMembers(context, locatedInput);
  const fields = type.getFields();
  const requiredNames = Object.values(fields)
    .filter(isRequiredInputField)
    .map((field) => field.name);
  const names =
    inputNames.length < 2 && requiredNames.length === 0
      ? inputNames
      : [...new Set([...inputNames, ...requiredNames])].sort();
  for (const name of names)
    if (fields[name] === undefined) throw fieldNotFound(name, type.name, appendKey(path, name), Object.keys(fields));
  const absent = new Set<string>();
  for (const name of names) {
    const field = fields[name] as GraphQLInputField; // the loop above has checked the name
    const input = findInput(name);
    const at = appendKey(path, name);
    if (input === undefined) throw fieldMissing(name, at);
    const member: FieldInput = { field, input, position: getPosition(field), path: at };
    if (isAbsent(context, member)) absent.add(name);
    else visit(member);
  }
  return absent.size === 0 ? inputNames : inputNames.filter((name) => !absent.has(name));
};

/** Rejects a list with too many items. @rule G-LIM-4 */
export const checkCount = ({ schema: { options } }: InputContext, count: number, path: string): void => {
  if (count > options.maxListItems)
    throw graphqlLimitExceeded(options, "maxListItems", "items in a list of values", path);
};

/** Visits the items of a list. A single value counts as a list with one item, and `null` is rejected. `check` may reject
 *  the number of items before they are processed. @rule G-COE-6 G-ERR-6 */
export const visitInputItems = (
  context: InputContext,
  locatedInput: LocatedInput,
  check = (count: number): void => checkCount(context, count, locatedInput.path),
): readonly LocatedInput[] => {
  const input = openVariable(context, locatedInput);
  const { path } = locatedInput;
  if (isNull(input)) throw listMissing(path);
  const position = getItemPosition(locatedInput.position);
  if (input.kind === "literal") {
    const nodes = input.node.kind === "ListValue" ? input.node.values : [input.node];
    check(nodes.length);
    return nodes.map((node, i) => ({ input: { kind: "literal", node }, position, path: appendIndex(path, i) }));
  }
  const items = input.part.items(check);
  if (items === undefined) return [{ input, position, path: appendIndex(path, 0) }];
  return items.map((part, i) => ({ input: { kind: "variable", part }, position, path: appendIndex(path, i) }));
};

/** Returns the position of the items of a list position. */
const getItemPosition = (position: InputPosition): InputPosition => {
  const type = getNullableType(position.type);
  return { type: isListType(type) ? (type.ofType as GraphQLInputType) : type, hasDefault: false };
};

/** Reads a Boolean. @rule G-COE-2 */
export const readBoolean = (context: InputContext, locatedInput: LocatedInput): boolean => {
  const input = openVariable(context, locatedInput);
  const value =
    input.kind === "variable" ? input.part.value() : input.node.kind === "BooleanValue" ? input.node.value : undefined;
  if (typeof value !== "boolean")
    throw valueUnexpected("a boolean", "Boolean", describeInput(input), locatedInput.path);
  return value;
};

/** Reads a String. @rule G-COE-4 */
const readString = (context: InputContext, locatedInput: LocatedInput): string => {
  const input = openVariable(context, locatedInput);
  const value =
    input.kind === "variable" ? input.part.value() : input.node.kind === "StringValue" ? input.node.value : undefined;
  if (typeof value !== "string") throw valueUnexpected("a string", "String", describeInput(input), locatedInput.path);
  return value;
};

/** Reads an Int. @rule G-COE-3 */
export const readInt = (context: InputContext, locatedInput: LocatedInput): number => {
  const input = openVariable(context, locatedInput);
  const text =
    input.kind === "variable"
      ? getNumberText(input.part.value())
      : input.node.kind === "IntValue"
        ? input.node.value
        : undefined;
  if (text === undefined) throw valueUnexpected("a 32-bit integer", "Int", describeInput(input), locatedInput.path);
  return Number(checkInteger(text, 32, locatedInput.path));
};

/** Returns the integer's digits. @throws RelApiError if the number has a fraction or does not fit in this many bits */
export const checkInteger = (text: string, bits: number, path: string): string => {
  const integerText = convertToInteger(parseDecimal(text));
  const limit = 1n << BigInt(bits - 1);
  if (integerText === undefined || integerText >= limit || integerText < -limit)
    throw integerOutOfRange(formatNumber(text), path);
  return integerText.toString();
};

/** Checks a value of a built-in scalar or an enum. Field parts check values of other types themselves. */
export const checkBuiltInValue = (context: InputContext, locatedInput: LocatedInput): void => {
  const { input, position } = locatedInput;
  if (input.kind === "literal" && input.node.kind === "NullValue" && !isNonNullType(position.type)) return;
  const type = getNullableType(position.type);
  if (isEnumType(type)) readEnum(context, locatedInput);
  else if (type === GraphQLBoolean) readBoolean(context, locatedInput);
  else if (type === GraphQLInt) readInt(context, locatedInput);
  else if (type === GraphQLString) readString(context, locatedInput);
};

/** Reads an enum value. @rule G-COE-7 */
export const readEnum = (context: InputContext, locatedInput: LocatedInput): GraphQLEnumValue => {
  const { position, path } = locatedInput;
  const type = getNamedType(position.type) as GraphQLEnumType; // the caller passes only enum positions
  const input = openVariable(context, locatedInput);
  const name =
    input.kind === "variable" ? input.part.value() : input.node.kind === "EnumValue" ? input.node.value : undefined;
  if (typeof name !== "string") throw valueUnexpected("an enum value", type.name, describeInput(input), path);
  const value = type.getValue(name);
  if (value === undefined || value === null)
    throw enumValueInvalid(
      type.getValues().map((enumValue) => enumValue.name),
      type.name,
      name,
      path,
    );
  return value;
};

/** Checks that variables in lists of a literal fit their positions. */
const checkItems = (context: InputContext, node: ValueNode, position: InputPosition, path: string): void => {
  if (node.kind === "Variable") checkVariable(context, node.name.value, position, path);
  else if (node.kind === "ListValue" && isListType(getNullableType(position.type)))
    node.values.forEach((item, i) => checkItems(context, item, getItemPosition(position), appendIndex(path, i)));
};

const holdsVariable = (node: ValueNode): boolean => {
  if (node.kind === "Variable") return true;
  if (node.kind === "ListValue") return node.values.some(holdsVariable);
  return node.kind === "ObjectValue" && node.fields.some((field) => holdsVariable(field.value));
};

/** Reads a value that is only bound. With `isJson`, enum literals in the value are strings, and its lists are not lists
 *  of the schema. */
export const readLeaf = (
  context: InputContext,
  { input, position, path }: LocatedInput,
  isJson: boolean,
): Source<Json> => {
  if (input.kind === "variable") {
    const { path: variablePath } = input.part;
    return { make: (variables) => findValue(variables, variablePath) };
  }
  const { node } = input;
  checkItems(context, node, position, path);
  const read = (variables: VariableValues): Json => convertLiteral(node, createVariableGetter(variables), isJson);
  return holdsVariable(node) ? { make: read } : { fixed: read(context.variables.boundValues) };
};
