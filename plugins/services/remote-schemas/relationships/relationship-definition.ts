/** Reads the entries of `remote_relationships`, of tables and of types of remote schemas. */
import { isJsonObject, type Json, type JsonObject, type QualifiedName } from "../../../../core/index.ts";
import { rejectDefinition } from "../errors.ts";

/** A field on the way to the value of a relationship, by the remote's own name. */
export interface RelationshipStep {
  readonly name: string;
  /** The values of its arguments. A string that begins with `$` is the name of a column. */
  readonly arguments: JsonObject;
}

export interface RelationshipDefinition {
  readonly remote: string;
  readonly columns: readonly string[];
  /** The field of the query root, and the fields below it. */
  readonly steps: readonly [RelationshipStep, ...RelationshipStep[]];
}

/** A relationship from a type of a remote schema to a table. @rule X-RMT-14 */
export interface SourceDefinition {
  readonly isToOne: boolean;
  readonly source: string;
  readonly table: QualifiedName;
  /** Pairs of a field of the type and a column of the table. */
  readonly columns: readonly (readonly [field: string, column: string])[];
}

const isText = (value: Json | undefined): value is string => typeof value === "string" && value !== "";

const readColumns = (rawValue: Json | undefined, key: string): readonly string[] => {
  const list = rawValue as Json; // isArray does not narrow undefined
  if (!Array.isArray(list) || !list.every(isText)) return rejectDefinition(`${key} is not a list of column names`);
  return [...new Set(list)];
};

const readSteps = (rawValue: Json | undefined, location: string): RelationshipDefinition["steps"] => {
  const [entry, ...otherEntries] = isJsonObject(rawValue) ? Object.entries(rawValue) : [];
  if (entry === undefined || otherEntries.length > 0)
    return rejectDefinition(`${location} is not an object with one field`);
  const [name, body] = entry;
  const { arguments: values = {}, field } = isJsonObject(body) ? body : {};
  if (!isJsonObject(body) || !isJsonObject(values))
    return rejectDefinition(`${location}.${name} has no object of arguments`);
  const step = { name, arguments: values };
  return field === undefined || field === null ? [step] : [step, ...readSteps(field, `${location}.${name}.field`)];
};

/** Reads the definition, which the older form has beside the name. @throws RemoteSchemaProblem @rule X-RMT-13 */
export const readRelationship = (rawObject: JsonObject): RelationshipDefinition => {
  const definition = isJsonObject(rawObject["definition"]) ? rawObject["definition"] : rawObject;
  if (definition["to_source"] !== undefined) return rejectDefinition("to_source is not supported");
  const target = definition["to_remote_schema"];
  const [targetDefinition, columns, name] = isJsonObject(target)
    ? ([target, "lhs_fields", "to_remote_schema.remote_field"] as const)
    : ([definition, "hasura_fields", "remote_field"] as const);
  const remote = targetDefinition["remote_schema"];
  if (!isText(remote)) return rejectDefinition("the definition names no remote schema");
  return {
    remote,
    columns: readColumns(targetDefinition[columns], columns),
    steps: readSteps(targetDefinition["remote_field"], name),
  };
};

const readTable = (rawValue: Json | undefined): QualifiedName => {
  if (isText(rawValue)) return { schema: "public", name: rawValue };
  const { schema = "public", name } = isJsonObject(rawValue) ? rawValue : {};
  return isText(schema) && isText(name)
    ? { schema, name }
    : rejectDefinition("to_source.table is not the name of a table");
};

/** Reads the definition of a relationship of a type. @throws RemoteSchemaProblem @rule X-RMT-14 */
export const readTypeRelationship = (rawObject: JsonObject): RelationshipDefinition | SourceDefinition => {
  const definition = isJsonObject(rawObject["definition"]) ? rawObject["definition"] : {};
  const { to_source: target, to_remote_schema: toRemote } = definition;
  if ((target === undefined) === (toRemote === undefined))
    return rejectDefinition("the definition has either to_source or to_remote_schema");
  if (target === undefined) return readRelationship(rawObject);
  if (!isJsonObject(target)) return rejectDefinition("to_source is not an object");
  const { relationship_type: kind, source, field_mapping: mapping } = target;
  if (kind !== "object" && kind !== "array")
    return rejectDefinition("to_source.relationship_type is neither object nor array");
  if (!isText(source)) return rejectDefinition("to_source.source is not the name of a source");
  const table = readTable(target["table"]);
  const columns = isJsonObject(mapping) ? Object.entries(mapping) : [];
  if (columns.length === 0) return rejectDefinition("to_source.field_mapping has no field");
  return {
    isToOne: kind === "object",
    source,
    table,
    columns: columns.map(([field, column]) => {
      if (!isText(column)) return rejectDefinition(`to_source.field_mapping.${field} is not the name of a column`);
      return [field, column] as const;
    }),
  };
};
