/** The closed sets of words that parts and types of the schema are told apart by. */

/** Arguments whose meaning does not depend on a column. */
export type GqlArgumentName =
  // lists
  | "where"
  | "order_by"
  | "limit"
  | "offset"
  | "distinct_on"
  | "having"
  // writes
  | "objects"
  | "object"
  | "on_conflict"
  | "pk_columns"
  | "updates"
  | "data"
  | "constraint"
  | "update_columns"
  // functions, json columns, count
  | "args"
  | "path"
  | "columns"
  | "distinct"
  // aggregate predicates
  | "arguments"
  | "filter"
  | "predicate"
  | "X"
  | "Y";

/** Kinds of root fields of a table. */
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

/** Which family a type belongs to; `context.scope` of `buildGqlField`, and `extensions.relapi.scope` of the type. */
export type GqlScope =
  | "query_root"
  | "mutation_root"
  | "subscription_root"
  | "row"
  /** of a plugin's own: its fields are columns of the relation, and fields of plugins */
  | "record"
  /** of a plugin's own, for conditions and orders: its fields are `expression` and `members` */
  | "terms"
  /** of a plugin's own, for arguments that it reads itself: any fields */
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
