/** Tracks reads of variables. Every read of a value in planning is a cache question, whose answer becomes part of the
 *  plan's cache key. Values that are only bound are not read, so one plan serves all of them. */
import type { ValueNode } from "graphql";
import { defineCacheQuestion, planKey, type Ask, type Json, type CacheQuestion } from "../../../core/index.ts";
import { describeValue, isPlainObject } from "../values/leaf.ts";
import { writeJson } from "../values/numbers.ts";
import type { VariableValues } from "./variables.ts";

/** A variable, or a key inside a variable path. */
type VariablePath = { readonly variable: string } | { readonly parent: VariablePath; readonly key: string | number };

/** A variable part: a variable, or a value inside one. */
export interface VariablePart {
  readonly path: VariablePath;
  readonly variable: string;
  /** The number of objects and lists around the part. */
  readonly depth: number;
  isNull(): boolean;
  /** Returns the member names of an object, in order, or undefined for other values. */
  members(): readonly string[] | undefined;
  member(name: string): VariablePart;
  /** Returns the items of a list, or undefined for other values. `check` may reject the number of items before they are
   *  processed. */
  items(check: (count: number) => void): readonly VariablePart[] | undefined;
  /** Returns the whole value. */
  value(): Json;
  /** Returns the result of `describe`. `name` identifies the description. */
  describe<Description>(name: string, describe: (value: Json) => Description): Description;
  /** The value as messages describe it. A request that ends with such a message is not cached. */
  readonly description: string;
  /** The value to bind. */
  readonly boundValue: Json;
}

export interface ObservedVariables {
  /** Returns the value of the variable or its default, or undefined if the variable has neither. */
  open(name: string): VariablePart | { readonly literal: ValueNode } | undefined;
  /** The values of the variables, which are only bound. */
  readonly boundValues: VariableValues;
}

export interface WithVariables {
  readonly variables: VariableValues;
}

const getMember = (value: Json, key: string | number): Json =>
  (value as Readonly<Record<string | number, Json>>)[key] as Json; // earlier questions have checked the container

/** Returns the value at that path in other values of the variables. */
export const findValue = (variables: VariableValues, path: VariablePath): Json => {
  if ("parent" in path) return getMember(findValue(variables, path.parent), path.key);
  const value = variables.get(path.variable);
  return value !== undefined && "json" in value ? value.json : null;
};

/** The member names of an object, the length of a list, or the kind of another value. */
type ValueShape = readonly string[] | number | "null" | "leaf";

const findShape = (value: Json): ValueShape => {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length;
  return isPlainObject(value) ? Object.keys(value) : "leaf";
};

// The cache keeps questions with the closures of their functions. The functions below therefore create the questions,
// and their closures contain only the path.

const createQuestion = <Answer>(
  name: string,
  path: VariablePath,
  buildAnswer: (value: Json) => Answer,
  key: (answer: Answer) => unknown,
): CacheQuestion<WithVariables, Answer> =>
  defineCacheQuestion(name, ({ variables }) => buildAnswer(findValue(variables, path)), key);

const createKindQuestion = (name: string): CacheQuestion<WithVariables, VariableState> =>
  defineCacheQuestion(`kind of ${name}`, ({ variables }) => findKind(variables, name));

const buildShapeKey = (shape: ValueShape): unknown => (typeof shape === "object" ? planKey(shape) : shape);

const wholeValue = (value: Json): Json => value;

/** Identifies parts by numbers, because their paths would be long. Equal answers lead to equal numbers. */
interface Observer {
  ask: Ask<WithVariables>;
  count: number;
}

const createTrackedPart = (
  observer: Observer,
  boundValue: Json,
  variable: string,
  path: VariablePath,
  depth: number,
): VariablePart => {
  const number = observer.count++;
  const askShape = (): ValueShape => observer.ask(createQuestion(`shape ${number}`, path, findShape, buildShapeKey));
  const createPart = (key: string | number): VariablePart =>
    createTrackedPart(observer, getMember(boundValue, key), variable, { parent: path, key }, depth + 1);
  return {
    path,
    variable,
    depth,
    boundValue,
    isNull: () => askShape() === "null",
    members: () => {
      const names = askShape();
      return typeof names === "object" ? names : undefined;
    },
    member: createPart,
    items: (check) => {
      const length = askShape();
      if (typeof length !== "number") return undefined;
      check(length);
      return Array.from({ length }, (_, i) => createPart(i));
    },
    value: () => observer.ask(createQuestion(`value ${number}`, path, wholeValue, writeJson)),
    describe: (name, describe) => observer.ask(createQuestion(`${name} ${number}`, path, describe, planKey)),
    get description() {
      return describeValue(boundValue);
    },
  };
};

/** Tracks the `variables` of this request. `close` releases them, because the plan outlives the request. */
export const observeVariables = (
  ask: Ask<WithVariables>,
  variables: VariableValues,
): ObservedVariables & { close(): void } => {
  const observer: Observer = { ask, count: 0 };
  let currentVariables = variables;
  return {
    get boundValues() {
      return currentVariables;
    },
    open: (name) => {
      const value = currentVariables.get(name);
      const kind = observer.ask(createKindQuestion(name));
      if (kind === "absent" || value === undefined) return undefined;
      return "json" in value ? createTrackedPart(observer, value.json, name, { variable: name }, 0) : value;
    },
    close: () => {
      currentVariables = new Map();
      observer.ask = () => {
        throw new Error("a variable is read after planning");
      };
    },
  };
};

type VariableState = "absent" | "default" | "given";

const findKind = (variables: VariableValues, name: string): VariableState => {
  const value = variables.get(name);
  return value === undefined ? "absent" : "json" in value ? "given" : "default";
};

/** Creates variables without tracking, for values that each request reads again under a cached plan. */
export const createUntrackedVariables = (variables: VariableValues): ObservedVariables =>
  observeVariables((question) => question.read({ variables }), variables);
