/** Variables with tracked reads. Every read of a value in planning is a cache question, whose answer becomes part of
 *  the plan's cache key. Values that are only bound are not read, so one plan serves all of them. */
import type { ValueNode } from "graphql";
import { planKey, type Ask, type Json, type Question } from "../../../core/index.ts";
import { foundInVariable, isPlainObject } from "../coerce/leaf.ts";
import { writeJson } from "../coerce/numbers.ts";
import type { VariableValues } from "./variables.ts";

/** A variable, or a key inside a variable path. */
type VariablePath = { readonly variable: string } | { readonly of: VariablePath; readonly key: string | number };

/** A variable part: a variable, or a value inside one. */
export interface VariablePart {
  readonly place: VariablePath;
  readonly variable: string;
  /** The number of objects and lists around it. */
  readonly depth: number;
  isNull(): boolean;
  /** Returns the member names of an object, in order. Undefined for other values. */
  members(): readonly string[] | undefined;
  member(name: string): VariablePart;
  /** Returns the items of a list. Undefined for other values. `check` may refuse the number of items before they are
   *  processed. */
  items(check: (count: number) => void): readonly VariablePart[] | undefined;
  /** Returns the whole value. */
  value(): Json;
  /** Returns the result of `describe`. `name` identifies the description. */
  described<Description>(name: string, describe: (value: Json) => Description): Description;
  /** The value as messages describe it. A request that ends with such a message is not cached. */
  readonly found: string;
  /** The value to bind. */
  readonly bound: Json;
}

export interface ObservedVariables {
  /** Returns the value of the variable or its default. Undefined if it has neither. */
  open(name: string): VariablePart | { readonly literal: ValueNode } | undefined;
  /** The values of the variables, to bind. */
  readonly bound: VariableValues;
}

/** An object with values of variables. */
export interface WithVariables {
  readonly variables: VariableValues;
}

const partOf = (value: Json, key: string | number): Json =>
  (value as Readonly<Record<string | number, Json>>)[key] as Json; // earlier questions have checked the container

/** Returns the value at that path in other values of the variables. */
export const valueAt = (variables: VariableValues, place: VariablePath): Json => {
  if ("of" in place) return partOf(valueAt(variables, place.of), place.key);
  const value = variables.get(place.variable);
  return value !== undefined && "json" in value ? value.json : null;
};

/** The member names of an object, the length of a list, or the kind of another value. */
type ValueShape = readonly string[] | number | "null" | "leaf";

const shapeOf = (value: Json): ValueShape => {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length;
  return isPlainObject(value) ? Object.keys(value) : "leaf";
};

// The cache keeps questions with the closures of their functions. So they are made here, where the closure contains
// only the path.

const question = <Answer>(
  name: string,
  place: VariablePath,
  of: (value: Json) => Answer,
  key: (answer: Answer) => unknown,
): Question<WithVariables, Answer> => ({
  name,
  of: ({ variables }) => of(valueAt(variables, place)),
  key,
});

const kindQuestion = (name: string): Question<WithVariables, Kind> => ({
  name: `kind of ${name}`,
  of: ({ variables }) => kindOf(variables, name),
});

const shapeKey = (shape: ValueShape): unknown => (typeof shape === "object" ? planKey(shape) : shape);

const wholeValue = (value: Json): Json => value;

/** Identifies parts by numbers, because their paths would be long. Equal answers lead to equal numbers. */
interface Observer {
  ask: Ask<WithVariables>;
  count: number;
}

const trackedPart = (
  observer: Observer,
  bound: Json,
  variable: string,
  place: VariablePath,
  depth: number,
): VariablePart => {
  const number = observer.count++;
  const shape = (): ValueShape => observer.ask(question(`shape ${number}`, place, shapeOf, shapeKey));
  const part = (key: string | number): VariablePart =>
    trackedPart(observer, partOf(bound, key), variable, { of: place, key }, depth + 1);
  return {
    place,
    variable,
    depth,
    bound,
    isNull: () => shape() === "null",
    members: () => {
      const names = shape();
      return typeof names === "object" ? names : undefined;
    },
    member: part,
    items: (check) => {
      const length = shape();
      if (typeof length !== "number") return undefined;
      check(length);
      return Array.from({ length }, (_, i) => part(i));
    },
    value: () => observer.ask(question(`value ${number}`, place, wholeValue, writeJson)),
    described: (name, describe) => observer.ask(question(`${name} ${number}`, place, describe, planKey)),
    get found() {
      return foundInVariable(bound);
    },
  };
};

/** `variables` are those of this request. `close` releases them, because the plan outlives the request. */
export const observeVariables = (
  ask: Ask<WithVariables>,
  variables: VariableValues,
): ObservedVariables & { close(): void } => {
  const observer: Observer = { ask, count: 0 };
  let atHand = variables;
  return {
    get bound() {
      return atHand;
    },
    open: (name) => {
      const value = atHand.get(name);
      const kind = observer.ask(kindQuestion(name));
      if (kind === "absent" || value === undefined) return undefined;
      return "json" in value ? trackedPart(observer, value.json, name, { variable: name }, 0) : value;
    },
    close: () => {
      atHand = new Map();
      observer.ask = () => {
        throw new Error("a variable is read after planning");
      };
    },
  };
};

type Kind = "absent" | "default" | "given";

const kindOf = (variables: VariableValues, name: string): Kind => {
  const value = variables.get(name);
  return value === undefined ? "absent" : "json" in value ? "given" : "default";
};

/** Creates variables without tracking, for values that each request reads again under a cached plan. */
export const withoutTracking = (variables: VariableValues): ObservedVariables =>
  observeVariables((question) => question.of({ variables }), variables);
