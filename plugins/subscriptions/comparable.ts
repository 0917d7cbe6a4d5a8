/** Values whose equality is that of their texts. A list of types, so that whatever is not on it is not compared here:
 *  numbers with scales, text without case, blanks that do not count, times that depend on a zone. @rule G-SUB-15 */
import { baseTypeOf, type Column, type Model, type PgType } from "../../core/index.ts";

/** Values of one kind can be compared with each other. */
export type Kind = "whole" | "uuid" | "text" | "truth" | "date" | `labels ${number}`;

const KINDS: Readonly<Record<string, Kind>> = {
  int2: "whole",
  int4: "whole",
  int8: "whole",
  uuid: "uuid",
  text: "text",
  varchar: "text",
  bool: "truth",
  date: "date",
};

/** Oids from here on belong to objects created after the database. */
const FIRST_USER_OID = 16_384;

const kindOfType = (type: PgType | undefined): Kind | undefined => {
  if (type?.kind === "enum") return `labels ${type.oid}`;
  return type?.kind === "base" && type.schema === "pg_catalog" && type.oid < FIRST_USER_OID
    ? KINDS[type.name]
    : undefined;
};

/** From here on generated columns may be virtual, which the log does not have. */
const VIRTUAL_COLUMNS = 180_000;

/** Undefined: not comparable. The collation of the column is not looked at. */
export const kindOfColumn = (model: Model, { type, isGenerated }: Column): Kind | undefined =>
  model.representations.has(type) || (isGenerated && model.serverVersion >= VIRTUAL_COLUMNS)
    ? undefined
    : kindOfType(baseTypeOf(model, type));

/** Of a type by the name that a plan has for it. */
export const kindOfName = (model: Model, name: string): Kind | undefined => {
  for (const type of model.types.values())
    if (type.sqlName === name || (type.schema === "pg_catalog" && type.name === name))
      return kindOfType(baseTypeOf(model, type.oid));
  return undefined;
};

const WHOLE = /^(?:0|-?[1-9]\d{0,18})$/;
/** ` +007` */
const LOOSE_WHOLE = /^\s*([+-]?)0*(\d{1,19})\s*$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;
/** A longer text is not looked for. */
const MAX_TEXT = 500;

/** The text that equal values have in common; undefined: written in a way that is not known here. */
export const commonText = (kind: Kind, text: string): string | undefined => {
  switch (kind) {
    case "whole": {
      if (WHOLE.test(text)) return text;
      const [, sign, digits] = LOOSE_WHOLE.exec(text) ?? [];
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

/** Whether it is short enough to be kept as a key. */
export const isKeepable = (text: string): boolean => text.length <= MAX_TEXT;

/** `{1,"a \"b\"",NULL}`: the elements, NULL as null; undefined: not a plain list. */
export const readArray = (text: string): readonly (string | null)[] | undefined => {
  if (!text.startsWith("{") || !text.endsWith("}")) return undefined;
  if (text === "{}") return [];
  const items: (string | null)[] = [];
  let at = 1;
  while (at < text.length) {
    let item = "";
    const isQuoted = text[at] === '"';
    if (isQuoted) {
      at++;
      while (at < text.length && text[at] !== '"') {
        if (text[at] === "\\") at++;
        item += text[at++] ?? "";
      }
      at++;
    } else {
      const start = at;
      while (at < text.length && text[at] !== "," && text[at] !== "}") {
        if (text[at] === "{" || text[at] === '"' || text[at] === "\\") return undefined;
        at++;
      }
      item = text.slice(start, at).trim();
      if (item === "") return undefined;
    }
    items.push(!isQuoted && item.toUpperCase() === "NULL" ? null : item);
    const separator = text[at++];
    if (separator === "}") return at === text.length ? items : undefined;
    if (separator !== ",") return undefined;
  }
  return undefined;
};
