/** What both the schema's places and the served names are made of: types of values, enum tables, computed fields. */
import type { PgType, Relation, Routine } from "../../core/index.ts";

/** The PostgreSQL type of a column-typed place, for coercion and casts. */
export interface GqlValueType {
  /** GraphQL name of the scalar or enum; for an array, that of its innermost element. */
  readonly scalar: string;
  /** Type below all domains; of an array the array type itself. */
  readonly type: PgType;
  /** What a value is cast to: the declared type (a domain, `varchar`), as `PgType.sqlName`. */
  readonly cast: string;
  /** `null` may be given or stored. */
  readonly isNullable: boolean;
  /** Arrays that are lists in GraphQL (not with `disablePostgresArrays`). */
  readonly element?: GqlValueType;
  readonly enumTable?: GqlEnumTable;
}

/** @rule G-ENM-1 G-ENM-3 */
export interface GqlEnumTable {
  readonly relation: Relation;
  /** By name, sorted. */
  readonly values: readonly { readonly name: string; readonly key: string; readonly comment: string | null }[];
}

/** A function of one row that is a field of it. @rule G-CF-1 */
export interface GqlComputedField {
  /** Field name. */
  readonly name: string;
  readonly routine: Routine;
  /** Index in `routine.parameters`. */
  readonly tableArgument: number;
  readonly sessionArgument?: number;
  /** Rows of that relation; absent: a value. */
  readonly target?: Relation;
  /** Its own description; null: none. */
  readonly comment: string | null;
}
