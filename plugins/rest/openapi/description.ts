/** The description of a schema for one role, independent of the OpenAPI version. */
import {
  relationOf,
  routinesOf,
  type Model,
  type Relation,
  type Routine,
  type RoutineParameter,
  type Visibility,
} from "../../../core/index.ts";
import type { RestTarget } from "../api.ts";
import { isCallable, takesRaw } from "../plan/overload.ts";

export interface Description {
  readonly model: Model;
  readonly schema: string;
  /** The visibility of the caller. Undefined if privileges do not matter. */
  readonly visibility: Visibility | undefined;
  readonly hasSecurity: boolean;
  readonly version: string;
  /** The methods that plugins serve for a target. */
  readonly methodsOf: (target: RestTarget) => ReadonlyMap<string, unknown>;
  /** Whether a relation or function is left out. */
  readonly leavesOut?: (member: Relation | Routine) => boolean;
}

/** A JSON object. Undefined members are not written. */
export type Part = Readonly<Record<string, unknown>>;

/** The members of the document. Undefined items mark points at which other work may run. */
export type Parts = Generator<readonly [string, unknown] | undefined, void, void>;

/** Splits a comment into the first line and the rest without leading line ends. @rule R-OAS-3 */
export const splitComment = (
  comment: string | undefined,
): { readonly summary?: string; readonly description?: string } => {
  if (comment === undefined) return {};
  const [summary = "", ...lines] = comment.split("\n");
  const description = lines.join("\n").replace(/^\n+/, "");
  return { summary, ...(description !== "" && { description }) };
};

export const objectSchema = (
  properties: readonly (readonly [string, Part])[],
  required: readonly string[],
  description?: string,
): Part => ({
  type: "object",
  description,
  required: required.length === 0 ? undefined : required,
  properties: Object.fromEntries(properties),
});

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

/** The relations with their visible columns, sorted by name. @rule R-OAS-2 R-NAM-3 */
export const describedRelations = function* ({
  model,
  schema,
  visibility,
  leavesOut,
}: Description): Generator<undefined, readonly Relation[], void> {
  const relations: Relation[] = [];
  for (const relation of model.relations.values()) {
    yield;
    if (relation.schema !== schema || leavesOut?.(relation) === true) continue;
    if (visibility?.knowsRelation(relation) === false) continue;
    const columns = relation.columns.filter((column) => visibility?.knows(relation, column) !== false);
    relations.push(columns.length === relation.columns.length ? relation : { ...relation, columns });
  }
  return relations.sort(byName);
};

/** One function per name, because overloads share a path. */
const describedRoutines = ({ model, schema, visibility, leavesOut }: Description): readonly Routine[] =>
  [...model.routines.values()]
    .flatMap(
      (overloads) =>
        overloads.find(
          (routine) =>
            routine.schema === schema &&
            leavesOut?.(routine) !== true &&
            isCallable(model, routine) &&
            visibility?.calls(routine) !== false,
        ) ?? [],
    )
    .sort(byName);

/** The path with the operations that plugins serve. Undefined if they serve none of them. */
const pathOf = (
  path: string,
  operations: Part,
  methods: ReadonlyMap<string, unknown>,
): readonly [string, Part] | undefined => {
  const served = Object.entries(operations).filter(([method]) => methods.has(method.toUpperCase()));
  return served.length === 0 ? undefined : [path, Object.fromEntries(served)];
};

/** The paths of relations. `operationsOf` has a member for each method. */
export const relationPaths = function* (
  { model, methodsOf }: Description,
  relations: readonly Relation[],
  operationsOf: (relation: Relation) => Part,
): Parts {
  for (const relation of relations)
    yield pathOf(
      `/${relation.name}`,
      operationsOf(relation),
      methodsOf({ kind: "relation", relation: relationOf(model, relation) ?? relation }),
    );
};

/** How a function is called. */
export interface Call {
  readonly routine: Routine;
  /** Whether the whole body is the only argument. */
  readonly takesBody: boolean;
  readonly parameters: readonly RoutineParameter[];
  /** The names of parameters without a default. */
  readonly required: readonly string[];
}

const callOf = (routine: Routine): Call => {
  const takesBody = takesRaw(routine);
  const parameters = takesBody ? [] : routine.parameters;
  const required = parameters.filter(({ hasDefault }) => !hasDefault).map(({ name }) => name);
  return { routine, takesBody, parameters, required };
};

/** The paths of functions. A function that may write has only POST. */
export const routinePaths = function* (
  description: Description,
  operationsOf: (call: Call) => { readonly get: Part; readonly post: Part },
): Parts {
  const { model, methodsOf } = description;
  for (const routine of describedRoutines(description)) {
    const call = callOf(routine);
    const { get, post } = operationsOf(call);
    yield pathOf(
      `/rpc/${routine.name}`,
      routine.volatility === "volatile" || call.takesBody ? { post } : { get, post },
      methodsOf({ kind: "routine", name: routine.name, routines: routinesOf(model, routine) }),
    );
  }
};
