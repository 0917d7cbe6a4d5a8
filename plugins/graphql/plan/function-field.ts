/** Declares the planner's types of steps and of plugins' own fields: their parts, and the fields that functions
 *  resolve. */
import type { Json, JsonObject } from "../../../core/index.ts";
import type { Source, ValueSource, VariableValues } from "../document/variables.ts";
import type { GqlJoinedRead, GqlLoad, GqlLoads, GqlStep } from "../operations.ts";
import type { GqlPart, GqlSelected } from "../plan-parts.ts";

export type CustomPart = Extract<GqlPart, { readonly kind: "custom" }>;
export type CustomPartWith<Member extends string> = Extract<CustomPart, Readonly<Record<Member, unknown>>>;

/** A selected field that a function resolves, without the values of variables. */
export interface FunctionField {
  readonly origin: string;
  readonly path: string;
  readonly leaves: readonly (readonly [string, Source<Json>])[];
  readonly selection: (variables: VariableValues) => readonly GqlSelected[];
  /** The fields of the result that have rows of tables. */
  readonly joins: readonly JoinTemplate[];
  /** Returns the response text of a result. `join` returns the text of a field with rows. @throws TypeError if the
   *  result does not fit the schema */
  text(result: Json, join?: WriteJoin): string;
}

/** A step without the values of variables. */
export interface StepTemplate extends Omit<GqlStep, "values" | "program"> {
  readonly sources: readonly ValueSource[];
}

/** The loads of a step's body, without the values of variables. */
export interface StepLoads extends Omit<GqlLoads, "fields"> {
  readonly fields: readonly LoadTemplate[];
}

/** Returns the text of a field with rows of a table. `join` is an index of `joins`. */
export type WriteJoin = (join: number, object: JsonObject) => string;

/** The read of rows for the objects of a result, without the values of variables. */
export interface JoinTemplate extends StepTemplate {
  /** The members of the object that select its rows. */
  readonly members: readonly string[];
  readonly loads: readonly StepLoads[];
}

/** Returns the read of a join with the values of variables. */
export type FindRead = (join: JoinTemplate) => GqlJoinedRead;

/** Returns the load of a field with the values of variables. */
export type LoadTemplate = (variables: VariableValues, findRead: FindRead) => GqlLoad;
