/** Declares the kinds of field parts, arguments and type scopes. */

/** The arguments whose meaning does not depend on a column. @experimental */
export type GqlArgumentName =
  // Lists.
  | "where"
  | "order_by"
  | "limit"
  | "offset"
  | "distinct_on"
  | "having"
  // Writes.
  | "objects"
  | "object"
  | "on_conflict"
  | "pk_columns"
  | "updates"
  | "data"
  | "constraint"
  | "update_columns"
  // Functions, json columns, count.
  | "args"
  | "path"
  | "columns"
  | "distinct"
  // Aggregate predicates.
  | "arguments"
  | "filter"
  | "predicate"
  | "X"
  | "Y";

/** The kinds of root fields of a table. @experimental */
export type GqlRootKind =
  | "list"
  | "aggregate"
  | "by-pk"
  | "insert"
  | "insert-one"
  | "update"
  | "update-by-pk"
  | "update-many"
  | "delete"
  | "delete-by-pk";

/** The family of a type: `context.scope` of `buildGqlField`, and `extensions.relapi.scope` of the type. */
export type GqlScope =
  | "query_root"
  | "mutation_root"
  | "subscription_root"
  | "row"
  /** The type of a plugin, whose fields are columns of the relation and fields of plugins. */
  | "record"
  /** The type of a plugin for conditions and orders, whose fields are `expression` and `members`. */
  | "terms"
  /** The type of a plugin for arguments that it reads itself, with any fields. */
  | "input"
  | "aggregate"
  | "aggregate_fields"
  | "aggregate_columns"
  | "mutation_response"
  | "bool_exp"
  | "comparison_exp"
  | "cast_exp"
  | "operand"
  | "aggregate_bool_exp"
  | "predicate"
  | "predicate_arguments"
  | "order_by"
  | "ordering"
  | "aggregate_order_by"
  | "aggregate_order_by_columns"
  | "insert_input"
  | "rel_insert_input"
  | "on_conflict"
  | "update_input"
  | "updates"
  | "pk_columns"
  | "function_args"
  | "enum";
