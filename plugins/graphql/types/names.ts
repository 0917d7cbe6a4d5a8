/** Builds GraphQL names from name parts, with customization and naming convention. @rule G-NAM-5 G-NAM-6 G-NAM-7
 *  G-NAM-8 */
import type { QualifiedName } from "../../../core/index.ts";
import type { GqlCustomization, GqlNamePart, GqlRootFieldName } from "../catalog-types.ts";

type NamePart = string | GqlNamePart;

/** Builds the names of types and fields, with customization and naming convention. @experimental */
export interface NameBuilder {
  /** Returns the name of a table's type, with prefix and suffix. */
  typeName(...nameParts: readonly NamePart[]): string;
  /** Returns the name of a type that belongs to no table, such as comparisons and `order_by`. Scalars have the names of
   *  their PostgreSQL types in every convention. */
  sharedTypeName(...nameParts: readonly NamePart[]): string;
  /** Returns the name of a table's type without prefix and suffix. */
  bareTypeName(...nameParts: readonly NamePart[]): string;
  /** Returns the type name of one function in conditions on aggregates of a table, without prefix and suffix. */
  predicateTypeName(...nameParts: readonly NamePart[]): string;
  /** Returns the name of a type below a namespace. It has a prefix and suffix, but the convention does not apply. */
  namespaceTypeName(name: string): string;
  rootName(...nameParts: readonly NamePart[]): string;
  fieldName(...nameParts: readonly NamePart[]): string;
  /** Returns the name of a value of `order_by` or of an enum table. */
  enumValue(name: string): string;
}

/** Returns true for a legal name that introspection does not reserve. @rule G-NAM-3 G-NAM-4 */
export const isLegalName = (name: string): boolean => /^[_A-Za-z][_0-9A-Za-z]*$/.test(name) && !name.startsWith("__");

/** Returns true for a legal name of an enum value. graphql-js does not allow `true`, `false` and `null`.
 *  @rule G-NAM-3 */
export const isEnumValueName = (name: string): boolean =>
  isLegalName(name) && name !== "true" && name !== "false" && name !== "null";

/** Returns the name for descriptions: `"album"`, or `"shop.album"` outside `public`. @rule G-GEN-10 */
export const formatName = (name: QualifiedName): string =>
  name.schema === "public" ? name.name : `${name.schema}.${name.name}`;

/** Returns the default name part of a relation or function. @rule G-NAM-1 */
export const buildDefaultPart = (name: QualifiedName): GqlNamePart => ({
  text: name.schema === "public" ? name.name : `${name.schema}_${name.name}`,
  isCustom: false,
});

export const compareNames = (a: QualifiedName, b: QualifiedName): number =>
  a.schema < b.schema ? -1 : a.schema > b.schema ? 1 : a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

const isCustomPart = (namePart: NamePart | undefined): boolean => typeof namePart === "object" && namePart.isCustom;

const getText = (namePart: NamePart): string => (typeof namePart === "string" ? namePart : namePart.text);

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Concatenates the parts without `join`. If V8's `join` used names that were keys of objects, all text that contains
 *  the result would take two bytes per letter. */
const joinParts = (nameParts: readonly NamePart[]): string => {
  let text = "";
  for (const namePart of nameParts) text += text === "" ? getText(namePart) : `_${getText(namePart)}`;
  return text;
};

/** Returns the name parts of a table's root field: `insert`, `album`, `one`. @rule G-NAM-5 */
export const listRootNameParts = (key: GqlRootFieldName, table: GqlNamePart): readonly NamePart[] => {
  const [operation = "", ...suffixParts] = key.split("_");
  return [...(operation === "select" ? [] : [operation]), table, ...suffixParts];
};

/** Returns the root types below a namespace. @rule G-NAM-6 */
export const buildNamespaceRootName = (root: "query" | "mutation" | "subscription", isBackend: boolean): string =>
  root === "mutation" ? `mutation_${isBackend ? "backend" : "frontend"}` : root;

/** Converts `["insert", "album_item", "one"]` to `insertAlbumItemOne`. Leading underscores are kept. */
const joinCamelCase = (nameParts: readonly NamePart[]): string => {
  let name = "";
  let isStart = true;
  for (const namePart of nameParts) {
    if (isCustomPart(namePart)) {
      name += isStart ? getText(namePart) : upperFirst(getText(namePart));
      isStart = false;
      continue;
    }
    for (const part of getText(namePart).split("_")) {
      if (part === "") {
        if (isStart) name += "_";
        continue;
      }
      name += isStart ? lowerFirst(part) : upperFirst(part);
      isStart = false;
    }
  }
  return name;
};

const joinPascalCase = (nameParts: readonly NamePart[]): string =>
  joinCamelCase(nameParts).replace(/^_*./, (start) => start.toUpperCase());

/** Returns the name part of a prefix. It is split at `_`, but keeps the case of its first letter. */
const buildPrefixPart = (prefix: string): GqlNamePart => ({
  text: prefix.charAt(0) + joinCamelCase([prefix]).slice(1),
  isCustom: true,
});

const createPlainNames = (customization: GqlCustomization): NameBuilder => {
  const { typePrefix = "", typeSuffix = "", rootPrefix = "", rootSuffix = "" } = customization;
  return {
    typeName: (...nameParts) => typePrefix + joinParts(nameParts) + typeSuffix,
    sharedTypeName: (...nameParts) => joinParts(nameParts),
    bareTypeName: (...nameParts) => joinParts(nameParts),
    predicateTypeName: (...nameParts) => joinParts(nameParts),
    namespaceTypeName: (name) => typePrefix + name + typeSuffix,
    rootName: (...nameParts) => rootPrefix + joinParts(nameParts) + rootSuffix,
    fieldName: (...nameParts) => joinParts(nameParts),
    enumValue: (name) => name,
  };
};

const createCamelNames = (customization: GqlCustomization): NameBuilder => {
  const { typePrefix, typeSuffix, rootPrefix, rootSuffix } = customization;
  const addAffixes = (
    nameParts: readonly NamePart[],
    prefix: string | undefined,
    suffix: string | undefined,
  ): NamePart[] => [...(prefix ? [buildPrefixPart(prefix)] : []), ...nameParts, ...(suffix ? [suffix] : [])];
  const bareTypeName = (...nameParts: readonly NamePart[]): string =>
    isCustomPart(nameParts[0]) ? joinCamelCase(nameParts) : joinPascalCase(nameParts);
  const typeName = (...nameParts: readonly NamePart[]): string => {
    const affixedParts = addAffixes(nameParts, typePrefix, typeSuffix);
    return typePrefix ? joinPascalCase(affixedParts) : bareTypeName(...affixedParts);
  };
  return {
    typeName,
    bareTypeName,
    sharedTypeName: (...nameParts) => joinPascalCase(nameParts),
    predicateTypeName: (...nameParts) => joinCamelCase(nameParts),
    namespaceTypeName: (name) => typeName({ text: name, isCustom: true }),
    rootName: (...nameParts) => joinCamelCase(addAffixes(nameParts, rootPrefix, rootSuffix)),
    fieldName: (...nameParts) => joinCamelCase(nameParts),
    enumValue: (name) => name.toUpperCase(),
  };
};

/** Creates the names for a convention, from the metadata or else from the setting `defaultNamingConvention`, which
 *  callers fill in. @rule G-NAM-7 */
export const createNames = (customization: GqlCustomization): NameBuilder =>
  customization.namingConvention === "graphql-default"
    ? createCamelNames(customization)
    : createPlainNames(customization);
