/** `*` in the `select` of a tool: the columns that the role may read. @rule P-MCP-8 */
import { relationOf, type Relation } from "../../../core/index.ts";
import { quoted } from "./query.ts";
import { readableColumns, type Seen } from "./schema.ts";

/** Parts between the commas of the outer level. */
const itemsOf = (select: string): readonly string[] => {
  const items: string[] = [];
  let [start, depth, isQuoted] = [0, 0, false];
  for (let i = 0; i < select.length; i++) {
    const letter = select[i];
    if (isQuoted && letter === "\\") i++;
    else if (letter === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (letter === "(") depth++;
    else if (letter === ")") depth--;
    else if (letter === "," && depth === 0) {
      items.push(select.slice(start, i));
      start = i + 1;
    }
  }
  return [...items, select.slice(start)];
};

/** `artist(`, `...artist!inner(`, `a:artist(` */
const EMBED = /^((?:\.\.\.)?(?:[^:"(]{1,200}:)?([^!:"(]{1,200})(?:![^"(]{1,200})?\()(.*)\)$/s;

/** Where the role reads every column `*` stays, which is shorter. */
const allOf = (seen: Seen, relation: Relation): string => {
  const names = readableColumns(seen, relation);
  return names.length === relation.columns.length || names.length === 0 ? "*" : names.map(quoted).join(",");
};

/** Each level is read again within the next. */
const MAX_LEVELS = 10;

/** The same with `*` written out, in embeds too. Any other part stays as it is. */
export const readableSelect = (seen: Seen, relation: Relation, select: string, level = 1): string =>
  itemsOf(select)
    .map((item) => {
      const text = item.trim();
      if (text === "*") return allOf(seen, relation);
      const [, head = "", name = "", inner = ""] = (level < MAX_LEVELS && EMBED.exec(text)) || [];
      const way = name === "" ? undefined : relation.relationships.find(({ target }) => target.name === name);
      const target = way && relationOf(seen.model, way.target);
      return target === undefined ? item : `${head}${readableSelect(seen, target, inner, level + 1)})`;
    })
    .join(",");
