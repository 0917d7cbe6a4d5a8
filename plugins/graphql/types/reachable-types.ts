/** Visits every type that can be reached from the roots. @rule G-GEN-4 G-INT-2 G-INT-7 */
import {
  GraphQLBoolean,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLString,
  GraphQLUnionType,
  introspectionTypes,
  type GraphQLFieldMap,
  type GraphQLInputFieldMap,
  type GraphQLNamedType,
  type GraphQLType,
} from "graphql";
import { isRootScope, LazyInputType, LazyObjectType } from "./lazy-types.ts";
import { getTypeExtension } from "../field-types.ts";
import { getFieldPart } from "../plan-parts.ts";
import type { RoleSchema } from "./role-schema.ts";

/** Replaces `getNamedType`, whose checks for types from other copies of graphql would take longer than the rest of this
 *  file. */
const unwrapType = (type: GraphQLType): GraphQLNamedType => {
  let at = type;
  while ("ofType" in at) at = at.ofType;
  return at;
};

/** The built-in types that introspection always lists. @rule G-INT-7 */
const BUILT_IN_TYPES: readonly GraphQLNamedType[] = [GraphQLBoolean, GraphQLInt, GraphQLString, ...introspectionTypes];

/** Forgets the fields of a type. Roots keep theirs, because their fields take long to build. */
const forgetFields = (type: GraphQLNamedType): void => {
  const isLazy = type instanceof LazyObjectType || type instanceof LazyInputType;
  if (isLazy && !isRootScope(getTypeExtension(type)?.scope)) type.forgetFields();
};

/** Yields each type once, in no particular order. The fields of a type are forgotten when the next type is requested. */
export const walkTypes = function* (schema: RoleSchema): Generator<GraphQLNamedType, void, void> {
  const reachableTypes = new Set<GraphQLNamedType>();
  const queue: GraphQLNamedType[] = [];
  const add = (type: GraphQLType): void => {
    const namedType = unwrapType(type);
    if (reachableTypes.has(namedType)) return;
    reachableTypes.add(namedType);
    queue.push(namedType);
  };
  const addFields = (fields: GraphQLFieldMap<unknown, unknown> | GraphQLInputFieldMap): void => {
    for (const name in fields) {
      const field = fields[name]!; // the name is a key of the object
      add(field.type);
      const part = getFieldPart(field);
      if (part?.kind === "custom" && "forward" in part) part.forward.types?.forEach(add);
      if (part?.kind === "custom" && "delegate" in part) part.delegate.types?.forEach(add);
      if ("args" in field) for (const argument of field.args) add(argument.type);
    }
  };
  for (const root of [schema.query, schema.mutation, schema.subscription]) if (root !== undefined) add(root);
  for (const type of BUILT_IN_TYPES) add(type);
  for (let type = queue.pop(); type !== undefined; type = queue.pop()) {
    if (type instanceof GraphQLObjectType || type instanceof GraphQLInterfaceType) {
      for (const interfaceType of type.getInterfaces()) add(interfaceType);
      addFields(type.getFields());
    } else if (type instanceof GraphQLInputObjectType) {
      addFields(type.getFields());
    } else if (type instanceof GraphQLUnionType) {
      type.getTypes().forEach(add);
    }
    yield type;
    forgetFields(type);
  }
};
