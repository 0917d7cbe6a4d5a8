/** Matches the relationships of tables with the tables and the remote schemas. @rule X-RMT-13 X-RMT-13g */
import {
  coerceInputValue,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isRequiredArgument,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
} from "graphql";
import {
  findColumn,
  findRelation,
  isJsonObject,
  buildNameKey,
  type Json,
  type Model,
  type Relation,
} from "../../../../core/index.ts";
import type { MetadataRemoteRelationship } from "../../../metadata/api.ts";
import { rejectDefinition, RemoteSchemaProblem } from "../errors.ts";
import { readRelationship, type RelationshipDefinition, type RelationshipStep } from "./relationship-definition.ts";
import type { Remote } from "../remotes.ts";

/** A field on the way to the value, in the remote's own names. */
interface JoinStep {
  /** The name of the type that has the field. */
  readonly parent: string;
  readonly name: string;
  readonly arguments: readonly JoinArgument[];
}

interface JoinArgument {
  readonly name: string;
  readonly type: GraphQLInputType;
  /** The value, in which `$column` is replaced by the value of that column. */
  readonly template: Json;
}

/** A relationship from the rows of a table, or the objects of a type, to a field of a remote schema. */
export interface RemoteRelationship {
  readonly name: string;
  readonly remote: Remote;
  /** The columns of the table, or the fields of the type, that the arguments need. */
  readonly columns: readonly string[];
  readonly steps: readonly JoinStep[];
}

/** The relationships by `buildNameKey` of their table. */
export type RelationshipsByTable = ReadonlyMap<string, readonly RemoteRelationship[]>;

/** The names that a relationship may have. */
export const RELATIONSHIP_NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;

/** Returns the column that a template such as `$id` names. Undefined for a fixed value. */
export const findTemplateColumn = (template: Json): string | undefined =>
  typeof template === "string" && template.startsWith("$") ? template.slice(1) : undefined;

const listColumns = (template: Json): readonly string[] => {
  if (Array.isArray(template)) return template.flatMap(listColumns);
  if (isJsonObject(template)) return Object.values(template).flatMap(listColumns);
  const column = findTemplateColumn(template);
  return column === undefined ? [] : [column];
};

/** Checks the parts of a template that no column replaces. */
const checkTemplate = (template: Json, type: GraphQLInputType, location: string): void => {
  if (findTemplateColumn(template) !== undefined) return;
  const nullable = getNullableType(type);
  if (listColumns(template).length === 0) {
    coerceInputValue(template, type, (_path, _value, { message }) => rejectDefinition(`${location}: ${message}`));
  } else if (isListType(nullable)) {
    const items = Array.isArray(template) ? template : [template];
    for (const item of items) checkTemplate(item, nullable.ofType, location);
  } else if (isInputObjectType(nullable) && isJsonObject(template)) {
    const fields = nullable.getFields();
    for (const [name, member] of Object.entries(template)) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined)
        return rejectDefinition(`${location}: the type "${nullable.name}" has no field "${name}"`);
      checkTemplate(member, field.type, `${location}.${name}`);
    }
  } else if (isInputObjectType(nullable) || typeof template === "object")
    rejectDefinition(`${location} is not a value of the type ${String(type)}`);
};

const matchArgument = (
  [name, template]: readonly [string, Json],
  args: readonly GraphQLArgument[],
  columns: readonly string[],
  subject: string,
): JoinArgument => {
  const argument =
    args.find((fieldArgument) => fieldArgument.name === name) ??
    rejectDefinition(`${subject} has no argument "${name}"`);
  const unknown = listColumns(template).find((column) => !columns.includes(column));
  if (unknown !== undefined) rejectDefinition(`"$${unknown}" is not one of the columns of the relationship`);
  checkTemplate(template, argument.type, `the argument "${name}"`);
  return { name, type: argument.type, template };
};

const findField = (type: GraphQLNamedType | null | undefined, name: string): GraphQLField<unknown, unknown> => {
  if (!isObjectType(type) && !isInterfaceType(type))
    return rejectDefinition(`the remote schema has no field "${name}" there`);
  const fields = type.getFields();
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return field ?? rejectDefinition(`the type "${type.name}" has no field "${name}" in the remote schema`);
};

const matchSteps = (
  steps: readonly RelationshipStep[],
  columns: readonly string[],
  { full }: Remote,
): readonly JoinStep[] => {
  let type: GraphQLNamedType | null | undefined = full.getQueryType();
  return steps.map(({ name, arguments: values }, i) => {
    const field = findField(type, name);
    const parent = type?.name ?? "";
    const subject = `the field "${parent}.${name}"`;
    const args = Object.entries(values).map((entry) => matchArgument(entry, field.args, columns, subject));
    if (i < steps.length - 1) {
      if (isListType(getNullableType(field.type)))
        rejectDefinition(`${subject} is a list, and only the last field may be one`);
      const missingArgument = field.args.find(
        (argument) => isRequiredArgument(argument) && !Object.hasOwn(values, argument.name),
      );
      if (missingArgument !== undefined) rejectDefinition(`${subject} needs the argument "${missingArgument.name}"`);
    }
    type = getNamedType(field.type);
    return { parent, name, arguments: args };
  });
};

/** Matches a definition whose columns exist. @throws RemoteSchemaProblem */
export const matchRemoteField = (
  name: string,
  { remote: remoteName, columns, steps }: RelationshipDefinition,
  remotes: readonly Remote[],
): RemoteRelationship => {
  const remote =
    remotes.find(({ definition }) => definition.name === remoteName) ??
    rejectDefinition(`remote schema with name "${remoteName}" does not exist, or cannot be served`);
  return { name, remote, columns, steps: matchSteps(steps, columns, remote) };
};

const matchRelationship = (
  name: string,
  definition: RelationshipDefinition,
  relation: Relation,
  remotes: readonly Remote[],
): RemoteRelationship => {
  const missingColumn = definition.columns.find((column) => findColumn(relation, column) === undefined);
  if (missingColumn !== undefined) return rejectDefinition(`column "${missingColumn}" does not exist`);
  return matchRemoteField(name, definition, remotes);
};

/** Reports a relationship that cannot be served. */
type ReportRelationship = (entry: MetadataRemoteRelationship, name: string, reason: string) => void;

/** Returns the relationships that can be served, and reports the others. Another function reports tables that do not
 *  exist. */
export const matchRelationships = (
  entries: readonly MetadataRemoteRelationship[],
  model: Model,
  remotes: readonly Remote[],
  report: ReportRelationship,
): RelationshipsByTable => {
  const byTable = new Map<string, RemoteRelationship[]>();
  for (const entry of entries) {
    const { table, raw: rawRelationship, otherNames } = entry;
    const relation = findRelation(model, table);
    if (relation === undefined) continue;
    const key = buildNameKey(relation);
    const knownRelationships = byTable.get(key) ?? [];
    const object = isJsonObject(rawRelationship) ? rawRelationship : {};
    const name = typeof object["name"] === "string" ? object["name"] : "";
    try {
      if (!RELATIONSHIP_NAME.test(name)) rejectDefinition("its name is not a valid GraphQL name");
      if (findColumn(relation, name) !== undefined) rejectDefinition("a column has that name");
      if (otherNames.has(name) || knownRelationships.some((relationship) => relationship.name === name))
        rejectDefinition("the name is taken");
      byTable.set(key, [...knownRelationships, matchRelationship(name, readRelationship(object), relation, remotes)]);
    } catch (error) {
      if (!(error instanceof RemoteSchemaProblem)) throw error;
      report(entry, name, error.message);
    }
  }
  return byTable;
};
