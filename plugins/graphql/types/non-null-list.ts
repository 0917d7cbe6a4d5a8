/** Caches `T!`, `[T!]` and `[T!]!` as one object per type, because a large schema refers to each of its types many
 *  times. */
import { GraphQLList, GraphQLNonNull, type GraphQLNullableType, type GraphQLType } from "graphql";

/** The wrappers are stored on the type itself, because garbage collection of weak maps of this size takes seconds. */
const NON_NULL = Symbol("required");
const LIST = Symbol("list");

interface WrappedTypes {
  [NON_NULL]?: unknown;
  [LIST]?: unknown;
}

export const wrapNonNull = <Type extends GraphQLNullableType>(type: Type): GraphQLNonNull<Type> =>
  // The cached wrapper was created from this type.
  ((type as WrappedTypes)[NON_NULL] ??= new GraphQLNonNull<GraphQLNullableType>(type)) as GraphQLNonNull<Type>;

/** Returns the type `[T!]`. */
export const wrapList = <Type extends GraphQLNullableType>(type: Type): GraphQLList<GraphQLNonNull<Type>> =>
  ((type as WrappedTypes)[LIST] ??= new GraphQLList<GraphQLType>(wrapNonNull(type))) as GraphQLList<
    GraphQLNonNull<Type>
  >; // the cached wrapper was created from this type

/** Returns the type `[T!]!`. */
export const wrapNonNullList = <Type extends GraphQLNullableType>(
  type: Type,
): GraphQLNonNull<GraphQLList<GraphQLNonNull<Type>>> => wrapNonNull(wrapList(type));
