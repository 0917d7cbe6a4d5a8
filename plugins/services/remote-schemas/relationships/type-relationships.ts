/** Matches the relationships of types of remote schemas with these types, tables and other remote schemas.
 *  @rule X-RMT-14 X-RMT-14d */
import { getNamedType, getNullableType, isLeafType, isListType, isObjectType, type GraphQLObjectType } from "graphql";
import {
  findColumn,
  findRelation,
  type Json,
  type JsonObject,
  type Model,
  type Relation,
} from "../../../../core/index.ts";
import { readListOrEmpty, readObjectOrEmpty, readText } from "../../../shared/json-values.ts";
import type { MetadataRemoteSchemas } from "../../../metadata/api.ts";
import { rejectDefinition, RemoteSchemaProblem } from "../errors.ts";
import { readTypeRelationship, type SourceDefinition } from "./relationship-definition.ts";
import { matchRemoteField, RELATIONSHIP_NAME, type RemoteRelationship } from "./relationships.ts";
import type { Remote } from "../remotes.ts";

/** A relationship from the objects of a type to rows of a table. */
interface TableRelationship extends Pick<SourceDefinition, "columns" | "isToOne"> {
  readonly name: string;
  readonly relation: Relation;
}

export type TypeRelationship = TableRelationship | RemoteRelationship;

/** The relationships of a remote schema by the remote's own name of the type. */
export type RelationshipsByType = ReadonlyMap<string, readonly TypeRelationship[]>;

/** The parts of a model that relationships lead to. */
interface RelationshipTargets {
  readonly model: Model;
  readonly remotes: readonly Remote[];
  readonly source: MetadataRemoteSchemas["source"];
}

/** Reports a relationship that cannot be served. */
type ReportTypeRelationship = (remote: string, typeName: string, name: string, reason: string) => void;

const listObjects = (value: Json | undefined): readonly JsonObject[] => readListOrEmpty(value).map(readObjectOrEmpty);

const findType = ({ full }: Remote, name: string): GraphQLObjectType => {
  const type = full.getType(name);
  if (type === undefined || type === null) return rejectDefinition(`the remote schema has no type "${name}"`);
  if (!isObjectType(type)) return rejectDefinition(`the type "${name}" is not an object type`);
  if ([full.getQueryType(), full.getMutationType(), full.getSubscriptionType()].includes(type))
    return rejectDefinition(`the type "${name}" is a root type`);
  return type;
};

/** Checks that each field is a scalar without arguments. @throws RemoteSchemaProblem */
const checkFields = (type: GraphQLObjectType, names: readonly string[], takesLists: boolean): void => {
  const fields = type.getFields();
  for (const name of names) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined)
      return rejectDefinition(`the type "${type.name}" has no field "${name}" in the remote schema`);
    if (field.args.length > 0) rejectDefinition(`the field "${type.name}.${name}" has arguments`);
    if (!isLeafType(getNamedType(field.type)) || (!takesLists && isListType(getNullableType(field.type))))
      rejectDefinition(`the field "${type.name}.${name}" is not a scalar`);
  }
};

const matchTable = (
  { source: sourceName, table, columns }: SourceDefinition,
  { model, source }: RelationshipTargets,
): Relation => {
  if (sourceName !== source.name) return rejectDefinition(`source not found: "${sourceName}"`);
  const isTracked = source.tables.some(({ schema, name }) => schema === table.schema && name === table.name);
  const relation = isTracked ? findRelation(model, table) : undefined;
  const text = table.schema === "public" ? table.name : `${table.schema}.${table.name}`;
  if (relation === undefined) return rejectDefinition(`table "${text}" does not exist in source: ${sourceName}`);
  const missingPair = columns.find(([, column]) => findColumn(relation, column) === undefined);
  if (missingPair !== undefined)
    return rejectDefinition(`column "${missingPair[1]}" does not exist in table "${text}"`);
  return relation;
};

const matchRelationship = (
  name: string,
  rawObject: JsonObject,
  type: GraphQLObjectType,
  targets: RelationshipTargets,
): TypeRelationship => {
  const definition = readTypeRelationship(rawObject);
  if ("remote" in definition) {
    checkFields(type, definition.columns, true);
    return matchRemoteField(name, definition, targets.remotes);
  }
  const { columns, isToOne } = definition;
  checkFields(
    type,
    columns.map(([field]) => field),
    false,
  );
  return { name, relation: matchTable(definition, targets), columns, isToOne };
};

/** Checks the name of a relationship. @throws RemoteSchemaProblem */
const checkName = (name: string, type: GraphQLObjectType, remote: Remote, takenNames: ReadonlySet<string>): void => {
  if (!RELATIONSHIP_NAME.test(name)) rejectDefinition("its name is not a valid GraphQL name");
  const { renameField } = remote.adminSchema.names;
  for (const field of Object.keys(type.getFields()))
    if (field === name || renameField(type.name, field) === name) rejectDefinition("a field of the type has that name");
  if (takenNames.has(name)) rejectDefinition("the name is taken");
};

/** Returns the relationships of one remote schema, and reports those that cannot be served. */
const matchRemote = (
  rawObject: JsonObject,
  remote: Remote,
  targets: RelationshipTargets,
  report: ReportTypeRelationship,
): RelationshipsByType => {
  const byType = new Map<string, readonly TypeRelationship[]>();
  for (const entry of listObjects(rawObject["remote_relationships"])) {
    const typeName = readText(entry["type_name"]) ?? "";
    for (const definition of listObjects(entry["relationships"])) {
      const name = readText(definition["name"]) ?? "";
      const knownRelationships = byType.get(typeName) ?? [];
      try {
        const type = findType(remote, typeName);
        checkName(name, type, remote, new Set(knownRelationships.map((knownRelationship) => knownRelationship.name)));
        byType.set(typeName, [...knownRelationships, matchRelationship(name, definition, type, targets)]);
      } catch (error) {
        if (!(error instanceof RemoteSchemaProblem)) throw error;
        report(remote.definition.name, typeName, name, error.message);
      }
    }
  }
  return byType;
};

/** Returns the relationships of all remote schemas of the metadata that are served. */
export const matchTypeRelationships = (
  schemas: readonly Json[],
  targets: RelationshipTargets,
  report: ReportTypeRelationship,
): ReadonlyMap<Remote, RelationshipsByType> => {
  const byRemote = new Map<Remote, RelationshipsByType>();
  for (const rawEntry of listObjects(schemas as Json)) {
    const remote = targets.remotes.find(({ definition }) => definition.name === rawEntry["name"]);
    if (remote === undefined || byRemote.has(remote)) continue;
    const relationships = matchRemote(rawEntry, remote, targets, report);
    if (relationships.size > 0) byRemote.set(remote, relationships);
  }
  return byRemote;
};
