/** `/track?select=track_id,name,album(title)&limit=3`: an example read of tables that the caller may see. */
import {
  findRelation,
  getVisibility,
  type Column,
  type Model,
  type Relation,
  type Relationship,
  type Session,
  type Visibility,
} from "../../core/index.ts";
import { chooseExampleColumns, chooseLabelColumn, sortForExamples } from "../shared/examples.ts";
import type { RestExample } from "./api.ts";

/** Names that `select` accepts without quotes. @rule R-LEX-1 */
const UNQUOTED = /^[\p{L}0-9_$]+$/u;

/** Encodes a part of a URL, safe inside quotes of a shell too. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll("'", "%27");

const encodeSelectItem = (name: string): string =>
  encode(UNQUOTED.test(name) ? name : `"${name.replace(/["\\]/g, "\\$&")}"`);

/** Whether an embed of that name means only this relationship. @rule R-EMB-1 */
const isOnlyOne = ({ relationships }: Relation, { target }: Relationship): boolean =>
  relationships.filter(
    (other) =>
      other.routine?.name === target.name ||
      other.target.name === target.name ||
      other.constraint === target.name ||
      other.columns.some(([own]) => own === target.name),
  ).length === 1;

const buildEmbed = (model: Model, visibility: Visibility, relation: Relation): string | undefined => {
  const usable = relation.relationships.flatMap((relationship) => {
    const target = findRelation(model, relationship.target);
    if (target === undefined || target === relation || target.schema !== relation.schema) return [];
    if (relationship.routine !== undefined || !isOnlyOne(relation, relationship)) return [];
    // the compared columns must be readable too
    const isReadable =
      relationship.columns.every(([own]) =>
        relation.columns.some((column) => column.name === own && visibility.mayReadEveryRow(relation, column)),
      ) &&
      relationship.junction === undefined &&
      relationship.columns.every(([, far]) =>
        target.columns.some((column) => column.name === far && visibility.mayReadEveryRow(target, column)),
      );
    const label = isReadable ? chooseLabelColumn(model, findReadableColumns(visibility, target)) : undefined;
    return label === undefined ? [] : [{ relationship, name: target.name, label }];
  });
  const [best] = usable.sort((a, b) => Number(b.relationship.isToOne) - Number(a.relationship.isToOne));
  return best && `${encodeSelectItem(best.name)}(${encodeSelectItem(best.label.name)})`;
};

const findReadableColumns = (visibility: Visibility, relation: Relation): readonly Column[] =>
  visibility.mayPerform(relation, "select")
    ? relation.columns.filter((column) => visibility.mayRead(relation, column))
    : [];

/** Undefined if the caller may read nothing. */
export const buildExampleRead = (model: Model, session: Session): RestExample | undefined => {
  const visibility = getVisibility(model, session, "rest");
  for (const schema of model.schemas) {
    const relations = [...model.relations.values()].filter(
      (relation) => relation.schema === schema && findReadableColumns(visibility, relation).length > 0,
    );
    const [relation] = sortForExamples(model, relations);
    if (relation === undefined) continue;
    const columns = chooseExampleColumns(model, findReadableColumns(visibility, relation)).map(({ name }) =>
      encodeSelectItem(name),
    );
    const embed = buildEmbed(model, visibility, relation);
    const select = [...columns, ...(embed === undefined ? [] : [embed])].join(",");
    return {
      path: `/${encode(relation.name)}?select=${select}&limit=3`,
      ...(schema === model.schemas[0] ? {} : { profile: schema }),
    };
  }
  return undefined;
};
