/** Reads the files of the page: its script, and the files of Swagger UI. The build copies Swagger UI.
 *  Without a build, its files are read from the development dependency. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { findPackageFile, resolvePackage } from "../../../core/index.ts";
import type { Asset } from "../../shared/pages.ts";
import { PAGE_SCRIPT } from "./page.ts";

export const CONTENT_TYPES: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
  "page.js": "text/javascript; charset=utf-8",
};

const compress = promisify(gzip);

/** Returns the folder of the files. Returns undefined if the files are not installed. */
export const findAssetFolder = (): string | undefined => {
  const copied = findPackageFile("dist/plugins/pages/openapi/swagger-ui/swagger-ui-bundle.js");
  if (copied !== undefined) return dirname(copied);
  try {
    return dirname(resolvePackage("swagger-ui-dist/swagger-ui-bundle.js"));
  } catch {
    return undefined;
  }
};

export const readAsset = async (folder: string, name: string): Promise<Omit<Asset, "contentType">> => {
  const bytes = name === "page.js" ? Buffer.from(PAGE_SCRIPT) : await readFile(join(folder, name));
  return { bytes, gzipped: await compress(bytes) };
};
