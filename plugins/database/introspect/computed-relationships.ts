/** Adds relationships that are functions of a row. `create function sea.flagship(sea.ports) returns sea.vessels`:
 *  `ports?select=flagship(name)`. */
import {
  definePlugin,
  buildNameKey,
  isSameName,
  type Model,
  type QualifiedName,
  type Relation,
  type Relationship,
  type Routine,
} from "../../../core/index.ts";

/** Returns computed relationships by `buildNameKey` of the argument's relation. Source and function are in the same exposed
 *  schema, and the target is in any exposed schema. @rule R-REL-8 R-REL-9 */
const deriveComputedRelationships = (model: Model): ReadonlyMap<string, readonly Relationship[]> => {
  const exposedSchemas = new Set(model.schemas);
  const bySource = new Map<string, Relationship[]>();
  for (const overloads of model.routines.values()) {
    for (const routine of overloads) {
      const source = findArgumentRelation(model, routine);
      const target = routine.returns.relation;
      if (source === undefined || target === undefined || source.schema !== routine.schema) continue;
      if (!exposedSchemas.has(routine.schema) || !exposedSchemas.has(target.schema)) continue;
      const list = bySource.get(buildNameKey(source)) ?? [];
      list.push(buildComputed(routine, source, target));
      bySource.set(buildNameKey(source), list);
    }
  }
  return bySource;
};

/** Returns the relation whose row is the only argument. */
const findArgumentRelation = (model: Model, routine: Routine): QualifiedName | undefined => {
  const [parameter, ...furtherParameters] = routine.parameters;
  return parameter === undefined || furtherParameters.length > 0
    ? undefined
    : model.types.get(parameter.type)?.relation;
};

const buildComputed = (routine: Routine, source: QualifiedName, target: QualifiedName): Relationship => {
  const isToOne = !routine.returns.isSet || routine.rows === 1;
  return {
    id: `${routine.name}()`,
    cardinality: isToOne ? "many-to-one" : "one-to-many",
    isToOne,
    source: { schema: source.schema, name: source.name },
    target: { schema: target.schema, name: target.name },
    columns: [],
    constraint: "",
    isOwnKey: false,
    routine: { schema: routine.schema, name: routine.name },
  };
};

/** Returns the relation with its computed relationships. Computed relationships replace detected relationships whose
 *  target has the name of the function. */
const addComputed = (relation: Relation, newRelationships: readonly Relationship[]): Relation => {
  const isReplaced = (relationship: Relationship): boolean =>
    relationship.routine === undefined &&
    newRelationships.some(({ routine }) => routine !== undefined && isSameName(routine, relationship.target));
  return {
    ...relation,
    relationships: [...relation.relationships.filter((relationship) => !isReplaced(relationship)), ...newRelationships],
  };
};

/** Adds relationships that are functions of a row. */
export const computedRelationships = definePlugin({
  name: "computed-relationships",
  requires: ["relationships"],
  apply: (hooks) => {
    hooks.introspect.tap("computed-relationships", (model) => {
      const bySource = deriveComputedRelationships(model);
      if (bySource.size === 0) return model;
      const relations = new Map(model.relations);
      for (const [key, newRelationships] of bySource) {
        const relation = relations.get(key);
        if (relation !== undefined) relations.set(key, addComputed(relation, newRelationships));
      }
      return { ...model, relations };
    });
  },
});
