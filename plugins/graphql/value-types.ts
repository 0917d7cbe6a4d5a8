/** Declares the types of values, enum tables and computed fields, which the schema and the catalog share. */
import type { PgType, Relation, Routine } from "../../core/index.ts";

/** The PostgreSQL type of an input or output position, for coercion and casts. @experimental */
export interface GqlValueType {
  /** The GraphQL name of the scalar or enum. For an array, it is the name of the innermost element. */
  readonly scalar: string;
  /** The base type of a domain. For an array, it is the array type. */
  readonly type: PgType;
  /** The declared type to which values are cast (a domain, `varchar`), as `PgType.sqlName`. */
  readonly cast: string;
  /** True if the position accepts or returns `null`. */
  readonly isNullable: boolean;
  /** The element type of an array that is a list in GraphQL (not with `disablePostgresArrays`). */
  readonly element?: GqlValueType;
  readonly enumTable?: GqlEnumTable;
}

/** A table whose rows are the values of a GraphQL enum. @rule G-ENM-1 G-ENM-3 @experimental */
export interface GqlEnumTable {
  readonly relation: Relation;
  /** The values, sorted by name. */
  readonly values: readonly { readonly name: string; readonly key: string; readonly comment: string | null }[];
}

/** A function of one row that is a field of the row. @rule G-CF-1 @experimental */
export interface GqlComputedField {
  /** The name of the computed field. */
  readonly name: string;
  readonly routine: Routine;
  /** The index of the row's parameter in `routine.parameters`. */
  readonly tableArgument: number;
  readonly sessionArgument?: number;
  /** The relation of the returned rows. Undefined if the function returns a value. */
  readonly target?: Relation;
  /** The description of the computed field. Null for no description. */
  readonly comment: string | null;
}
