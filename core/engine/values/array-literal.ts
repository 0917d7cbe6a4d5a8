/** An element of an array: text, NULL, or an array of one dimension less. */
export type ArrayItem = string | null | readonly ArrayItem[];

const SPECIAL = /["\\]/;

/** `{"1","a \"b\"",NULL,{"2"}}`: quotes every string, so that none reads as NULL. `elementType`: elements of `box` are
 *  separated by semicolons. */
export const arrayLiteral = (items: readonly ArrayItem[], elementType?: string): string => {
  const separator = elementType === "box" ? ";" : ",";
  let parts = "";
  for (const item of items) {
    const part =
      item === null
        ? "NULL"
        : typeof item === "string"
          ? `"${SPECIAL.test(item) ? item.replace(/["\\]/g, "\\$&") : item}"`
          : arrayLiteral(item, elementType);
    parts += parts === "" ? part : separator + part;
  }
  return `{${parts}}`;
};
