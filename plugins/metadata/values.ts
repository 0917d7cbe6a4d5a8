/** Translates values of the metadata, constants and session variables, to value references of plans. @rule G-FIL-5
 *  G-FIL-6 G-PRE-1 */
import {
  arrayLiteral,
  numberText,
  writeJson,
  type ArrayItem,
  type Model,
  type Operand,
  type PgType,
  type ValueRef,
} from "../../core/index.ts";
import type { Raw } from "./raw-values.ts";

/** The error for an inconsistent permission, which the builder of permissions catches and logs. */
export class InconsistentMetadata extends Error {}

const SESSION = /^x-(?:session|hasura)-(.+)$/i;

/** Converts `X-Hasura-User-Id` to `x-session-user-id`. Returns undefined for an ordinary text. */
export const parseSessionVariable = (raw: Raw): string | undefined => {
  const name = typeof raw === "string" ? SESSION.exec(raw)?.[1] : undefined;
  return name === undefined ? undefined : `x-session-${name.toLowerCase()}`;
};

/** The types whose values are written as GeoJSON or hexadecimal text. @rule G-TYP-34 G-TYP-35 */
const INPUT_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ["geometry", "from-geojson"],
  ["geography", "from-geojson"],
  ["raster", "from-hexwkb"],
]);

const isJson = (type: PgType): boolean => type.name === "json" || type.name === "jsonb";

const encodeScalar = (raw: Raw): string | null =>
  raw === null ? null : typeof raw === "string" ? raw : (numberText(raw) ?? writeJson(raw));

interface ValueReader {
  /** Finds a type by its name in the catalog. An unknown name is passed on, and PostgreSQL reports an error for it. */
  findType(name: string): PgType;
  readValue(raw: Raw, type: PgType): ValueRef;
  /** Reads the operand of list operators such as `_in`. A session variable contains an array literal. @throws
   *  InconsistentMetadata */
  readList(raw: Raw, type: PgType): Operand;
}

export const createValueReader = (model: Model): ValueReader => {
  const byName = new Map<string, PgType>();
  const arrays = new Map<number, PgType>();
  for (const type of model.types.values()) {
    if (!byName.has(type.name) || type.schema === "pg_catalog") byName.set(type.name, type);
    if (type.kind === "array" && type.element !== undefined) arrays.set(type.element, type);
  }
  const buildArrayType = (type: PgType): string => arrays.get(type.oid)?.sqlName ?? `${type.sqlName}[]`;

  const encodeLiteral = (raw: Raw, type: PgType): string | null => {
    if (isJson(type)) return writeJson(raw);
    if (!Array.isArray(raw) || type.kind !== "array") return encodeScalar(raw);
    const element = type.element === undefined ? undefined : model.types.get(type.element);
    const encodeElement = (item: Raw): ArrayItem =>
      Array.isArray(item) && !(element !== undefined && isJson(element))
        ? item.map((innerItem) => encodeScalar(innerItem))
        : element === undefined
          ? encodeScalar(item)
          : encodeLiteral(item, element);
    return arrayLiteral(raw.map(encodeElement));
  };

  const readValue = (raw: Raw, type: PgType): ValueRef => {
    const apply = INPUT_FUNCTIONS.get(type.name);
    const session = parseSessionVariable(raw);
    if (session !== undefined) return apply === undefined ? { session, type: type.sqlName } : { session, apply };
    if (apply !== undefined) return { constant: encodeScalar(raw), apply };
    return { constant: encodeLiteral(raw, type), type: type.sqlName };
  };

  return {
    findType: (name) => {
      const isArray = name.startsWith("_");
      return (
        byName.get(name) ?? {
          oid: 0,
          schema: "pg_catalog",
          name,
          sqlName: isArray ? `${name.slice(1)}[]` : name,
          kind: isArray ? "array" : "base",
          category: "U",
        }
      );
    },
    readValue,
    readList: (raw, type) => {
      const session = parseSessionVariable(raw);
      if (session !== undefined) return { session, type: buildArrayType(type) };
      const items = Array.isArray(raw) ? (raw as readonly Raw[]) : [raw]; // isArray does not narrow readonly lists
      if (items.includes(null)) throw new InconsistentMetadata("a list of values has no null");
      if (INPUT_FUNCTIONS.has(type.name) || items.some((item) => parseSessionVariable(item) !== undefined))
        return { items: items.map((item) => readValue(item, type)) };
      return { constant: arrayLiteral(items.map((item) => encodeLiteral(item, type))), type: buildArrayType(type) };
    },
  };
};
