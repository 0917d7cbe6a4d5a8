/** Converts literals to the JSON that coercions read. Numbers keep their digits, and enum literals differ from
 *  strings. */
import type { ValueNode } from "graphql";
import type { Json } from "../../../core/index.ts";
import { exactNumber, isRawNumber, getNumberText, createRawNumber } from "./numbers.ts";

const ENUM: unique symbol = Symbol("enum literal");

// Only this file reads the literal.
const createEnumLiteral = (name: string): Json => ({ [ENUM]: name }) as unknown as Json;

/** Returns the name of an enum literal of the document, or undefined for other values. */
export const getEnumLiteralName = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null && ENUM in value ? (value[ENUM] as string) : undefined;

/** Returns the value of a variable, or its default. */
export type GetVariable = (variable: string) => Json;

/** Converts a literal to JSON. With `inJson`, enum literals become strings. @rule G-TYP-33 */
export const convertLiteral = (node: ValueNode, getVariable: GetVariable, inJson = false): Json => {
  switch (node.kind) {
    case "Variable":
      return getVariable(node.name.value);
    case "IntValue":
      return exactNumber(node.value);
    case "FloatValue":
      return inJson ? createRawNumber(node.value) : createRawNumber(node.value, true);
    case "StringValue":
    case "BooleanValue":
      return node.value;
    case "NullValue":
      return null;
    case "EnumValue":
      return inJson ? node.value : createEnumLiteral(node.value);
    case "ListValue":
      return node.values.map((value) => convertLiteral(value, getVariable, inJson));
    default:
      return Object.fromEntries(
        node.fields.map((field) => [field.name.value, convertLiteral(field.value, getVariable, true)]),
      ); // objects are JSON or GeoJSON in every position
  }
};

/** Returns the name of a value's JSON kind for messages. @rule G-COE-9 */
export const nameJsonKind = (value: Json): string => {
  if (value === null) return "Null";
  if (typeof value === "boolean") return "Boolean";
  if (typeof value === "string" || getEnumLiteralName(value) !== undefined) return "String";
  if (getNumberText(value) !== undefined) return "Number";
  return Array.isArray(value) ? "Array" : "Object";
};

/** Describes the value of a variable, as messages do. @rule G-COE-1 */
export const describeValue = (value: Json | undefined): string => {
  if (value === null || value === undefined) return "null";
  if (typeof value === "boolean") return "a boolean";
  if (typeof value === "string") return "a string";
  if (getNumberText(value) !== undefined) return "a number";
  return Array.isArray(value) ? "a list" : "an object";
};

const LITERAL_KIND_NAMES: Readonly<Record<Exclude<ValueNode["kind"], "Variable">, string>> = {
  IntValue: "an integer",
  FloatValue: "a float",
  StringValue: "a string",
  BooleanValue: "a boolean",
  NullValue: "null",
  EnumValue: "an enum value",
  ListValue: "a list",
  ObjectValue: "an object",
};

/** Describes a literal, as messages do. @rule G-COE-1 */
export const describeLiteral = (node: ValueNode): string =>
  node.kind === "Variable" ? "null" : LITERAL_KIND_NAMES[node.kind];

export const isPlainObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !isRawNumber(value) &&
  getEnumLiteralName(value) === undefined;
