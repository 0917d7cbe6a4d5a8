/**
 * `relapi init DIR`: writes an Express project with a preset, a plugin, a test and a Dockerfile, without network
 * access.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { presetError } from "../../core/index.ts";
import { buildProjectFiles } from "./project-files.ts";

/** Returns the name in a form that npm accepts. */
const buildPackageName = (folder: string): string =>
  basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "") || "api";

/** Writes the files of the project. @throws RelApiError `preset` if files exist in the folder */
export const initProject = (folder: string): string => {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw presetError(`"${folder}" is not empty: name a folder that is, or that does not exist`);
  const files = Object.entries(buildProjectFiles(buildPackageName(folder)));
  for (const [path, text] of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return [
    ...files.map(([path]) => `  ${join(folder, path)}`),
    "",
    `Next: cd ${folder} && npm install && npm test`,
  ].join("\n");
};
