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

/** Names of a schema, made when first asked for and kept with the model: nothing else is looked at. */
const perSchema = <Names>(make: (model: Model, schema: string) => Names): ((model: Model, schema: string) => Names) => {
  const models = new WeakMap<Model, Map<string, Names>>();
  return (model, schema) => {
    let schemas = models.get(model);
    if (schemas === undefined) models.set(model, (schemas = new Map()));
    let names = schemas.get(schema);
    if (names === undefined) schemas.set(schema, (names = make(model, schema)));
    return names;
  };
};

const schemaNames = perSchema((model, schema): SchemaNames => {
  const relations = [...model.relations.values()].filter((relation) => relation.schema === schema);
  const sourceNames = new Set(
    relations.filter((relation) => relation.relationships.length > 0).map((relation) => relation.name),
  );
  return {
    relations:
      relations.length < MAX_RELATIONS ? createFuzzySet(relations.map((relation) => relation.name)) : undefined,
    sources: createFuzzySet(sourceNames),
    sourceNames,
  };
});

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

const routineNames = perSchema((model, schema) => {
  const callable = [...model.routines.values()]
    .flat()
    .filter((routine) => routine.schema === schema && isCallable(model, routine));
  return createFuzzySet(callable.map((routine) => routine.name));
});

/** A function of the schema whose name is close. @rule R-RPC-10 R-SC-7 */
export const suggestRoutine = (model: Model, schema: string, name: string): string | undefined =>
  routineNames(model, schema).suggest(name, THRESHOLD.routine);
