/** Writes the computed fields of a relation for `relapi types`. */
import { findComputedField, type Model, type Relation, type Routine } from "../../core/index.ts";

export interface TypeContext {
  readonly model: Model;
  readonly extraSearchPath: readonly string[];
  /** The oids of functions that belong to extensions. */
  readonly extensionFunctions: ReadonlySet<number>;
  /** The dimensions of arrays with more than one, by the relation's oid and the column: `16384.cells`. */
  readonly dimensions: ReadonlyMap<string, number>;
}

/** Returns the functions that clients may select by name beside columns, fields and relationships. @rule R-CMP-1 */
export const listComputedFields = ({ model, extraSearchPath }: TypeContext, relation: Relation): readonly Routine[] => {
  const path = [relation.schema, ...extraSearchPath];
  const names = new Set(
    [...model.routines.values()]
      .flat()
      .flatMap(({ name, parameters }) =>
        parameters.length === 1 && parameters[0]?.type === relation.rowType ? [name] : [],
      ),
  );
  return [...names].flatMap((name) => {
    const computedField = findComputedField(model, relation, name, path);
    return computedField === undefined ? [] : [computedField];
  });
};

/** Returns whether the function returns a single value instead of rows. */
export const returnsSingleValue = (routine: Routine): boolean =>
  routine.returns.relation === undefined && !routine.returns.isSet;

/** Returns the computed fields that `Row` lists beside the columns. */
export const listFieldsBesideColumns = (writer: TypeContext, relation: Relation): readonly Routine[] =>
  listComputedFields(writer, relation).filter(
    (routine) => returnsSingleValue(routine) && relation.columns.every(({ name }) => name !== routine.name),
  );
