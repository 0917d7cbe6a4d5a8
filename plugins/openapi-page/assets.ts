/** The browser files of Swagger UI: copied beside this module by the build, else taken from the development dependency.
 *  */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Asset } from "../pages.ts";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

/** Folder of the files; undefined: they are not installed. */
export const findAssetFolder = (): string | undefined => {
  const copied = join(dirname(fileURLToPath(import.meta.url)), "swagger-ui");
  if (existsSync(join(copied, "swagger-ui-bundle.js"))) return copied;
  try {
    return dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/swagger-ui-bundle.js"));
  } catch {
    return undefined;
  }
};

/** Reads each file once, on first use. `own`: files that do not come from Swagger UI. */
export const createAssets = (
  folder: string,
  own: Readonly<Record<string, { readonly contentType: string; readonly text: string }>>,
): ((name: string) => Asset | undefined) => {
  const loaded = new Map<string, Asset>();
  return (name) => {
    const found = loaded.get(name);
    if (found !== undefined) return found;
    const written = Object.hasOwn(own, name) ? own[name] : undefined;
    const contentType = written?.contentType ?? (Object.hasOwn(CONTENT_TYPES, name) ? CONTENT_TYPES[name] : undefined);
    if (contentType === undefined) return undefined;
    const bytes = written === undefined ? readFileSync(join(folder, name)) : Buffer.from(written.text);
    const asset = { contentType, bytes, gzipped: gzipSync(bytes) };
    loaded.set(name, asset);
    return asset;
  };
};
