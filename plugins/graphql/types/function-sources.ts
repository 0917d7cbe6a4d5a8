/** Finds the functions that are root fields. @rule G-FN-1 G-FN-2 G-FN-6 G-FN-10 G-MET-10 */
import {
  findRelation,
  findRoutines,
  type Model,
  type QualifiedName,
  type Relation,
  type Routine,
} from "../../../core/index.ts";
import { compareNames, buildDefaultPart, formatName, isLegalName, type NameBuilder } from "./names.ts";
import type { GqlFunction, GqlFunctionEntry } from "../catalog-types.ts";

type Warn = (message: string) => void;

export const SESSION_NAMES: ReadonlySet<string> = new Set(["hasura_session", "session_variables"]);

const isJsonType = (model: Model, oid: number): boolean => {
  const name = model.types.get(oid)?.name;
  return name === "json" || name === "jsonb";
};

/** Returns the index of the argument for the session variables. It has one of the `names` and a JSON type. @rule
 *  G-FN-6 */
export const findSessionArgument = (model: Model, routine: Routine, names: ReadonlySet<string>): number | undefined => {
  const index = routine.parameters.findIndex(
    (parameter) => names.has(parameter.name) && isJsonType(model, parameter.type),
  );
  return index === -1 ? undefined : index;
};

export const hasPlainParameters = (model: Model, routine: Routine): boolean =>
  !routine.returns.hasOutParameters &&
  routine.parameters.every(
    (parameter) => parameter.mode === "in" && model.types.get(parameter.type)?.kind !== "pseudo",
  );

const findReturnedRelation = (
  model: Model,
  routine: Routine,
  isServed: (name: QualifiedName) => boolean,
): Relation | undefined => {
  const { relation } = routine.returns;
  return relation !== undefined && hasPlainParameters(model, routine) && isServed(relation)
    ? findRelation(model, relation)
    : undefined;
};

/** Returns the only function of a name that fits. Undefined if several functions fit. */
const findFittingFunction = (
  model: Model,
  routines: readonly Routine[],
  isServed: (name: QualifiedName) => boolean,
  warn: Warn,
): { routine: Routine; relation: Relation } | undefined => {
  const fits = routines.flatMap((routine) => {
    const relation = findReturnedRelation(model, routine, isServed);
    return relation === undefined ? [] : [{ routine, relation }];
  });
  // The list has at least two elements.
  if (fits.length > 1) warn(`function ${formatName(fits[0]!.routine)} is left out of GraphQL: it is overloaded`);
  return fits.length === 1 ? fits[0] : undefined;
};

/** Drops functions whose names are illegal or taken, and reserves the names of the others. @rule G-NAM-3 */
const dropTakenNames = (
  functions: readonly GqlFunction[],
  names: NameBuilder,
  takenRoots: Set<string>,
  warn: Warn,
): GqlFunction[] =>
  functions.filter(({ namePart, rootFields, routine }) => {
    const root = rootFields.function?.name ?? names.rootName(namePart);
    if (!isLegalName(namePart.text) || !isLegalName(root) || takenRoots.has(root)) {
      warn(
        `function ${formatName(routine)} is left out of GraphQL: ${takenRoots.has(root) ? "the name of its root field is taken" : "its name is not a valid GraphQL name"}`,
      );
      return false;
    }
    takenRoots.add(root);
    return true;
  });

export const listDefaultFunctions = (
  model: Model,
  isServed: (name: QualifiedName) => boolean,
  names: NameBuilder,
  takenRoots: Set<string>,
  warn: Warn,
): GqlFunction[] => {
  const functions = [...model.routines.values()]
    .filter((routines) => routines[0] !== undefined && model.schemas.includes(routines[0].schema))
    .flatMap((routines) => {
      const match = findFittingFunction(model, routines, isServed, warn);
      return match === undefined ? [] : [match];
    })
    .sort((a, b) => compareNames(a.routine, b.routine))
    .map(({ routine, relation }): GqlFunction => {
      const sessionArgument = findSessionArgument(model, routine, SESSION_NAMES);
      return {
        routine,
        relation,
        namePart: buildDefaultPart(routine),
        rootFields: {},
        comment: routine.comment,
        isMutation: routine.volatility === "volatile",
        ...(sessionArgument === undefined ? {} : { sessionArgument }),
      };
    });
  return dropTakenNames(functions, names, takenRoots, warn);
};

export const listEntryFunctions = (
  model: Model,
  entries: readonly GqlFunctionEntry[],
  isServed: (name: QualifiedName) => boolean,
  names: NameBuilder,
  takenRoots: Set<string>,
  warn: Warn,
): GqlFunction[] => {
  const functions = entries
    .flatMap((entry): GqlFunction[] => {
      const match = findFittingFunction(model, findRoutines(model, entry.routine), isServed, warn);
      if (match === undefined) return [];
      const { routine, relation } = match;
      const sessionArgument = findSessionArgument(
        model,
        routine,
        new Set(entry.sessionArgument === undefined ? [] : [entry.sessionArgument]),
      );
      return [
        {
          routine,
          relation,
          namePart:
            entry.customName === undefined ? buildDefaultPart(routine) : { text: entry.customName, isCustom: true },
          rootFields: entry.rootFields ?? {},
          comment: entry.comment === undefined ? routine.comment : entry.comment || null,
          isMutation:
            entry.exposedAs === undefined ? routine.volatility === "volatile" : entry.exposedAs === "mutation",
          ...(sessionArgument === undefined ? {} : { sessionArgument }),
        },
      ];
    })
    .sort((a, b) => compareNames(a.routine, b.routine));
  return dropTakenNames(functions, names, takenRoots, warn);
};
