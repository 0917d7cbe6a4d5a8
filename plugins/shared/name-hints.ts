/** Finds names and enum labels that are similar to an unknown one, for hints in error messages. */
import {
  findBaseType,
  findClosestNames,
  type Column,
  type Json,
  type Model,
  type PgType,
  type Relation,
  type Visibility,
} from "../../core/index.ts";

// An example is `invalid input value for enum sea.mood: "hapy"`.
const ENUM_ERROR = "invalid input value for enum ";

/** Reads the name of the enum and the invalid label from a message of PostgreSQL. */
const readEnumError = (message: string): readonly [enumName: string, label: string] | undefined => {
  const colon = message.indexOf(': "');
  return colon === -1 || !message.startsWith(ENUM_ERROR) || !message.endsWith('"')
    ? undefined
    : [message.slice(ENUM_ERROR.length, colon), message.slice(colon + 3, -1)];
};

const isNamed = ({ name, sqlName }: PgType, enumName: string): boolean =>
  sqlName === enumName || name === enumName || JSON.stringify(name) === enumName;

/** Returns labels that are similar to the invalid one in a database error. Undefined for other errors, or if the caller
 *  may name no column with the enum. */
export const suggestLabels = (
  model: Model,
  visibility: Visibility,
  { code, message }: { readonly code: string; readonly message: string },
): readonly string[] | undefined => {
  const [enumName = "", label = ""] = (code === "22P02" ? readEnumError(message) : undefined) ?? [];
  if (enumName === "") return undefined;
  const hasEnum = ({ type }: Column): boolean => {
    const foundType = findBaseType(model, type);
    const element = foundType?.element === undefined ? foundType : findBaseType(model, foundType.element);
    return element?.labels !== undefined && isNamed(element, enumName);
  };
  const findColumn = (relation: Relation): Column | undefined =>
    relation.columns.find((column) => hasEnum(column) && visibility.mayNameColumn(relation, column));
  for (const relation of model.relations.values()) {
    const column = findColumn(relation);
    const foundType = column && findBaseType(model, column.type);
    const labels =
      foundType?.labels ??
      (foundType?.element === undefined ? [] : (findBaseType(model, foundType.element)?.labels ?? []));
    if (column !== undefined) return findClosestNames(label, labels);
  }
  return undefined;
};

/** Joins names, for example `'a' or 'b'`. */
export const joinWithOr = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(" or ");

/** Builds the facts of an error about an unknown name, for `suggestNames`. */
export const buildUnknownNameFacts = (name: string, knownNames: Iterable<string>): Readonly<Record<string, Json>> => ({
  misspelt: name,
  known: [...knownNames],
});

/** More names than this take too long to compare. */
const MAX_LISTED_NAMES = 5000;

/** Returns names that are similar to the unknown one. Names that differ only in letter case take precedence. */
export const suggestNames = ({
  misspelt: name,
  known: knownNames,
}: Readonly<Record<string, Json>>): readonly string[] => {
  if (typeof name !== "string" || !Array.isArray(knownNames) || knownNames.length > MAX_LISTED_NAMES) return [];
  const names = knownNames as readonly string[]; // `buildUnknownNameFacts` writes a list of names
  const lowerName = name.toLowerCase();
  const sameIgnoringCase = names.filter((knownName) => knownName.toLowerCase() === lowerName);
  return sameIgnoringCase.length > 0 ? sameIgnoringCase : findClosestNames(name, names);
};
