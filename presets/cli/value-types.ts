/** Writes the types of the database as TypeScript types for `relapi types`. */
import { findBaseType, findRelation, type Column, type PgType, type Relation } from "../../core/index.ts";
import { listFieldsBesideColumns, type TypeContext } from "./computed-types.ts";

/** TypeScript types of built-in types, by `typname`, as REST encodes their values. */
const SCALARS: Readonly<Record<string, string>> = {
  bool: "boolean",
  int2: "number",
  int4: "number",
  int8: "number",
  float4: "number",
  float8: "number",
  numeric: "number",
  oid: "number",
  json: "Json",
  jsonb: "Json",
  hstore: "Record<string, string | null>",
  geometry: "Json",
  geography: "Json",
};

/** Type categories whose values are JSON strings. */
const TEXT_CATEGORIES = new Set(["S", "D", "T", "I", "V", "R", "B", "N", "G", "U"]);

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

export const encodeKey = (name: string): string => (IDENTIFIER.test(name) ? name : JSON.stringify(name));

export const encodeUnion = (labels: readonly string[]): string =>
  labels.length === 0 ? "never" : labels.map((label) => JSON.stringify(label)).join(" | ");

export const isTable = ({ kind }: Relation): boolean => kind !== "view" && kind !== "materialized";

export type TypeField = readonly [name: string, type: string];

/** Writes an object type with its fields sorted by name. */
export const encodeObject = (fields: readonly TypeField[], indent: string): string => {
  if (fields.length === 0) return "Record<never, never>";
  const lines = [...fields]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, type]) => `${indent}  ${name}: ${type};\n`);
  return `{\n${lines.join("")}${indent}}`;
};

const isExposed = ({ model }: TypeContext, schema: string): boolean => model.schemas.includes(schema);

const encodeReference = ({ schema }: { readonly schema: string }, group: string, name: string): string =>
  `Database[${JSON.stringify(schema)}]["${group}"][${JSON.stringify(name)}]`;

export const encodeRowReference = (relation: Relation): string =>
  `${encodeReference(relation, isTable(relation) ? "Tables" : "Views", relation.name)}["Row"]`;

export const encodeList = (type: string): string =>
  /^[\w.]+$|^Database[^|]*$|^Omit<[^>]*>$/.test(type) ? `${type}[]` : `(${type})[]`;

export const encodeType = (writer: TypeContext, oid: number): string => {
  const { model } = writer;
  const declaredType = model.types.get(oid);
  // Casts of the database decide the JSON of such domains.
  if (declaredType?.kind === "domain" && model.representations.get(oid)?.toJson !== undefined) return "Json";
  const type = findBaseType(model, oid);
  if (type === undefined) return "unknown";
  switch (type.kind) {
    case "array":
      return type.element === undefined ? "unknown[]" : encodeList(encodeType(writer, type.element));
    case "enum":
      return isExposed(writer, type.schema)
        ? encodeReference(type, "Enums", type.name)
        : encodeUnion(type.labels ?? []);
    case "composite":
      return encodeComposite(writer, type);
    case "range":
    case "multirange":
      return "string";
    case "pseudo":
      return type.name === "void" ? "undefined" : type.name === "record" ? "Record<string, unknown>" : "unknown";
    default:
      return SCALARS[type.name] ?? (TEXT_CATEGORIES.has(type.category) ? "string" : "unknown");
  }
};

/** Returns the type of a row inside a value, which has only the columns. */
const encodeStoredRow = (writer: TypeContext, relation: Relation): string => {
  const fields = listFieldsBesideColumns(writer, relation).map(({ name }) => name);
  return fields.length === 0
    ? encodeRowReference(relation)
    : `Omit<${encodeRowReference(relation)}, ${encodeUnion(fields.sort())}>`;
};

export const encodeColumnType = (writer: TypeContext, { oid }: Relation, { name, type }: Column): string => {
  const extraDimensions = (writer.dimensions.get(`${oid}.${name}`) ?? 1) - 1;
  return `${encodeType(writer, type)}${"[]".repeat(extraDimensions)}`;
};

const encodeComposite = (writer: TypeContext, type: PgType): string => {
  const relation = type.relation && findRelation(writer.model, type.relation);
  if (relation !== undefined && isExposed(writer, relation.schema)) return encodeStoredRow(writer, relation);
  if (type.relation === undefined && isExposed(writer, type.schema))
    return encodeReference(type, "CompositeTypes", type.name);
  return encodeAttributes(writer, type.attributes ?? [], "").replaceAll(/\s+/g, " ");
};

export const encodeAttributes = (
  writer: TypeContext,
  attributes: NonNullable<PgType["attributes"]>,
  indent: string,
): string =>
  encodeObject(
    attributes.map(({ name, type }) => [encodeKey(name), `${encodeType(writer, type)} | null`]),
    indent,
  );

export const addNull = (type: string, isNullable: boolean): string =>
  isNullable && type !== "unknown" ? `${type} | null` : type;
