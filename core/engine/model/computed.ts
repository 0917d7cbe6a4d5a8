/** Functions of a row that are used like its columns. */
import { routinesOf, type Model, type QualifiedName, type Relation, type Routine } from "./model.ts";

/** By row type, then by name. */
type Fields = ReadonlyMap<number, ReadonlyMap<string, readonly Routine[]>>;

const fieldsOfModels = new WeakMap<Model, Fields>();

const fieldsOf = (model: Model): Fields => {
  const known = fieldsOfModels.get(model);
  if (known !== undefined) return known;
  const fields = new Map<number, Map<string, Routine[]>>();
  for (const routine of [...model.routines.values()].flat()) {
    const [parameter, ...others] = routine.parameters;
    if (parameter === undefined || others.length > 0) continue;
    const ofType = fields.get(parameter.type) ?? new Map<string, Routine[]>();
    fields.set(parameter.type, ofType);
    ofType.set(routine.name, [...(ofType.get(routine.name) ?? []), routine]);
  }
  fieldsOfModels.set(model, fields);
  return fields;
};

/** The computed field `name` of the relation: a function with exactly one parameter, of the relation's row type, in the
 *  first schema of the search path that has one. @rule R-CMP-1 */
export const computedFieldOf = (
  model: Model,
  relation: Relation,
  name: string,
  searchPath: readonly string[],
): Routine | undefined => {
  const named = fieldsOf(model).get(relation.rowType)?.get(name);
  if (named === undefined) return undefined;
  for (const schema of searchPath) {
    const found = named.find((routine) => routine.schema === schema);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** The overload of a computed field that takes rows of the relation. `fits`: what else it must be like. */
export const routineOfRow = (
  model: Model,
  name: QualifiedName,
  relation: Relation | undefined,
  fits: (routine: Routine) => boolean = () => true,
): Routine | undefined => {
  const overloads = routinesOf(model, name).filter(fits);
  return overloads.find(({ parameters }) => parameters.some(({ type }) => type === relation?.rowType)) ?? overloads[0];
};
