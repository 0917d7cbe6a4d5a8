/** The files of the playground page, which the build bundles and compresses. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { findPackageFile } from "../../../core/index.ts";
import type { Asset } from "../../shared/pages.ts";

export const CONTENT_TYPES: Readonly<Record<string, string>> = {
  "main.js": "text/javascript; charset=utf-8",
  "main.css": "text/css; charset=utf-8",
  "editor.worker.js": "text/javascript; charset=utf-8",
  "json.worker.js": "text/javascript; charset=utf-8",
  "graphql.worker.js": "text/javascript; charset=utf-8",
  "codicon.ttf": "font/ttf",
  "LICENSES.txt": "text/plain; charset=utf-8",
};

/** Returns the folder of the page's files. Returns undefined if they do not exist. */
export const findAssetFolder = (): string | undefined => {
  const script = findPackageFile("dist/plugins/pages/playground/app/main.js.gz");
  return script === undefined ? undefined : dirname(script);
};

/** Computes a digest that changes with the files, so that browsers may cache the files forever. */
export const computeDigest = (folder: string): string => {
  const hash = createHash("sha256");
  for (const name of Object.keys(CONTENT_TYPES))
    if (existsSync(join(folder, `${name}.gz`))) hash.update(readFileSync(join(folder, `${name}.gz`)));
  return hash.digest("base64url").slice(0, 12);
};

const decompress = promisify(gunzip);

export const readAsset = async (folder: string, name: string): Promise<Omit<Asset, "contentType">> => {
  const gzipped = await readFile(join(folder, `${name}.gz`));
  return { bytes: await decompress(gzipped), gzipped };
};
