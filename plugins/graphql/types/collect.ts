/** Every type that can be reached from the roots, sorted by name. @rule G-GEN-4 G-INT-2 G-INT-7 */
import {
  getNamedType, GraphQLBoolean, GraphQLInt, GraphQLString, introspectionTypes, isEnumType, isInputObjectType, isObjectType, type GraphQLNamedType,
} from "graphql";
import type { RoleSchema } from "../../../core/index.ts";

export const collectTypes = (schema: RoleSchema): ReadonlyMap<string, GraphQLNamedType> => {
  const found = new Map<string, GraphQLNamedType>();
  const queue: GraphQLNamedType[] = [];
  const add = (type: GraphQLNamedType): void => {
    if (found.get(type.name) === type) return;
    found.set(type.name, type);
    queue.push(type);
  };
  for (const root of [schema.query, schema.mutation, schema.subscription]) if (root !== undefined) add(root);
  for (const type of [GraphQLBoolean, GraphQLInt, GraphQLString, ...introspectionTypes]) add(type);
  for (let type = queue.pop(); type !== undefined; type = queue.pop()) {
    if (isObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        add(getNamedType(field.type));
        for (const argument of field.args) add(getNamedType(argument.type));
      }
    } else if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) add(getNamedType(field.type));
    } else if (isEnumType(type)) {
      type.getValues();
    }
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
};
