/** Translates values of the metadata, constants and session variables, to value references of plans. @rule G-FIL-5
 *  G-FIL-6 G-PRE-1 */
import {
  encodeArrayLiteral,
  getNumberText,
  writeJson,
  type ArrayItem,
  type Model,
  type Operand,
  type PgType,
  type ValueRef,
} from "../../core/index.ts";
import type { RawValue } from "./raw-values.ts";

/** The error for an inconsistent permission, which the builder of permissions catches and logs. */
export class InconsistentMetadata extends Error {}

const SESSION = /^x-(?:session|hasura)-(.+)$/i;

/** Converts `X-Hasura-User-Id` to `x-session-user-id`. Returns undefined for an ordinary text. */
export const parseSessionVariable = (rawValue: RawValue): string | undefined => {
  const name = typeof rawValue === "string" ? SESSION.exec(rawValue)?.[1] : undefined;
  return name === undefined ? undefined : `x-session-${name.toLowerCase()}`;
};

/** The types whose values are written as GeoJSON or hexadecimal text. @rule G-TYP-34 G-TYP-35 */
const INPUT_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ["geometry", "from-geojson"],
  ["geography", "from-geojson"],
  ["raster", "from-hexwkb"],
]);

const isJson = (type: PgType): boolean => type.name === "json" || type.name === "jsonb";

const encodeScalar = (rawValue: RawValue): string | null =>
  rawValue === null ? null : typeof rawValue === "string" ? rawValue : (getNumberText(rawValue) ?? writeJson(rawValue));

interface ValueReader {
  /** Finds a type by its name in the catalog. An unknown name is passed on, and PostgreSQL reports an error for it. */
  findType(name: string): PgType;
  readValue(rawValue: RawValue, type: PgType): ValueRef;
  /** Reads the operand of list operators such as `_in`. A session variable contains an array literal. @throws
   *  InconsistentMetadata */
  readList(rawValue: RawValue, type: PgType): Operand;
}

export const createValueReader = (model: Model): ValueReader => {
  const byName = new Map<string, PgType>();
  const arrays = new Map<number, PgType>();
  for (const type of model.types.values()) {
    if (!byName.has(type.name) || type.schema === "pg_catalog") byName.set(type.name, type);
    if (type.kind === "array" && type.element !== undefined) arrays.set(type.element, type);
  }
  const buildArrayType = (type: PgType): string => arrays.get(type.oid)?.sqlName ?? `${type.sqlName}[]`;

  const encodeLiteral = (rawValue: RawValue, type: PgType): string | null => {
    if (isJson(type)) return writeJson(rawValue);
    if (!Array.isArray(rawValue) || type.kind !== "array") return encodeScalar(rawValue);
    const element = type.element === undefined ? undefined : model.types.get(type.element);
    const encodeElement = (item: RawValue): ArrayItem =>
      Array.isArray(item) && !(element !== undefined && isJson(element))
        ? item.map((innerItem) => encodeScalar(innerItem))
        : element === undefined
          ? encodeScalar(item)
          : encodeLiteral(item, element);
    return encodeArrayLiteral(rawValue.map(encodeElement));
  };

  const readValue = (rawValue: RawValue, type: PgType): ValueRef => {
    const apply = INPUT_FUNCTIONS.get(type.name);
    const session = parseSessionVariable(rawValue);
    if (session !== undefined) return apply === undefined ? { session, type: type.sqlName } : { session, apply };
    if (apply !== undefined) return { constant: encodeScalar(rawValue), apply };
    return { constant: encodeLiteral(rawValue, type), type: type.sqlName };
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
    readList: (rawValue, type) => {
      const session = parseSessionVariable(rawValue);
      if (session !== undefined) return { session, type: buildArrayType(type) };
      const items = Array.isArray(rawValue) ? (rawValue as readonly RawValue[]) : [rawValue]; // isArray does not narrow readonly lists
      if (items.includes(null)) throw new InconsistentMetadata("a list of values has no null");
      if (INPUT_FUNCTIONS.has(type.name) || items.some((item) => parseSessionVariable(item) !== undefined))
        return { items: items.map((item) => readValue(item, type)) };
      return {
        constant: encodeArrayLiteral(items.map((item) => encodeLiteral(item, type))),
        type: buildArrayType(type),
      };
    },
  };
};
