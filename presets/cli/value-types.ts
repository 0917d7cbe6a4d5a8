/** Writes the types of the database as TypeScript types for `relapi types`. */
import { baseTypeOf, relationOf, type Column, type PgType, type Relation } from "../../core/index.ts";
import { fieldsBesideColumns, type Writer } from "./computed-types.ts";

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
const AS_TEXT = new Set(["S", "D", "T", "I", "V", "R", "B", "N", "G", "U"]);

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

export const key = (name: string): string => (IDENTIFIER.test(name) ? name : JSON.stringify(name));

export const union = (labels: readonly string[]): string =>
  labels.length === 0 ? "never" : labels.map((label) => JSON.stringify(label)).join(" | ");

export const isTable = ({ kind }: Relation): boolean => kind !== "view" && kind !== "materialized";

export type Field = readonly [name: string, type: string];

/** Writes an object type with its fields sorted by name. */
export const object = (fields: readonly Field[], indent: string): string => {
  if (fields.length === 0) return "Record<never, never>";
  const lines = [...fields]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, type]) => `${indent}  ${name}: ${type};\n`);
  return `{\n${lines.join("")}${indent}}`;
};

const isListed = ({ model }: Writer, schema: string): boolean => model.schemas.includes(schema);

const place = ({ schema }: { readonly schema: string }, group: string, name: string): string =>
  `Database[${JSON.stringify(schema)}]["${group}"][${JSON.stringify(name)}]`;

export const rowOf = (relation: Relation): string =>
  `${place(relation, isTable(relation) ? "Tables" : "Views", relation.name)}["Row"]`;

export const listOf = (type: string): string =>
  /^[\w.]+$|^Database[^|]*$|^Omit<[^>]*>$/.test(type) ? `${type}[]` : `(${type})[]`;

export const typeOf = (writer: Writer, oid: number): string => {
  const { model } = writer;
  const declared = model.types.get(oid);
  // the database's own casts decide the JSON of these
  if (declared?.kind === "domain" && model.representations.get(oid)?.toJson !== undefined) return "Json";
  const type = baseTypeOf(model, oid);
  if (type === undefined) return "unknown";
  switch (type.kind) {
    case "array":
      return type.element === undefined ? "unknown[]" : listOf(typeOf(writer, type.element));
    case "enum":
      return isListed(writer, type.schema) ? place(type, "Enums", type.name) : union(type.labels ?? []);
    case "composite":
      return compositeOf(writer, type);
    case "range":
    case "multirange":
      return "string";
    case "pseudo":
      return type.name === "void" ? "undefined" : type.name === "record" ? "Record<string, unknown>" : "unknown";
    default:
      return SCALARS[type.name] ?? (AS_TEXT.has(type.category) ? "string" : "unknown");
  }
};

/** The type of a row inside a value, which has only the columns. */
const storedRowOf = (writer: Writer, relation: Relation): string => {
  const fields = fieldsBesideColumns(writer, relation).map(({ name }) => name);
  return fields.length === 0 ? rowOf(relation) : `Omit<${rowOf(relation)}, ${union(fields.sort())}>`;
};

export const columnType = (writer: Writer, { oid }: Relation, { name, type }: Column): string => {
  const more = (writer.dimensions.get(`${oid}.${name}`) ?? 1) - 1;
  return `${typeOf(writer, type)}${"[]".repeat(more)}`;
};

const compositeOf = (writer: Writer, type: PgType): string => {
  const relation = type.relation && relationOf(writer.model, type.relation);
  if (relation !== undefined && isListed(writer, relation.schema)) return storedRowOf(writer, relation);
  if (type.relation === undefined && isListed(writer, type.schema)) return place(type, "CompositeTypes", type.name);
  return attributesOf(writer, type.attributes ?? [], "").replaceAll(/\s+/g, " ");
};

export const attributesOf = (writer: Writer, attributes: NonNullable<PgType["attributes"]>, indent: string): string =>
  object(
    attributes.map(({ name, type }) => [key(name), `${typeOf(writer, type)} | null`]),
    indent,
  );

export const orNull = (type: string, isNullable: boolean): string =>
  isNullable && type !== "unknown" ? `${type} | null` : type;
