/** Builds the catalog of a model, independent of roles: tables with names, columns, relationships and computed fields,
 *  and functions. Without metadata it has everything in the exposed schemas, otherwise the tables and functions of the
 *  metadata. @rule G-NAM-1 … G-NAM-5 G-GEN-2 */
import { GQL_METADATA } from "../api.ts";
import {
  isView,
  buildNameKey,
  findRelation,
  findRelationship,
  memoizeValue,
  type Model,
  type Slices,
  type QualifiedName,
  type Registry,
  type Relation,
} from "../../../core/index.ts";
import { buildEntryComputedFields, buildDefaultComputedFields } from "./computed-sources.ts";
import { listEntryFunctions, listDefaultFunctions } from "./function-sources.ts";
import {
  compareNames,
  createNames,
  buildDefaultPart,
  formatName,
  isLegalName,
  buildNamespaceRootName,
  listRootNameParts,
  type NameBuilder,
} from "./names.ts";
import { listDefaultRelationships } from "./default-relationships.ts";
import { createTypeOwners, type TypeOwners } from "./type-owners.ts";
import { createRootIndex, type RootIndex } from "./root-index.ts";
import type { GqlEnumTable } from "../value-types.ts";
import {
  type GqlColumn,
  type GqlCustomization,
  type GqlFunction,
  type GqlMetadata,
  type GqlRelationshipField,
  type GqlCatalog,
  type GqlTable,
  type GqlTableEntry,
  type GqlNamePart,
} from "../catalog-types.ts";

export interface Catalog extends GqlCatalog {
  readonly names: NameBuilder;
  readonly typeOwners: TypeOwners;
  readonly tablesByRoot: RootIndex<GqlTable>;
  readonly functionsByRoot: RootIndex<GqlFunction>;
}

type Warn = (message: string) => void;

/** Returns the key for by-pk fields. Only plain tables have one, and views if the metadata declares it. @rule
 *  G-GEN-13 */
const findPrimaryKey = (relation: Relation, entry: GqlTableEntry | undefined): readonly string[] => {
  if (isView(relation)) return entry?.primaryKey ?? [];
  return relation.uniqueKeys.find((key) => key.isPrimary)?.columns ?? [];
};

const buildEnumTable = (
  relation: Relation,
  entry: GqlTableEntry | undefined,
  names: NameBuilder,
): GqlEnumTable | undefined =>
  entry?.enumValues && {
    relation,
    values: entry.enumValues
      .map(({ key, comment }) => ({ name: names.enumValue(key), key, comment }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
  };

/** Returns the enum table to which a column's single-column foreign key refers. @rule G-ENM-2 */
const findEnumTable = (
  relation: Relation,
  column: string,
  enumTables: ReadonlyMap<string, GqlEnumTable>,
): GqlEnumTable | undefined => {
  const key =
    enumTables.size === 0
      ? undefined
      : relation.foreignKeys.find(
          (foreignKey) =>
            foreignKey.columns.length === 1 &&
            foreignKey.columns[0] === column &&
            enumTables.has(buildNameKey(foreignKey.target)),
        );
  return key && enumTables.get(buildNameKey(key.target));
};

const buildColumns = (
  relation: Relation,
  entry: GqlTableEntry | undefined,
  names: NameBuilder,
  enumTables: ReadonlyMap<string, GqlEnumTable>,
  warn: Warn,
): GqlColumn[] => {
  const takenNames = new Set<string>();
  return relation.columns.flatMap((column) => {
    const columnEntry = entry?.columns?.[column.name];
    const name = columnEntry?.customName ?? names.fieldName(column.name);
    if (!isLegalName(name) || takenNames.has(name)) {
      warn(
        `column ${formatName(relation)}.${column.name} is left out of GraphQL: ${takenNames.has(name) ? "its name is taken" : "its name is not a valid GraphQL name"}`,
      );
      return [];
    }
    takenNames.add(name);
    const enumTable = findEnumTable(relation, column.name, enumTables);
    const comment = columnEntry?.comment === undefined ? (column.comment ?? null) : columnEntry.comment;
    return [
      { column, name, comment: comment === "" ? null : comment, ...(enumTable === undefined ? {} : { enumTable }) },
    ];
  });
};

const listEntryRelationships = (
  model: Model,
  relation: Relation,
  entry: GqlTableEntry,
  takenNames: ReadonlySet<string>,
): GqlRelationshipField[] =>
  entry.relationships.flatMap(({ name, relationship: id, isAfter }) => {
    const relationship = findRelationship(relation, id);
    const target = relationship && findRelation(model, relationship.target);
    if (relationship === undefined || target === undefined || takenNames.has(name) || !isLegalName(name)) return [];
    return [{ name, relationship, target, ...(isAfter === undefined ? {} : { isAfter }) }];
  });

interface ListedRelation {
  /** The `buildNameKey` of the relation, by which tables are found. */
  readonly key: string;
  readonly relation: Relation;
  readonly entry: GqlTableEntry | undefined;
}

const sortByRelation = (listedRelations: ListedRelation[]): readonly ListedRelation[] =>
  listedRelations.sort((a, b) => compareNames(a.relation, b.relation));

const listExposedRelations = ({ relations, schemas }: Model): readonly ListedRelation[] => {
  const exposedSchemas = new Set(schemas);
  const listedRelations: ListedRelation[] = [];
  for (const [key, relation] of relations)
    if (exposedSchemas.has(relation.schema)) listedRelations.push({ key, relation, entry: undefined });
  return sortByRelation(listedRelations);
};

interface NamedRelation extends ListedRelation {
  readonly namePart: GqlNamePart;
}

/** Returns the names of root fields that a table may have for any role. */
const listRootNames = ({ namePart, entry }: Pick<NamedRelation, "namePart" | "entry">, names: NameBuilder): string[] =>
  (["select", "select_by_pk", "select_aggregate"] as const).map(
    (key) => entry?.rootFields?.[key]?.name ?? names.rootName(...listRootNameParts(key, namePart)),
  );

/** Returns the types that every schema needs: the roots, the types below a namespace, the built-in scalars, and the
 *  directions of orders. */
const listReservedTypes = ({ namespace }: GqlCustomization, names: NameBuilder): readonly string[] => [
  ...(["query", "mutation", "subscription"] as const).flatMap((root) => [
    `${root}_root`,
    ...(namespace === undefined
      ? []
      : [false, true].map((isBackend) =>
          names.namespaceTypeName(`${namespace}_${buildNamespaceRootName(root, isBackend)}`),
        )),
  ]),
  "Int",
  "Float",
  "String",
  "Boolean",
  "ID",
  names.sharedTypeName("order_by"), // without it, input types for orders would have no fields
];

/** The number of tables between two yields. */
const TABLES_AT_ONCE = 16;

/** Drops tables whose name is invalid, reserved, or taken by an earlier table. @rule G-NAM-3 */
const nameTables = function* (
  listedRelations: readonly ListedRelation[],
  names: NameBuilder,
  takenTypes: Set<string>,
  takenRoots: Set<string>,
  warn: Warn,
): Slices<readonly NamedRelation[]> {
  const namedRelations: NamedRelation[] = [];
  let count = 0;
  for (const { key, relation, entry } of listedRelations) {
    if (++count % TABLES_AT_ONCE === 0) yield;
    const namePart =
      entry?.customName === undefined ? buildDefaultPart(relation) : { text: entry.customName, isCustom: true };
    const type = names.typeName(namePart);
    if (!isLegalName(namePart.text) || (type !== namePart.text && !isLegalName(type))) {
      warn(`${formatName(relation)} is left out of GraphQL: its name is not a valid GraphQL name`);
      continue;
    }
    const roots = listRootNames({ namePart, entry }, names);
    if (takenTypes.has(type) || roots.some((name) => takenRoots.has(name))) {
      warn(`${formatName(relation)} is left out of GraphQL: its type or root field name is taken`);
      continue;
    }
    takenTypes.add(type);
    for (const name of roots) takenRoots.add(name);
    namedRelations.push({ key, relation, namePart, entry });
  }
  return namedRelations;
};

/** Creates the catalog from the model. All roles share one catalog. */
export const createCatalog = function* (
  model: Model,
  registry: Registry,
  convention: GqlCustomization["namingConvention"],
  warn: Warn,
): Slices<Catalog> {
  // Only the metadata plugin writes this part.
  const metadata = model.pluginFacts[GQL_METADATA] as GqlMetadata | undefined;
  const customization: GqlCustomization = {
    ...metadata?.customization,
    namingConvention: metadata?.customization?.namingConvention ?? convention,
  };
  const names = createNames(customization);
  const listedRelations = metadata?.tables?.flatMap((entry) => {
    const relation = findRelation(model, entry.relation);
    return relation === undefined ? [] : [{ key: buildNameKey(relation), relation, entry }];
  });
  const takenTypes = new Set(listReservedTypes(customization, names));
  const takenRoots = new Set<string>();
  const namedRelations = yield* nameTables(
    listedRelations === undefined ? listExposedRelations(model) : sortByRelation(listedRelations),
    names,
    takenTypes,
    takenRoots,
    warn,
  );
  const tablesByName = new Map<string, GqlTable>();
  const isServed = (name: QualifiedName): boolean => tablesByName.has(buildNameKey(name));

  const enumTables = new Map<string, GqlEnumTable>();
  for (const { relation, entry } of namedRelations) {
    const enumTable = buildEnumTable(relation, entry, names);
    if (enumTable !== undefined) enumTables.set(buildNameKey(relation), enumTable);
  }

  /** Builds a table without its members. They are built when a document first uses the table, because most of thousands
   *  of tables are never used. */
  const createTable = ({ key: relationKey, relation, namePart, entry }: NamedRelation): GqlTable => {
    const enumTable = enumTables.get(relationKey);
    const content = memoizeValue(() => {
      const columns = buildColumns(relation, entry, names, enumTables, warn);
      const key = findPrimaryKey(relation, entry);
      const usedNames = new Set(columns.map(({ name }) => name));
      const relationships =
        entry === undefined
          ? listDefaultRelationships(model, relation, usedNames, isServed)
          : listEntryRelationships(model, relation, entry, usedNames).filter(({ target }) => isServed(target));
      for (const { name } of relationships) usedNames.add(name);
      return {
        columns,
        primaryKey: key.every((name) => columns.some(({ column }) => column.name === name)) ? key : [],
        relationships,
        computedFields:
          entry === undefined
            ? buildDefaultComputedFields(model, relation, usedNames, isServed)
            : buildEntryComputedFields(model, relation, entry, usedNames, isServed, warn),
      };
    });
    return {
      relation,
      namePart,
      comment: entry?.comment === undefined ? relation.comment : entry.comment || null,
      rootFields: entry?.rootFields ?? {},
      ...(enumTable && { enumTable }),
      get columns() {
        return content().columns;
      },
      get primaryKey() {
        return content().primaryKey;
      },
      get relationships() {
        return content().relationships;
      },
      get computedFields() {
        return content().computedFields;
      },
    };
  };
  const tables: GqlTable[] = [];
  const tablesByRoot = createRootIndex<GqlTable>();
  const typeOwners = createTypeOwners(registry, names, new Set(namedRelations.map(({ namePart }) => namePart.text)));
  for (const namedRelation of namedRelations) {
    const table = createTable(namedRelation);
    tablesByName.set(namedRelation.key, table);
    tablesByRoot.add(table);
    typeOwners.add(table);
    if (tables.push(table) % TABLES_AT_ONCE === 0) yield;
  }
  const functions =
    metadata?.functions === undefined && metadata?.tables === undefined
      ? listDefaultFunctions(model, isServed, names, takenRoots, warn)
      : listEntryFunctions(model, metadata.functions ?? [], isServed, names, takenRoots, warn);
  const functionsByRoot = createRootIndex<GqlFunction>();
  for (const fn of functions) functionsByRoot.add(fn);
  return {
    tables,
    tablesByKey: tablesByName,
    functions,
    customization,
    names,
    typeOwners,
    tablesByRoot,
    functionsByRoot,
  };
};
