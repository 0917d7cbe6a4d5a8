/** The GraphQL surface as data: graphql-js types whose fields, arguments, input fields and enum values carry what they
 *  stand for (`GqlPart`) in `extensions.relapi`, so that planners read parts and never names. Types are built per role
 *  and lazily: the fields of a type are built when a document first needs them. */
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

/** What a field, argument, input field or enum value stands for. Planners read parts and never names. */
export type GqlPart =
  // root fields
  | { readonly kind: GqlRootKind; readonly relation: Relation }
  /** `isAggregate`: the aggregate over the rows it returns. Single rows: `!routine.returns.isSet`. */
  | {
      readonly kind: "function";
      readonly routine: Routine;
      readonly relation: Relation;
      readonly isAggregate: boolean;
      readonly sessionArgument?: number;
    }
  | { readonly kind: "namespace" }
  /** `no_queries_available`: returns this string */
  | { readonly kind: "constant"; readonly text: string }
  // rows, bool_exp, order_by, inputs, by-pk arguments, pk_columns, `_select_column` and `_update_column` values
  | { readonly kind: "column"; readonly column: Column; readonly relation: Relation; readonly value: GqlValueType }
  /** In inputs: `data` is inserted along it. `isAfter`: to-one rows that are inserted after this one although no
   *  foreign key requires it (G-NST-9). `mode`: how the rows are embedded, in rows. */
  | {
      readonly kind: "relationship";
      readonly relationship: Relationship;
      readonly target: Relation;
      readonly isAfter?: boolean;
      readonly mode?: string;
    }
  | { readonly kind: "relationship-aggregate"; readonly relationship: Relationship; readonly target: Relation }
  /** `value`: of scalar ones. In `order_by` and `bool_exp` they have no arguments. `isAggregate`: `<table computed
   *  field>_aggregate` of `order_by`. */
  | {
      readonly kind: "computed";
      readonly field: GqlComputedField;
      readonly relation: Relation;
      readonly value?: GqlValueType;
      readonly isAggregate?: boolean;
    }
  /** A field of a plugin of its own; the plugin's name is put in by the builder. */
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
  /** In conditions and orders: a value that a plugin computes, of that type. */
  | { readonly kind: "expression"; readonly expression: Expression; readonly value: GqlValueType }
  /** The same: an object whose fields stand beside its own. */
  | { readonly kind: "members" }
  /** In a comparison_exp. The column's type is that of the `column`, `computed` or `predicate` part that led here;
   *  `value`: the operand has a type of its own. List operands take a list of either. */
  | {
      readonly kind: "operator";
      readonly operator: OperatorSpec;
      readonly keywords?: Readonly<Record<string, string>>;
      readonly value?: GqlValueType;
    }
  /** `_cast`; its object has `cast-to` fields that lead to a comparison_exp of `value` */
  | { readonly kind: "cast" }
  | { readonly kind: "cast-to"; readonly value: GqlValueType }
  /** part of an operand of fields */
  | { readonly kind: "operand-field"; readonly name: string; readonly value: GqlValueType }
  // aggregate_bool_exp: one per function; `value`: what its `predicate` compares; `columns`: of its arguments
  | { readonly kind: "predicate"; readonly fn: string; readonly value: GqlValueType; readonly columns: "any" | 1 | 2 }
  // writes
  | { readonly kind: "update-operator"; readonly operator: UpdateOperatorSpec }
  /** An argument of updates, and a field of `T_updates`, of a plugin's own. @rule X-GQL-10 */
  | { readonly kind: "further"; readonly writes: (input: GqlInput, writing: GqlWriting) => GqlFurther | undefined }
  /** In inputs of a plugin's own (`input`): read by the plugin. */
  | { readonly kind: "own"; readonly name: string }
  /** column of an update operator's input; `value`: of the operand */
  | {
      readonly kind: "update-column";
      readonly column: Column;
      readonly relation: Relation;
      readonly value: GqlValueType;
    }
  | { readonly kind: "constraint"; readonly name: string; readonly columns: readonly string[] }
  /** `_PLACEHOLDER` */
  | { readonly kind: "placeholder" }
  // functions: `index` in `routine.parameters`; without `name`: unnamed, so only positional
  | {
      readonly kind: "function-argument";
      readonly parameter: RoutineParameter;
      readonly index: number;
      readonly value: GqlValueType;
    }
  | { readonly kind: "argument"; readonly name: GqlArgumentName }
  // enum values
  // in `order_by`, beside the column
  | { readonly kind: "ordering"; readonly ordering: OrderingSpec; readonly column: Column }
  | { readonly kind: "direction"; readonly direction: "asc" | "desc"; readonly nulls: "first" | "last" }
  | { readonly kind: "enum-key"; readonly key: string };

/** What serves a field of a plugin's own: one of these. @rule X-GQL-1 … X-GQL-4 */
export type GqlService =
  /** In rows: a part of the plan. */
  | { readonly output: (selection: GqlSelection, context: GqlSelectionContext) => Output }
  /** In roots: a plan. One that writes is for the mutation root; what is answered of its rows is added to it. */
  | { readonly plan: (selection: GqlSelection, context: GqlSelectionContext) => Read | Insert | Update | Delete }
  /** In roots: a declared statement, by name. It is given the field's arguments; the field's type is a scalar. */
  | { readonly statement: string }
  /** In the query and mutation roots: a function of the plugin's own. In the subscription root it is asked by `live`. */
  | {
      readonly run: (request: GqlFunctionRequest) => Json | Promise<Json>;
      readonly live?: (request: Omit<GqlFunctionRequest, "signal">) => GqlLiveField;
    }
  /** In rows: a function over columns of the row (their SQL names), for all rows of the answer at once. Its results are
   *  in the order of the rows. A role that may not read all the columns does not have the field. */
  | {
      readonly columns: readonly string[];
      readonly load: (
        rows: readonly GqlLoadedRow[],
        request: GqlFunctionRequest,
      ) => readonly Json[] | Promise<readonly Json[]>;
    };

/** The statement that a live query runs instead of the function. */
export interface GqlLiveField {
  /** One statement that reads, with a column `body`. */
  readonly program: Program;
  /** The result of the field. @throws RelApiError */
  read(body: string): Json;
  /** The error that the function would throw for one of the database. */
  told(error: unknown): unknown;
}

/** Columns of one row, by their SQL names, as JSON; numbers that JavaScript would change are kept as they were written
 *  (`numberText`). */
export type GqlLoadedRow = Readonly<Record<string, Json>>;

/** A selected field as the planner hands it to a `custom` part. */
export interface GqlSelection {
  /** Response name. */
  readonly as: string;
  /** Its place in the request, for errors; `<path>.args.<name>` is that of an argument. */
  readonly path: string;
  readonly node: FieldNode;
  /** Coerced. A value that is looked at here decides the plan; `context.argument` only binds it. */
  readonly arguments: Readonly<Record<string, Json>>;
}

/** What `output` of a `custom` field works with. */
export interface GqlSelectionContext {
  readonly schema: RoleSchema;
  readonly relation: Relation | undefined;
  /** Binds a value of the request. */
  bind(bound: BoundValue): { readonly param: number };
  /** Binds an argument, cast to the type (objects and lists as `jsonb`); undefined: it was not given. */
  argument(name: string, type?: string): ValueRef | undefined;
  /** What is selected of the rows that a root field leads to. `type`: of the table, where the field's own type does not
   *  say. */
  rows(type?: GraphQLObjectType): readonly Output[];
  /** What the arguments ask for that stand for those of a list (`build.listArguments`, or a part of their own, as
   *  `having`), and the limit that all lists have. @rule X-GQL-8 */
  list(): Pick<Read, "where" | "orderBy" | "distinctOn" | "having" | "limit" | "offset" | "cap">;
  /** What is selected of an object of aggregates (`build.aggregateFields`). */
  aggregates(): readonly Output[];
  /** What is selected of the object that the field leads to, where that is a type of the plugin's own. @rule X-GQL-8 */
  fields(): readonly GqlOwnSelected[];
}

/** A field that is selected of an object of a plugin's own. */
export interface GqlOwnSelected {
  /** Response name. */
  readonly as: string;
  /** `__typename` too: its value is the name of `type`. */
  readonly name: string;
  /** The type that it is a field of. */
  readonly type: GraphQLObjectType;
  /** What is selected of it in turn: an object of the plugin's own. */
  fields(): readonly GqlOwnSelected[];
  /** The same: rows of a table. */
  rows(): readonly Output[];
}

/** What a function of a plugin's own is told. */
export interface GqlFunctionRequest {
  /** Coerced; numbers that JavaScript would change are kept as they were written (`numberText`). */
  readonly arguments: Readonly<Record<string, Json>>;
  readonly session: Session;
  /** What is selected of its result; empty for scalars. */
  readonly selection: readonly GqlSelected[];
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** The request that asks: transactions that the function runs belong to it. Absent in runs of live queries. */
  readonly exchange?: OpenExchange | undefined;
}

/** The members that all functions of an operation share. */
export type GqlAsked = Pick<GqlFunctionRequest, "session" | "signal" | "exchange">;

export interface GqlSelected {
  /** Response name. */
  readonly as: string;
  readonly name: string;
  /** Where the result has its value: its name, unless it has arguments, which may be selected several times. */
  readonly key: string;
  /** As those of the field itself. */
  readonly arguments: Readonly<Record<string, Json>>;
  readonly selection: readonly GqlSelected[];
}

// --- further writes of updates -------------------------------------------------------------------------------------

/** A value given in the document or by a variable. What is looked at decides the plan. */
export interface GqlInput {
  /** Its place in the request, for errors. */
  readonly path: string;
  readonly isNull: boolean;
  /** Of an input object, in name order. Each counts as a value that is inserted (G-LIM-4). */
  fields(): readonly GqlInputField[];
  /** Of a list; a single value is a list of one. */
  items(): readonly GqlInput[];
  /** Of a Boolean. */
  isTrue(): boolean;
}

export interface GqlInputField extends GqlInput {
  readonly name: string;
  readonly part: GqlPart | undefined;
}

/** What further writes are made with. */
export interface GqlWriting {
  readonly schema: RoleSchema;
  /** The table that is updated. */
  readonly relation: Relation;
  /** Adds a step; its number. `own`: the same, for what it requires of itself. */
  step(make: (own: number) => SequenceStep): number;
  /** What a condition (`build.boolExp`) says; undefined: every row. */
  where(input: GqlInput): Predicate | undefined;
  /** A value of that type, bound. Null is refused. */
  value(input: GqlInput, type: GqlValueType): ValueRef;
  /** Inserts the rows of `build.relatedInsert`, and what is nested in them. `parent`: the step whose row they belong to;
   *  absent: they come first. The step of the row, of those that come first. */
  insert(input: GqlInput, along: Relationship, parent?: number): number | undefined;
  /** An update of its own, of those rows: an item of `build.updates`, or update operators; with the arguments of
   *  plugins' own in it. */
  update(input: GqlInput, relation: Relation, among: Predicate): number;
}

/** What an argument adds to an update. Its steps so far come before the update. */
export interface GqlFurther {
  /** Columns of the updated rows; where two decide one, the later wins. */
  readonly assignments?: readonly Assignment[];
  /** What the updated rows must be. */
  readonly requires?: readonly Omit<StepRequirement, "step">[];
  /** Adds the steps behind the update, which is that step. */
  after?(step: number): void;
}

/** Key of `extensions` that holds parts and scopes. */
export const GQL_EXTENSION = "relapi";

type WithPart = GraphQLField<unknown, unknown> | GraphQLArgument | GraphQLInputField | GraphQLEnumValue;

/** The part of a field, argument, input field or enum value; undefined for those of introspection. */
export const gqlPart = (place: WithPart): GqlPart | undefined => place.extensions[GQL_EXTENSION] as GqlPart | undefined; // only `withPart` writes it

/** The `extensions` of a field, argument or enum value that stands for the part. graphql-js copies an object that has a
 *  prototype. */
export const withPart = (part: GqlPart): { readonly [GQL_EXTENSION]: GqlPart } => {
  const extensions = Object.create(null) as { [GQL_EXTENSION]: GqlPart }; // it gets its one key here
  extensions[GQL_EXTENSION] = part;
  return extensions;
};

// --- types and the hook ---------------------------------------------------------------------------------------------

/** What a GraphQL type was built for; stored in its `extensions`. */
export interface GqlTypeFacts {
  readonly scope: GqlScope;
  readonly relation?: Relation;
  /** comparison_exp: the type compared; nullability of it means nothing. */
  readonly value?: GqlValueType;
}

/** What a type was built for; undefined for types that the builder did not make. */
export const gqlTypeFacts = (
  type: GraphQLObjectType | GraphQLInputObjectType | GraphQLEnumType,
): GqlTypeFacts | undefined => type.extensions[GQL_EXTENSION] as GqlTypeFacts | undefined; // only the type builder writes it

/** A field of a GraphQL type: its definition and what it stands for. */
export interface GqlField {
  /** For graphql-js: type, arguments, description. Arguments carry their parts in `extensions` (`withPart`). */
  readonly config: GraphQLFieldConfig<unknown, unknown> | GraphQLInputFieldConfig;
  /** What the field stands for; ends up in `config.extensions.relapi`. */
  readonly toPlan: GqlPart;
}

/** By field name; the builder sorts. */
export type GqlFields = Readonly<Record<string, GqlField>>;

/** The type whose fields a tap of `buildGqlField` adds to. */
export interface GqlFieldContext {
  readonly scope: GqlScope;
  /** Name of the GraphQL type whose fields these are. */
  readonly typeName: string;
  readonly model: Model;
  readonly role: string;
  readonly relation?: Relation;
  readonly routine?: Routine;
  readonly computedField?: GqlComputedField;
  /** comparison_exp, cast_exp, operand */
  readonly value?: GqlValueType;
  /** aggregate_columns, aggregate_order_by_columns, predicate: the function. update_input: the operator's name. */
  readonly fn?: string;
  /** Types and names of the role's schema, for fields that lead on. */
  readonly build: GqlBuild;
}

/** Another schema of the same tables, for a surface of its own. @rule X-GQL-9 */
export interface GqlVariant {
  /** Kebab-case, unique. */
  readonly name: string;
  /** Values of variables that the document does not declare are passed over, in place of an error. */
  readonly takesUnknownVariables?: true;
  /** The fields of a type, from those that it has in the schema of the dialect. */
  fields(fields: GqlFields, context: GqlFieldContext): GqlFields;
  /** Of an object type: interfaces that documents may name in its place. */
  interfaces?(context: GqlFieldContext): readonly GraphQLInterfaceType[];
}

/** A type to be made: its fields come from `buildGqlField`. */
export interface GqlTypeSpec extends Omit<GqlFieldContext, "typeName" | "model" | "role" | "build"> {
  readonly name: string;
  readonly description?: string | null;
  /** Build the fields now, and omit the type if it has none. */
  readonly isOptional?: boolean;
}

/** A GraphQL enum to be built. */
export interface GqlEnumSpec {
  readonly name: string;
  readonly description?: string | null;
  readonly relation?: Relation;
  /** Called when first needed. */
  readonly values: () => readonly {
    readonly name: string;
    readonly value: unknown;
    readonly part: GqlPart;
    readonly description?: string | null;
  }[];
}

/** How a field of rows differs from the table's own list. */
export interface GqlRowsField {
  readonly description: string;
  /** Beside those of the list. */
  readonly args?: Readonly<Record<string, GraphQLArgumentConfig>>;
  /** The read, from that of the list. */
  readonly change: (read: Read, context: GqlSelectionContext) => Read;
}

export type GqlRootName = "query" | "mutation" | "subscription";

/** What fields are built from. Types are cached by name; undefined: the role has no such type, or its name is taken
 *  (G-NAM-3). */
export interface GqlBuild {
  readonly schema: RoleSchema;
  readonly source: GqlCatalog;
  readonly view: GqlRoleAccess;
  /** The table, when it is served at all. */
  table(relation: QualifiedName): GqlTable | undefined;
  /** What the role may do with it. */
  rights(table: GqlTable): GqlTableRights;
  /** A permission, a row policy or a plugin may keep rows of it from the role. */
  mayHideRows(table: GqlTable): boolean;
  /** Type name of words: `album`, `bool_exp`; customization and convention applied. */
  typeName(...words: readonly (string | GqlNamePart)[]): string;
  /** Types of a table that root fields lead to. */
  rowType(table: GqlTable): GraphQLObjectType | undefined;
  mutationResponse(table: GqlTable): GraphQLObjectType | undefined;
  /** `count`, `sum { … }`; undefined: the role may not aggregate. */
  aggregateFields(table: GqlTable): GraphQLObjectType | undefined;
  /** The functions of them, with the name of each and what it gives of a column of such values; undefined: nothing. */
  aggregateFunctions(): readonly {
    readonly fn: string;
    readonly name: string;
    of(value: GqlValueType): GqlValueType | undefined;
  }[];
  /** `asc`, `desc_nulls_last`, …; undefined: no types are ordered. */
  orderDirection(): GraphQLEnumType | undefined;
  /** `where`, `order_by`, `limit`, `offset` and `distinct_on`, as root fields of the table have them. */
  listArguments(table: GqlTable): Readonly<Record<string, GraphQLArgumentConfig>>;
  /** A field of the query root for rows of the table; undefined: the role may not read it. @rule X-GQL-11 */
  rowsField(table: GqlTable, own: GqlRowsField): GqlField | undefined;
  /** Inputs of writes, as the dialect has them: a condition, an item of `update_T_many`, the rows of a nested insert, and
   *  the update operators as fields. @rule X-GQL-10 */
  boolExp(table: GqlTable): GraphQLInputObjectType | undefined;
  updates(table: GqlTable): GraphQLInputObjectType | undefined;
  relatedInsert(table: GqlTable, isToOne: boolean): GraphQLInputObjectType | undefined;
  updateOperators(table: GqlTable): GqlFields;
  /** Name of a root field. */
  rootName(...words: readonly (string | GqlNamePart)[]): string;
  /** Type name that belongs to no table: no prefix, no suffix. */
  sharedTypeName(...words: readonly (string | GqlNamePart)[]): string;
  /** Type name of a table, and of one function in conditions on its aggregates: no prefix, no suffix. */
  bareTypeName(...words: readonly (string | GqlNamePart)[]): string;
  predicateTypeName(...words: readonly (string | GqlNamePart)[]): string;
  /** Field, argument or input name by the convention: `order_by` to `orderBy`. */
  fieldName(...words: readonly (string | GqlNamePart)[]): string;
  /** Value of an enum by the convention: `asc` to `ASC`. */
  enumValue(name: string): string;
  object(spec: GqlTypeSpec): GraphQLObjectType | undefined;
  inputObject(spec: GqlTypeSpec): GraphQLInputObjectType | undefined;
  enumeration(spec: GqlEnumSpec): GraphQLEnumType | undefined;
  /** Scalar, enum of an enum table, or list. */
  valueOutput(value: GqlValueType): GraphQLOutputType;
  valueInput(value: GqlValueType): GraphQLInputType;
  comparison(value: GqlValueType): GraphQLInputObjectType | undefined;
  /** Value type of a type by oid or `typname`; undefined: unknown, or its name is not legal or a table's. */
  valueType(type: number | string, isNullable?: boolean): GqlValueType | undefined;
  /** The same for an argument of a function of the database. */
  argumentType(type: number): GqlValueType | undefined;
  columnValue(column: GqlColumn): GqlValueType | undefined;
}

// --- a role's schema ------------------------------------------------------------------------------------------------

/** A text as UTF-8, in the order of its parts; nothing is yielded where others may have their turn. */
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
  /** `__schema`, `__type` of the query root; empty without the introspection plugin. */
  readonly metaFields: ReadonlyMap<string, GraphQLField<unknown, unknown>>;
  /** Introspection is refused to the role (G-INT-9). */
  readonly isIntrospectionClosed: boolean;
  /** Some types may be behind interfaces. */
  readonly hasInterfaces: boolean;
  /** That documents may have. */
  readonly directives: Directives;
  /** The field of that name: of a root, without the others where they are many. */
  fieldOf(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined;
  /** JSON text of one meta field; `variables` coerced. The document has been checked. */
  introspect(field: FieldNode, document: DocumentNode, variables: Readonly<Record<string, unknown>>): Parts;
  /** The same types with all fields of the roots: costs the whole schema. Made apart, so not the very objects that
   *  `query` leads to. */
  whole(): Pieces<RoleSchema>;
  /** `<rel>` and column names back to GraphQL, for messages. */
  columnName(relation: Relation, column: string): string;
}
