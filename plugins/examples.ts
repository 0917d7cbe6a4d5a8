/** What surfaces show somebody who sees a database for the first time: the same on each. */
import { baseTypeOf, nameKey, relationOf, type Column, type Model, type Relation } from "../core/index.ts";

/** A name that is written the same way everywhere: `home_port`. */
const PLAIN = /^[a-z_][a-z0-9_]*$/;

/** The relations, best first: plain names, then those that refer to most of the others. */
export const exampleOrder = (model: Model, relations: readonly Relation[]): readonly Relation[] => {
  const seen = new Set(relations.map(nameKey));
  const rank = (relation: Relation): number => {
    const parents = relation.relationships.filter(
      ({ isToOne, routine, target }) =>
        isToOne && routine === undefined && seen.has(nameKey(target)) && relationOf(model, target) !== relation,
    ).length;
    return (PLAIN.test(relation.name) ? 1000 : 0) + parents;
  };
  return relations
    .map((relation) => ({ relation, rank: rank(relation), key: nameKey(relation) }))
    .sort((a, b) => b.rank - a.rank || (a.key < b.key ? -1 : 1))
    .map(({ relation }) => relation);
};

const MAX_COLUMNS = 3;

/** The first column, and those that tell a row from another: texts. */
export const exampleColumns = (model: Model, columns: readonly Column[]): readonly Column[] => {
  const isText = ({ type }: Column): boolean => baseTypeOf(model, type)?.category === "S";
  const [first, ...more] = columns;
  if (first === undefined) return [];
  const texts = more.filter(isText);
  return [first, ...(texts.length === 0 ? more : texts)].slice(0, MAX_COLUMNS);
};

/** The one column by which a row is known. */
export const exampleLabel = (model: Model, columns: readonly Column[]): Column | undefined =>
  columns.find(({ type }) => baseTypeOf(model, type)?.category === "S") ?? columns[0];
