/** Finds the types whose values are equal exactly if their texts are. Other types are not compared here: numbers with
 *  scales, case-insensitive text, types that ignore blanks, times that depend on a zone. @rule G-SUB-15 */
import { findBaseType, FIRST_USER_OID, type Column, type Model, type PgType } from "../../../core/index.ts";

/** A kind of comparable types. Values of the same kind can be compared with each other. */
export type ComparableKind = "whole" | "uuid" | "text" | "truth" | "date" | `labels ${number}`;

const KINDS: Readonly<Record<string, ComparableKind>> = {
  int2: "whole",
  int4: "whole",
  int8: "whole",
  uuid: "uuid",
  text: "text",
  varchar: "text",
  bool: "truth",
  date: "date",
};

const findKind = (type: PgType | undefined): ComparableKind | undefined => {
  if (type?.kind === "enum") return `labels ${type.oid}`;
  return type?.kind === "base" && type.schema === "pg_catalog" && type.oid < FIRST_USER_OID
    ? KINDS[type.name]
    : undefined;
};

/** The version since which generated columns can be virtual. Virtual columns are not in the WAL. */
const VIRTUAL_COLUMNS_VERSION = 180_000;

/** Finds the kind of a column, whatever its collation. Undefined if the column is not comparable. */
export const findColumnKind = (model: Model, { type, isGenerated }: Column): ComparableKind | undefined =>
  model.representations.has(type) || (isGenerated && model.serverVersion >= VIRTUAL_COLUMNS_VERSION)
    ? undefined
    : findKind(findBaseType(model, type));

/** Finds the kind of a type by its name in a plan. */
export const findTypeKind = (model: Model, name: string): ComparableKind | undefined => {
  for (const type of model.types.values())
    if (type.sqlName === name || (type.schema === "pg_catalog" && type.name === name))
      return findKind(findBaseType(model, type.oid));
  return undefined;
};

const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/;
/** Matches other spellings of integers, such as ` +007`. */
const LOOSE_INTEGER = /^\s*([+-]?)0*(\d{1,19})\s*$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;
/** The longest text that is used as a key. */
const MAX_TEXT = 500;

/** Returns the normalized text that equal values have in common. Undefined if the spelling is unknown. */
export const normalizeText = (kind: ComparableKind, text: string): string | undefined => {
  switch (kind) {
    case "whole": {
      if (INTEGER.test(text)) return text;
      const [, sign, digits] = LOOSE_INTEGER.exec(text) ?? [];
      return digits === undefined ? undefined : `${sign === "-" && digits !== "0" ? "-" : ""}${digits}`;
    }
    case "uuid":
      return UUID.test(text) ? text.toLowerCase() : undefined;
    case "truth":
      return text === "t" || text === "true" ? "t" : text === "f" || text === "false" ? "f" : undefined;
    case "date":
      return DATE.test(text) ? text : undefined;
    default:
      return text.includes("\0") ? undefined : text;
  }
};

/** Returns whether the text is short enough for a key. */
export const fitsInKey = (text: string): boolean => text.length <= MAX_TEXT;

/** Parses the elements of `{1,"a \"b\"",NULL}`, with null for NULL. Undefined if the text is not a one-dimensional
 *  array. */
export const parseArrayLiteral = (text: string): readonly (string | null)[] | undefined => {
  if (!text.startsWith("{") || !text.endsWith("}")) return undefined;
  if (text === "{}") return [];
  const items: (string | null)[] = [];
  let position = 1;
  while (position < text.length) {
    let item = "";
    const isQuoted = text[position] === '"';
    if (isQuoted) {
      position++;
      while (position < text.length && text[position] !== '"') {
        if (text[position] === "\\") position++;
        item += text[position++] ?? "";
      }
      position++;
    } else {
      const start = position;
      while (position < text.length && text[position] !== "," && text[position] !== "}") {
        if (text[position] === "{" || text[position] === '"' || text[position] === "\\") return undefined;
        position++;
      }
      item = text.slice(start, position).trim();
      if (item === "") return undefined;
    }
    items.push(!isQuoted && item.toUpperCase() === "NULL" ? null : item);
    const separator = text[position++];
    if (separator === "}") return position === text.length ? items : undefined;
    if (separator !== ",") return undefined;
  }
  return undefined;
};
