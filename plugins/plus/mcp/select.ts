/** Replaces `*` in the `select` of a tool by the columns that the role may read. @rule P-MCP-8 */
import { findRestItemEnd, quoteRestValue } from "../../rest/api.ts";
import { findRelation, type Relation } from "../../../core/index.ts";
import { listReadableColumns, type VisibleSchema } from "./schema.ts";

/** Returns the items between the commas of the outer level. */
const splitItems = (select: string): readonly string[] => {
  const items: string[] = [];
  let start = 0;
  for (let end = findRestItemEnd(select, 0); select[end] === ","; end = findRestItemEnd(select, start)) {
    items.push(select.slice(start, end));
    start = end + 1;
  }
  return [...items, select.slice(start)]; // an unmatched parenthesis stays in the last item
};

/** `artist(`, `...artist!inner(`, `a:artist(` */
const EMBED = /^((?:\.\.\.)?(?:[^:"(]{1,200}:)?([^!:"(]{1,200})(?:![^"(]{1,200})?\()(.*)\)$/s;

/** Returns the readable columns, or `*`, which is shorter, if the role may read every column. */
const expandStar = (schema: VisibleSchema, relation: Relation): string => {
  const names = listReadableColumns(schema, relation);
  return names.length === relation.columns.length || names.length === 0 ? "*" : names.map(quoteRestValue).join(",");
};

/** The limit on nested embeds, because each level is parsed again with the next. */
const MAX_LEVELS = 10;

/** Returns the `select` with `*` replaced, in embeds too. Other parts stay unchanged. */
export const expandSelect = (schema: VisibleSchema, relation: Relation, select: string, level = 1): string =>
  splitItems(select)
    .map((item) => {
      const text = item.trim();
      if (text === "*") return expandStar(schema, relation);
      const [, head = "", name = "", inner = ""] = (level < MAX_LEVELS && EMBED.exec(text)) || [];
      const relationship = name === "" ? undefined : relation.relationships.find(({ target }) => target.name === name);
      const target = relationship && findRelation(schema.model, relationship.target);
      return target === undefined ? item : `${head}${expandSelect(schema, target, inner, level + 1)})`;
    })
    .join(",");
