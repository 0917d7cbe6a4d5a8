/**
 * `"hint": "Perhaps you meant the table 'sea.vessels'"`: suggests similar names, indexed on first use and cached with
 * the model.
 */
import {
  definePlugin,
  memoize,
  buildNameKey,
  findRelation,
  findRoutines,
  getVisibility,
  type Model,
  type Relation,
} from "../../core/index.ts";
import { nameSuggestionsService, type NameSuggestion, type NameSuggestions } from "./api.ts";
import { createFuzzySet, THRESHOLD, type FuzzySet } from "./fuzzy.ts";
import { isCallable } from "./plan/overload.ts";
import { decodePercent } from "./syntax/parameters.ts";

/** The number of relations in a schema from which relations are no longer suggested. @rule R-FUZ-1 */
const MAX_RELATIONS = 500;

interface SchemaNames {
  /** The relations. Undefined if there are too many. */
  readonly relations: FuzzySet | undefined;
  /** The relations that have relationships. */
  readonly sources: FuzzySet;
  readonly sourceNames: ReadonlySet<string>;
}

/** Computes the names of a schema once for each model. */
const memoizePerSchema = <Names>(
  make: (model: Model, schema: string) => Names,
): ((model: Model, schema: string) => Names) => {
  const getNamesBySchema = memoize((_model: Model) => new Map<string, Names>());
  return (model, schema) => {
    const schemas = getNamesBySchema(model);
    let names = schemas.get(schema);
    if (names === undefined) schemas.set(schema, (names = make(model, schema)));
    return names;
  };
};

const indexSchema = memoizePerSchema((model, schema): SchemaNames => {
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

/** Suggests a relation with a similar name. @rule R-PATH-10 */
const suggestRelation: NameSuggestions["relation"] = (model, schema, name) =>
  indexSchema(model, schema).relations?.suggest(name, THRESHOLD.relation);

const indexTargets = memoize(({ relationships }: Relation) =>
  createFuzzySet(relationships.map((relationship) => relationship.target.name)),
);

/** Suggests names for a relationship that was not found. @rule R-EMB-19 */
const suggestRelationship: NameSuggestions["relationship"] = (model, schema, source, target) => {
  const { sources, sourceNames } = indexSchema(model, schema);
  if (!sourceNames.has(source)) return buildSuggestion(source, sources.suggest(source, THRESHOLD.relationship));
  const sourceRelation = model.relations.get(buildNameKey({ schema, name: source }));
  if (sourceRelation === undefined) return undefined;
  const targets = indexTargets(sourceRelation);
  return targets.has(target) ? undefined : buildSuggestion(target, targets.suggest(target, THRESHOLD.relationship));
};

const buildSuggestion = (misspelt: string, name: string | undefined): NameSuggestion | undefined =>
  name === undefined ? undefined : { suggestion: name, misspelt };

const indexRoutines = memoizePerSchema((model, schema) => {
  const callable = [...model.routines.values()]
    .flat()
    .filter((routine) => routine.schema === schema && isCallable(model, routine));
  return createFuzzySet(callable.map((routine) => routine.name));
});

/** Suggests a function of the schema with a similar name. @rule R-RPC-10 R-SC-7 */
const suggestRoutine: NameSuggestions["routine"] = (model, schema, name) =>
  indexRoutines(model, schema).suggest(name, THRESHOLD.routine);

/** Suggests another overload by its parameters. @rule R-RPC-10 */
const suggestOverload: NameSuggestions["overload"] = (overloads, names) => {
  const lists = overloads.map(({ parameters }) =>
    formatParameters(parameters.map((parameter) => parameter.name).sort()),
  );
  return createFuzzySet(lists).suggest(formatParameters(names), THRESHOLD.argument);
};

const formatParameters = (names: readonly string[]): string => `(${names.join(", ")})`;

/** Suggests `/api/ports` for `/ports` or `/port`, if the caller has a right on the relation. @rule R-PATH-12 */
const suggestPath: NameSuggestions["path"] = (model, session, requestPath) => {
  const [, rpc = "", last = ""] = /(\/rpc)?\/([^/]+)$/.exec(requestPath) ?? [];
  if (last === "") return undefined;
  const visibility = getVisibility(model, session, "rest");
  const schema = model.schemas[0] ?? "public";
  const isSeen = (name: string | undefined): name is string => {
    if (name === undefined) return false;
    if (rpc !== "") return findRoutines(model, { schema, name }).some((routine) => visibility.mayCall(routine));
    const relation = findRelation(model, { schema, name });
    return relation !== undefined && visibility.mayNameRelation(relation);
  };
  const name = decodePercent(last);
  const similarName = [
    name,
    rpc === "" ? suggestRelation(model, schema, name) : suggestRoutine(model, schema, name),
  ].find(isSeen);
  return similarName && `${rpc}/${encodeURIComponent(similarName)}`;
};

/** Adds similar names to the hints of errors. @rule R-FUZ-1 */
export const restSuggestions = definePlugin({
  name: "rest-suggestions",
  requires: ["rest"],
  apply: (_hooks, context) =>
    context.offer(nameSuggestionsService, {
      relation: suggestRelation,
      relationship: suggestRelationship,
      routine: suggestRoutine,
      overload: suggestOverload,
      path: suggestPath,
    }),
});
