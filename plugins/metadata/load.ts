/** Loads metadata from a folder of YAML files, one file, or an object, and expands all includes. */
import { readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Document, ScalarTag } from "yaml";
import { exactNumber, isJsonObject, RelApiError } from "../../core/index.ts";
import { mergeActionSdl } from "./action-files.ts";
import { metadataUnreadable } from "./errors.ts";
import type { RawValue } from "./raw-values.ts";

/** Matches `!include tables.yaml`, as a tag or at the beginning of a string. */
const INCLUDE = /^!include\s+(\S.*)$/;

const includeTag: ScalarTag = { tag: "!include", resolve: (text) => `!include ${text}` };

/** The state of one load of the metadata. */
interface LoadState {
  /** The files that were read, once for each include. Their number is limited, because nested includes can grow
   *  exponentially. */
  readonly files: string[];
  /** The content of each file, which is read once. */
  readonly contents: Map<string, Promise<RawValue>>;
  /** True if a file was rejected. The remaining files are not read then. */
  isRejected: boolean;
}

/** The location of a value: its file, and the files that included it. */
interface FileLocation {
  readonly root: string;
  readonly file: string;
  readonly includedBy: readonly string[];
  readonly state: LoadState;
}

/** The loaded metadata. `files` lists the files that were read. */
interface LoadedMetadata {
  readonly raw: RawValue;
  readonly files: readonly string[];
}

const MAX_ALIASES = 100;
const MAX_FILES = 10_000;

/** Loads the metadata of a path or an object. @throws RelApiError `preset` with the file's name, line and column @rule
 *  G-MET-1 G-MET-2 G-MET-6 */
export const loadMetadata = async (source: string | Readonly<Record<string, unknown>>): Promise<LoadedMetadata> => {
  if (typeof source !== "string") return { raw: copyObject(source), files: [] };
  const path = resolve(source);
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw metadataUnreadable(source, error.code === "ENOENT" ? "no such file or folder" : error.message);
  });
  const state: LoadState = { files: [], contents: new Map(), isRejected: false };
  const raw = stats.isDirectory()
    ? await loadFolder(path, state)
    : await loadFile({ root: dirname(path), file: path, includedBy: [], state });
  return { raw, files: state.files };
};

/** Copies an object of the application, which must be plain. Its integers may be of type bigint. */
const copyObject = (value: unknown): RawValue => {
  if (typeof value === "bigint") return exactNumber(String(value));
  if (Array.isArray(value)) return value.map(copyObject);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyObject(part)]));
  return value as RawValue; // the object is plain, so the value is a scalar
};

/** Matches YAML numbers that are JSON numbers, apart from a leading plus: `+1.5e3`. YAML also has `.5`, `0x1F`, `.inf`
 *  and similar forms, which no tool writes. */
const JSON_NUMBER = /^\+?(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)$/;

/** The type of the parser, which is imported on demand, because a server without metadata does not need its dozens of
 *  files. */
type Yaml = typeof import("yaml");

/** Replaces numbers by raw numbers, which keep all their digits. @rule G-MET-13 */
const keepDigits = ({ visit }: Yaml, document: Document): void => {
  visit(document, {
    Scalar: (at, scalar) => {
      const text =
        at !== "key" && typeof scalar.value === "number" ? JSON_NUMBER.exec(scalar.source ?? "")?.[1] : undefined;
      if (text !== undefined) scalar.value = exactNumber(text);
    },
  });
};

const loadContents = async (file: string, state: LoadState): Promise<RawValue> => {
  await undefined; // the including file first counts all its includes
  if (state.isRejected) return null;
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw metadataUnreadable(file, error.message);
  });
  const yaml = await import("yaml");
  return state.isRejected ? null : parseText(yaml, text, file);
};

/** Reads a file. The includes of a file are read concurrently. @throws RelApiError `preset` for the first file that is
 *  rejected */
const loadFile = async (location: FileLocation): Promise<RawValue> => {
  const { file, state } = location;
  state.files.push(file);
  let contents = state.contents.get(file);
  if (contents === undefined) state.contents.set(file, (contents = loadContents(file, state)));
  try {
    return await expandIncludes(await contents, location);
  } catch (error) {
    state.isRejected = true;
    throw error;
  }
};

/** Parses YAML, which includes JSON. The number of aliases is limited, so that a small file cannot become a large
 *  value. */
const parseText = (yaml: Yaml, text: string, file: string): RawValue => {
  const lines = new yaml.LineCounter();
  try {
    const document = yaml.parseDocument(text, {
      lineCounter: lines,
      customTags: [includeTag],
      prettyErrors: false,
      merge: true,
    });
    const [problem] = document.errors;
    if (problem !== undefined) {
      const { line, col } = lines.linePos(problem.pos[0]);
      throw metadataUnreadable(`${file}:${line}:${col}`, problem.message);
    }
    keepDigits(yaml, document);
    return (document.toJS({ maxAliasCount: MAX_ALIASES }) ?? null) as RawValue; // `toJS` returns only plain values
  } catch (error) {
    if (error instanceof RelApiError) throw error;
    // There are too many aliases, or more levels than the stack allows.
    throw metadataUnreadable(file, (error as Error).message);
  }
};

const expandIncludes = async (value: RawValue, location: FileLocation): Promise<RawValue> => {
  if (typeof value === "string") {
    const name = INCLUDE.exec(value)?.[1]?.trim();
    return name === undefined ? value : loadInclude(name, location);
  }
  if (Array.isArray(value)) return Promise.all(value.map((item: RawValue) => expandIncludes(item, location)));
  if (!isJsonObject(value)) return value;
  const entries = await Promise.all(
    Object.entries(value).map(async ([key, item]) => [key, await expandIncludes(item, location)] as const),
  );
  return Object.fromEntries(entries);
};

/** Loads the content of an include. @rule G-MET-2 */
const loadInclude = async (name: string, { root, file, includedBy, state }: FileLocation): Promise<RawValue> => {
  if (state.isRejected) return null;
  const path = resolve(dirname(file), name);
  const inside = relative(root, path);
  if (inside.startsWith("..") || isAbsolute(inside))
    throw metadataUnreadable(file, `it includes ${name}, which is outside the metadata folder`);
  if (path === file || includedBy.includes(path))
    throw metadataUnreadable(file, `it includes ${name}, which includes it in turn`);
  if (state.files.length >= MAX_FILES) {
    state.isRejected = true;
    throw metadataUnreadable(file, `the metadata includes more than ${MAX_FILES} files`);
  }
  return loadFile({ root, file: path, includedBy: [...includedBy, file], state });
};

/** The files of a folder, except those of `databases/`, by their key. */
const FOLDER_KEYS = [
  "inherited_roles",
  "graphql_schema_introspection",
  "actions",
  "custom_types",
  "remote_schemas",
  "remote_schema_permissions",
  "query_collections",
  "allow_list",
  "cron_triggers",
  "rest_endpoints",
  "network",
  "api_limits",
  "metrics_config",
  "opentelemetry",
  "backend_configs",
] as const;

const loadFolder = async (root: string, state: LoadState): Promise<RawValue> => {
  const loadOptional = async (...names: readonly string[]): Promise<RawValue | undefined> => {
    const path = join(root, ...names);
    const exists = await stat(path).then(
      () => true,
      () => false,
    );
    return exists ? loadFile({ root, file: path, includedBy: [], state }) : undefined;
  };
  const version = await loadOptional("version.yaml");
  if (version === undefined) throw metadataUnreadable(root, "the folder has no version.yaml");
  const metadata: Record<string, RawValue> = {
    version: isJsonObject(version) ? (version["version"] ?? null) : version,
  };
  const sources = await loadOptional("databases", "databases.yaml");
  if (sources !== undefined) metadata["sources"] = sources;
  for (const name of ["tables", "functions"] as const) {
    const part = await loadOptional(`${name}.yaml`);
    if (part !== undefined) metadata[name] = part;
  }
  for (const name of FOLDER_KEYS) {
    const part = await loadOptional(`${name}.yaml`);
    if (part !== undefined && part !== null) metadata[name] = part;
  }
  const sdlFile = join(root, "actions.graphql");
  const sdl = await readFile(sdlFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw metadataUnreadable(sdlFile, error.message);
  });
  if (sdl === undefined) return metadata;
  state.files.push(sdlFile);
  return { ...metadata, actions: await mergeActionSdl(metadata["actions"], sdl, sdlFile) };
};
