/** Variables as planning sees them: each look at a value is a question, whose answer is part of the key that the plan is kept under.
 *  What is bound alone is not looked at, so that one plan serves all its values. */
import type { ValueNode } from "graphql";
import { planKey, type Ask, type Json, type Question } from "../../../core/index.ts";
import { foundInVariable, isPlainObject } from "../coerce/leaf.ts";
import { writeJson } from "../coerce/numbers.ts";
import type { VariableValues } from "./variables.ts";

type Keys = readonly (string | number)[];

/** A part of what a variable holds. */
export interface Held {
  readonly variable: string;
  /** The way to it from the variable's value. */
  readonly keys: Keys;
  isNull(): boolean;
  /** The members of an object, in order; undefined: something else. */
  members(): readonly (readonly [name: string, part: Held])[] | undefined;
  /** The items of a list; undefined: something else. */
  items(): readonly Held[] | undefined;
  /** All of it. */
  value(): Json;
  /** What `describe` makes of it; `name` says which description it is. */
  described<Description>(name: string, describe: (value: Json) => Description): Description;
  /** What it is, in the words of messages. Nothing is kept of a request that ends with one. */
  readonly found: string;
  /** To be bound. */
  readonly bound: Json;
}

export interface ObservedVariables {
  /** What stands for the variable; undefined: nothing was given, and it has no default. */
  open(name: string): Held | { readonly literal: ValueNode } | undefined;
  /** The values themselves, to be bound. */
  readonly bound: VariableValues;
}

/** Whatever has values of variables. */
export interface WithVariables {
  readonly variables: VariableValues;
}

const partOf = (value: Json, keys: Keys): Json => {
  let at = value;
  for (const key of keys) at = (at as Readonly<Record<string | number, Json>>)[key] as Json; // the questions about what holds it came before
  return at;
};

/** What stands at that place of other values of the variable. */
export const heldIn = (variables: VariableValues, { variable, keys }: Pick<Held, "variable" | "keys">): Json => {
  const value = variables.get(variable);
  return value !== undefined && "json" in value ? partOf(value.json, keys) : null;
};

/** Names of an object's members, the length of a list, or which of the rest it is. */
type Shape = readonly string[] | number | "null" | "leaf";

const shapeOf = (value: Json): Shape => {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length;
  return isPlainObject(value) ? Object.keys(value) : "leaf";
};

const held = (ask: Ask<WithVariables>, bound: Json, variable: string, keys: Keys): Held => {
  const about = <Answer>(name: string, of: (value: Json) => Answer, key: (answer: Answer) => unknown): Answer => {
    const question: Question<WithVariables, Answer> = { name: `${name} of ${planKey([variable, ...keys])}`, of: ({ variables }) => of(heldIn(variables, { variable, keys })), key };
    return ask(question);
  };
  const shape = (): Shape => about("shape", shapeOf, (answer) => (typeof answer === "object" ? planKey(answer) : answer));
  const part = (key: string | number): Held => held(ask, (bound as Readonly<Record<string | number, Json>>)[key] as Json, variable, [...keys, key]); // a member or item of it
  return {
    variable,
    keys,
    bound,
    isNull: () => shape() === "null",
    members: () => {
      const names = shape();
      return typeof names === "object" ? names.map((name) => [name, part(name)]) : undefined;
    },
    items: () => {
      const length = shape();
      return typeof length === "number" ? Array.from({ length }, (_, i) => part(i)) : undefined;
    },
    value: () => about("value", (value) => value, writeJson),
    described: (name, describe) => about(name, describe, (answer) => planKey({ answer })),
    get found() { return foundInVariable(bound); },
  };
};

/** `variables`: those at hand. */
export const observeVariables = (ask: Ask<WithVariables>, variables: VariableValues): ObservedVariables => ({
  bound: variables,
  open: (name) => {
    const value = variables.get(name);
    const kind = ask<"absent" | "default" | "given">({ name: `kind of ${planKey(name)}`, of: (source) => kindOf(source.variables, name) });
    if (kind === "absent" || value === undefined) return undefined;
    return "json" in value ? held(ask, value.json, name, []) : value;
  },
});

const kindOf = (variables: VariableValues, name: string): "absent" | "default" | "given" => {
  const value = variables.get(name);
  return value === undefined ? "absent" : "json" in value ? "given" : "default";
};

/** For values that are read anew at each request, under a plan that is there already. */
export const unobserved = (variables: VariableValues): ObservedVariables => observeVariables((question) => question.of({ variables }), variables);
