/** Chooses the relations and columns of example requests, which are the same on each surface. */
import {
  findBaseType,
  buildNameKey,
  findRelation,
  takesValues,
  type Column,
  type Model,
  type Relation,
} from "../../core/index.ts";

/** Matches a name that needs no quotes or escapes, such as `home_port`. */
const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/;

/** Sorts relations by suitability: relations with plain names come first, then those with most references to others. */
export const sortForExamples = (model: Model, relations: readonly Relation[]): readonly Relation[] => {
  const seenKeys = new Set(relations.map(buildNameKey));
  const rank = (relation: Relation): number => {
    const parents = relation.relationships.filter(
      ({ isToOne, routine, target }) =>
        isToOne &&
        routine === undefined &&
        seenKeys.has(buildNameKey(target)) &&
        findRelation(model, target) !== relation,
    ).length;
    return (PLAIN_NAME.test(relation.name) ? 1000 : 0) + parents;
  };
  return relations
    .map((relation) => ({ relation, rank: rank(relation), key: buildNameKey(relation) }))
    .sort((a, b) => b.rank - a.rank || (a.key < b.key ? -1 : 1))
    .map(({ relation }) => relation);
};

const MAX_COLUMNS = 3;

/** Returns the first column, and text columns, which distinguish rows best. */
export const chooseExampleColumns = (model: Model, columns: readonly Column[]): readonly Column[] => {
  const isText = ({ type }: Column): boolean => findBaseType(model, type)?.category === "S";
  const [first, ...otherColumns] = columns;
  if (first === undefined) return [];
  const texts = otherColumns.filter(isText);
  return [first, ...(texts.length === 0 ? otherColumns : texts)].slice(0, MAX_COLUMNS);
};

/** Returns the column that identifies a row best for people. */
export const chooseLabelColumn = (model: Model, columns: readonly Column[]): Column | undefined =>
  columns.find(({ type }) => findBaseType(model, type)?.category === "S") ?? columns[0];

/** Returns the primary key, and a text column that is not a foreign key. Undefined if one of them is missing. */
export const findEditableColumn = (model: Model, relation: Relation, columns: readonly Column[]) => {
  const key = columns.find(({ name }) => relation.primaryKey.length === 1 && name === relation.primaryKey[0]);
  const references = relation.relationships.flatMap((relationship) =>
    relationship.isToOne ? relationship.columns.map(([sourceColumn]) => sourceColumn) : [],
  );
  const column = columns.find(
    (candidate) =>
      candidate !== key &&
      takesValues(candidate) &&
      findBaseType(model, candidate.type)?.category === "S" &&
      !references.includes(candidate.name),
  );
  return key === undefined || column === undefined ? undefined : { key, column };
};
