/** Converts documents from the names of the surface to the remote's own names, and the type names of results back.
 *  @rule X-RMT-5 */
import {
  isInterfaceType,
  isObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type NamedTypeNode,
} from "graphql";
import { isJsonObject, type Json } from "../../../core/index.ts";
import type { RemoteRoleSchema } from "./schema/role-schema.ts";

/** Marks the response names of `__typename` in the remote's results. */
const TYPENAME_MARK = "relapi__typename__";

const TYPENAME = "__typename";

interface OwnNames {
  convertDocument(document: DocumentNode): DocumentNode;
  convertData(data: Json): Json;
}

export const createOwnNames = ({ schema, ownSchema, names }: RemoteRoleSchema): OwnNames => {
  const ownTypes = new Map(Object.keys(ownSchema.getTypeMap()).map((name) => [names.renameType(name), name]));
  const findOwnField = (parent: string, field: string): string => {
    const name = ownTypes.get(parent) ?? parent;
    const type = ownSchema.getType(name);
    const fields = isObjectType(type) || isInterfaceType(type) ? Object.keys(type.getFields()) : [];
    return fields.find((ownField) => names.renameField(name, ownField) === field) ?? field;
  };
  const convertData = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(convertData);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) =>
        key.startsWith(TYPENAME_MARK)
          ? [key.slice(TYPENAME_MARK.length), typeof member === "string" ? names.renameType(member) : member]
          : [key, convertData(member)],
      ),
    );
  };
  const isRenamed = [...ownTypes].some(([name, ownName]) => name !== ownName);
  return {
    convertDocument: (document) => {
      const types = new TypeInfo(schema);
      // The visitor reads names on the way down, so nodes change on the way up.
      return visit(
        document,
        visitWithTypeInfo(types, {
          NamedType: {
            leave: (node): NamedTypeNode => ({
              ...node,
              name: { ...node.name, value: ownTypes.get(node.name.value) ?? node.name.value },
            }),
          },
          Field: {
            leave: (node): FieldNode => {
              const { name, alias = name } = node;
              if (name.value === TYPENAME)
                return isRenamed
                  ? { ...node, alias: { kind: Kind.NAME, value: `${TYPENAME_MARK}${alias.value}` } }
                  : node;
              const value = findOwnField(types.getParentType()?.name ?? "", name.value);
              return value === name.value ? node : { ...node, alias, name: { kind: Kind.NAME, value } };
            },
          },
        }),
      );
    },
    convertData: (data) => (isRenamed ? convertData(data) : data),
  };
};
