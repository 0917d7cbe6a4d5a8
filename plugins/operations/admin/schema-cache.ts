/** Writes the model as JSON, with the members that PostgREST shows under its names: `GET /schema_cache`. */
import {
  isView,
  findRelation,
  isSameName,
  type Cardinality,
  type Model,
  type QualifiedName,
  type Relation,
  type Relationship,
  type Routine,
} from "../../../core/index.ts";

/** Encodes the model, with maps as objects. The NUL in keys of schema and name becomes a dot. @rule R-ADM-1 */
export const encodeModel = (model: Model): string =>
  JSON.stringify({ ...buildSchemaCache(model), ...model }, (_key, part: unknown) => {
    if (part instanceof Map)
      return Object.fromEntries(
        [...(part as Map<unknown, unknown>)].map(([key, member]) => [String(key).replace("\u0000", "."), member]),
      );
    return part instanceof Set ? [...(part as Set<unknown>)] : part;
  });

const buildIdentifier = ({ schema, name }: QualifiedName) => ({ qiName: name, qiSchema: schema });

/** Builds the members that PostgREST shows, as lists of keys with their values. */
const buildSchemaCache = (model: Model) => {
  const relations = [...model.relations.values()];
  return {
    dbTables: relations.map((relation) => [buildIdentifier(relation), buildTable(model, relation)]),
    dbRelationships: relations
      .filter(({ relationships }) => relationships.length > 0)
      .map((relation) => [
        [buildIdentifier(relation), relation.schema],
        relation.relationships.map((relationship) => buildRelationship(model, relation, relationship)),
      ]),
    dbRoutines: [...model.routines.values()].flatMap((overloads) =>
      overloads[0] === undefined
        ? []
        : [[buildIdentifier(overloads[0]), overloads.map((overload) => buildRoutine(model, overload))]],
    ),
    dbRepresentations: [...model.representations].map(([type, representation]) => [
      model.types.get(type)?.sqlName ?? String(type),
      representation,
    ]),
    dbMediaHandlers: model.mediaHandlers,
  };
};

const buildTable = (model: Model, relation: Relation) => ({
  tableName: relation.name,
  tableSchema: relation.schema,
  tableDescription: relation.comment ?? null,
  tableIsView: isView(relation),
  tableInsertable: relation.writable.insert,
  tableUpdatable: relation.writable.update,
  tableDeletable: relation.writable.delete,
  tablePKCols: relation.primaryKey,
  tableColumns: Object.fromEntries(
    relation.columns.map((column) => [
      column.name,
      {
        colName: column.name,
        colDescription: column.comment ?? null,
        colNullable: !column.notNull,
        colType: column.sqlType,
        colMaxLen: column.maxLength ?? null,
        colDefault: column.default ?? null,
        colEnum: model.types.get(column.type)?.labels ?? [],
      },
    ]),
  ),
});

const TAGS: Readonly<Record<Cardinality, string>> = {
  "one-to-many": "O2M",
  "many-to-one": "M2O",
  "one-to-one": "O2O",
  "many-to-many": "M2M",
};

const buildRelationship = (model: Model, relation: Relation, relationship: Relationship) => {
  const { cardinality, junction, routine, source, target } = relationship;
  const common = {
    relTable: buildIdentifier(source),
    relForeignTable: buildIdentifier(target),
    relIsSelf: isSameName(source, target),
  };
  if (routine !== undefined)
    return {
      tag: "ComputedRelationship",
      ...common,
      relFunction: buildIdentifier(routine),
      relToOne: relationship.isToOne,
    };
  return {
    tag: "Relationship",
    ...common,
    relCardinality:
      junction === undefined
        ? { tag: TAGS[cardinality], relCons: relationship.constraint, relColumns: relationship.columns }
        : {
            tag: TAGS[cardinality],
            contents: {
              junTable: buildIdentifier(junction.relation),
              junConstraint1: junction.sourceConstraint,
              junConstraint2: junction.targetConstraint,
              junColsSource: junction.source,
              junColsTarget: junction.target,
            },
          },
    relTableIsView: isView(relation),
    relFTableIsView: isView(findRelation(model, target)),
  };
};

const buildRoutine = (model: Model, routine: Routine) => ({
  pdSchema: routine.schema,
  pdName: routine.name,
  pdDescription: routine.comment ?? null,
  pdParams: routine.parameters.map(({ name, sqlType, mode, hasDefault }) => ({
    ppName: name,
    ppType: sqlType,
    ppReq: !hasDefault,
    ppVar: mode === "variadic",
  })),
  pdReturnType: { isSet: routine.returns.isSet, type: model.types.get(routine.returns.type)?.sqlName ?? null },
  pdVolatility: routine.volatility,
  pdHasVariadic: routine.parameters.some(({ mode }) => mode === "variadic"),
  pdFuncSettings: routine.settings,
});
