/** Reads the entries of `remote_relationships`. */
import { isJsonObject, type Json, type JsonObject } from "../../../core/index.ts";
import { RemoteSchemaProblem } from "./errors.ts";

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

const refuse = (reason: string): never => {
  throw new RemoteSchemaProblem(reason);
};

const isText = (value: Json | undefined): value is string => typeof value === "string" && value !== "";

const readColumns = (raw: Json | undefined, key: string): readonly string[] => {
  const list = raw as Json; // isArray does not narrow undefined
  if (!Array.isArray(list) || !list.every(isText)) return refuse(`${key} is not a list of column names`);
  return [...new Set(list)];
};

const readSteps = (raw: Json | undefined, location: string): RelationshipDefinition["steps"] => {
  const [entry, ...others] = isJsonObject(raw) ? Object.entries(raw) : [];
  if (entry === undefined || others.length > 0) return refuse(`${location} is not an object with one field`);
  const [name, body] = entry;
  const { arguments: values = {}, field } = isJsonObject(body) ? body : {};
  if (!isJsonObject(body) || !isJsonObject(values)) return refuse(`${location}.${name} has no object of arguments`);
  const step = { name, arguments: values };
  return field === undefined || field === null ? [step] : [step, ...readSteps(field, `${location}.${name}.field`)];
};

/** Reads the definition, which the older form has beside the name. @throws RemoteSchemaProblem @rule X-RMT-13 */
export const readRelationship = (raw: JsonObject): RelationshipDefinition => {
  const definition = isJsonObject(raw["definition"]) ? raw["definition"] : raw;
  if (definition["to_source"] !== undefined) return refuse("to_source is not supported");
  const target = definition["to_remote_schema"];
  const [own, columns, name] = isJsonObject(target)
    ? ([target, "lhs_fields", "to_remote_schema.remote_field"] as const)
    : ([definition, "hasura_fields", "remote_field"] as const);
  const remote = own["remote_schema"];
  if (!isText(remote)) return refuse("the definition names no remote schema");
  return { remote, columns: readColumns(own[columns], columns), steps: readSteps(own["remote_field"], name) };
};
