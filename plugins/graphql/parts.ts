/** The GraphQL surface as data. graphql-js types have fields, arguments, input fields and enum values with a field part
 *  (`GqlPart`) in `extensions.relapi`, so planners read parts and never names. Types are built per role. Their fields
 *  are built when a document first needs them. */
import type {
  DocumentNode,
  FieldNode,
  GraphQLArgument,
  GraphQLArgumentConfig,
  GraphQLEnumType,
  GraphQLEnumValue,
  GraphQLField,
  GraphQLFieldConfig,
  GraphQLInputField,
  GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLInputType,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLOutputType,
} from "graphql";
import type {
  Assignment,
  BoundValue,
  Column,
  Expression,
  Json,
  Model,
  Pieces,
  OperatorSpec,
  OrderingSpec,
  Predicate,
  Delete,
  Insert,
  Output,
  Read,
  Registry,
  Relation,
  Relationship,
  ResolvedOptions,
  Routine,
  RoutineParameter,
  SequenceStep,
  Session,
  StepRequirement,
  Update,
  UpdateOperatorSpec,
  QualifiedName,
  ValueRef,
  OpenExchange,
  Program,
} from "../../core/index.ts";
import type { Directives } from "./directives.ts";
import type { GqlArgumentName, GqlRootKind, GqlScope } from "./part-kinds.ts";
import type { GqlComputedField, GqlValueType } from "./value-types.ts";
import type { GqlColumn, GqlRoleAccess, GqlCatalog, GqlTable, GqlTableRights, GqlNamePart } from "./served.ts";

// --- parts --------------------------------------------------------------------------

/** The part of a plan that a field, argument, input field or enum value becomes. Planners read parts and never
 *  names. */
export type GqlPart =
  // root fields
  | { readonly kind: GqlRootKind; readonly relation: Relation }
  /** With `isAggregate`, the field aggregates the rows that the function returns. A function of single rows has
   *  `!routine.returns.isSet`. */
  | {
      readonly kind: "function";
      readonly routine: Routine;
      readonly relation: Relation;
      readonly isAggregate: boolean;
      readonly sessionArgument?: number;
    }
  | { readonly kind: "namespace" }
  /** `no_queries_available`, which returns this string */
  | { readonly kind: "constant"; readonly text: string }
  // rows, bool_exp, order_by, inputs, by-pk arguments, pk_columns, `_select_column` and `_update_column` values
  | { readonly kind: "column"; readonly column: Column; readonly relation: Relation; readonly value: GqlValueType }
  /** In inputs, the rows of `data` are inserted along the relationship. With `isAfter`, to-one rows are inserted after
   *  this row although no foreign key requires it (G-NST-9). In rows, `mode` is the embedding mode. */
  | {
      readonly kind: "relationship";
      readonly relationship: Relationship;
      readonly target: Relation;
      readonly isAfter?: boolean;
      readonly mode?: string;
    }
  | { readonly kind: "relationship-aggregate"; readonly relationship: Relationship; readonly target: Relation }
  /** `value` is the type of a scalar field. In `order_by` and `bool_exp` the field has no arguments. `isAggregate`
   *  marks `<table computed field>_aggregate` of `order_by`. */
  | {
      readonly kind: "computed";
      readonly field: GqlComputedField;
      readonly relation: Relation;
      readonly value?: GqlValueType;
      readonly isAggregate?: boolean;
    }
  /** A plugin's own field. The builder adds the plugin's name. */
  | ({ readonly kind: "custom"; readonly plugin?: string } & GqlService)
  // T_aggregate and its fields
  | { readonly kind: "aggregate-fields" }
  | { readonly kind: "nodes" }
  /** in `T_aggregate_fields`, `aggregate_order_by` */
  | { readonly kind: "count" }
  | { readonly kind: "aggregate-function"; readonly fn: string }
  // mutation responses
  | { readonly kind: "affected-rows" }
  | { readonly kind: "returning" }
  // bool_exp
  | { readonly kind: "and" | "or" | "not" }
  /** A value of that type in conditions and orders, which a plugin computes. */
  | { readonly kind: "expression"; readonly expression: Expression; readonly value: GqlValueType }
  /** An object in conditions and orders, whose fields count as fields of the surrounding object. */
  | { readonly kind: "members" }
  /** An operator in a comparison_exp. The `column`, `computed` or `predicate` part that contains it has the column's
   *  type. `value` is set if the operand has its own type. List operands are lists of either type. */
  | {
      readonly kind: "operator";
      readonly operator: OperatorSpec;
      readonly keywords?: Readonly<Record<string, string>>;
      readonly value?: GqlValueType;
    }
  /** `_cast`, an object of `cast-to` fields with a comparison_exp of `value` each */
  | { readonly kind: "cast" }
  | { readonly kind: "cast-to"; readonly value: GqlValueType }
  /** a part of an operand with fields */
  | { readonly kind: "operand-field"; readonly name: string; readonly value: GqlValueType }
  // aggregate_bool_exp has one per function; `value` is the type that its `predicate` compares, `columns` the number of
  // its arguments
  | { readonly kind: "predicate"; readonly fn: string; readonly value: GqlValueType; readonly columns: "any" | 1 | 2 }
  // writes
  | { readonly kind: "update-operator"; readonly operator: UpdateOperatorSpec }
  /** A plugin's own argument of updates, and field of `T_updates`. @rule X-GQL-10 */
  | { readonly kind: "further"; readonly writes: (input: GqlInput, writing: GqlWriting) => GqlFurther | undefined }
  /** A field of a plugin's own inputs (`input`), which the plugin reads. */
  | { readonly kind: "own"; readonly name: string }
  /** a column in an update operator's input; `value` is the type of the operand */
  | {
      readonly kind: "update-column";
      readonly column: Column;
      readonly relation: Relation;
      readonly value: GqlValueType;
    }
  | { readonly kind: "constraint"; readonly name: string; readonly columns: readonly string[] }
  /** `_PLACEHOLDER` */
  | { readonly kind: "placeholder" }
  // functions: `index` is a position in `routine.parameters`; an argument without `name` is only positional
  | {
      readonly kind: "function-argument";
      readonly parameter: RoutineParameter;
      readonly index: number;
      readonly value: GqlValueType;
    }
  | { readonly kind: "argument"; readonly name: GqlArgumentName }
  // enum values in `order_by`, in addition to the column
  | { readonly kind: "ordering"; readonly ordering: OrderingSpec; readonly column: Column }
  | { readonly kind: "direction"; readonly direction: "asc" | "desc"; readonly nulls: "first" | "last" }
  | { readonly kind: "enum-key"; readonly key: string };

/** The implementation of a plugin's own field: one of these. @rule X-GQL-1 … X-GQL-4 */
export type GqlService =
  /** In rows: a part of the plan. */
  | { readonly output: (selection: GqlSelection, context: GqlSelectionContext) => Output }
  /** In roots: a plan. The mutation root has the plans that write. The selected columns of the written rows are added
   *  to the plan. */
  | { readonly plan: (selection: GqlSelection, context: GqlSelectionContext) => Read | Insert | Update | Delete }
  /** In roots: the name of a declared statement. It receives the field's arguments, and the field's type is a
   *  scalar. */
  | { readonly statement: string }
  /** In the query and mutation roots: a plugin's own function. In the subscription root, `live` replaces it. */
  | {
      readonly run: (request: GqlFunctionRequest) => Json | Promise<Json>;
      readonly live?: (request: Omit<GqlFunctionRequest, "signal">) => GqlLiveField;
    }
  /** In rows: a function of some columns of the row (SQL names), called once for all rows of the response. It returns
   *  results in the order of the rows. A role that may not read all these columns does not have the field. */
  | {
      readonly columns: readonly string[];
      readonly load: (
        rows: readonly GqlLoadedRow[],
        request: GqlFunctionRequest,
      ) => readonly Json[] | Promise<readonly Json[]>;
    };

/** The statement that a live query runs instead of the function. */
export interface GqlLiveField {
  /** One statement that reads and returns a column `body`. */
  readonly program: Program;
  /** Returns the result of the field. @throws RelApiError */
  read(body: string): Json;
  /** Converts a database error to the error that the function would throw. */
  told(error: unknown): unknown;
}

/** The columns of one row as JSON, by SQL name. Numbers that JavaScript would change keep their text (`numberText`). */
export type GqlLoadedRow = Readonly<Record<string, Json>>;

/** A selected field that the planner passes to a `custom` part. */
export interface GqlSelection {
  /** The response name. */
  readonly as: string;
  /** The path of the field in the request, for errors. The path of an argument is `<path>.args.<name>`. */
  readonly path: string;
  readonly node: FieldNode;
  /** The coerced arguments. Reading a value makes it a part of the plan, while `context.argument` only binds it. */
  readonly arguments: Readonly<Record<string, Json>>;
}

/** The context of `output` of a `custom` field. */
export interface GqlSelectionContext {
  readonly schema: RoleSchema;
  readonly relation: Relation | undefined;
  /** Binds a value of the request. */
  bind(bound: BoundValue): { readonly param: number };
  /** Binds an argument, cast to the type (objects and lists as `jsonb`). Undefined if the request does not have it. */
  argument(name: string, type?: string): ValueRef | undefined;
  /** Returns the selection on the rows of a root field. `type` is the row type, if the field's own type does not
   *  determine it. */
  rows(type?: GraphQLObjectType): readonly Output[];
  /** Plans the field's list arguments, which are from `build.listArguments` or have a part such as `having`. The result
   *  includes the limit that applies to every list. @rule X-GQL-8 */
  list(): Pick<Read, "where" | "orderBy" | "distinctOn" | "having" | "limit" | "offset" | "cap">;
  /** Returns the selection on an object of aggregates (`build.aggregateFields`). */
  aggregates(): readonly Output[];
  /** Returns the selection on the field's object, if its type is the plugin's own. @rule X-GQL-8 */
  fields(): readonly GqlOwnSelected[];
}

/** A field that is selected from an object of a plugin's own type. */
export interface GqlOwnSelected {
  /** The response name. */
  readonly as: string;
  /** The field name. It may be `__typename`, whose value is the name of `type`. */
  readonly name: string;
  /** The type to which the field belongs. */
  readonly type: GraphQLObjectType;
  /** Returns the selection on the field, if its type is the plugin's own. */
  fields(): readonly GqlOwnSelected[];
  /** Returns the selection on the field, if it has rows of a table. */
  rows(): readonly Output[];
}

/** The argument of a plugin's own function. */
export interface GqlFunctionRequest {
  /** The coerced arguments. Numbers that JavaScript would change keep their text (`numberText`). */
  readonly arguments: Readonly<Record<string, Json>>;
  readonly session: Session;
  /** The selection on its result. It is empty for scalars. */
  readonly selection: readonly GqlSelected[];
  /** The signal is aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** The request of the caller. Transactions that the function runs belong to it. Undefined in runs of live queries. */
  readonly exchange?: OpenExchange | undefined;
}

/** The members that all functions of an operation share. */
export type GqlAsked = Pick<GqlFunctionRequest, "session" | "signal" | "exchange">;

export interface GqlSelected {
  /** The response name. */
  readonly as: string;
  readonly name: string;
  /** The key of the value in the result: the field name, or another key if the field has arguments, because it may be
   *  selected several times. */
  readonly key: string;
  /** The coerced arguments, as for the field itself. */
  readonly arguments: Readonly<Record<string, Json>>;
  readonly selection: readonly GqlSelected[];
}

// --- further writes of updates -------------------------------------------------------------------------------------

/** A value in the document or of a variable. Reading it makes it a part of the plan. */
export interface GqlInput {
  /** The path in the request, for errors. */
  readonly path: string;
  readonly isNull: boolean;
  /** Returns the fields of an input object, sorted by name. Each counts as an inserted value (G-LIM-4). */
  fields(): readonly GqlInputField[];
  /** Returns the elements of a list. A single value is a list of one. */
  items(): readonly GqlInput[];
  /** Returns the value of a Boolean. */
  isTrue(): boolean;
}

export interface GqlInputField extends GqlInput {
  readonly name: string;
  readonly part: GqlPart | undefined;
}

/** The context in which a plugin adds steps to an update. */
export interface GqlWriting {
  readonly schema: RoleSchema;
  readonly relation: Relation;
  /** Adds a step and returns its number. `own` is the same number, for requirements of the step on itself. */
  step(make: (own: number) => SequenceStep): number;
  /** Returns the predicate of a condition (`build.boolExp`). Undefined if it matches every row. */
  where(input: GqlInput): Predicate | undefined;
  /** Binds a value of that type. Null is refused. */
  value(input: GqlInput, type: GqlValueType): ValueRef;
  /** Inserts the rows of `build.relatedInsert` and their nested rows. `parent` is the step of the row to which they
   *  belong. Undefined if they are inserted first, and then the result is the step of the row. */
  insert(input: GqlInput, along: Relationship, parent?: number): number | undefined;
  /** Adds a separate update of the rows in `among`. Its input is an item of `build.updates` or update operators, and
   *  may have plugins' own arguments. */
  update(input: GqlInput, relation: Relation, among: Predicate): number;
}

/** The additions of an argument to an update. The steps that it has added so far run before the update. */
export interface GqlFurther {
  /** Assignments to the updated rows. If two assign the same column, the later one wins. */
  readonly assignments?: readonly Assignment[];
  /** Requirements on the updated rows. */
  readonly requires?: readonly Omit<StepRequirement, "step">[];
  /** Adds steps that run after the update. `step` is the number of the update. */
  after?(step: number): void;
}

/** Key of `extensions` that holds parts and scopes. */
export const GQL_EXTENSION = "relapi";

type WithPart = GraphQLField<unknown, unknown> | GraphQLArgument | GraphQLInputField | GraphQLEnumValue;

/** Returns the part of a field, argument, input field or enum value. Undefined for those of introspection. */
export const gqlPart = (place: WithPart): GqlPart | undefined => place.extensions[GQL_EXTENSION] as GqlPart | undefined; // only `withPart` writes it

/** Returns the `extensions` with the part of a field, argument or enum value. */
export const withPart = (part: GqlPart): { readonly [GQL_EXTENSION]: GqlPart } => ({ [GQL_EXTENSION]: part });

// --- types and the hook ---------------------------------------------------------------------------------------------

/** The purpose of a GraphQL type, stored in its `extensions`. */
export interface GqlTypeFacts {
  readonly scope: GqlScope;
  readonly relation?: Relation;
  /** comparison_exp: the type of the compared value. Its nullability has no meaning. */
  readonly value?: GqlValueType;
}

/** Returns the facts of a type. Undefined for types that the builder did not make. */
export const gqlTypeFacts = (
  type: GraphQLObjectType | GraphQLInputObjectType | GraphQLEnumType,
): GqlTypeFacts | undefined => type.extensions[GQL_EXTENSION] as GqlTypeFacts | undefined; // only the type builder writes it

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
  /** comparison_exp, cast_exp, operand */
  readonly value?: GqlValueType;
  /** The function in aggregate_columns, aggregate_order_by_columns and predicate, or the operator's name in
   *  update_input. */
  readonly fn?: string;
  /** The types and names of the role's schema, for fields of other types. */
  readonly build: GqlBuild;
}

/** Another schema over the same tables, for a separate surface. @rule X-GQL-9 */
export interface GqlVariant {
  /** The name in kebab case. It is unique. */
  readonly name: string;
  /** Values of variables that the document does not declare are ignored instead of refused. */
  readonly takesUnknownVariables?: true;
  /** Returns the fields of a type, derived from its fields in the schema of the dialect. */
  fields(fields: GqlFields, context: GqlFieldContext): GqlFields;
  /** Returns interfaces of an object type, which documents may name instead of the type. */
  interfaces?(context: GqlFieldContext): readonly GraphQLInterfaceType[];
}

/** A type to build, with fields from `buildGqlField`. */
export interface GqlTypeSpec extends Omit<GqlFieldContext, "typeName" | "model" | "role" | "build"> {
  readonly name: string;
  readonly description?: string | null;
  /** The builder makes the fields now, and omits the type if it has none. */
  readonly isOptional?: boolean;
}

/** A GraphQL enum to build. */
export interface GqlEnumSpec {
  readonly name: string;
  readonly description?: string | null;
  readonly relation?: Relation;
  /** The function is called when the values are first needed. */
  readonly values: () => readonly {
    readonly name: string;
    readonly value: unknown;
    readonly part: GqlPart;
    readonly description?: string | null;
  }[];
}

/** The differences between a field of rows and the table's own list. */
export interface GqlRowsField {
  readonly description: string;
  /** Arguments in addition to those of the list. */
  readonly args?: Readonly<Record<string, GraphQLArgumentConfig>>;
  /** Returns the read of the field, derived from that of the list. */
  readonly change: (read: Read, context: GqlSelectionContext) => Read;
}

export type GqlRootName = "query" | "mutation" | "subscription";

/** The context in which fields are built. Types are cached by name. A result is undefined if the role has no such type,
 *  or its name is taken (G-NAM-3). */
export interface GqlBuild {
  readonly schema: RoleSchema;
  readonly source: GqlCatalog;
  readonly view: GqlRoleAccess;
  /** Returns the served table. Undefined if the surface does not serve the relation. */
  table(relation: QualifiedName): GqlTable | undefined;
  /** Returns the rights of the role on the table. */
  rights(table: GqlTable): GqlTableRights;
  /** Returns true if a permission, a row policy or a plugin may hide rows of the table from the role. */
  mayHideRows(table: GqlTable): boolean;
  /** Returns a type name from name parts (`album`, `bool_exp`), with customization and convention applied. */
  typeName(...words: readonly (string | GqlNamePart)[]): string;
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
    of(value: GqlValueType): GqlValueType | undefined;
  }[];
  /** Returns the enum `asc`, `desc_nulls_last`, …. Undefined if no type can be ordered. */
  orderDirection(): GraphQLEnumType | undefined;
  /** Returns `where`, `order_by`, `limit`, `offset` and `distinct_on`, as on root fields of the table. */
  listArguments(table: GqlTable): Readonly<Record<string, GraphQLArgumentConfig>>;
  /** Returns a field of the query root for rows of the table. Undefined if the role may not read it. @rule X-GQL-11 */
  rowsField(table: GqlTable, own: GqlRowsField): GqlField | undefined;
  /** Input types of writes in the dialect: a condition, an item of `update_T_many`, the rows of a nested insert, and
   *  the update operators as fields. @rule X-GQL-10 */
  boolExp(table: GqlTable): GraphQLInputObjectType | undefined;
  updates(table: GqlTable): GraphQLInputObjectType | undefined;
  relatedInsert(table: GqlTable, isToOne: boolean): GraphQLInputObjectType | undefined;
  updateOperators(table: GqlTable): GqlFields;
  /** Returns the name of a root field. */
  rootName(...words: readonly (string | GqlNamePart)[]): string;
  /** Returns a type name that belongs to no table, without prefix and suffix. */
  sharedTypeName(...words: readonly (string | GqlNamePart)[]): string;
  /** Returns the type name of a table, or of a function in conditions on its aggregates, without prefix and suffix. */
  bareTypeName(...words: readonly (string | GqlNamePart)[]): string;
  predicateTypeName(...words: readonly (string | GqlNamePart)[]): string;
  /** Returns a field, argument or input name in the convention: `order_by` becomes `orderBy`. */
  fieldName(...words: readonly (string | GqlNamePart)[]): string;
  /** Returns an enum value in the convention: `asc` becomes `ASC`. */
  enumValue(name: string): string;
  object(spec: GqlTypeSpec): GraphQLObjectType | undefined;
  inputObject(spec: GqlTypeSpec): GraphQLInputObjectType | undefined;
  enumeration(spec: GqlEnumSpec): GraphQLEnumType | undefined;
  /** Returns a scalar, the enum of an enum table, or a list. */
  valueOutput(value: GqlValueType): GraphQLOutputType;
  valueInput(value: GqlValueType): GraphQLInputType;
  comparison(value: GqlValueType): GraphQLInputObjectType | undefined;
  /** Returns the value type for an oid or `typname`. Undefined if the type is unknown, or its name is not legal or
   *  belongs to a table. */
  valueType(type: number | string, isNullable?: boolean): GqlValueType | undefined;
  /** Returns the value type of an argument of a database function. */
  argumentType(type: number): GqlValueType | undefined;
  columnValue(column: GqlColumn): GqlValueType | undefined;
}

// --- a role's schema ------------------------------------------------------------------------------------------------

/** A UTF-8 text in parts, in order. The generator yields nothing at points where other work may run. */
export type Parts<Result = void> = Generator<Buffer | void, Result, void>;

/** The types of one role at one model version. */
export interface RoleSchema {
  readonly model: Model;
  readonly role: string;
  readonly registry: Registry;
  readonly options: ResolvedOptions;
  readonly query: GraphQLObjectType;
  readonly mutation: GraphQLObjectType | undefined;
  readonly subscription: GraphQLObjectType | undefined;
  /** `__schema` and `__type` of the query root. Empty without the introspection plugin. */
  readonly metaFields: ReadonlyMap<string, GraphQLField<unknown, unknown>>;
  /** The role may not use introspection (G-INT-9). */
  readonly isIntrospectionClosed: boolean;
  /** Some types may implement interfaces. */
  readonly hasInterfaces: boolean;
  /** The directives that documents may have. */
  readonly directives: Directives;
  /** Returns the field with that name. For a large root, it does not build the other fields. */
  fieldOf(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined;
  /** Writes the JSON text of one meta field. `variables` are coerced, and the document is validated. */
  introspect(field: FieldNode, document: DocumentNode, variables: Readonly<Record<string, unknown>>): Parts;
  /** Builds a separate schema with all root fields, which costs as much as the whole schema. Its types are not the
   *  objects of `query`. */
  whole(): Pieces<RoleSchema>;
  /** Converts `<rel>` and column names to GraphQL names, for messages. */
  columnName(relation: Relation, column: string): string;
}
