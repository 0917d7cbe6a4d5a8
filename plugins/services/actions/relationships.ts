/** Reads relationships of custom types: `{ login { artist { name } } }` follows the artist's id in the result of an
 *  action. @rule X-ACT-11 */
import type { TypeNode } from "graphql";
import { findColumn, type Json, type JsonObject, type QualifiedName, type Relation } from "../../../core/index.ts";
import { readListOrEmpty, readObjectOrEmpty, readText } from "../../shared/json-values.ts";
import {
  actionObjectExcluded,
  readDescribed,
  type CustomType,
  type CustomTypes,
  type ReportProblem,
  type TypedName,
  type TypeRelationship,
} from "./definitions.ts";

/** The part of a custom type that its relationships depend on. */
interface RelationshipOwner {
  readonly fields: readonly TypedName[];
  /** True for scalars and enums. */
  isLeaf(type: TypeNode): boolean;
  findRelation(name: QualifiedName): Relation | undefined;
}

const readTable = (rawObject: JsonObject): QualifiedName => {
  const table = rawObject["remote_table"];
  const name = readText(table);
  if (name !== undefined) return { schema: "public", name };
  const parts = readObjectOrEmpty(table);
  return { schema: readText(parts["schema"]) ?? "public", name: readText(parts["name"]) ?? "" };
};

/** Returns the relationship that an entry of a custom type defines.
 *  @throws Error with the reason for leaving the relationship out */
const readRelationship = (rawObject: JsonObject, owner: RelationshipOwner): TypeRelationship => {
  const describedName = readDescribed(rawObject);
  if (owner.fields.some(({ name }) => name === describedName.name))
    throw actionObjectExcluded("the type has a field of this name");
  const kind = rawObject["type"];
  if (kind !== "object" && kind !== "array") throw actionObjectExcluded("its type is neither object nor array");
  const table = readTable(rawObject);
  const relation = owner.findRelation(table);
  if (relation === undefined) throw actionObjectExcluded(`there is no tracked table "${table.schema}"."${table.name}"`);
  const columns = Object.entries(readObjectOrEmpty(rawObject["field_mapping"])).map(([name, value]) => {
    const field = owner.fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw actionObjectExcluded(`the type has no field "${name}"`);
    if (!owner.isLeaf(field.type)) throw actionObjectExcluded(`the field "${name}" is not a scalar`);
    const column = readText(value) ?? "";
    if (findColumn(relation, column) === undefined) throw actionObjectExcluded(`the table has no column "${column}"`);
    return [name, column] as const;
  });
  if (columns.length === 0) throw actionObjectExcluded("it has no field_mapping");
  return { ...describedName, isToOne: kind === "object", relation, columns };
};

/** Returns the types with the relationships that fit, and reports the others. */
export const addRelationships = (
  types: CustomTypes,
  objects: Json | undefined,
  findRelation: RelationshipOwner["findRelation"],
  report: ReportProblem,
): CustomTypes => {
  const isLeaf = (node: TypeNode): boolean =>
    node.kind === "NonNullType"
      ? isLeaf(node.type)
      : node.kind === "NamedType" && types.get(node.name.value)?.kind !== "object";
  const completedTypes = new Map<string, CustomType>(types);
  for (const item of readListOrEmpty(objects)) {
    const rawEntry = readObjectOrEmpty(item);
    const type = types.get(readText(rawEntry["name"]) ?? "");
    if (type?.kind !== "object") continue; // the type does not fit and was reported before
    const relationships = new Map<string, TypeRelationship>();
    for (const rawRelationship of readListOrEmpty(rawEntry["relationships"])) {
      const entry = readObjectOrEmpty(rawRelationship);
      const name = readText(entry["name"]) ?? "";
      try {
        if (relationships.has(name)) throw actionObjectExcluded("the name is taken");
        relationships.set(name, readRelationship(entry, { fields: type.fields, isLeaf, findRelation }));
      } catch (error) {
        report("relationship", `${type.name}.${name}`, (error as Error).message); // only `actionObjectExcluded` is thrown here
      }
    }
    completedTypes.set(type.name, { ...type, relationships: [...relationships.values()] });
  }
  return completedTypes;
};
