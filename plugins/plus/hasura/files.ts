/** Writes metadata as the files of a folder, in the layout of Hasura's command line, or as one file. @rule P-HAS-5 */
import { isJsonObject, getNumberText, writeJson, type Json } from "../../../core/index.ts";
import { readEntry, readListOrEmpty, readQualifiedName, omitKeys, type Entry } from "./document.ts";
import { metadataReadOnly, metadataError } from "./errors.ts";

type Yaml = typeof import("yaml");

/** The content of each file by its path in the folder. */
export type Files = ReadonlyMap<string, string>;

/** The files outside of `databases/`, and the metadata keys in each. */
const TOP_LEVEL_FILES: readonly (readonly [file: string, key: string])[] = [
  ["inherited_roles", "inherited_roles"],
  ["graphql_schema_introspection", "graphql_schema_introspection"],
  ["remote_schemas", "remote_schemas"],
  ["remote_schema_permissions", "remote_schema_permissions"],
  ["query_collections", "query_collections"],
  ["allow_list", "allowlist"],
  ["cron_triggers", "cron_triggers"],
  ["rest_endpoints", "rest_endpoints"],
  ["network", "network"],
  ["api_limits", "api_limits"],
  ["metrics_config", "metrics_config"],
  ["opentelemetry", "opentelemetry"],
  ["backend_configs", "backend_configs"],
];

/** The keys that share the file of actions. */
const ACTIONS = ["actions", "custom_types"] as const;

const KEYS: ReadonlySet<string> = new Set(["version", "sources", ...ACTIONS, ...TOP_LEVEL_FILES.map(([, key]) => key)]);

/** Checks that a metadata file can contain the strings of a value.
 *  @throws RelApiError for strings that the loader would read as an include */
const rejectIncludes = (value: Json): void => {
  if (typeof value === "string" && /^!include\s/.test(value))
    throw metadataError("not-supported", 'a text of the metadata cannot begin with "!include "', "$.args");
  if (Array.isArray(value) || isJsonObject(value)) Object.values(value).forEach(rejectIncludes);
};

/** Makes a name safe for a path, so that every table's file stays inside the folder. */
const makeSafeFileName = (name: string): string => name.replace(/[^\w-]/g, "_").slice(0, 120) || "_";

/** Makes unique file names. Names that differ only in case count as equal, because some file systems treat them so. */
const createFileNamer = (): ((name: string) => string) => {
  const usedNames = new Set<string>();
  return (name) => {
    let free = makeSafeFileName(name);
    for (let i = 2; usedNames.has(free.toLowerCase()); i++) free = `${makeSafeFileName(name)}_${i}`;
    usedNames.add(free.toLowerCase());
    return free;
  };
};

/** Returns the value that each file contains. @throws RelApiError */
const splitDocument = (document: Entry): ReadonlyMap<string, Json> => {
  const unknown = Object.keys(document).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw metadataReadOnly(`a metadata folder has no file for "${unknown}"`);
  const files = new Map<string, Json>([["version.yaml", { version: 3 }]]);
  const nameFolder = createFileNamer();
  const sources = readListOrEmpty(document["sources"]).map((rawEntry): Entry => {
    const source = readEntry(rawEntry);
    const folder = nameFolder(String(source["name"]));
    const fileEntry: Record<string, Json> = { ...source };
    for (const kind of ["table", "function"] as const) {
      const key = `${kind}s`;
      if (!Array.isArray(source[key])) continue;
      const nameFile = createFileNamer();
      const includes = source[key].map((object: Json) => {
        const name = readQualifiedName(readEntry(object)[kind]);
        const file = `${nameFile(name === undefined ? kind : `${name.schema}_${name.name}`)}.yaml`;
        files.set(`databases/${folder}/${key}/${file}`, object);
        return `!include ${file}`;
      });
      files.set(`databases/${folder}/${key}/${key}.yaml`, includes);
      fileEntry[key] = `!include ${folder}/${key}/${key}.yaml`;
    }
    return fileEntry;
  });
  files.set("databases/databases.yaml", sources);
  for (const [file, key] of TOP_LEVEL_FILES) if (document[key] !== undefined) files.set(`${file}.yaml`, document[key]);
  if (ACTIONS.some((key) => document[key] !== undefined))
    files.set(
      "actions.yaml",
      omitKeys(document, ...[...KEYS].filter((key) => !ACTIONS.some((actionKey) => actionKey === key))),
    );
  return files;
};

/** Returns a value as YAML. @throws RelApiError for a value that YAML would read back differently */
const toYaml = (yaml: Yaml, value: Json): string => {
  const rawNumber = {
    tag: "tag:yaml.org,2002:float",
    default: true,
    identify: (item: unknown) => typeof item === "object" && getNumberText(item) !== undefined,
    resolve: (text: string) => text,
    test: /^$/,
    stringify: (item: { readonly value: unknown }) => getNumberText(item.value) ?? "null",
  };
  const text = yaml.stringify(value, { customTags: [rawNumber], aliasDuplicateObjects: false, lineWidth: 0 });
  const parsedValue = readYaml(yaml, text);
  if (parsedValue === undefined || writeJson(parsedValue) !== JSON.stringify(JSON.parse(writeJson(value))))
    throw metadataError("not-supported", "a text of the metadata cannot be written as YAML", "$.args");
  return text;
};

/** Parses YAML as the metadata loader does, without includes and exact digits. Undefined if it is not valid YAML. */
const readYaml = (yaml: Yaml, text: string): Json | undefined => {
  const include = { tag: "!include", resolve: (name: string) => `!include ${name}` };
  const document = yaml.parseDocument(text, { customTags: [include], prettyErrors: false, merge: true });
  // Plain YAML has only JSON values.
  return document.errors.length > 0 ? undefined : (document.toJS({ maxAliasCount: 100 }) as Json);
};

/** Returns the files that the folder must contain. `current` contains the existing files. @throws RelApiError */
export const buildFolderFiles = async (document: Entry, current: Files): Promise<Files> => {
  const yaml = await import("yaml");
  rejectIncludes(document);
  const files = new Map<string, string>();
  for (const [path, value] of splitDocument(document)) {
    const text = current.get(path);
    // An unchanged file keeps its comments and spacing.
    const isSame = text !== undefined && isSameValue(readYaml(yaml, text), value);
    files.set(path, isSame ? text : toYaml(yaml, value));
  }
  return files;
};

const isSameValue = (read: Json | undefined, value: Json): boolean =>
  read !== undefined && JSON.stringify(read) === writeJson(value);

/** Returns the content of a single metadata file, in its current format. @throws RelApiError */
export const buildFileText = async (document: Entry, current: string): Promise<string> => {
  rejectIncludes(document);
  const isJson = current.trimStart().startsWith("{");
  const yaml = await import("yaml");
  const currentValue = readYaml(yaml, current);
  const envelope = isJsonObject(currentValue) && isJsonObject(currentValue["metadata"]) ? currentValue : undefined;
  const value =
    envelope === undefined
      ? document
      : { ...envelope, resource_version: (Number(envelope["resource_version"]) || 0) + 1, metadata: document };
  return isJson ? `${indentJson(writeJson(value))}\n` : toYaml(yaml, value);
};

/** JSON indented by two spaces, with all digits of its numbers. */
const indentJson = (json: string): string => {
  let depth = 0;
  const startLine = (): string => `\n${"  ".repeat(depth)}`;
  return json.replace(/"(?:[^"\\]|\\[^])*"?|\[\]|\{\}|[[{]|[\]}]|,|:/g, (token) => {
    if (token === "[" || token === "{") {
      depth++;
      return token + startLine();
    }
    if (token === "]" || token === "}") {
      depth--;
      return startLine() + token;
    }
    return token === "," ? `,${startLine()}` : token === ":" ? ": " : token;
  });
};
