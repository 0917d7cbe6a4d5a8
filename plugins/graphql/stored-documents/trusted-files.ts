/** Reads the files of a folder of trusted documents. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { presetError } from "../../../core/index.ts";

interface TrustedFile {
  readonly text: string;
  /** The location of the file in log lines. */
  readonly location: string;
  /** The name of the document in a manifest. */
  readonly id?: string;
}

/** Reads a manifest: `{"<id>": "<document>"}`, or Apollo's `{"operations": [{"id": …, "body": …}]}`. */
const readManifest = (location: string, text: string): readonly TrustedFile[] => {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    // JSON.parse throws a SyntaxError.
    throw presetError(`trusted documents: ${location} cannot be read: ${(error as Error).message}`);
  }
  const { operations } = manifest as { readonly operations?: unknown };
  const pairs = Array.isArray(operations)
    ? operations.map((operation: { readonly id?: unknown; readonly body?: unknown }) => [operation.id, operation.body])
    : Object.entries(manifest as object);
  return pairs.map(([id, body]) => {
    if (typeof id !== "string" || typeof body !== "string")
      throw presetError(
        `trusted documents: ${location} is neither a map of documents by id nor a manifest of Apollo's`,
      );
    return { id: id.replace(/^sha256:/, ""), text: body, location: `${location}: ${id}` };
  });
};

/** Returns the documents, sorted by file name. @throws RelApiError `preset` */
export const readDocuments = (folder: string): readonly TrustedFile[] => {
  let names: readonly string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  } catch (error) {
    // Node throws an Error for files.
    throw presetError(`trusted documents: the folder ${folder} cannot be read: ${(error as Error).message}`);
  }
  return names.flatMap((name) => {
    if (!/\.(?:graphql|gql|json)$/.test(name)) return [];
    const location = join(folder, name);
    const text = readFileSync(location, "utf8");
    return name.endsWith(".json") ? readManifest(location, text) : [{ text, location }];
  });
};
