/** Declares the parts of a plan that fields, arguments, input fields and enum values become. The types of graphql-js
 *  have the parts in `extensions.relapi`, so planners read parts and never names. */
import type {
  DocumentNode,
  FieldNode,
  GraphQLArgument,
  GraphQLEnumValue,
  GraphQLField,
  GraphQLInputField,
  GraphQLNamedType,
  GraphQLObjectType,
} from "graphql";
import type {
  Assignment,
  BoundValue,
  Column,
  Expression,
  Json,
  OperatorSpec,
  OrderingSpec,
  Predicate,
  Delete,
  Insert,
  Output,
  Read,
  RelApiError,
  Relation,
  Relationship,
  Routine,
  RoutineParameter,
  SequenceStep,
  Session,
  StepRequirement,
  Update,
  UpdateOperatorSpec,
  ValueRef,
  OpenExchange,
  Program,
} from "../../core/index.ts";
import type { GqlArgumentName, GqlRootKind } from "./part-kinds.ts";
import type { GqlComputedField, GqlValueType } from "./value-types.ts";
import type { RoleSchema } from "./types/role-schema.ts";

/** The part of a plan that a field, argument, input field or enum value becomes. Planners read parts and never
 *  names. */
export type GqlPart =
  // Root fields.
  | { readonly kind: GqlRootKind; readonly relation: Relation }
  /** A function as a root field. With `isAggregate`, the field aggregates the rows that the function returns. A
   *  function of single rows has `!routine.returns.isSet`. */
  | {
      readonly kind: "function";
      readonly routine: Routine;
      readonly relation: Relation;
      readonly isAggregate: boolean;
      readonly sessionArgument?: number;
    }
  | { readonly kind: "namespace" }
  /** The field `no_queries_available`, which returns this string. */
  | { readonly kind: "constant"; readonly text: string }
  // Rows, `bool_exp`, `order_by`, inputs, by-pk arguments, `pk_columns`, `_select_column` and `_update_column` values.
  | { readonly kind: "column"; readonly column: Column; readonly relation: Relation; readonly value: GqlValueType }
  /** A relationship, with the embedding mode `mode` in rows. In inputs, the rows of `data` are inserted along the
   *  relationship. With `isAfter`, to-one rows are inserted after this row although no foreign key requires it
   *  (G-NST-9). */
  | {
      readonly kind: "relationship";
      readonly relationship: Relationship;
      readonly target: Relation;
      readonly isAfter?: boolean;
      readonly mode?: string;
    }
  | { readonly kind: "relationship-aggregate"; readonly relationship: Relationship; readonly target: Relation }
  /** A computed field. `value` is the type of a scalar field. In `order_by` and `bool_exp` the field has no arguments.
   *  `isAggregate` marks `<table computed field>_aggregate` of `order_by`. */
  | {
      readonly kind: "computed";
      readonly field: GqlComputedField;
      readonly relation: Relation;
      readonly value?: GqlValueType;
      readonly isAggregate?: boolean;
    }
  /** A plugin's own field. The builder adds the plugin's name. */
  | ({ readonly kind: "custom"; readonly plugin?: string } & GqlFieldImplementation)
  // `T_aggregate` and its fields.
  | { readonly kind: "aggregate-fields" }
  | { readonly kind: "nodes" }
  /** The field `count` in `T_aggregate_fields` and `aggregate_order_by`. */
  | { readonly kind: "count" }
  | { readonly kind: "aggregate-function"; readonly fn: string }
  // Mutation responses.
  | { readonly kind: "affected-rows" }
  | { readonly kind: "returning" }
  // The members of `bool_exp`.
  | { readonly kind: "and" | "or" | "not" }
  /** A value that a plugin computes in conditions and orders, of the type `value`. */
  | { readonly kind: "expression"; readonly expression: Expression; readonly value: GqlValueType }
  /** An object in conditions and orders, whose fields count as fields of the surrounding object. */
  | { readonly kind: "members" }
  /** An operator in a comparison_exp. The `column`, `computed` or `predicate` part that contains the operator has the
   *  column's type. `value` is set if the operand has its own type. List operands are lists of either type. */
  | {
      readonly kind: "operator";
      readonly operator: OperatorSpec;
      readonly keywords?: Readonly<Record<string, string>>;
      readonly value?: GqlValueType;
    }
  /** The field `_cast`, an object of `cast-to` fields with a comparison_exp of `value` each. */
  | { readonly kind: "cast" }
  | { readonly kind: "cast-to"; readonly value: GqlValueType }
  /** A part of an operand with fields. */
  | { readonly kind: "operand-field"; readonly name: string; readonly value: GqlValueType }
  // `aggregate_bool_exp` has one per function; `value` is the type that its `predicate` compares, `columns` the number
  // of its arguments.
  | { readonly kind: "predicate"; readonly fn: string; readonly value: GqlValueType; readonly columns: "any" | 1 | 2 }
  // Writes.
  | { readonly kind: "update-operator"; readonly operator: UpdateOperatorSpec }
  /** A plugin's own argument of updates, and field of `T_updates`. @rule X-GQL-10 */
  | {
      readonly kind: "update-additions";
      readonly writes: (input: GqlInput, writing: GqlWriting) => GqlUpdateAdditions | undefined;
    }
  /** A field of a plugin's own inputs (`input`), which the plugin reads. */
  | { readonly kind: "own"; readonly name: string }
  /** A column in an update operator's input. `value` is the type of the operand. */
  | {
      readonly kind: "update-column";
      readonly column: Column;
      readonly relation: Relation;
      readonly value: GqlValueType;
    }
  | { readonly kind: "constraint"; readonly name: string; readonly columns: readonly string[] }
  /** The `_PLACEHOLDER` of inputs and enums without columns. */
  | { readonly kind: "placeholder" }
  // Functions: `index` is a position in `routine.parameters`; an argument without `name` is only positional.
  | {
      readonly kind: "function-argument";
      readonly parameter: RoutineParameter;
      readonly index: number;
      readonly value: GqlValueType;
    }
  | { readonly kind: "argument"; readonly name: GqlArgumentName }
  // Enum values in `order_by`, in addition to the column.
  | { readonly kind: "ordering"; readonly ordering: OrderingSpec; readonly column: Column }
  | { readonly kind: "direction"; readonly direction: "asc" | "desc"; readonly nulls: "first" | "last" }
  | { readonly kind: "enum-key"; readonly key: string };

/** The implementation of a plugin's own field, in one of these forms. @rule X-GQL-1 … X-GQL-4 @experimental */
export type GqlFieldImplementation =
  /** A part of the plan, for fields of rows. */
  | { readonly output: (selection: GqlSelection, context: GqlSelectionContext) => Output }
  /** A plan, for fields of roots. The mutation root has the plans that write. The selected columns of the written rows
   *  are added to the plan. */
  | { readonly plan: (selection: GqlSelection, context: GqlSelectionContext) => Read | Insert | Update | Delete }
  /** The name of a declared statement, for fields of roots. The statement receives the field's arguments, and the
   *  field's type is a scalar. */
  | { readonly statement: string }
  /** A plugin's own function, for fields of the query and mutation roots. In the subscription root, `live` replaces
   *  it. */
  | {
      readonly run: (request: GqlFunctionRequest) => Json | Promise<Json>;
      readonly live?: (request: Omit<GqlFunctionRequest, "signal" | "document">) => GqlLiveField;
    }
  /** A field of another GraphQL schema, for fields of the query and mutation roots, and with `subscribe` of the
   *  subscription root. Its type is a type of that schema, which checks and runs the selection. @rule X-GQL-12 */
  | { readonly forward: GqlForward }
  /** Rows of a table that belong to an object in the result of a function, for fields of a plugin's own types. */
  | { readonly join: GqlJoin }
  /** A function of some columns of the row (SQL names), called once for all rows of the response. It returns results in
   *  the order of the rows. A role that may not read all these columns does not have the field. */
  | {
      readonly columns: readonly string[];
      readonly load: (
        rows: readonly GqlLoadedRow[],
        request: GqlFunctionRequest,
      ) => readonly Json[] | Promise<readonly Json[]>;
    }
  /** A field of another GraphQL schema, for fields of rows. Columns are those of `load`. @rule X-GQL-14 */
  | { readonly columns: readonly string[]; readonly delegate: GqlDelegate };

/** Rows of a table that belong to an object in the result of a function. One statement reads the rows for all objects
 *  that the field is selected from. @rule X-GQL-13 @experimental */
export interface GqlJoin {
  readonly relation: Relation;
  /** Pairs of a member of the object and a column of the table, whose values are equal. */
  readonly columns: readonly (readonly [member: string, column: string])[];
  readonly isToOne: boolean;
}

/** The statement that a live query runs instead of the function. @experimental */
export interface GqlLiveField {
  /** The statement that reads and returns a column `body`. */
  readonly program: Program;
  /** Returns the result of the field. @throws RelApiError */
  read(body: string): Json;
  /** Converts a database error to the error that the function would throw. */
  convertError(error: unknown): unknown;
}

/** The functions of a field whose selection belongs to another GraphQL schema. @rule X-GQL-12 @experimental */
export interface GqlForward {
  /** Types that introspection lists although no field has them, such as the types of an interface. */
  readonly types?: readonly GraphQLNamedType[];
  /** True if object types of the schema have fields with `join` or `delegate`. `types` then has all object types that
   *  implement interfaces. @rule X-GQL-15 */
  readonly hasLinks?: boolean;
  /** Checks the document once, before it is cached. `document` has one operation, whose only root field is this field.
   *  The operation declares the variables that the field uses. @throws RelApiError */
  check(document: DocumentNode, path: string): void;
  /** Returns the JSON text of the field. A `RelApiError` with the fact `graphqlErrors` is answered with these
   *  errors. */
  run(request: GqlForwardRequest): Promise<string>;
  /** Sends the events of the field in a subscription: JSON texts of the field, or the error of one event. The promise
   *  resolves when there are no more events, and rejects if they end with an error. `request.signal` is aborted when
   *  the client ends the subscription. @rule X-GQL-16 */
  subscribe?(request: GqlForwardRequest, emit: (event: string | RelApiError) => Promise<void>): Promise<void>;
}

/** The functions of a field of rows whose selection belongs to another GraphQL schema. @rule X-GQL-14 @experimental */
export interface GqlDelegate extends Pick<GqlForward, "types" | "hasLinks" | "check"> {
  /** Returns the JSON texts of the field for all rows, in their order. Errors are those of `GqlForward`. */
  load(rows: readonly GqlLoadedRow[], request: GqlForwardRequest): Promise<readonly string[]>;
}

/** A field that is forwarded to another GraphQL schema. @experimental */
export interface GqlForwardRequest extends Omit<GqlFunctionRequest, "arguments" | "selection" | "document"> {
  readonly document: DocumentNode;
  /** The values that the request gives to the variables of the document. Numbers that JavaScript would change keep
   *  their text (`getNumberText`). */
  readonly variables: Readonly<Record<string, Json>>;
}

/** The columns of one row as JSON, by SQL name. Numbers that JavaScript would change keep their text (`getNumberText`).
 *  @experimental */
export type GqlLoadedRow = Readonly<Record<string, Json>>;

/** A selected field that the planner passes to a `custom` part. @experimental */
export interface GqlSelection {
  /** The response name of the field. */
  readonly as: string;
  /** The path of the field in the request, for errors. The path of an argument is `<path>.args.<name>`. */
  readonly path: string;
  readonly node: FieldNode;
  /** The coerced arguments. Reading a value makes the value a part of the plan, while `context.argument` only binds
   *  it. */
  readonly arguments: Readonly<Record<string, Json>>;
}

/** The context of `output` of a `custom` field. @experimental */
export interface GqlSelectionContext {
  readonly schema: RoleSchema;
  readonly relation: Relation | undefined;
  /** Binds a value of the request. */
  bind(boundValue: BoundValue): { readonly param: number };
  /** Binds an argument, cast to the type (objects and lists as `jsonb`). Returns undefined if the request does not have
   *  the argument. */
  argument(name: string, type?: string): ValueRef | undefined;
  /** Returns the selection on the rows of a root field. `type` is the row type, if the type of the field does not
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

/** A field that is selected from an object of a plugin's own type. @experimental */
export interface GqlOwnSelected {
  /** The response name of the field. */
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

/** The argument of a plugin's own function. @experimental */
export interface GqlFunctionRequest {
  /** The coerced arguments. Numbers that JavaScript would change keep their text (`getNumberText`). */
  readonly arguments: Readonly<Record<string, Json>>;
  readonly session: Session;
  /** The selection on the function's result. It is empty for scalars. */
  readonly selection: readonly GqlSelected[];
  /** The signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** The request of the caller. Transactions that the function runs belong to it. Undefined in runs of live queries. */
  readonly exchange?: OpenExchange | undefined;
  /** The document of the request. */
  readonly document: string;
}

/** The members that all functions of an operation share. @experimental */
export type GqlCallContext = Pick<GqlFunctionRequest, "session" | "signal" | "exchange" | "document">;

/** A member that an operation selects from a value. @experimental */
export interface GqlSelected {
  /** The response name of the member. */
  readonly as: string;
  readonly name: string;
  /** The key of the value in the result. It is the field name, except for a field with arguments, which may be selected
   *  several times. */
  readonly key: string;
  /** The coerced arguments, as for the field itself. */
  readonly arguments: Readonly<Record<string, Json>>;
  readonly selection: readonly GqlSelected[];
}

/** A value in the document or of a variable. Reading the value makes it a part of the plan. @experimental */
export interface GqlInput {
  /** The path in the request, for errors. */
  readonly path: string;
  readonly isNull: boolean;
  /** Returns the fields of an input object, sorted by name. Each field counts as an inserted value (G-LIM-4). */
  fields(): readonly GqlInputField[];
  /** Returns the elements of a list. A single value counts as a list with one element. */
  items(): readonly GqlInput[];
  /** Returns the value of a Boolean. */
  isTrue(): boolean;
}

/** A field of an input type, with its part of the plan. @experimental */
export interface GqlInputField extends GqlInput {
  readonly name: string;
  readonly part: GqlPart | undefined;
}

/** The context in which a plugin adds steps to an update. @experimental */
export interface GqlWriting {
  readonly schema: RoleSchema;
  readonly relation: Relation;
  /** Adds a step and returns its number. `stepNumber` is the same number, for requirements of the step on itself. */
  addStep(make: (stepNumber: number) => SequenceStep): number;
  /** Returns the predicate of a condition (`build.boolExp`), or undefined if the condition matches every row. */
  planCondition(input: GqlInput): Predicate | undefined;
  /** Binds a value of the type. Null is rejected. */
  bindValue(input: GqlInput, type: GqlValueType): ValueRef;
  /** Inserts the rows of `build.relatedInsert` and their nested rows. `parent` is the step of the row to which the rows
   *  belong. Without a parent, the related row is inserted first, and the result is its step. */
  insert(input: GqlInput, relationship: Relationship, parent?: number): number | undefined;
  /** Adds a separate update of the rows that meet `condition`. The input is an item of `build.updates` or update
   *  operators, and may have plugins' own arguments. */
  update(input: GqlInput, relation: Relation, condition: Predicate): number;
}

/** The additions of an argument to an update. The steps that it has added so far run before the update.
 *  @experimental */
export interface GqlUpdateAdditions {
  /** The assignments to the updated rows. If two assign the same column, the later one wins. */
  readonly assignments?: readonly Assignment[];
  /** The requirements on the updated rows. */
  readonly requires?: readonly Omit<StepRequirement, "step">[];
  /** Adds steps that run after the update. `step` is the number of the update. */
  addLaterSteps?(step: number): void;
}

/** The key of `extensions` that holds parts and scopes. @experimental */
export const GQL_EXTENSION = "relapi";

type WithPart = GraphQLField<unknown, unknown> | GraphQLArgument | GraphQLInputField | GraphQLEnumValue;

/** Returns the part of a field, argument, input field or enum value. Undefined for the fields of introspection.
 *  @experimental */
export const getFieldPart = (definition: WithPart): GqlPart | undefined =>
  definition.extensions[GQL_EXTENSION] as GqlPart | undefined; // only `withPart` writes the part

/** Returns the `extensions` with the part of a field, argument or enum value. @experimental */
export const withPart = (part: GqlPart): { readonly [GQL_EXTENSION]: GqlPart } => ({ [GQL_EXTENSION]: part });
