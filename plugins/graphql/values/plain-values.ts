/** Coerces arguments of plugins' own fields to their GraphQL types. @rule G-COE-2 … G-COE-8 X-GQL-1 */
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from "graphql";
import type { BoundValue, Json } from "../../../core/index.ts";
import {
  valueUnexpected,
  fieldNotFound,
  integerOutOfRange,
  fieldMissing,
  enumValueInvalid,
  nullUnexpected,
} from "../errors.ts";
import { getEnumLiteralName, describeValue, isPlainObject } from "./leaf.ts";
import { parseDecimal, convertToInteger, isFloatLiteral, getNumberText, formatNumber, writeJson } from "./numbers.ts";
import { appendIndex, appendKey } from "./request-paths.ts";

/** Coerces a value to the type. `actual` describes the value in messages. @throws RelApiError `validation-failed`,
 *  `parse-failed` */
export const coercePlain = (
  type: GraphQLInputType,
  value: Json,
  path: string,
  actual = getEnumLiteralName(value) === undefined ? describeValue(value) : "an enum value",
): Json => {
  if (isNonNullType(type)) {
    if (value === null) throw nullUnexpected(String(type.ofType), path);
    return coercePlain(type.ofType, value, path, actual);
  }
  if (value === null) return null;
  if (isListType(type))
    return Array.isArray(value)
      ? value.map((item: Json, i) => coercePlain(type.ofType, item, appendIndex(path, i)))
      : [coercePlain(type.ofType, value, path, actual)];
  if (isInputObjectType(type)) return coerceObject(type, value, path, actual);
  if (isEnumType(type)) {
    const name = getEnumLiteralName(value) ?? value;
    if (typeof name !== "string") throw valueUnexpected("an enum value", type.name, actual, path);
    const names = type.getValues().map((enumValue) => enumValue.name);
    if (!names.includes(name)) throw enumValueInvalid(names, type.name, name, path);
    return name;
  }
  const text = getNumberText(value);
  switch (type) {
    case GraphQLInt: {
      if (text === undefined || isFloatLiteral(value))
        throw valueUnexpected("a 32-bit integer", type.name, actual, path);
      const integerText = convertToInteger(parseDecimal(text));
      if (integerText === undefined || integerText !== BigInt.asIntN(32, integerText))
        throw integerOutOfRange(formatNumber(text), path);
      return Number(integerText);
    }
    case GraphQLFloat:
      if (text === undefined) throw valueUnexpected("a float", type.name, actual, path);
      return Number(text);
    case GraphQLBoolean:
      if (typeof value !== "boolean") throw valueUnexpected("a boolean", type.name, actual, path);
      return value;
    case GraphQLString:
      if (typeof value !== "string") throw valueUnexpected("a string", type.name, actual, path);
      return value;
    case GraphQLID:
      if (typeof value !== "string" && text === undefined) throw valueUnexpected("an ID", type.name, actual, path);
      return text ?? value;
    default:
      return getEnumLiteralName(value) ?? value;
  }
};

const coerceObject = (type: GraphQLInputObjectType, value: Json, path: string, actual: string): Json => {
  if (!isPlainObject(value)) throw valueUnexpected("an object", type.name, actual, path);
  const fields = type.getFields();
  for (const name of Object.keys(value))
    if (!Object.hasOwn(fields, name)) throw fieldNotFound(name, type.name, appendKey(path, name), Object.keys(fields));
  const members: [string, Json][] = [];
  for (const field of Object.values(fields)) {
    const at = appendKey(path, field.name);
    if (Object.hasOwn(value, field.name))
      // The field's name is an own key of the value.
      members.push([field.name, coercePlain(field.type, value[field.name] as Json, at)]);
    else if (isRequiredInputField(field)) throw fieldMissing(field.name, at);
    else if (field.defaultValue !== undefined) members.push([field.name, field.defaultValue as Json]);
  }
  return Object.fromEntries(members);
};

/** Returns a value to bind: the text of a scalar, or the JSON of another value. */
export const encodePlain = (value: Json): BoundValue => {
  if (value === null || typeof value === "string") return value;
  return getNumberText(value) ?? (typeof value === "boolean" ? String(value) : writeJson(value));
};
