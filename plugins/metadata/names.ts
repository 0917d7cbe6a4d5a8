/** Matches names, relationships and computed fields of the metadata with the model. */
import {
  isJsonObject,
  findBaseType,
  findColumn,
  buildNameKey,
  findRelation,
  findRoutines,
  type Model,
  type QualifiedName,
  type Relation,
  type Relationship,
} from "../../core/index.ts";
import { logUnknownKeys, type MetadataDocument, type TableDocument } from "./document.ts";
import { matchRelationship } from "./relationships.ts";
import type {
  GqlComputedEntry,
  GqlCustomization,
  GqlFunctionEntry,
  GqlRootFieldEntry,
  GqlRootFieldName,
  GqlTableEntry,
} from "../graphql/api.ts";
import { readQualifiedName, type LogIgnored, type RawValue, type RawObject } from "./raw-values.ts";
import { readListOrEmpty, readObjectOrEmpty, readText } from "../shared/json-values.ts";

/** Returns the description. Null and "" hide the default description. */
const readComment = (rawValue: RawValue | undefined): string | null | undefined =>
  rawValue === undefined || rawValue === null
    ? undefined
    : typeof rawValue === "string"
      ? rawValue === ""
        ? null
        : rawValue
      : undefined;

const ROOT_FIELDS: readonly GqlRootFieldName[] = [
  "select",
  "select_by_pk",
  "select_aggregate",
  "insert",
  "insert_one",
  "update",
  "update_by_pk",
  "update_many",
  "delete",
  "delete_by_pk",
];

const readRootField = (rawValue: RawValue | undefined): GqlRootFieldEntry | undefined => {
  if (typeof rawValue === "string") return { name: rawValue };
  if (!isJsonObject(rawValue)) return undefined;
  const comment = readComment(rawValue["comment"]);
  return {
    ...(typeof rawValue["name"] === "string" ? { name: rawValue["name"] } : {}),
    ...(comment === undefined ? {} : { comment }),
  };
};

const readRootFields = <Name extends string>(
  rawObject: RawObject,
  names: readonly Name[],
  location: string,
  logIgnored: LogIgnored,
): Partial<Record<Name, GqlRootFieldEntry>> => {
  logUnknownKeys(
    rawObject,
    new Set<string>([...names, "select_stream"]),
    `${location}custom_root_fields: `,
    logIgnored,
  );
  const entries: Partial<Record<Name, GqlRootFieldEntry>> = {};
  for (const name of names) {
    const entry = readRootField(rawObject[name]);
    if (entry !== undefined) entries[name] = entry;
  }
  return entries;
};

/** Reads the customization of names. @rule G-NAM-6 */
export const readCustomization = (rawObject: RawObject, logIgnored: LogIgnored): GqlCustomization => {
  const root = readObjectOrEmpty(rawObject["root_fields"]);
  const types = readObjectOrEmpty(rawObject["type_names"]);
  const convention = readText(rawObject["naming_convention"]);
  const isKnown = convention === "graphql-default" || convention === "hasura-default";
  if (convention !== undefined && !isKnown)
    logIgnored(`customization: naming_convention ${convention} is unknown; ignored`);
  return {
    namespace: readText(root["namespace"]),
    rootPrefix: readText(root["prefix"]),
    rootSuffix: readText(root["suffix"]),
    typePrefix: readText(types["prefix"]),
    typeSuffix: readText(types["suffix"]),
    namingConvention: isKnown ? convention : undefined,
  };
};

const GRAPHQL_NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;

export interface NamedTable {
  readonly document: TableDocument;
  readonly relation: Relation;
  readonly entry: GqlTableEntry;
}

/** Returns the GraphQL name before a naming convention is applied. @rule G-NAM-1 */
export const buildName = ({ schema, name }: QualifiedName, configuration: RawObject): string =>
  readText(configuration["custom_name"]) ?? (schema === "public" ? name : `${schema}_${name}`);

/** Returns the tables that exist, and the model with their relationships. @rule G-MET-8 G-MET-9 G-MET-12 */
export const matchTables = (
  document: MetadataDocument,
  model: Model,
  enumValues: ReadonlyMap<TableDocument, GqlTableEntry["enumValues"]>,
  logIgnored: LogIgnored,
): { readonly model: Model; readonly tables: readonly NamedTable[] } => {
  const relations = new Map(model.relations);
  const tablesByKey = new Map<string, { readonly table: TableDocument; readonly relation: Relation }>();
  for (const table of document.tables) {
    const relation = findRelation(model, table.name);
    if (relation === undefined)
      logIgnored(`table ${table.name.name}: does not exist in schema ${table.name.schema}; ignored`, {
        type: "table",
        owner: table.name,
      });
    else if (tablesByKey.has(buildNameKey(relation)))
      logIgnored(`table ${table.name.name}: listed twice; using the first entry`);
    else tablesByKey.set(buildNameKey(relation), { table, relation });
  }
  const tablesByName = new Map<string, QualifiedName>();
  for (const { table, relation } of tablesByKey.values()) {
    const graphqlName = buildName(relation, table.configuration);
    const otherTable = tablesByName.get(graphqlName);
    const logUnserved = (reason: string): void =>
      logIgnored(`table ${relation.name}: ${reason}`, {
        type: "table",
        owner: table.name,
        detail: `the table "${relation.name}" has no fields in GraphQL: ${reason}`,
      });
    if (!GRAPHQL_NAME.test(graphqlName)) logUnserved(`"${graphqlName}" is not a valid GraphQL name: set custom_name`);
    else if (otherTable === undefined) tablesByName.set(graphqlName, relation);
    else
      logUnserved(
        `the table ${otherTable.schema}.${otherTable.name} has the name "${graphqlName}" too: set custom_name`,
      );
  }
  const isListed = (name: QualifiedName): boolean => tablesByKey.has(buildNameKey(name));
  const tables = [...tablesByKey.values()].map(({ table, relation }): NamedTable => {
    const addedRelationships: Relationship[] = [];
    const relationships: GqlTableEntry["relationships"][number][] = [];
    const addRelationship = (rawValue: RawValue, isObjectRelationship: boolean): void => {
      const name = readText(readObjectOrEmpty(rawValue)["name"]);
      if (name === undefined) return logIgnored(`table ${relation.name}: relationship without a name; ignored`);
      const type = isObjectRelationship ? "object_relation" : "array_relation";
      const location = `table ${relation.name}: ${isObjectRelationship ? "object" : "array"} relationship ${name}: `;
      const logLeftOut = (reason: string, detail = reason): void =>
        logIgnored(`${location}${reason}`, { type, owner: table.name, name, detail });
      if (!GRAPHQL_NAME.test(name)) return logLeftOut("its name is not a valid GraphQL name");
      if (findColumn(relation, name) !== undefined) return logLeftOut("a column has that name");
      if (relationships.some((relationship) => relationship.name === name)) return logLeftOut("the name is taken");
      const using = readObjectOrEmpty(readObjectOrEmpty(rawValue)["using"]);
      const match = matchRelationship(model, relation, using, isObjectRelationship, name);
      if ("reason" in match) return logLeftOut(match.reason, match.detail);
      const { target } = match.relationship;
      if (!isListed(target))
        return logLeftOut(`table "${target.name}" is not in the metadata`, `table "${target.name}" is not tracked`);
      if (match.isNew) addedRelationships.push(match.relationship);
      relationships.push({
        name,
        relationship: match.relationship.id,
        ...(match.isWrittenAfterParent ? { isAfter: true } : {}),
      });
    };
    for (const rawEntry of readListOrEmpty(table.raw["object_relationships"])) addRelationship(rawEntry, true);
    for (const rawEntry of readListOrEmpty(table.raw["array_relationships"])) addRelationship(rawEntry, false);
    const extendedRelation: Relation =
      addedRelationships.length === 0
        ? relation
        : { ...relation, relationships: [...relation.relationships, ...addedRelationships] };
    relations.set(buildNameKey(extendedRelation), extendedRelation);
    return {
      document: table,
      relation: extendedRelation,
      entry: buildTableEntry(model, extendedRelation, table, relationships, enumValues.get(table), logIgnored),
    };
  });
  return { model: { ...model, relations }, tables };
};

/** Creates a test for relationships that the metadata names. It compares join columns, because the metadata's
 *  relationship may have another id than the relationship of the foreign key. */
export const createRelationshipTest = (tables: readonly NamedTable[]): ((relationship: Relationship) => boolean) => {
  const buildRelationshipKey = ({ source, target, columns }: Relationship): string =>
    JSON.stringify([
      source.schema,
      source.name,
      target.schema,
      target.name,
      columns.map((pair) => pair.join("\0")).sort(),
    ]);
  const relationshipKeys = new Set(
    tables.flatMap(({ relation, entry }) => {
      const ids = new Set(entry.relationships.map(({ relationship }) => relationship));
      return relation.relationships.filter(({ id }) => ids.has(id)).map(buildRelationshipKey);
    }),
  );
  return (relationship) =>
    relationship.junction === undefined && relationshipKeys.has(buildRelationshipKey(relationship));
};

const buildTableEntry = (
  model: Model,
  relation: Relation,
  table: TableDocument,
  relationships: GqlTableEntry["relationships"],
  enumValues: GqlTableEntry["enumValues"],
  logIgnored: LogIgnored,
): GqlTableEntry => {
  const { configuration, raw: rawTable } = table;
  const columns: Record<string, { customName?: string; comment?: string | null }> = {};
  const columnEntries = [
    ...Object.entries(readObjectOrEmpty(configuration["custom_column_names"])).map(
      ([column, name]): readonly [string, RawObject] => [column, { custom_name: name }],
    ),
    ...Object.entries(readObjectOrEmpty(configuration["column_config"])).map(
      ([column, config]): readonly [string, RawObject] => [column, readObjectOrEmpty(config)],
    ),
  ];
  for (const [column, config] of columnEntries) {
    if (findColumn(relation, column) === undefined) {
      logIgnored(`table ${relation.name}: column "${column}" does not exist`);
      continue;
    }
    const comment = readComment(config["comment"]);
    const customName = readText(config["custom_name"]);
    columns[column] = {
      ...columns[column],
      ...(customName === undefined ? {} : { customName }),
      ...(comment === undefined ? {} : { comment }),
    };
  }
  const primaryKey = readListOrEmpty(rawTable["logical_primary_key"]).flatMap((column) => readText(column) ?? []);
  const isKeyKnown = primaryKey.length > 0 && primaryKey.every((column) => findColumn(relation, column) !== undefined);
  if (primaryKey.length > 0 && !isKeyKnown)
    logIgnored(`table ${relation.name}: logical_primary_key names a column that does not exist`);
  const comment = readComment(configuration["comment"]);
  const customName = readText(configuration["custom_name"]);
  return {
    relation: { schema: relation.schema, name: relation.name },
    ...(customName === undefined ? {} : { customName }),
    ...(comment === undefined ? {} : { comment }),
    rootFields: readRootFields(
      readObjectOrEmpty(configuration["custom_root_fields"]),
      ROOT_FIELDS,
      `table ${relation.name}: `,
      logIgnored,
    ),
    columns,
    relationships,
    computedFields: readListOrEmpty(rawTable["computed_fields"]).flatMap((field) =>
      buildComputedEntry(model, relation, readObjectOrEmpty(field), logIgnored),
    ),
    ...(isKeyKnown ? { primaryKey } : {}),
    ...(enumValues === undefined ? {} : { enumValues }),
  };
};

/** Matches a computed field with the functions of the model. @rule G-CF-1 */
const buildComputedEntry = (
  model: Model,
  relation: Relation,
  rawObject: RawObject,
  logIgnored: LogIgnored,
): readonly GqlComputedEntry[] => {
  const name = readText(rawObject["name"]);
  const definition = readObjectOrEmpty(rawObject["definition"]);
  const routine = readQualifiedName(definition["function"]);
  if (name === undefined || routine === undefined) return [];
  const leaveOut = (reason: string): readonly [] => {
    const { schema, name: table } = relation;
    logIgnored(`table ${table}: computed field ${name}: ${reason}`, {
      type: "computed_field",
      owner: { schema, name: table },
      name,
      detail: reason,
    });
    return [];
  };
  if (findColumn(relation, name) !== undefined) return leaveOut("a column has that name");
  const takesRow = findRoutines(model, routine).some((candidate) =>
    candidate.parameters.some((parameter) => parameter.type === relation.rowType),
  );
  if (!takesRow) return leaveOut(`no function "${routine.schema}"."${routine.name}" takes a row of the table`);
  const comment = readComment(rawObject["comment"]);
  return [
    {
      name,
      routine,
      ...(readText(definition["table_argument"]) === undefined
        ? {}
        : { tableArgument: readText(definition["table_argument"]) }),
      ...(readText(definition["session_argument"]) === undefined
        ? {}
        : { sessionArgument: readText(definition["session_argument"]) }),
      ...(comment === undefined ? {} : { comment }),
    },
  ];
};

/** Matches the functions of the metadata with the functions of the model. @rule G-MET-10 G-FN-2 */
export const buildFunctionEntries = (
  document: MetadataDocument,
  model: Model,
  logIgnored: LogIgnored,
): readonly GqlFunctionEntry[] =>
  document.functions.flatMap(({ name, configuration }): readonly GqlFunctionEntry[] => {
    const routines = findRoutines(model, name);
    const location = `function ${name.name}: `;
    const leaveOut = (reason: string): readonly [] => {
      logIgnored(reason, { type: "function", owner: name });
      return [];
    };
    if (routines.length === 0) return leaveOut(`${location}does not exist in schema ${name.schema}; ignored`);
    if (!routines.some((routine) => routine.returns.relation !== undefined))
      logIgnored(`${location}it does not return rows of a table, so GraphQL has no field for it`);
    const graphqlName = buildName(name, configuration);
    if (!GRAPHQL_NAME.test(graphqlName))
      logIgnored(`${location}"${graphqlName}" is not a valid GraphQL name: set custom_name`, {
        type: "function",
        owner: name,
      });
    const exposedAs = readText(configuration["exposed_as"]);
    if (exposedAs === "mutation" && routines.some((routine) => routine.volatility !== "volatile")) {
      return leaveOut(
        `the function "${name.name}" cannot be tracked because the function was requested to be exposed as a mutation, but is not marked VOLATILE. Maybe the function was given the wrong volatility when it was defined?`,
      );
    }
    const sessionArgument = readText(configuration["session_argument"]);
    const parameter =
      sessionArgument === undefined
        ? undefined
        : routines[0]?.parameters.find((candidate) => candidate.name === sessionArgument);
    const isJson =
      parameter !== undefined && ["json", "jsonb"].includes(findBaseType(model, parameter.type)?.name ?? "");
    if (sessionArgument !== undefined && !isJson)
      return leaveOut(`${location}session argument "${sessionArgument}" is not an argument of type json`);
    const comment = readComment(configuration["comment"]);
    const customName = readText(configuration["custom_name"]);
    return [
      {
        routine: name,
        ...(exposedAs === "query" || exposedAs === "mutation" ? { exposedAs } : {}),
        ...(sessionArgument === undefined ? {} : { sessionArgument }),
        ...(customName === undefined ? {} : { customName }),
        rootFields: readRootFields(
          readObjectOrEmpty(configuration["custom_root_fields"]),
          ["function", "function_aggregate"],
          location,
          logIgnored,
        ),
        ...(comment === undefined ? {} : { comment }),
      },
    ];
  });
