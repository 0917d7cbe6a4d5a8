/** Values of columns as arguments of a remote field. @rule X-RMT-13c */
import {
  getNamedType,
  getNullableType,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isInputObjectType,
  isListType,
  type GraphQLInputType,
} from "graphql";
import { isJsonObject, getNumberText, type Json } from "../../../../core/index.ts";
import type { GqlLoadedRow } from "../../../graphql/api.ts";
import { findTemplateColumn } from "./relationships.ts";

/** Converts a number to a string for string types, and a numeric string to a number for number types. */
const convertLeaf = (value: Json, type: GraphQLInputType): Json => {
  const namedType = getNamedType(type);
  const digits = getNumberText(value);
  if (namedType === GraphQLID || namedType === GraphQLString) return digits ?? value;
  if (namedType !== GraphQLInt && namedType !== GraphQLFloat) return value;
  const text = digits ?? value;
  if (typeof text !== "string" || text.trim() === "") return value;
  const number = Number(text);
  return Number.isNaN(number) ? value : number;
};

const convertColumn = (value: Json, type: GraphQLInputType): Json => {
  const nullable = getNullableType(type);
  if (Array.isArray(value)) {
    const itemType = isListType(nullable) ? nullable.ofType : nullable;
    return value.map((item: Json) => convertColumn(item, itemType));
  }
  return convertLeaf(value, type);
};

/** Returns the value of an argument for a row. */
export const fillTemplate = (template: Json, type: GraphQLInputType, row: GqlLoadedRow): Json => {
  const column = findTemplateColumn(template);
  if (column !== undefined) return convertColumn(row[column] ?? null, type);
  const nullable = getNullableType(type);
  if (Array.isArray(template)) {
    const itemType = isListType(nullable) ? nullable.ofType : nullable;
    return template.map((item: Json) => fillTemplate(item, itemType, row));
  }
  if (!isJsonObject(template) || !isInputObjectType(nullable)) return template;
  const fields = nullable.getFields();
  return Object.fromEntries(
    Object.entries(template).map(([name, member]) => {
      const field = fields[name];
      return [name, field === undefined ? member : fillTemplate(member, field.type, row)];
    }),
  );
};
