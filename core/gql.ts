/** What taps of `buildGqlField` see and return. */
import type { GraphQLFieldConfig, GraphQLInputFieldConfig } from "graphql";
import type { Model, PgType, Relation, Routine } from "./model/model.ts";

export interface GqlField {
  /** For graphql-js: type, arguments, description. */
  readonly config: GraphQLFieldConfig<unknown, unknown> | GraphQLInputFieldConfig;
  /** The plan part the field stands for; its shape is that of the scope. */
  readonly toPlan?: unknown;
}

export type GqlFields = Readonly<Record<string, GqlField>>;

export interface GqlFieldContext {
  /** `query_root`, `mutation_root`, `subscription_root`, `row`, `bool_exp`, `comparison_exp`, `order_by`, `aggregate_fields`, `insert_input`, … */
  readonly scope: string;
  /** Name of the GraphQL type whose fields these are. */
  readonly typeName: string;
  readonly model: Model;
  readonly role: string;
  readonly relation?: Relation;
  readonly routine?: Routine;
  readonly type?: PgType;
}
