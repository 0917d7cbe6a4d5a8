/**
 * Reads `native_queries` and `logical_models` of the metadata and matches them with the types of the database.
 * @rule P-NAT-1
 */
import { isJsonObject, type Json, type JsonObject, type Model, type PgType } from "../../../core/index.ts";
import {
  readListOrEmpty,
  readObjectOrEmpty,
  readText,
  type MetadataNative,
  type MetadataProblem,
} from "../../metadata/api.ts";

/** A column of a logical model, or an argument of a query. */
export interface NativeField {
  readonly name: string;
  readonly type: PgType;
  readonly isNullable: boolean;
  readonly description?: string;
}

/** A field that returns rows of a logical model, possibly the same one. */
interface NestedField {
  readonly name: string;
  readonly model: string;
  readonly isArray: boolean;
  readonly description?: string;
}

/** Conditions on columns of the model, as the metadata writes them. */
export type RawFilter = JsonObject;

export interface LogicalModel {
  readonly name: string;
  readonly description?: string;
  readonly fields: readonly NativeField[];
  readonly nestedFields: readonly NestedField[];
  /** The select permission of each role. */
  readonly permissions: ReadonlyMap<string, { readonly columns: ReadonlySet<string>; readonly filter: RawFilter }>;
}

/** SQL split at its placeholders, with the argument of each. */
interface NativeCode {
  readonly texts: readonly string[];
  readonly arguments: readonly string[];
}

/** The relationship by which a nested field finds its rows. */
export interface NativeRelationship {
  readonly isArray: boolean;
  /** Pairs of a column of this query and a column of the target. */
  readonly columns: readonly (readonly [column: string, targetColumn: string])[];
  /** The name of the target query. */
  readonly target: string;
}

export interface NativeQuery {
  readonly name: string;
  readonly description?: string;
  readonly code: NativeCode;
  readonly arguments: readonly NativeField[];
  readonly returns: LogicalModel;
  /** A relationship for each nested field of the model. */
  readonly relationships: ReadonlyMap<string, NativeRelationship>;
}

const GRAPHQL_NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;

const readDescription = (value: Json | undefined): { readonly description?: string } =>
  typeof value === "string" && value !== "" ? { description: value } : {};

/** Finds types by any of their names: `integer`, `int4`, `timestamp with time zone`. */
const createTypeFinder = (model: Model): ((name: string) => PgType | undefined) => {
  const typesByName = new Map<string, PgType>();
  for (const type of model.types.values()) {
    for (const name of [type.sqlName, `${type.schema}.${type.name}`])
      if (!typesByName.has(name)) typesByName.set(name, type);
    if (type.schema === "pg_catalog") typesByName.set(type.name, type);
  }
  for (const type of model.types.values()) if (!typesByName.has(type.name)) typesByName.set(type.name, type);
  const aliases: Readonly<Record<string, string>> = {
    int: "int4",
    decimal: "numeric",
    float: "float8",
    serial: "int4",
  };
  return (name) => {
    const lowerName = name.trim().toLowerCase();
    return typesByName.get(name.trim()) ?? typesByName.get(lowerName) ?? typesByName.get(aliases[lowerName] ?? "");
  };
};

/** Returns the error that excludes one object. This file catches the error and reports it as a metadata problem. */
const nativeObjectExcluded = (reason: string): Error => new Error(reason);

type FindType = (name: string) => PgType | undefined;

/** Parses a type: `"text"`, `{scalar}`, `{logical_model}`, or `{array}` of one of these. */
const readType = (
  rawValue: Json | undefined,
): { readonly scalar?: string; readonly model?: string; readonly isArray: boolean } => {
  if (typeof rawValue === "string") return { scalar: rawValue, isArray: false };
  const { scalar, logical_model: model, array } = readObjectOrEmpty(rawValue);
  if (array !== undefined) return { ...readType(array), isArray: true };
  return {
    ...(typeof scalar === "string" && { scalar }),
    ...(typeof model === "string" && { model }),
    isArray: false,
  };
};

const isNullable = (rawObject: JsonObject): boolean =>
  (isJsonObject(rawObject["type"])
    ? (rawObject["type"]["nullable"] ?? rawObject["nullable"])
    : rawObject["nullable"]) === true;

const readField = (name: string, rawObject: JsonObject, findType: FindType): NativeField => {
  if (!GRAPHQL_NAME.test(name)) throw nativeObjectExcluded(`"${name}" is not a valid GraphQL name`);
  const { scalar, isArray } = readType(rawObject["type"]);
  if (scalar === undefined) throw nativeObjectExcluded(`${name}: it has no scalar type`);
  const element = findType(scalar);
  const valueType = element && isArray ? findType(`${element.sqlName}[]`) : element;
  if (valueType === undefined) throw nativeObjectExcluded(`${name}: type "${scalar}" does not exist`);
  return { name, type: valueType, isNullable: isNullable(rawObject), ...readDescription(rawObject["description"]) };
};

const NAME_BYTES = 63;

const readNested = (name: string, rawObject: JsonObject, model: string): NestedField => {
  // The name becomes an output name of a statement.
  if (!GRAPHQL_NAME.test(name) || name.length > NAME_BYTES) throw nativeObjectExcluded(`"${name}" is not a valid name`);
  return { name, model, isArray: readType(rawObject["type"]).isArray, ...readDescription(rawObject["description"]) };
};

const readModel = (rawObject: JsonObject, name: string, findType: FindType): LogicalModel => {
  const fields: NativeField[] = [];
  const nestedFields: NestedField[] = [];
  for (const rawField of readListOrEmpty(rawObject["fields"])) {
    const field = readObjectOrEmpty(rawField);
    const fieldName = readText(field["name"]) ?? "";
    const { model } = readType(field["type"]);
    if (model === undefined) fields.push(readField(fieldName, field, findType));
    else nestedFields.push(readNested(fieldName, field, model));
  }
  if (fields.length === 0) throw nativeObjectExcluded("it has no fields");
  const permissions = readListOrEmpty(rawObject["select_permissions"]).map((entry) => {
    const role = readText(readObjectOrEmpty(entry)["role"]) ?? "";
    const { columns, filter } = readObjectOrEmpty(readObjectOrEmpty(entry)["permission"]);
    const fieldNames = new Set([...fields, ...nestedFields].map((field) => field.name));
    const columnNames =
      columns === "*" ? [...fieldNames] : readListOrEmpty(columns).map((column) => readText(column) ?? "");
    const unknown = columnNames.find((column) => !fieldNames.has(column));
    if (unknown !== undefined)
      throw nativeObjectExcluded(`select permission of ${role}: column "${unknown}" does not exist`);
    // A missing filter must not grant access to every row.
    if (!isJsonObject(filter)) throw nativeObjectExcluded(`select permission of ${role}: it has no filter`);
    return [role, { columns: new Set(columnNames), filter }] as const;
  });
  return {
    name,
    ...readDescription(rawObject["description"]),
    fields,
    nestedFields,
    permissions: new Map(permissions),
  };
};

const PLACEHOLDER = /\{\{([^{}]*)\}\}/;

/** Splits SQL such as `select * from album where id = {{id}};` at its placeholders. */
const readCode = (text: string): NativeCode => {
  const parts = text.trim().replace(/;\s*$/, "").split(PLACEHOLDER);
  return {
    texts: parts.filter((_, i) => i % 2 === 0),
    arguments: parts.filter((_, i) => i % 2 === 1).map((name) => name.trim()),
  };
};

/**
 * Parses `{name, using: {column_mapping, remote_native_query}}`. Targets are checked later, when all queries are known.
 */
const readRelationships = (rawObject: JsonObject): NativeQuery["relationships"] => {
  const relationships = new Map<string, NativeRelationship>();
  for (const kind of ["object", "array"] as const)
    for (const rawRelationship of readListOrEmpty(rawObject[`${kind}_relationships`])) {
      const name = readText(readObjectOrEmpty(rawRelationship)["name"]) ?? "";
      const using = readObjectOrEmpty(readObjectOrEmpty(rawRelationship)["using"]);
      const { column_mapping: mapping, remote_native_query: target } = readObjectOrEmpty(
        using["manual_configuration"] ?? using,
      );
      if (relationships.has(name)) throw nativeObjectExcluded(`relationship ${name}: the name is taken`);
      if (typeof target !== "string") throw nativeObjectExcluded(`relationship ${name}: it leads to no native query`);
      const columns = Object.entries(readObjectOrEmpty(mapping)).map(
        ([column, targetColumn]) => [column, readText(targetColumn) ?? ""] as const,
      );
      if (columns.length === 0) throw nativeObjectExcluded(`relationship ${name}: it has no column_mapping`);
      relationships.set(name, { isArray: kind === "array", columns, target });
    }
  return relationships;
};

const readQuery = (
  rawObject: JsonObject,
  name: string,
  models: ReadonlyMap<string, LogicalModel>,
  findType: FindType,
): NativeQuery => {
  const returns = models.get(readText(rawObject["returns"]) ?? "");
  if (returns === undefined)
    throw nativeObjectExcluded(`there is no logical model "${readText(rawObject["returns"]) ?? ""}"`);
  const text = readText(rawObject["code"]);
  if (text === undefined || text.trim() === "") throw nativeObjectExcluded("it has no code");
  const args = Object.entries(readObjectOrEmpty(rawObject["arguments"])).map(([argument, rawArgument]) =>
    readField(argument, readObjectOrEmpty(rawArgument), findType),
  );
  const code = readCode(text);
  const unknown = code.arguments.find((argument) => args.every((field) => field.name !== argument));
  if (unknown !== undefined)
    throw nativeObjectExcluded(`its code names an argument "${unknown}" that it does not have`);
  return {
    name,
    ...readDescription(rawObject["description"] ?? rawObject["comment"]),
    code,
    arguments: args,
    returns,
    relationships: readRelationships(rawObject),
  };
};

/**
 * Returns why the query cannot be served with these others: each nested field of its model needs a relationship.
 * @rule P-NAT-4
 */
const findProblem = (query: NativeQuery, queries: ReadonlyMap<string, NativeQuery>): string | undefined => {
  const { returns, relationships } = query;
  const hasColumn = ({ fields }: LogicalModel, name: string): boolean => fields.some((field) => field.name === name);
  for (const name of relationships.keys())
    if (returns.nestedFields.every((field) => field.name !== name))
      return `relationship ${name}: the logical model "${returns.name}" has no such field of a logical model`;
  for (const { name, model, isArray } of returns.nestedFields) {
    const relationship = relationships.get(name);
    if (relationship === undefined) return `field ${name} of the logical model "${returns.name}" has no relationship`;
    const target = queries.get(relationship.target);
    if (relationship.isArray !== isArray)
      return `relationship ${name}: the field is ${isArray ? "an array" : "one object"}`;
    if (target === undefined) return `relationship ${name}: there is no native query "${relationship.target}"`;
    if (target.returns.name !== model)
      return `relationship ${name}: "${relationship.target}" does not return the logical model "${model}"`;
    for (const [column, targetColumn] of relationship.columns) {
      if (!hasColumn(returns, column)) return `relationship ${name}: "${column}" is not a column of "${returns.name}"`;
      if (!hasColumn(target.returns, targetColumn))
        return `relationship ${name}: "${targetColumn}" is not a column of "${model}"`;
    }
    // A nested field takes the arguments of its target query.
    const first = [...queries.values()].find((nativeQuery) => nativeQuery.returns === returns);
    if (first?.relationships.get(name)?.target !== relationship.target)
      return `relationship ${name}: another native query of "${returns.name}" leads elsewhere`;
  }
  return undefined;
};

type ProblemKind = MetadataProblem["type"] & ("native_query" | "logical_model");

/** Called for each object that is left out. */
type ReportProblem = (type: ProblemKind, name: string, reason: string) => void;

/** Removes every object that has a problem, then those that depended on it. */
const removeFaulty = <Item>(
  itemsByName: Map<string, Item>,
  type: ProblemKind,
  problem: (item: Item) => string | undefined,
  note: ReportProblem,
): void => {
  for (let isSettled = false; !isSettled;) {
    isSettled = true;
    for (const [name, item] of itemsByName) {
      const reason = problem(item);
      if (reason === undefined) continue;
      note(type, name, reason);
      itemsByName.delete(name);
      isSettled = false;
    }
  }
};

/** Removes the queries that the database rejects. `reasons` contains the reasons by query name. @rule P-NAT-6 */
export const removeRejected = (
  queries: readonly NativeQuery[],
  reasons: ReadonlyMap<string, string>,
  note: ReportProblem,
): readonly NativeQuery[] => {
  const queriesByName = new Map(queries.map((query) => [query.name, query]));
  removeFaulty(
    queriesByName,
    "native_query",
    (query) => reasons.get(query.name) ?? findProblem(query, queriesByName),
    note,
  );
  return [...queriesByName.values()];
};

/** Serves the objects that fit and reports the others with their location. */
export const readNativeQueries = (
  { queries, models, takenNames }: MetadataNative,
  model: Model,
  note: ReportProblem,
): readonly NativeQuery[] => {
  const findType = createTypeFinder({
    ...model,
    types: new Map([...model.types].filter(([, { kind }]) => kind !== "pseudo")),
  });
  const read = <Value>(
    rawEntries: readonly Json[],
    type: ProblemKind,
    key: string,
    graphqlNames: ReadonlySet<string>,
    make: (rawObject: JsonObject, name: string) => Value,
  ) => {
    const itemsByName = new Map<string, Value>();
    for (const rawEntry of rawEntries) {
      const name = readText(readObjectOrEmpty(rawEntry)[key]) ?? "";
      try {
        if (!GRAPHQL_NAME.test(name)) throw nativeObjectExcluded("its name is not a valid GraphQL name");
        if (itemsByName.has(name)) throw nativeObjectExcluded("the name is taken");
        if (graphqlNames.has(name)) throw nativeObjectExcluded("a table or function has that name in GraphQL");
        itemsByName.set(name, make(readObjectOrEmpty(rawEntry), name));
      } catch (error) {
        note(type, name, (error as Error).message); // only `nativeObjectExcluded` is thrown here
      }
    }
    return itemsByName;
  };
  const modelsByName = read(models, "logical_model", "name", takenNames.types, (rawObject, name) =>
    readModel(rawObject, name, findType),
  );
  removeFaulty(
    modelsByName,
    "logical_model",
    ({ nestedFields }) => {
      const danglingField = nestedFields.find((field) => !modelsByName.has(field.model));
      return danglingField && `${danglingField.name}: there is no logical model "${danglingField.model}"`;
    },
    note,
  );
  const nativeQueries = read(queries, "native_query", "root_field_name", takenNames.roots, (rawObject, name) =>
    readQuery(rawObject, name, modelsByName, findType),
  );
  removeFaulty(nativeQueries, "native_query", (query) => findProblem(query, nativeQueries), note);
  return [...nativeQueries.values()];
};
