/** `/track?select=track_id,name,album(title)&limit=3`: example reads of tables that the caller may see. */
import {
  findRelation,
  getVisibility,
  mayUseColumn,
  type Column,
  type Model,
  type Relation,
  type Relationship,
  type Session,
  type Visibility,
} from "../../core/index.ts";
import { chooseExampleColumns, chooseLabelColumn, findEditableColumn, sortForExamples } from "../shared/examples.ts";
import { quoteRestValue, type RestExample, type RestLiveExample, type RestRelation } from "./api.ts";

/** Names that `select` accepts without quotes. @rule R-LEX-1 */
const UNQUOTED_NAME = /^[\p{L}0-9_$]+$/u;

/** Encodes a part of a URL, safe inside quotes of a shell too. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll("'", "%27");

/** Encodes the value of `select`. Its commas need no encoding, because quotes protect the commas in names. */
const encodeSelect = (select: string): string => encode(select).replaceAll("%2C", ",");

const quoteSelectItem = (name: string): string => (UNQUOTED_NAME.test(name) ? name : quoteRestValue(name));

/** Returns whether an embed of that name means only this relationship. @rule R-EMB-1 */
const isOnlyOne = ({ relationships }: Relation, { target }: Relationship): boolean =>
  relationships.filter(
    (candidate) =>
      candidate.routine?.name === target.name ||
      candidate.target.name === target.name ||
      candidate.constraint === target.name ||
      candidate.columns.some(([sourceColumn]) => sourceColumn === target.name),
  ).length === 1;

const buildEmbed = (model: Model, visibility: Visibility, relation: Relation): string | undefined => {
  const usable = relation.relationships.flatMap((relationship) => {
    const target = findRelation(model, relationship.target);
    if (target === undefined || target === relation || target.schema !== relation.schema) return [];
    if (relationship.routine !== undefined || !isOnlyOne(relation, relationship)) return [];
    // The caller must be able to read the compared columns too.
    const isReadable =
      relationship.columns.every(([sourceColumn]) =>
        relation.columns.some((column) => column.name === sourceColumn && visibility.mayReadEveryRow(relation, column)),
      ) &&
      relationship.junction === undefined &&
      relationship.columns.every(([, targetColumn]) =>
        target.columns.some((column) => column.name === targetColumn && visibility.mayReadEveryRow(target, column)),
      );
    const label = isReadable ? chooseLabelColumn(model, findReadableColumns(visibility, target)) : undefined;
    return label === undefined ? [] : [{ relationship, name: target.name, label }];
  });
  const [best] = usable.sort((a, b) => Number(b.relationship.isToOne) - Number(a.relationship.isToOne));
  return best && `${quoteSelectItem(best.name)}(${quoteSelectItem(best.label.name)})`;
};

const findReadableColumns = (visibility: Visibility, relation: Relation): readonly Column[] =>
  visibility.mayPerform(relation, "select")
    ? relation.columns.filter((column) => visibility.mayRead(relation, column))
    : [];

/** Returns the relations of the schema that the caller may read, the best examples first. */
const listReadableRelations = (model: Model, visibility: Visibility, schema: string): readonly Relation[] =>
  sortForExamples(
    model,
    [...model.relations.values()].filter(
      (relation) => relation.schema === schema && findReadableColumns(visibility, relation).length > 0,
    ),
  );

/** Returns undefined if the caller may read nothing. */
export const buildExampleRead = (model: Model, session: Session): RestExample | undefined => {
  const visibility = getVisibility(model, session, "rest");
  for (const schema of model.schemas) {
    const [relation] = listReadableRelations(model, visibility, schema);
    if (relation === undefined) continue;
    const columns = chooseExampleColumns(model, findReadableColumns(visibility, relation)).map(({ name }) =>
      quoteSelectItem(name),
    );
    const embed = buildEmbed(model, visibility, relation);
    const select = [...columns, ...(embed === undefined ? [] : [embed])].join(",");
    return {
      path: `/${encode(relation.name)}?select=${encodeSelect(select)}&limit=3`,
      relation: relation.name,
      select,
      ...(schema === model.schemas[0] ? {} : { profile: schema }),
    };
  }
  return undefined;
};

const RELATION_ROWS = 20;

/** Returns the relations that suit an example for the caller. @rule X-PAGE-7 */
export const listExampleRelations = (model: Model, session: Session): readonly RestRelation[] => {
  const visibility = getVisibility(model, session, "rest");
  const relations = model.schemas.flatMap((schema) => listReadableRelations(model, visibility, schema));
  return relations.map((relation) => {
    const { name, schema, comment, columns } = relation;
    const readable = findReadableColumns(visibility, relation);
    // A read of all columns is rejected if the caller may not read one of them.
    const select =
      readable.length === columns.length
        ? ""
        : `select=${encodeSelect(readable.map((column) => quoteSelectItem(column.name)).join(","))}&`;
    const path = `/${encode(name)}?${select}limit=${RELATION_ROWS}`;
    return { name, schema, path, ...(comment === undefined ? {} : { comment }) };
  });
};

/** Matches a column name that filters, `select` and `order` accept unchanged. */
const PLAIN_COLUMN = /^[a-z_][a-z0-9_]*$/i;

const LIVE_ROWS = 5;

/** Builds the example. `mayPatch` returns whether the surface serves PATCH of the relation. @rule X-PAGE-8 */
export const buildLiveExample = (
  model: Model,
  session: Session,
  mayPatch: (relation: Relation) => boolean,
): RestLiveExample | undefined => {
  const visibility = getVisibility(model, session, "rest");
  const usable = listReadableRelations(model, visibility, model.schemas[0] ?? "").flatMap((relation) => {
    const editableColumn =
      relation.writable.update &&
      mayPatch(relation) &&
      findEditableColumn(
        model,
        relation,
        findReadableColumns(visibility, relation).filter(({ name }) => PLAIN_COLUMN.test(name)),
      );
    if (editableColumn === false || editableColumn === undefined) return [];
    const { key, column } = editableColumn;
    const mayUpdate =
      visibility.mayPerform(relation, "update") &&
      (!visibility.isByGrants || mayUseColumn(model, session.role, relation, column, "update"));
    return [{ relation, key: key.name, column: column.name, mayUpdate }];
  });
  const best = usable.find(({ mayUpdate }) => mayUpdate) ?? usable[0];
  if (best === undefined) return undefined;
  const { relation, key, column, mayUpdate } = best;
  const relationPath = `/${encode(relation.name)}`;
  // Numbers beyond 2^53 would change in the browser, so the key is text.
  const path = `${relationPath}?select=${key}::text,${column}&order=${key}&limit=${LIVE_ROWS}`;
  return { path, relationPath, key, column, mayUpdate };
};
