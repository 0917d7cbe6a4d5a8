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
import { isJsonObject, numberText, writeJson, type QualifiedName } from "../../core/index.ts";
import { readQualifiedName, type LogIgnored, type Raw, type RawObject } from "./raw-values.ts";
import { readList, readObject, readText } from "../shared/json-values.ts";

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
  readonly remoteSchemas: readonly Raw[];
  readonly remoteRelationships: readonly MetadataRemoteRelationship[];
  /** The unparsed event triggers, for the plugin that handles them. */
  readonly eventTriggers: readonly MetadataEventTrigger[];
  /** The unparsed cron triggers, for the plugin that handles them. */
  readonly cronTriggers: readonly Raw[];
  /** The unparsed actions and custom types, for the plugin that handles them. */
  readonly actions: Pick<MetadataActions, "actions" | "customTypes">;
  /** The unparsed limits, for the plugins that handle them. */
  readonly limits: RawObject;
}

/** The keys of Hasura that this family does not handle. They are ignored, unless another plugin of the preset handles
 *  them (`served`). */
const UNSUPPORTED_KEYS: ReadonlySet<string> = new Set([
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
const isEmptyEntry = (raw: Raw): boolean => {
  if (raw === null) return true;
  if (Array.isArray(raw)) return raw.length === 0;
  return isJsonObject(raw) && Object.values(raw).every(isEmptyEntry);
};

/** Reports the keys that no plugin handles. @rule G-MET-5 G-MET-6 */
export const logUnknownKeys = (
  raw: RawObject,
  knownKeys: ReadonlySet<string>,
  location: string,
  logIgnored: LogIgnored,
): void => {
  for (const [key, value] of Object.entries(raw)) {
    if (knownKeys.has(key)) continue;
    if (!UNSUPPORTED_KEYS.has(key) || !isEmptyEntry(value))
      logIgnored(
        UNSUPPORTED_KEYS.has(key)
          ? `${location}${key} is not supported; ignored${PLUS_KEYS.has(key) ? ": the preset plus supports it" : ""}`
          : `${location}unknown key "${key}"; ignored`,
      );
  }
};

/** Reads the metadata of any version. `served` lists the keys that other plugins of the preset handle. @throws
 *  RelApiError on an unsupported version @rule G-MET-1 G-MET-3 G-MET-4 G-MET-5 G-MET-6 */
export const readDocument = (rawDocument: Raw, logIgnored: LogIgnored, served: readonly string[]): MetadataDocument => {
  const envelope = readObject(rawDocument);
  const top = isJsonObject(envelope["metadata"]) ? envelope["metadata"] : envelope;
  const rawVersion = top["version"] ?? (top["sources"] === undefined ? 2 : 3);
  const version = Number(numberText(rawVersion) ?? rawVersion);
  if (version !== 2 && version !== 3) throw metadataVersionUnknown(numberText(rawVersion) ?? String(rawVersion));
  const servedAbove = served.filter((key) => !SERVED_TABLE_KEYS.includes(key));
  logUnknownKeys(top, new Set([...TOP_KEYS, ...servedAbove]), "", logIgnored);
  if (!isJsonObject(rawDocument)) logIgnored("not an object; ignored");
  const source = version === 3 ? findServedSource(readList(top["sources"]), logIgnored) : top;
  if (version === 3) logUnknownKeys(source, new Set([...SOURCE_KEYS, ...servedAbove]), "source: ", logIgnored);
  const tables = readList(source["tables"]).flatMap((raw) => readTable(raw, logIgnored, served));
  return {
    sourceName: (version === 3 ? readText(source["name"]) : undefined) ?? "default",
    customization: readObject(source["customization"]),
    tables,
    eventTriggers: tables.flatMap(({ name, raw }) =>
      readList(raw["event_triggers"]).map((trigger) => ({ table: name, raw: trigger })),
    ),
    functions: readList(source["functions"]).flatMap((raw) => {
      const name = readQualifiedName(isJsonObject(raw) ? (raw["function"] ?? null) : raw);
      if (name === undefined) {
        logIgnored(`function entry without a name; ignored: ${writeJson(raw)}`);
        return [];
      }
      const fn = readObject(raw);
      const configuration = readObject(fn["configuration"]);
      if (fn["function"] !== undefined) logUnknownKeys(fn, FUNCTION_KEYS, `function ${name.name}: `, logIgnored);
      logUnknownKeys(configuration, FUNCTION_CONFIGURATION_KEYS, `function ${name.name}: configuration: `, logIgnored);
      return [{ name, raw: fn, configuration }];
    }),
    inheritedRoles: readList(top["inherited_roles"]).flatMap((raw) => {
      const role = readText(readObject(raw)["role_name"]);
      return role === undefined
        ? []
        : [{ role, parents: readList(readObject(raw)["role_set"]).flatMap((parent) => readText(parent) ?? []) }];
    }),
    queries: readQueries(top, served, logIgnored),
    native: { queries: readList(source["native_queries"]), models: readList(source["logical_models"]) },
    remoteSchemas: readList(top["remote_schemas"]),
    cronTriggers: readList(top["cron_triggers"]),
    remoteRelationships: tables.flatMap(readRemoteRelationships),
    actions: readActions(top),
    limits: readObject(top["api_limits"]),
    closedForRoles: readList(readObject(top["graphql_schema_introspection"])["disabled_for_roles"]).flatMap(
      (role) => readText(role) ?? [],
    ),
  };
};

/** Reads the relationships of a table to remote schemas, and the names of its other fields. */
const readRemoteRelationships = ({
  name,
  raw,
  configuration,
}: TableDocument): readonly MetadataRemoteRelationship[] => {
  const entries = readList(raw["remote_relationships"]);
  if (entries.length === 0) return [];
  const names = ["object_relationships", "array_relationships", "computed_fields"].flatMap((list) =>
    readList(raw[list]).map((entry) => readObject(entry)["name"]),
  );
  const columns = [
    ...Object.values(readObject(configuration["column_config"])).map((column) => readObject(column)["custom_name"]),
    ...Object.values(readObject(configuration["custom_column_names"])),
  ];
  const otherNames = new Set(
    [...names, ...columns].flatMap((customName) => (typeof customName === "string" ? [customName] : [])),
  );
  return entries.map((entry) => ({ table: name, raw: entry, otherNames }));
};

/** Reads actions and custom types. The files of a folder have both in one object. */
const readActions = (top: RawObject): MetadataDocument["actions"] => {
  const { actions = null, custom_types: customTypes } = isJsonObject(top["actions"]) ? top["actions"] : top;
  return { actions: readList(actions), customTypes: readObject(customTypes) };
};

const findServedSource = (sources: readonly Raw[], logIgnored: LogIgnored): RawObject => {
  const isPostgres = (raw: Raw): boolean =>
    ["postgres", "pg"].includes(readText(readObject(raw)["kind"]) ?? "postgres");
  const served = sources.find(isPostgres);
  for (const source of sources)
    if (source !== served)
      logIgnored(
        `source ${readText(readObject(source)["name"]) ?? "without a name"} is skipped: only one source of kind postgres is served`,
      );
  return readObject(served);
};

const readTable = (raw: Raw, logIgnored: LogIgnored, served: readonly string[]): readonly TableDocument[] => {
  const table = readObject(raw);
  const name = readQualifiedName(table["table"]);
  if (name === undefined) {
    logIgnored(`table entry without a name; ignored: ${writeJson(raw).slice(0, 100)}`);
    return [];
  }
  const servedHere = SERVED_TABLE_KEYS.filter((key) => served.includes(key));
  logUnknownKeys(table, new Set([...TABLE_KEYS, ...servedHere]), `table ${name.name}: `, logIgnored);
  const configuration = readObject(table["configuration"]);
  logUnknownKeys(configuration, CONFIGURATION_KEYS, `table ${name.name}: configuration: `, logIgnored);
  return [{ name, raw: table, configuration }];
};
