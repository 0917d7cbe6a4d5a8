/** Finds the relations and functions that a document describes for one role, for each version of OpenAPI. */
import {
  findRelation,
  findRoutines,
  type Model,
  type Relation,
  type Routine,
  type RoutineParameter,
  type Visibility,
} from "../../../core/index.ts";
import { quoteRestValue, type RestTarget } from "../api.ts";
import { isCallable, takesBodyAsArgument } from "../plan/overload.ts";

export interface Description {
  readonly model: Model;
  readonly schema: string;
  /** The visibility of the caller. Undefined if privileges do not matter. */
  readonly visibility: Visibility | undefined;
  readonly hasSecurity: boolean;
  readonly version: string;
  /** Returns the methods that plugins serve for a target. */
  readonly findMethods: (target: RestTarget) => ReadonlyMap<string, unknown>;
  /** Returns whether the document leaves out a relation or function. */
  readonly isLeftOut?: (member: Relation | Routine) => boolean;
}

/** A JSON object. Undefined members are not written. */
export type OpenapiObject = Readonly<Record<string, unknown>>;

/** Yields the members of a JSON object. An undefined item marks a point at which other work may run. */
export type MemberGenerator = Generator<readonly [string, unknown] | undefined, void, void>;

/** Splits a comment into the first line and the rest without leading line ends. @rule R-OAS-3 */
export const splitComment = (
  comment: string | undefined,
): { readonly summary?: string; readonly description?: string } => {
  if (comment === undefined) return {};
  const [summary = "", ...lines] = comment.split("\n");
  const description = lines.join("\n").replace(/^\n+/, "");
  return { summary, ...(description !== "" && { description }) };
};

export const buildObjectSchema = (
  properties: readonly (readonly [string, OpenapiObject])[],
  requiredNames: readonly string[],
  description?: string,
): OpenapiObject => ({
  type: "object",
  description,
  required: requiredNames.length === 0 ? undefined : requiredNames,
  properties: Object.fromEntries(properties),
});

const compareNames = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

/** Returns the visible relations with only their visible columns, sorted by name. @rule R-OAS-2 R-NAM-3 */
export const findDescribedRelations = function* ({
  model,
  schema,
  visibility,
  isLeftOut,
}: Description): Generator<undefined, readonly Relation[], void> {
  const relations: Relation[] = [];
  for (const relation of model.relations.values()) {
    yield;
    if (relation.schema !== schema || isLeftOut?.(relation) === true) continue;
    if (visibility?.mayNameRelation(relation) === false) continue;
    const columns = relation.columns.filter((column) => visibility?.mayNameColumn(relation, column) !== false);
    relations.push(columns.length === relation.columns.length ? relation : { ...relation, columns });
  }
  return relations.sort(compareNames);
};

/** Returns the visible functions, sorted by name. Overloads share a path, so only the first one is
 *  returned. */
const findDescribedRoutines = ({ model, schema, visibility, isLeftOut }: Description): readonly Routine[] =>
  [...model.routines.values()]
    .flatMap(
      (overloads) =>
        overloads.find(
          (routine) =>
            routine.schema === schema &&
            isLeftOut?.(routine) !== true &&
            isCallable(model, routine) &&
            visibility?.mayCall(routine) !== false,
        ) ?? [],
    )
    .sort(compareNames);

/** Returns the path with the operations that plugins serve, or undefined if plugins serve no operation. */
const buildPath = (
  path: string,
  operations: OpenapiObject,
  methods: ReadonlyMap<string, unknown>,
): readonly [string, OpenapiObject] | undefined => {
  const servedOperations = Object.entries(operations).filter(([method]) => methods.has(method.toUpperCase()));
  return servedOperations.length === 0 ? undefined : [path, Object.fromEntries(servedOperations)];
};

/** Yields the paths of relations. The result of `buildOperations` has a member for each method, such as `get`. */
export const buildRelationPaths = function* (
  { model, findMethods }: Description,
  relations: readonly Relation[],
  buildOperations: (relation: Relation) => OpenapiObject,
): MemberGenerator {
  for (const relation of relations)
    yield buildPath(
      `/${relation.name}`,
      buildOperations(relation),
      findMethods({ kind: "relation", relation: findRelation(model, relation) ?? relation }),
    );
};

/** A function and its arguments. */
export interface DescribedCall {
  readonly routine: Routine;
  /** True if the whole body is the only argument. */
  readonly takesBody: boolean;
  readonly parameters: readonly RoutineParameter[];
  /** The names of parameters without a default. */
  readonly requiredNames: readonly string[];
}

const buildCall = (routine: Routine): DescribedCall => {
  const takesBody = takesBodyAsArgument(routine);
  const parameters = takesBody ? [] : routine.parameters;
  const requiredNames = parameters.filter(({ hasDefault }) => !hasDefault).map(({ name }) => name);
  return { routine, takesBody, parameters, requiredNames };
};

/** Yields the paths of functions. A volatile function, which may write, has only POST. */
export const buildRoutinePaths = function* (
  description: Description,
  buildOperations: (call: DescribedCall) => { readonly get: OpenapiObject; readonly post: OpenapiObject },
): MemberGenerator {
  const { model, findMethods } = description;
  for (const routine of findDescribedRoutines(description)) {
    const call = buildCall(routine);
    const { get, post } = buildOperations(call);
    yield buildPath(
      `/rpc/${routine.name}`,
      routine.volatility === "volatile" || call.takesBody ? { post } : { get, post },
      findMethods({ kind: "routine", name: routine.name, routines: findRoutines(model, routine) }),
    );
  }
};

/** Names that a filter accepts without quotes. @rule R-LEX-1 */
const UNQUOTED_NAME = /^(?! )[\p{L}0-9_$ ]+(?:-[\p{L}0-9_$ ]+)*(?<! )$/u;

/** Parameters that are no filters. @rule R-URL-3 */
const RESERVED_PARAMETERS = new Set(["select", "columns", "on_conflict", "order", "limit", "offset", "and", "or"]);

/** Returns the name of the parameter that filters a column: `"order"` with its quotes. @rule R-OAS-1a */
export const buildFilterParameterName = (column: string): string =>
  UNQUOTED_NAME.test(column) && !RESERVED_PARAMETERS.has(column) ? column : quoteRestValue(column);
