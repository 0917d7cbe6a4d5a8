/** `/track?select=track_id,name,album(title)&limit=3`: an example read of tables that the caller may see. */
import {
  relationOf,
  visibilityOf,
  type Column,
  type Model,
  type Relation,
  type Relationship,
  type Session,
  type Visibility,
} from "../../core/index.ts";
import { exampleColumns, exampleLabel, exampleOrder } from "../shared/examples.ts";
import type { RestExample } from "./api.ts";

/** Names that `select` accepts without quotes. @rule R-LEX-1 */
const UNQUOTED = /^[\p{L}0-9_$]+$/u;

/** Encodes a part of a URL, safe inside quotes of a shell too. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll("'", "%27");

const selectItem = (name: string): string => encode(UNQUOTED.test(name) ? name : `"${name.replace(/["\\]/g, "\\$&")}"`);

/** Whether an embed of that name means only this relationship. @rule R-EMB-1 */
const isOnlyOne = ({ relationships }: Relation, { target }: Relationship): boolean =>
  relationships.filter(
    (other) =>
      other.routine?.name === target.name ||
      other.target.name === target.name ||
      other.constraint === target.name ||
      other.columns.some(([own]) => own === target.name),
  ).length === 1;

const embedOf = (model: Model, sight: Visibility, relation: Relation): string | undefined => {
  const usable = relation.relationships.flatMap((relationship) => {
    const target = relationOf(model, relationship.target);
    if (target === undefined || target === relation || target.schema !== relation.schema) return [];
    if (relationship.routine !== undefined || !isOnlyOne(relation, relationship)) return [];
    // the compared columns must be readable too
    const isReadable =
      relationship.columns.every(([own]) =>
        relation.columns.some((column) => column.name === own && sight.readsAlways(relation, column)),
      ) &&
      relationship.junction === undefined &&
      relationship.columns.every(([, far]) =>
        target.columns.some((column) => column.name === far && sight.readsAlways(target, column)),
      );
    const label = isReadable ? exampleLabel(model, readableColumns(sight, target)) : undefined;
    return label === undefined ? [] : [{ relationship, name: target.name, label }];
  });
  const [best] = usable.sort((a, b) => Number(b.relationship.isToOne) - Number(a.relationship.isToOne));
  return best && `${selectItem(best.name)}(${selectItem(best.label.name)})`;
};

const readableColumns = (sight: Visibility, relation: Relation): readonly Column[] =>
  sight.mayPerform(relation, "select") ? relation.columns.filter((column) => sight.reads(relation, column)) : [];

/** Undefined if the caller may read nothing. */
export const exampleRead = (model: Model, session: Session): RestExample | undefined => {
  const sight = visibilityOf(model, session, "rest");
  for (const schema of model.schemas) {
    const relations = [...model.relations.values()].filter(
      (relation) => relation.schema === schema && readableColumns(sight, relation).length > 0,
    );
    const [relation] = exampleOrder(model, relations);
    if (relation === undefined) continue;
    const columns = exampleColumns(model, readableColumns(sight, relation)).map(({ name }) => selectItem(name));
    const embed = embedOf(model, sight, relation);
    const select = [...columns, ...(embed === undefined ? [] : [embed])].join(",");
    return {
      path: `/${encode(relation.name)}?select=${select}&limit=3`,
      ...(schema === model.schemas[0] ? {} : { profile: schema }),
    };
  }
  return undefined;
};
