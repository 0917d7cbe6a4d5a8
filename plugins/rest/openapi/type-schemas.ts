/** Converts PostgreSQL types to schema objects of OpenAPI. */
import { findBaseType, type Column, type Model, type PgType, type RoutineParameter } from "../../../core/index.ts";
import { buildDeclaredName } from "../plan/overload.ts";

/** The parts of a schema object that describe a value. */
export interface TypeSchema {
  readonly type?: string;
  readonly format?: string;
  readonly items?: TypeSchema;
  readonly enum?: readonly string[];
}

const TYPES: Readonly<Record<string, TypeSchema>> = {
  int2: { type: "integer", format: "int32" },
  int4: { type: "integer", format: "int32" },
  int8: { type: "integer", format: "int64" },
  numeric: { type: "number" },
  float4: { type: "number" },
  float8: { type: "number" },
  bool: { type: "boolean" },
  json: {},
  jsonb: {},
};

/** Builds `type` and `items` of a type. The caller adds `format`. */
const buildTypeSchema = (model: Model, type: PgType): TypeSchema => {
  if (type.kind !== "array")
    return type.schema === "pg_catalog" ? (TYPES[type.name] ?? { type: "string" }) : { type: "string" };
  const element = type.element === undefined ? undefined : model.types.get(type.element);
  const items = element === undefined ? { type: "string" } : buildTypeSchema(model, element);
  return { type: "array", items: items.type === undefined ? {} : { type: items.type } };
};

/** Returns the base type of a domain if that type is in `pg_catalog`, otherwise the type itself. */
const findShownType = (model: Model, oid: number): PgType | undefined => {
  const base = findBaseType(model, oid);
  return base?.schema === "pg_catalog" ? base : model.types.get(oid);
};

/** Builds the schema of a column, with the labels of an enum. @rule R-OAS-4 */
export const buildColumnSchema = (model: Model, column: Column): TypeSchema => {
  const type = findShownType(model, column.type);
  if (type === undefined) return { type: "string" };
  if (isRepresented(model, column.type)) return { format: buildDeclaredName(type) };
  const schema = buildTypeSchema(model, type);
  const labels = findBaseType(model, column.type)?.labels;
  return { format: buildDeclaredName(type), ...schema, ...(labels === undefined ? {} : { enum: labels }) };
};

/** Returns whether the domain has a cast to `json`, whose result may be any JSON value. @rule R-REP-2 */
const isRepresented = (model: Model, oid: number): boolean => model.representations.get(oid)?.toJson !== undefined;

/** Builds the schema of a value that is not a column, without `format`. */
export const buildValueSchema = (model: Model, oid: number): TypeSchema => {
  if (isRepresented(model, oid)) return {};
  const type = findShownType(model, oid);
  return type === undefined ? { type: "string" } : buildTypeSchema(model, type);
};

/** Returns the name of a type without its schema, with `[]` for an array. */
const findPlainName = (model: Model, type: PgType): string => {
  if (type.schema === "pg_catalog") return buildDeclaredName(type);
  const element = type.element === undefined ? undefined : model.types.get(type.element);
  return element === undefined ? type.name : `${findPlainName(model, element)}[]`;
};

/** Builds the schema of a parameter as a property of the body, with the declared type. @rule R-OAS-4 */
export const buildParameterSchema = (model: Model, parameter: RoutineParameter): TypeSchema => {
  const type = model.types.get(parameter.type);
  return type === undefined
    ? { type: "string" }
    : { format: findPlainName(model, type), ...buildTypeSchema(model, type) };
};

/** Returns the type of a parameter in a query string, where arrays and JSON documents are strings. */
export const findQueryType = ({ type }: TypeSchema): string =>
  type === undefined || type === "array" ? "string" : type;

/** Builds the schema of a parameter in a query string. A variadic parameter is an array, whose name is repeated
 *  for each item. */
export const buildQueryParameterSchema = (
  model: Model,
  parameter: RoutineParameter,
): TypeSchema & { readonly collectionFormat?: string } => {
  const schema = buildParameterSchema(model, parameter);
  if (parameter.mode !== "variadic") return { format: schema.format, type: findQueryType(schema) };
  const array = model.types.get(parameter.type);
  const element = array?.element === undefined ? undefined : model.types.get(array.element);
  const items =
    element === undefined
      ? { type: "string" }
      : { format: findPlainName(model, element), ...buildTypeSchema(model, element) };
  return { type: "array", items: { ...items, type: items.type ?? "string" }, collectionFormat: "multi" };
};

/** Matches a constant of a string type as the catalog prints it: `'text'::type`. */
const TEXT_CONSTANT = /^'((?:[^']|'')*)'::[^']+$/;

/** Returns the default as a JSON value. Returns undefined if the default is not a constant. @rule R-OAS-6 */
export const parseDefault = (text: string | undefined, type: string | undefined): unknown => {
  if (text === undefined) return undefined;
  if (type === "string") return TEXT_CONSTANT.exec(text)?.[1]?.replaceAll("''", "'");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
