/** Every type that can be reached from the roots, sorted by name. @rule G-GEN-4 G-INT-2 G-INT-7 */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLString,
  introspectionTypes,
  type GraphQLNamedType,
  type GraphQLType,
} from "graphql";
import type { Pieces } from "../../../core/index.ts";
import type { RoleSchema } from "../parts.ts";

/** `getNamedType` without its checks for types of other copies of graphql, which take longer than all else here. */
const namedTypeOf = (type: GraphQLType): GraphQLNamedType => {
  let at = type;
  while ("ofType" in at) at = at.ofType;
  return at;
};

export const collectTypes = function* (schema: RoleSchema): Pieces<ReadonlyMap<string, GraphQLNamedType>> {
  const found = new Map<string, GraphQLNamedType>();
  const queue: GraphQLNamedType[] = [];
  /** Some types share theirs. */
  const seen = new Set<object>();
  const add = (type: GraphQLNamedType): void => {
    if (found.get(type.name) === type) return;
    found.set(type.name, type);
    queue.push(type);
  };
  for (const root of [schema.query, schema.mutation, schema.subscription]) if (root !== undefined) add(root);
  for (const type of [GraphQLBoolean, GraphQLInt, GraphQLString, ...introspectionTypes]) add(type);
  for (let type = queue.pop(); type !== undefined; type = queue.pop()) {
    yield;
    if (type instanceof GraphQLObjectType || type instanceof GraphQLInterfaceType) {
      for (const one of type.getInterfaces()) add(one);
      const fields = type.getFields();
      if (seen.has(fields)) continue;
      seen.add(fields);
      for (const name in fields) {
        const field = fields[name]!; // one of its keys
        add(namedTypeOf(field.type));
        for (const argument of field.args) add(namedTypeOf(argument.type));
      }
    } else if (type instanceof GraphQLInputObjectType) {
      const fields = type.getFields();
      if (seen.has(fields)) continue;
      seen.add(fields);
      for (const name in fields) add(namedTypeOf(fields[name]!.type)); // one of its keys
    } else if (type instanceof GraphQLEnumType) {
      type.getValues();
    }
  }
  const sorted = new Map<string, GraphQLNamedType>();
  for (const name of [...found.keys()].sort()) sorted.set(name, found.get(name)!); // one of its keys
  return sorted;
};
