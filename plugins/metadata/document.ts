/** Reads the metadata of all versions into one form: names and permissions by table. The model is not needed. */
import { metadataVersionUnknown } from "./errors.ts";
import type {
  MetadataActions,
  MetadataEventTrigger,
  MetadataNative,
  MetadataQueries,
  MetadataRemoteRelationship,
} from "./api.ts";
import { readQueries } from "./queries.ts";
import { isJsonObject, getNumberText, writeJson, type QualifiedName } from "../../core/index.ts";
import { readQualifiedName, type LogIgnored, type RawValue, type RawObject } from "./raw-values.ts";
import { readListOrEmpty, readObjectOrEmpty, readText } from "../shared/json-values.ts";

export interface TableDocument {
  readonly name: QualifiedName;
  readonly raw: RawObject;
  readonly configuration: RawObject;
}

export interface MetadataDocument {
  /** The name of the source that is served. */
  readonly sourceName: string;
  readonly customization: RawObject;
  readonly tables: readonly TableDocument[];
  readonly functions: readonly {
    readonly name: QualifiedName;
    readonly raw: RawObject;
    readonly configuration: RawObject;
  }[];
  readonly inheritedRoles: readonly { readonly role: string; readonly parents: readonly string[] }[];
  readonly closedForRoles: readonly string[];
  readonly queries: MetadataQueries;
  /** The unparsed native queries and logical models, for the plugin that handles them. */
  readonly native: Omit<MetadataNative, "takenNames">;
  /** The unparsed remote schemas, for the plugin that handles them. */
  readonly remoteSchemas: readonly RawValue[];
  readonly remoteRelationships: readonly MetadataRemoteRelationship[];
  /** The unparsed event triggers, for the plugin that handles them. */
  readonly eventTriggers: readonly MetadataEventTrigger[];
  /** The unparsed cron triggers, for the plugin that handles them. */
  readonly cronTriggers: readonly RawValue[];
  /** The unparsed actions and custom types, for the plugin that handles them. */
  readonly actions: Pick<MetadataActions, "actions" | "customTypes">;
  /** The unparsed limits, for the plugins that handle them. */
  readonly limits: RawObject;
}

/** The keys of Hasura that this family does not handle. They are ignored, unless another plugin of the preset handles
 *  them (`served`). */
const KEYS_OF_OTHER_PLUGINS: ReadonlySet<string> = new Set([
  "actions",
  "custom_types",
  "remote_schemas",
  "remote_relationships",
  "remote_schema_permissions",
  "query_collections",
  "allowlist",
  "allow_list",
  "rest_endpoints",
  "cron_triggers",
  "event_triggers",
  "network",
  "api_limits",
  "metrics_config",
  "opentelemetry",
  "backend_configs",
  "native_queries",
  "logical_models",
  "stored_procedures",
]);

/** The keys that only plugins of the preset `plus` handle. */
const PLUS_KEYS: ReadonlySet<string> = new Set([
  "actions",
  "custom_types",
  "remote_schemas",
  "remote_relationships",
  "cron_triggers",
  "event_triggers",
  "native_queries",
  "logical_models",
]);

const TOP_KEYS: ReadonlySet<string> = new Set([
  "version",
  "sources",
  "tables",
  "functions",
  "inherited_roles",
  "graphql_schema_introspection",
]);
const SOURCE_KEYS: ReadonlySet<string> = new Set([
  "name",
  "kind",
  "configuration",
  "customization",
  "tables",
  "functions",
]);
const TABLE_KEYS: ReadonlySet<string> = new Set([
  "table",
  "is_enum",
  "configuration",
  "object_relationships",
  "array_relationships",
  "computed_fields",
  "select_permissions",
  "insert_permissions",
  "update_permissions",
  "delete_permissions",
  "logical_primary_key",
  "apollo_federation_config",
  "comment",
]);
/** The keys of a table that other plugins may handle. All other keys of plugins belong to the metadata or to a
 *  source. */
const SERVED_TABLE_KEYS: readonly string[] = ["event_triggers", "remote_relationships"];
const CONFIGURATION_KEYS: ReadonlySet<string> = new Set([
  "custom_name",
  "comment",
  "custom_root_fields",
  "column_config",
  "custom_column_names",
  "identifier",
]);
const FUNCTION_KEYS: ReadonlySet<string> = new Set(["function", "configuration", "permissions", "comment"]);
const FUNCTION_CONFIGURATION_KEYS: ReadonlySet<string> = new Set([
  "exposed_as",
  "session_argument",
  "custom_name",
  "custom_root_fields",
  "comment",
  "response",
]);

/** Returns whether the value has no content. Exports write every key, often with an empty list. */
const isEmptyEntry = (rawValue: RawValue): boolean => {
  if (rawValue === null) return true;
  if (Array.isArray(rawValue)) return rawValue.length === 0;
  return isJsonObject(rawValue) && Object.values(rawValue).every(isEmptyEntry);
};

/** Reports the keys that no plugin handles. @rule G-MET-5 G-MET-6 */
export const logUnknownKeys = (
  rawObject: RawObject,
  knownKeys: ReadonlySet<string>,
  location: string,
  logIgnored: LogIgnored,
): void => {
  for (const [key, value] of Object.entries(rawObject)) {
    if (knownKeys.has(key)) continue;
    if (!KEYS_OF_OTHER_PLUGINS.has(key) || !isEmptyEntry(value))
      logIgnored(
        KEYS_OF_OTHER_PLUGINS.has(key)
          ? `${location}${key} is not supported; ignored${PLUS_KEYS.has(key) ? ": the preset plus supports it" : ""}`
          : `${location}unknown key "${key}"; ignored`,
      );
  }
};

/** Reads the metadata of any version. `served` lists the keys that other plugins of the preset handle. @throws
 *  RelApiError on an unsupported version @rule G-MET-1 G-MET-3 G-MET-4 G-MET-5 G-MET-6 */
export const readDocument = (
  rawDocument: RawValue,
  logIgnored: LogIgnored,
  served: readonly string[],
): MetadataDocument => {
  const envelope = readObjectOrEmpty(rawDocument);
  const top = isJsonObject(envelope["metadata"]) ? envelope["metadata"] : envelope;
  const rawVersion = top["version"] ?? (top["sources"] === undefined ? 2 : 3);
  const version = Number(getNumberText(rawVersion) ?? rawVersion);
  if (version !== 2 && version !== 3) throw metadataVersionUnknown(getNumberText(rawVersion) ?? String(rawVersion));
  const servedAbove = served.filter((key) => !SERVED_TABLE_KEYS.includes(key));
  logUnknownKeys(top, new Set([...TOP_KEYS, ...servedAbove]), "", logIgnored);
  if (!isJsonObject(rawDocument)) logIgnored("not an object; ignored");
  const source = version === 3 ? findServedSource(readListOrEmpty(top["sources"]), logIgnored) : top;
  if (version === 3) logUnknownKeys(source, new Set([...SOURCE_KEYS, ...servedAbove]), "source: ", logIgnored);
  const tables = readListOrEmpty(source["tables"]).flatMap((rawEntry) => readTable(rawEntry, logIgnored, served));
  return {
    sourceName: (version === 3 ? readText(source["name"]) : undefined) ?? "default",
    customization: readObjectOrEmpty(source["customization"]),
    tables,
    eventTriggers: tables.flatMap(({ name, raw: rawTable }) =>
      readListOrEmpty(rawTable["event_triggers"]).map((trigger) => ({ table: name, raw: trigger })),
    ),
    functions: readListOrEmpty(source["functions"]).flatMap((rawEntry) => {
      const name = readQualifiedName(isJsonObject(rawEntry) ? (rawEntry["function"] ?? null) : rawEntry);
      if (name === undefined) {
        logIgnored(`function entry without a name; ignored: ${writeJson(rawEntry)}`);
        return [];
      }
      const fn = readObjectOrEmpty(rawEntry);
      const configuration = readObjectOrEmpty(fn["configuration"]);
      if (fn["function"] !== undefined) logUnknownKeys(fn, FUNCTION_KEYS, `function ${name.name}: `, logIgnored);
      logUnknownKeys(configuration, FUNCTION_CONFIGURATION_KEYS, `function ${name.name}: configuration: `, logIgnored);
      return [{ name, raw: fn, configuration }];
    }),
    inheritedRoles: readListOrEmpty(top["inherited_roles"]).flatMap((rawEntry) => {
      const role = readText(readObjectOrEmpty(rawEntry)["role_name"]);
      return role === undefined
        ? []
        : [
            {
              role,
              parents: readListOrEmpty(readObjectOrEmpty(rawEntry)["role_set"]).flatMap(
                (parent) => readText(parent) ?? [],
              ),
            },
          ];
    }),
    queries: readQueries(top, served, logIgnored),
    native: { queries: readListOrEmpty(source["native_queries"]), models: readListOrEmpty(source["logical_models"]) },
    remoteSchemas: readListOrEmpty(top["remote_schemas"]),
    cronTriggers: readListOrEmpty(top["cron_triggers"]),
    remoteRelationships: tables.flatMap(readRemoteRelationships),
    actions: readActions(top),
    limits: readObjectOrEmpty(top["api_limits"]),
    closedForRoles: readListOrEmpty(
      readObjectOrEmpty(top["graphql_schema_introspection"])["disabled_for_roles"],
    ).flatMap((role) => readText(role) ?? []),
  };
};

/** Reads the relationships of a table to remote schemas, and the names of its other fields. */
const readRemoteRelationships = ({
  name,
  raw: rawTable,
  configuration,
}: TableDocument): readonly MetadataRemoteRelationship[] => {
  const entries = readListOrEmpty(rawTable["remote_relationships"]);
  if (entries.length === 0) return [];
  const names = ["object_relationships", "array_relationships", "computed_fields"].flatMap((list) =>
    readListOrEmpty(rawTable[list]).map((entry) => readObjectOrEmpty(entry)["name"]),
  );
  const columns = [
    ...Object.values(readObjectOrEmpty(configuration["column_config"])).map(
      (column) => readObjectOrEmpty(column)["custom_name"],
    ),
    ...Object.values(readObjectOrEmpty(configuration["custom_column_names"])),
  ];
  const otherNames = new Set(
    [...names, ...columns].flatMap((customName) => (typeof customName === "string" ? [customName] : [])),
  );
  return entries.map((entry) => ({ table: name, raw: entry, otherNames }));
};

/** Reads actions and custom types. The files of a folder have both in one object. */
const readActions = (top: RawObject): MetadataDocument["actions"] => {
  const { actions = null, custom_types: customTypes } = isJsonObject(top["actions"]) ? top["actions"] : top;
  return { actions: readListOrEmpty(actions), customTypes: readObjectOrEmpty(customTypes) };
};

const findServedSource = (sources: readonly RawValue[], logIgnored: LogIgnored): RawObject => {
  const isPostgres = (rawValue: RawValue): boolean =>
    ["postgres", "pg"].includes(readText(readObjectOrEmpty(rawValue)["kind"]) ?? "postgres");
  const served = sources.find(isPostgres);
  for (const source of sources)
    if (source !== served)
      logIgnored(
        `source ${readText(readObjectOrEmpty(source)["name"]) ?? "without a name"} is skipped: only one source of kind postgres is served`,
      );
  return readObjectOrEmpty(served);
};

const readTable = (rawValue: RawValue, logIgnored: LogIgnored, served: readonly string[]): readonly TableDocument[] => {
  const table = readObjectOrEmpty(rawValue);
  const name = readQualifiedName(table["table"]);
  if (name === undefined) {
    logIgnored(`table entry without a name; ignored: ${writeJson(rawValue).slice(0, 100)}`);
    return [];
  }
  const servedHere = SERVED_TABLE_KEYS.filter((key) => served.includes(key));
  logUnknownKeys(table, new Set([...TABLE_KEYS, ...servedHere]), `table ${name.name}: `, logIgnored);
  const configuration = readObjectOrEmpty(table["configuration"]);
  logUnknownKeys(configuration, CONFIGURATION_KEYS, `table ${name.name}: configuration: `, logIgnored);
  return [{ name, raw: table, configuration }];
};
