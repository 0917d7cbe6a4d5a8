/** Computed fields of a relation, in what `relapi types` prints. */
import { computedFieldOf, type Model, type Relation, type Routine } from "../../core/index.ts";

export interface Writer {
  readonly model: Model;
  readonly extraSearchPath: readonly string[];
  /** oids of functions that extensions brought. */
  readonly ofExtensions: ReadonlySet<number>;
  /** Of arrays with more than one, by the relation's oid and the column: `16384.cells`. */
  readonly dimensions: ReadonlyMap<string, number>;
}

/** What clients select by name beside the columns, fields and relationships. @rule R-CMP-1 */
export const computedFieldsOf = ({ model, extraSearchPath }: Writer, relation: Relation): readonly Routine[] => {
  const path = [relation.schema, ...extraSearchPath];
  const names = new Set(
    [...model.routines.values()]
      .flat()
      .flatMap(({ name, parameters }) =>
        parameters.length === 1 && parameters[0]?.type === relation.rowType ? [name] : [],
      ),
  );
  return [...names].flatMap((name) => {
    const found = computedFieldOf(model, relation, name, path);
    return found === undefined ? [] : [found];
  });
};

/** One value, not rows. */
export const isField = (routine: Routine): boolean => routine.returns.relation === undefined && !routine.returns.isSet;

/** Those that stand in `Row` beside the columns. */
export const fieldsBesideColumns = (writer: Writer, relation: Relation): readonly Routine[] =>
  computedFieldsOf(writer, relation).filter(
    (routine) => isField(routine) && relation.columns.every(({ name }) => name !== routine.name),
  );
