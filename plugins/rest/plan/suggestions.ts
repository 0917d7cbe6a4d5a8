/** Names a model has to suggest, indexed on first use and cached with the model. */
import { nameKey, type Model, type Relation } from "../../../core/index.ts";
import type { Instead } from "../errors.ts";
import { createFuzzySet, THRESHOLD, type FuzzySet } from "./fuzzy.ts";
import { isCallable } from "./overload.ts";

/** Where a schema has as many relations, none is suggested. @rule R-FUZ-1 */
const MAX_RELATIONS = 500;

interface SchemaNames {
  /** Undefined: too many. */
  readonly relations: FuzzySet | undefined;
  /** Relations that have relationships. */
  readonly sources: FuzzySet;
  readonly sourceNames: ReadonlySet<string>;
}

const namesOfModels = new WeakMap<Model, Map<string, SchemaNames>>();

const schemaNames = (model: Model, schema: string): SchemaNames => {
  let schemas = namesOfModels.get(model);
  if (schemas === undefined) {
    schemas = new Map();
    namesOfModels.set(model, schemas);
  }
  let names = schemas.get(schema);
  if (names === undefined) {
    const relations = [...model.relations.values()].filter((relation) => relation.schema === schema);
    const sourceNames = new Set(
      relations.filter((relation) => relation.relationships.length > 0).map((relation) => relation.name),
    );
    names = {
      relations:
        relations.length < MAX_RELATIONS ? createFuzzySet(relations.map((relation) => relation.name)) : undefined,
      sources: createFuzzySet(sourceNames),
      sourceNames,
    };
    schemas.set(schema, names);
  }
  return names;
};

/** A relation whose name is close. @rule R-PATH-10 */
export const suggestRelation = (model: Model, schema: string, name: string): string | undefined =>
  schemaNames(model, schema).relations?.suggest(name, THRESHOLD.relation);

const targetsOf = new WeakMap<Relation, FuzzySet>();

/** For a relationship that was not found. @rule R-EMB-19 */
export const suggestRelationship = (
  model: Model,
  schema: string,
  source: string,
  target: string,
): Instead | undefined => {
  const { sources, sourceNames } = schemaNames(model, schema);
  if (!sourceNames.has(source)) return insteadOf(source, sources.suggest(source, THRESHOLD.relationship));
  const relation = model.relations.get(nameKey({ schema, name: source }));
  if (relation === undefined) return undefined;
  let targets = targetsOf.get(relation);
  if (targets === undefined) {
    targets = createFuzzySet(relation.relationships.map((relationship) => relationship.target.name));
    targetsOf.set(relation, targets);
  }
  return targets.has(target) ? undefined : insteadOf(target, targets.suggest(target, THRESHOLD.relationship));
};

const insteadOf = (instead: string, name: string | undefined): Instead | undefined =>
  name === undefined ? undefined : { name, instead };

const routinesOfModels = new WeakMap<Model, Map<string, FuzzySet>>();

/** A function of the schema whose name is close. @rule R-RPC-10 R-SC-7 */
export const suggestRoutine = (model: Model, schema: string, name: string): string | undefined => {
  let schemas = routinesOfModels.get(model);
  if (schemas === undefined) {
    schemas = new Map();
    routinesOfModels.set(model, schemas);
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
