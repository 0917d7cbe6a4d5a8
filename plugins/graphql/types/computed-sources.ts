/** Finds the functions that are fields of a row. @rule G-CF-1 G-CF-6 G-CF-7 */
import {
  listRowTypes,
  findRelation,
  findRoutines,
  type Model,
  type QualifiedName,
  type Relation,
  type Routine,
} from "../../../core/index.ts";
import { hasPlainParameters, SESSION_NAMES, findSessionArgument } from "./function-sources.ts";
import { formatName, isLegalName } from "./names.ts";
import type { GqlComputedField } from "../value-types.ts";
import type { GqlTableEntry } from "../catalog-types.ts";

type IsServed = (name: QualifiedName) => boolean;
type Warn = (message: string) => void;

const VALUE_KINDS: ReadonlySet<string> = new Set(["base", "array", "domain", "enum", "range", "multirange"]);

interface MatchedRoutine {
  readonly tableArgument: number;
  readonly target?: Relation;
}

/** Returns the match of a routine with a relation, or undefined if the routine is not a computed field of the relation.
 *  `tableArgument` is the name of an argument, by default the first. */
const matchRoutine = (
  model: Model,
  relation: Relation,
  routine: Routine,
  isServed: IsServed,
  tableArgument?: string,
): MatchedRoutine | undefined => {
  if (routine.volatility === "volatile" || !hasPlainParameters(model, routine)) return undefined;
  const index =
    tableArgument === undefined ? 0 : routine.parameters.findIndex((parameter) => parameter.name === tableArgument);
  const type = routine.parameters[index]?.type;
  if (type === undefined || !listRowTypes(relation).includes(type)) return undefined;
  const { returns } = routine;
  if (returns.isSet) {
    const target = returns.relation && isServed(returns.relation) ? findRelation(model, returns.relation) : undefined;
    return target && { tableArgument: index, target };
  }
  const kind = model.types.get(returns.type)?.kind;
  return kind !== undefined && VALUE_KINDS.has(kind) && returns.relation === undefined
    ? { tableArgument: index }
    : undefined;
};

const createField = (
  model: Model,
  name: string,
  routine: Routine,
  fit: MatchedRoutine,
  session: ReadonlySet<string>,
  comment: string | null,
): GqlComputedField => {
  const sessionArgument = findSessionArgument(model, routine, session);
  return {
    name,
    routine,
    ...fit,
    comment,
    ...(sessionArgument === undefined || sessionArgument === fit.tableArgument ? {} : { sessionArgument }),
  };
};

const buildDefaultComment = (routine: Routine): string =>
  routine.comment ?? `A computed field, executes function "${formatName(routine)}"`;

/** Returns every function that matches the relation, under its own name. A column or relationship with that name takes
 *  precedence. */
export const buildDefaultComputedFields = (
  model: Model,
  relation: Relation,
  takenNames: ReadonlySet<string>,
  isServed: IsServed,
): GqlComputedField[] => {
  const usedNames = new Set(takenNames);
  const exposedRoutines = [...model.routines.values()].flat().filter(({ schema }) => model.schemas.includes(schema));
  return listRowTypes(relation)
    .flatMap((type) =>
      exposedRoutines
        .filter(({ parameters }) => parameters[0]?.type === type)
        .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.schema < b.schema ? -1 : 1)),
    )
    .flatMap((routine) => {
      const fit = matchRoutine(model, relation, routine, isServed);
      if (fit === undefined || usedNames.has(routine.name) || !isLegalName(routine.name)) return [];
      usedNames.add(routine.name);
      return [createField(model, routine.name, routine, fit, SESSION_NAMES, buildDefaultComment(routine))];
    });
};

export const buildEntryComputedFields = (
  model: Model,
  relation: Relation,
  entry: GqlTableEntry,
  takenNames: ReadonlySet<string>,
  isServed: IsServed,
  warn: Warn,
): GqlComputedField[] =>
  entry.computedFields.flatMap(({ name, routine: routineName, tableArgument, sessionArgument, comment }) => {
    const fits = findRoutines(model, routineName).flatMap((routine) => {
      const fit = matchRoutine(model, relation, routine, isServed, tableArgument);
      return fit === undefined ? [] : [{ routine, fit }];
    });
    const [first] = fits;
    if (first === undefined || fits.length > 1 || takenNames.has(name) || !isLegalName(name)) {
      warn(
        `computed field ${name} of ${formatName(relation)} is left out of GraphQL: its function is unsuitable, or its name is taken`,
      );
      return [];
    }
    return [
      createField(
        model,
        name,
        first.routine,
        first.fit,
        new Set(sessionArgument === undefined ? [] : [sessionArgument]),
        comment === undefined ? buildDefaultComment(first.routine) : comment || null,
      ),
    ];
  });
