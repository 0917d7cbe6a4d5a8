/** Declares the planner's types of plugins' own fields: their parts, and the fields that functions resolve. */
import type { Json } from "../../../core/index.ts";
import type { VariableValues } from "../document/variables.ts";
import type { GqlLoad } from "../operations.ts";
import type { GqlPart, GqlSelected } from "../parts.ts";
import type { LeafInput } from "./input.ts";

export type CustomPart = Extract<GqlPart, { readonly kind: "custom" }>;
export type CustomPartWith<Member extends string> = Extract<CustomPart, Readonly<Record<Member, unknown>>>;

/** A selected field that a function resolves, without the values of variables. */
export interface FunctionField {
  readonly origin: string;
  readonly path: string;
  readonly leaves: readonly (readonly [string, LeafInput])[];
  readonly selection: (variables: VariableValues) => readonly GqlSelected[];
  /** Returns the response text of a result. @throws TypeError if the result does not fit the schema */
  text(result: Json): string;
}

/** Returns the load of a field with the values of variables. */
export type LoadTemplate = (variables: VariableValues) => GqlLoad;
