/** `relapi init DIR`: an Express project with a preset, a plugin, a test and a Dockerfile; needs no network. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { presetError } from "../../core/index.ts";
import { projectFiles } from "./project-files.ts";

/** As npm takes names. */
const packageName = (folder: string): string =>
  basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "") || "api";

/** @throws RelApiError `preset` rather than overwrite anything */
export const initProject = (folder: string): string => {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw presetError(`"${folder}" is not empty: name a folder that is, or that does not exist`);
  const files = Object.entries(projectFiles(packageName(folder)));
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
