/** Chooses the overload of a call by the names of the arguments, never by their types. */
import type { Model, PgType, Routine, RoutineParameter } from "../../../core/index.ts";
import { routineAmbiguous } from "../errors.ts";
import type { CallShape } from "../request.ts";

interface ChosenRoutine {
  readonly routine: Routine;
  /** True if the body is the single unnamed argument (R-RPC-6). */
  readonly takesBody: boolean;
}

const BODY_TYPES: Readonly<Record<NonNullable<CallShape["bodyType"]>, readonly string[]>> = {
  json: ["json", "jsonb"],
  text: ["text"],
  xml: ["xml"],
  bytea: ["bytea"],
};

/** Returns whether the function has a single unnamed parameter, which takes the body. @rule R-RPC-6 */
export const takesBodyAsArgument = (routine: Routine): boolean =>
  routine.parameters.length === 1 && routine.parameters[0]?.name === "";

/** Returns the type of the argument that is the whole body. */
const findBodyType = (model: Model, routine: Routine): PgType | undefined =>
  takesBodyAsArgument(routine) ? model.types.get(routine.parameters[0]?.type ?? 0) : undefined;

/** Returns whether a request can name all arguments, or send the body as the only argument. @rule R-RPC-1 */
export const isCallable = (model: Model, routine: Routine): boolean =>
  routine.parameters.every((parameter) => parameter.name !== "") ||
  Object.values(BODY_TYPES)
    .flat()
    .includes(findBodyType(model, routine)?.name ?? "");

const matchesNames = (routine: Routine, { names, bodyType }: CallShape): boolean => {
  if (takesBodyAsArgument(routine)) return false;
  if (routine.parameters.length === 0) return names.length === 0 && (bodyType === undefined || bodyType === "json");
  const parameterNames = new Set(routine.parameters.map((parameter) => parameter.name));
  return (
    names.every((name) => parameterNames.has(name)) &&
    routine.parameters.every((parameter) => parameter.hasDefault || names.includes(parameter.name))
  );
};

/**
 * Returns the declared name of a type. Casts distinguish `character` and `bit` without a length from the types of
 * length one, so the names do too.
 */
export const buildDeclaredName = ({ schema, sqlName }: PgType): string =>
  schema === "pg_catalog" ? sqlName.replace(/^bpchar(?=$|\[)/, "character").replace(/^"bit"/, "bit") : sqlName;

/** Returns the signature with declared types: `s.f(a => integer)`. An unnamed parameter shows only its type. */
const buildSignature = (model: Model, { schema, name, parameters }: Routine): string => {
  const describeType = ({ type, sqlType }: RoutineParameter): string => {
    const declaredType = model.types.get(type);
    return declaredType === undefined ? sqlType : buildDeclaredName(declaredType);
  };
  return `${schema}.${name}(${parameters.map((parameter) => `${parameter.name} => ${describeType(parameter)}`).join(", ")})`;
};

/** Builds the error that lists the signatures of all candidates. @rule R-RPC-8 */
const buildRoutineAmbiguityError = (model: Model, candidates: readonly Routine[]): Error => {
  const sortedCandidates = [...candidates].sort((a, b) => a.parameters.length - b.parameters.length);
  return routineAmbiguous(sortedCandidates.map((routine) => buildSignature(model, routine)));
};

/**
 * Chooses among all routines of a name. Returns undefined if no routine fits. @throws RelApiError `ambiguous-routine`
 * @rule R-RPC-7
 */
export const chooseRoutine = (
  model: Model,
  routines: readonly Routine[],
  call: CallShape,
): ChosenRoutine | undefined => {
  const matches = routines.filter((routine) => matchesNames(routine, call));
  if (matches.length > 1) throw buildRoutineAmbiguityError(model, matches);
  if (matches[0] !== undefined) return { routine: matches[0], takesBody: false };
  const { bodyType } = call;
  const matching =
    bodyType === undefined
      ? []
      : routines.filter((routine) => BODY_TYPES[bodyType].includes(findBodyType(model, routine)?.name ?? ""));
  if (matching.length > 1) throw buildRoutineAmbiguityError(model, matching);
  return matching[0] === undefined ? undefined : { routine: matching[0], takesBody: true };
};
