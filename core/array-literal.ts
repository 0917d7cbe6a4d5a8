export type ArrayItem = string | null | readonly ArrayItem[];

/** `{"1","a \"b\"",NULL,{"2"}}`: every text quoted, so that none is NULL. `elementType`: elements of `box` stand between semicolons. */
export const arrayLiteral = (items: readonly ArrayItem[], elementType?: string): string => {
  const parts = items.map((item) => (item === null ? "NULL" : typeof item === "string" ? `"${item.replace(/["\\]/g, "\\$&")}"` : arrayLiteral(item, elementType)));
  return `{${parts.join(elementType === "box" ? ";" : ",")}}`;
};
