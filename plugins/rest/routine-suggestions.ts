/** Names of functions to suggest, indexed when first asked for and kept as long as the model. */
import type { Model } from "../../core/index.ts";
import { createFuzzySet, THRESHOLD, type FuzzySet } from "./fuzzy.ts";
import { isCallable } from "./overload.ts";

const namesOfModels = new WeakMap<Model, Map<string, FuzzySet>>();

/** A function of the schema whose name is close. @rule R-RPC-10 R-SC-7 */
export const suggestRoutine = (model: Model, schema: string, name: string): string | undefined => {
  let schemas = namesOfModels.get(model);
  if (schemas === undefined) {
    schemas = new Map();
    namesOfModels.set(model, schemas);
  }
  let names = schemas.get(schema);
  if (names === undefined) {
    const callable = [...model.routines.values()]
      .flat()
      .filter((routine) => routine.schema === schema && isCallable(model, routine));
    names = createFuzzySet(callable.map((routine) => routine.name));
    schemas.set(schema, names);
  }
  return names.suggest(name, THRESHOLD.routine);
};
