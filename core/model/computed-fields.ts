/** Finds computed fields: functions of a row that are used like columns. */
import { findRoutines, type Model, type QualifiedName, type Relation, type Routine } from "./model.ts";
import { memoize } from "../kernel/memoize.ts";

/** The computed fields by the oid of the row type, then by name. */
type ComputedFields = ReadonlyMap<number, ReadonlyMap<string, readonly Routine[]>>;

/** The row types of a relation and its ancestors, or a composite type that a function returns. */
type RowTypes = Pick<Relation, "rowType" | "ancestorTypes">;

const indexComputedFields = memoize((model: Model): ComputedFields => {
  const fields = new Map<number, Map<string, Routine[]>>();
  for (const routine of [...model.routines.values()].flat()) {
    const [parameter, ...furtherParameters] = routine.parameters;
    if (parameter === undefined || furtherParameters.some(({ hasDefault }) => !hasDefault)) continue;
    const typeFields = fields.get(parameter.type) ?? new Map<string, Routine[]>();
    fields.set(parameter.type, typeFields);
    typeFields.set(routine.name, [...(typeFields.get(routine.name) ?? []), routine]);
  }
  return fields;
});

/** Returns the row types whose functions accept the rows: first their own type, then those of the ancestors. */
export const listRowTypes = ({ rowType, ancestorTypes = [] }: RowTypes): readonly number[] => [
  rowType,
  ...ancestorTypes,
];

/** Returns the computed field `name` of the rows. It is a function with one parameter without a default, which has the
 *  type of the rows or of an ancestor. The nearest ancestor wins, then the first schema of the search path. @rule
 *  R-CMP-1 */
export const findComputedField = (
  model: Model,
  row: RowTypes,
  name: string,
  searchPath: readonly string[],
): Routine | undefined => {
  for (const type of listRowTypes(row)) {
    const routines = indexComputedFields(model).get(type)?.get(name) ?? [];
    for (const schema of searchPath) {
      const [first, ...furtherRoutines] = routines.filter((routine) => routine.schema === schema);
      if (first === undefined) continue;
      return furtherRoutines.reduce(
        (best, routine) => (routine.parameters.length < best.parameters.length ? routine : best),
        first,
      );
    }
  }
  return undefined;
};

/** Returns the overload of a computed field that takes these rows. `fits` is an additional condition on the overload. */
export const findRowRoutine = (
  model: Model,
  name: QualifiedName,
  row: RowTypes | undefined,
  fits: (routine: Routine) => boolean = () => true,
): Routine | undefined => {
  const overloads = findRoutines(model, name).filter(fits);
  for (const rowType of row === undefined ? [] : listRowTypes(row)) {
    const overload = overloads.find(({ parameters }) => parameters.some(({ type }) => type === rowType));
    if (overload !== undefined) return overload;
  }
  return overloads[0];
};
