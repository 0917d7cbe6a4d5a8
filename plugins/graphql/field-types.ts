/** The types and fields of a role's GraphQL schema, as the taps of `buildGqlField` make them. Types are built per role.
 *  Their fields are built when a document first needs them. */
import type {
  GraphQLArgumentConfig,
  GraphQLEnumType,
  GraphQLFieldConfig,
  GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLInputType,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLOutputType,
} from "graphql";
import type { Model, Read, Relation, Routine, QualifiedName } from "../../core/index.ts";
import type { GqlScope } from "./part-kinds.ts";
import type { GqlComputedField, GqlValueType } from "./value-types.ts";
import type { GqlColumn, GqlRoleAccess, GqlCatalog, GqlTable, GqlTableRights, GqlNamePart } from "./catalog-types.ts";
import { GQL_EXTENSION, type GqlDelegate, type GqlJoin, type GqlPart, type GqlSelectionContext } from "./plan-parts.ts";
import type { RoleSchema } from "./types/role-schema.ts";

/** The purpose of a GraphQL type, stored in its `extensions`. @experimental */
export interface GqlTypeExtension {
  readonly scope: GqlScope;
  readonly relation?: Relation;
  /** The type of the compared value in a comparison_exp. Its nullability has no meaning. */
  readonly value?: GqlValueType;
}

/** Returns the extension of a type, or undefined for types that the builder did not make. @experimental */
export const getTypeExtension = (
  type: GraphQLObjectType | GraphQLInputObjectType | GraphQLEnumType,
  // Only the type builder writes the extension.
): GqlTypeExtension | undefined => type.extensions[GQL_EXTENSION] as GqlTypeExtension | undefined;

/** A field of a GraphQL type: its definition and its part. */
export interface GqlField {
  /** The definition for graphql-js: type, arguments, description. Arguments have their parts in `extensions`
   *  (`withPart`). */
  readonly config: GraphQLFieldConfig<unknown, unknown> | GraphQLInputFieldConfig;
  /** The part of the field, which the builder stores in `config.extensions.relapi`. */
  readonly toPlan: GqlPart;
}

/** The fields by name. The builder sorts them. */
export type GqlFields = Readonly<Record<string, GqlField>>;

/** The type to which a tap of `buildGqlField` adds fields. */
export interface GqlFieldContext {
  readonly scope: GqlScope;
  readonly typeName: string;
  readonly model: Model;
  readonly role: string;
  readonly relation?: Relation;
  readonly routine?: Routine;
  readonly computedField?: GqlComputedField;
  /** The type of the value in the scopes comparison_exp, cast_exp and operand. */
  readonly value?: GqlValueType;
  /** The function in aggregate_columns, aggregate_order_by_columns and predicate, or the operator's name in
   *  update_input. */
  readonly fn?: string;
  /** The types and names of the role's schema, for fields of other types. */
  readonly build: GqlBuild;
}

/** Another schema over the same tables, for a separate surface. @rule X-GQL-9 @experimental */
export interface GqlVariant {
  /** The unique name in kebab case. */
  readonly name: string;
  /** True if values of variables that the document does not declare are ignored instead of rejected. */
  readonly takesUnknownVariables?: true;
  /** Returns the fields of a type, derived from its fields in the schema of the dialect. */
  fields(fields: GqlFields, context: GqlFieldContext): GqlFields;
  /** Returns interfaces of an object type, which documents may name instead of the type. */
  interfaces?(context: GqlFieldContext): readonly GraphQLInterfaceType[];
}

/** A type to build, with fields from `buildGqlField`. @experimental */
export interface GqlTypeSpec extends Omit<GqlFieldContext, "typeName" | "model" | "role" | "build"> {
  readonly name: string;
  readonly description?: string | null;
  /** True if the builder builds the fields at once, and omits a type without fields. */
  readonly isOptional?: boolean;
}

/** A GraphQL enum to build. @experimental */
export interface GqlEnumSpec {
  readonly name: string;
  readonly description?: string | null;
  readonly relation?: Relation;
  /** Returns the values of the enum. The builder calls it when the values are first needed. */
  readonly values: () => readonly {
    readonly name: string;
    readonly value: unknown;
    readonly part: GqlPart;
    readonly description?: string | null;
  }[];
}

/** The differences between a plugin's field of rows and the table's own list. @experimental */
export interface GqlRowsField {
  readonly description: string;
  /** The arguments of the field in addition to the arguments of the list. */
  readonly args?: Readonly<Record<string, GraphQLArgumentConfig>>;
  /** Returns the read of the field, derived from the read of the list. */
  readonly transformRead: (read: Read, context: GqlSelectionContext) => Read;
}

/** A field with rows of a table that belong to an object in the result of a function. @experimental */
export interface GqlJoinedField extends Pick<GqlJoin, "columns" | "isToOne"> {
  readonly description: string | undefined;
}

/** A field of a forwarded schema's type that belongs to another GraphQL schema. @experimental */
export interface GqlDelegatedField {
  /** The name of the plugin, for log lines. */
  readonly plugin: string;
  readonly config: GraphQLFieldConfig<unknown, unknown>;
  /** The members of the object that `load` of the delegate needs. */
  readonly members: readonly string[];
  readonly delegate: GqlDelegate;
}

/** The three kinds of operations. @experimental */
export type GqlRootName = "query" | "mutation" | "subscription";

/** The context in which fields are built. Types are cached by name. A result is undefined if the role has no such type,
 *  or its name is taken (G-NAM-3). @experimental */
export interface GqlBuild {
  readonly schema: RoleSchema;
  readonly catalog: GqlCatalog;
  readonly access: GqlRoleAccess;
  /** Returns the served table, or undefined if the surface does not serve the relation. */
  table(relation: QualifiedName): GqlTable | undefined;
  rights(table: GqlTable): GqlTableRights;
  /** Returns whether a permission, a row policy or a plugin may hide rows of the table from the role. */
  mayHideRows(table: GqlTable): boolean;
  /** Returns a type name from name parts (`album`, `bool_exp`), with customization and convention applied. */
  typeName(...nameParts: readonly (string | GqlNamePart)[]): string;
  /** Returns the row type of a table for root fields. */
  rowType(table: GqlTable): GraphQLObjectType | undefined;
  mutationResponse(table: GqlTable): GraphQLObjectType | undefined;
  /** Returns the type with `count` and `sum { … }`. Undefined if the role may not aggregate. */
  aggregateFields(table: GqlTable): GraphQLObjectType | undefined;
  /** Returns the aggregate functions with their names. Each has the result type for a column type, which is undefined
   *  if the function does not accept it. */
  aggregateFunctions(): readonly {
    readonly fn: string;
    readonly name: string;
    findResultType(value: GqlValueType): GqlValueType | undefined;
  }[];
  /** Returns the enum `asc`, `desc_nulls_last`, …. Undefined if no type can be ordered. */
  orderDirection(): GraphQLEnumType | undefined;
  /** Returns `where`, `order_by`, `limit`, `offset` and `distinct_on`, as on root fields of the table. */
  listArguments(table: GqlTable): Readonly<Record<string, GraphQLArgumentConfig>>;
  /** Returns a field of the query root for rows of the table, or undefined if the role may not read the table. @rule
   *  X-GQL-11 */
  rowsField(table: GqlTable, field: GqlRowsField): GqlField | undefined;
  /** Returns a field of a plugin's own object type for rows of the table, or undefined if the role may not read the
   *  table. @rule X-GQL-13 */
  joinedField(table: GqlTable, field: GqlJoinedField): GraphQLFieldConfig<unknown, unknown> | undefined;
  /** Returns a field that belongs to another GraphQL schema, for an object type of a forwarded schema. @rule
   *  X-GQL-15 */
  delegatedField(field: GqlDelegatedField): GraphQLFieldConfig<unknown, unknown>;
  /** Returns the condition on rows. The next members are the dialect's other inputs of writes: items of
   *  `update_T_many`, nested rows, and update operators. @rule X-GQL-10 */
  boolExp(table: GqlTable): GraphQLInputObjectType | undefined;
  updates(table: GqlTable): GraphQLInputObjectType | undefined;
  relatedInsert(table: GqlTable, isToOne: boolean): GraphQLInputObjectType | undefined;
  updateOperators(table: GqlTable): GqlFields;
  rootName(...nameParts: readonly (string | GqlNamePart)[]): string;
  /** Returns a type name that belongs to no table, without prefix and suffix. */
  sharedTypeName(...nameParts: readonly (string | GqlNamePart)[]): string;
  /** Returns the type name of a table, or of a function in conditions on its aggregates, without prefix and suffix. */
  bareTypeName(...nameParts: readonly (string | GqlNamePart)[]): string;
  predicateTypeName(...nameParts: readonly (string | GqlNamePart)[]): string;
  /** Returns a field, argument or input name in the convention: `order_by` becomes `orderBy`. */
  fieldName(...nameParts: readonly (string | GqlNamePart)[]): string;
  /** Returns an enum value in the convention: `asc` becomes `ASC`. */
  enumValue(name: string): string;
  object(spec: GqlTypeSpec): GraphQLObjectType | undefined;
  inputObject(spec: GqlTypeSpec): GraphQLInputObjectType | undefined;
  enumeration(spec: GqlEnumSpec): GraphQLEnumType | undefined;
  /** Returns a scalar, the enum of an enum table, or a list. */
  valueOutput(value: GqlValueType): GraphQLOutputType;
  valueInput(value: GqlValueType): GraphQLInputType;
  comparison(value: GqlValueType): GraphQLInputObjectType | undefined;
  /** Returns the value type for an oid or `typname`. Undefined if the type is unknown, or its name is illegal or
   *  belongs to a table. */
  valueType(type: number | string, isNullable?: boolean): GqlValueType | undefined;
  /** Returns the value type of an argument of a database function. */
  argumentType(type: number): GqlValueType | undefined;
  columnValue(column: GqlColumn): GqlValueType | undefined;
}
