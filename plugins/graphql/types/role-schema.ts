/** The schema of one role, for which documents are planned. */
import type { DocumentNode, FieldNode, GraphQLField, GraphQLObjectType } from "graphql";
import type { Model, Slices, Registry, Relation, ResolvedOptions } from "../../../core/index.ts";
import type { Directives } from "../directives.ts";

/** A UTF-8 text in parts, in order. The generator yields nothing at points where other work may run. @experimental */
export type TextParts<Result = void> = Generator<Buffer | void, Result, void>;

/** The types of one role at one model version. @experimental */
export interface RoleSchema {
  readonly model: Model;
  readonly role: string;
  readonly registry: Registry;
  readonly options: ResolvedOptions;
  readonly query: GraphQLObjectType;
  readonly mutation: GraphQLObjectType | undefined;
  readonly subscription: GraphQLObjectType | undefined;
  /** The fields `__schema` and `__type` of the query root. Empty without the introspection plugin. */
  readonly metaFields: ReadonlyMap<string, GraphQLField<unknown, unknown>>;
  /** True if the role may not use introspection (G-INT-9). */
  readonly isIntrospectionClosed: boolean;
  /** The directives that documents may have. */
  readonly directives: Directives;
  /** Returns the field with the name. For a large root, the other fields are not built. */
  findField(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined;
  /** Writes the JSON text of one meta field. `variables` are coerced, and the document is validated. */
  introspect(field: FieldNode, document: DocumentNode, variables: Readonly<Record<string, unknown>>): TextParts;
  /** Builds a separate schema with all root fields, which costs as much as the whole schema. Its types are not the
   *  objects of `query`. */
  buildCompleteSchema(): Slices<RoleSchema>;
  /** Converts the relation and column names to a GraphQL name, for messages. */
  columnName(relation: Relation, column: string): string;
}
