/** Reads relationships of custom types: `{ login { artist { name } } }` follows the artist's id in the result of an
 *  action. @rule X-ACT-11 */
import type { TypeNode } from "graphql";
import { findColumn, type Json, type JsonObject, type QualifiedName, type Relation } from "../../../core/index.ts";
import { readList, readObject, readText } from "../../shared/json-values.ts";
import {
  excludedError,
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

const readTable = (raw: JsonObject): QualifiedName => {
  const table = raw["remote_table"];
  const name = readText(table);
  if (name !== undefined) return { schema: "public", name };
  const parts = readObject(table);
  return { schema: readText(parts["schema"]) ?? "public", name: readText(parts["name"]) ?? "" };
};

/** Returns the relationship that an entry of a custom type defines.
 *  @throws Error with the reason for leaving the relationship out */
const readRelationship = (raw: JsonObject, owner: RelationshipOwner): TypeRelationship => {
  const describedName = readDescribed(raw);
  if (owner.fields.some(({ name }) => name === describedName.name))
    throw excludedError("the type has a field of this name");
  const kind = raw["type"];
  if (kind !== "object" && kind !== "array") throw excludedError("its type is neither object nor array");
  const table = readTable(raw);
  const relation = owner.findRelation(table);
  if (relation === undefined) throw excludedError(`there is no tracked table "${table.schema}"."${table.name}"`);
  const columns = Object.entries(readObject(raw["field_mapping"])).map(([name, value]) => {
    const field = owner.fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw excludedError(`the type has no field "${name}"`);
    if (!owner.isLeaf(field.type)) throw excludedError(`the field "${name}" is not a scalar`);
    const column = readText(value) ?? "";
    if (findColumn(relation, column) === undefined) throw excludedError(`the table has no column "${column}"`);
    return [name, column] as const;
  });
  if (columns.length === 0) throw excludedError("it has no field_mapping");
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
  for (const item of readList(objects)) {
    const raw = readObject(item);
    const type = types.get(readText(raw["name"]) ?? "");
    if (type?.kind !== "object") continue; // the type does not fit and was reported before
    const relationships = new Map<string, TypeRelationship>();
    for (const rawRelationship of readList(raw["relationships"])) {
      const entry = readObject(rawRelationship);
      const name = readText(entry["name"]) ?? "";
      try {
        if (relationships.has(name)) throw excludedError("the name is taken");
        relationships.set(name, readRelationship(entry, { fields: type.fields, isLeaf, findRelation }));
      } catch (error) {
        report("relationship", `${type.name}.${name}`, (error as Error).message); // only `excludedError` is thrown here
      }
    }
    completedTypes.set(type.name, { ...type, relationships: [...relationships.values()] });
  }
  return completedTypes;
};
