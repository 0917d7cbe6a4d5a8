/** An element of an array: a text, NULL, or an array with one dimension less. */
export type ArrayItem = string | null | readonly ArrayItem[];

const SPECIAL = /["\\]/;

/** Returns an array literal: `{"1","a \"b\"",NULL,{"2"}}`. Every string is quoted, so that none is read as NULL.
 *  `elementType` matters because elements of `box` are separated by semicolons. @experimental */
export const encodeArrayLiteral = (items: readonly ArrayItem[], elementType?: string): string => {
  const separator = elementType === "box" ? ";" : ",";
  let parts = "";
  for (const item of items) {
    const part =
      item === null
        ? "NULL"
        : typeof item === "string"
          ? `"${SPECIAL.test(item) ? item.replace(/["\\]/g, "\\$&") : item}"`
          : encodeArrayLiteral(item, elementType);
    parts += parts === "" ? part : separator + part;
  }
  return `{${parts}}`;
};
