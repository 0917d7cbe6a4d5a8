/** Every type that can be reached from the roots. @rule G-GEN-4 G-INT-2 G-INT-7 */
import {
  GraphQLBoolean,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLString,
  introspectionTypes,
  type GraphQLFieldMap,
  type GraphQLInputFieldMap,
  type GraphQLNamedType,
  type GraphQLType,
} from "graphql";
import { isRootScope, LazyInputType, LazyObjectType } from "./lazy-types.ts";
import { gqlTypeFacts, type RoleSchema } from "../parts.ts";

/** `getNamedType` without its checks for types of other copies of graphql, which take longer than all else here. */
export const namedTypeOf = (type: GraphQLType): GraphQLNamedType => {
  let at = type;
  while ("ofType" in at) at = at.ofType;
  return at;
};

/** @rule G-INT-7 */
export const ALWAYS_THERE: readonly GraphQLNamedType[] = [
  GraphQLBoolean,
  GraphQLInt,
  GraphQLString,
  ...introspectionTypes,
];

/** Of a type: the roots have thousands. */
const FIELDS_AT_ONCE = 100;

/** The fields of roots take long to make. */
const forgetFields = (type: GraphQLNamedType): void => {
  const isLazy = type instanceof LazyObjectType || type instanceof LazyInputType;
  if (isLazy && !isRootScope(gqlTypeFacts(type)?.scope)) type.forgetFields();
};

/** Each once, in no order, and in between nothing, to give way; its fields are forgotten when the next is asked for. */
export const eachType = function* (schema: RoleSchema): Generator<GraphQLNamedType | undefined, void, void> {
  const found = new Set<GraphQLNamedType>();
  const queue: GraphQLNamedType[] = [];
  const add = (type: GraphQLType): void => {
    const named = namedTypeOf(type);
    if (found.has(named)) return;
    found.add(named);
    queue.push(named);
  };
  const addFields = function* (fields: GraphQLFieldMap<unknown, unknown> | GraphQLInputFieldMap) {
    let count = 0;
    for (const name in fields) {
      const field = fields[name]!; // one of its keys
      add(field.type);
      if (++count % FIELDS_AT_ONCE === 0) yield undefined;
      if ("args" in field) for (const argument of field.args) add(argument.type);
    }
  };
  for (const root of [schema.query, schema.mutation, schema.subscription]) if (root !== undefined) add(root);
  for (const type of ALWAYS_THERE) add(type);
  for (let type = queue.pop(); type !== undefined; type = queue.pop()) {
    if (type instanceof GraphQLObjectType || type instanceof GraphQLInterfaceType) {
      for (const one of type.getInterfaces()) add(one);
      yield* addFields(type.getFields());
    } else if (type instanceof GraphQLInputObjectType) {
      yield* addFields(type.getFields());
    }
    yield type;
    forgetFields(type);
  }
};
