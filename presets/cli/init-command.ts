/**
 * `relapi init [FOLDER]`: writes an Express project with a preset, a plugin, a test and a Dockerfile, without network
 * access.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { presetError, RelApiError } from "../../core/index.ts";
import { buildProjectFiles, type Language } from "./project-files.ts";

/** Returns the name in a form that npm accepts. */
const buildPackageName = (folder: string): string =>
  basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "") || "api";

const writeFiles = (folder: string, files: Readonly<Record<string, string>>): void => {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).some((name) => name !== ".git"))
    throw presetError(`"${folder}" is not empty: name an empty folder, or one that does not exist`);
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: "wx" });
  }
};

/** Explains errors of the file system. */
const explainFileError = (folder: string, { code, message }: NodeJS.ErrnoException): Error => {
  if (code === "EEXIST" || code === "ENOTDIR")
    return presetError(`"${folder}" is a file or lies below a file: name a folder`);
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return presetError(`"${folder}" is not writable for this user: name another folder`);
  return presetError(`"${folder}" cannot be written: ${message}`);
};

/** Writes the files of the project, and returns the next steps. @throws RelApiError `preset` if files exist in the
 *  folder, or the folder cannot be written @rule C-INI-1 C-INI-2 */
export const initProject = (folder: string, language: Language): string => {
  const files = buildProjectFiles(buildPackageName(folder), language);
  try {
    writeFiles(folder, files);
  } catch (error) {
    throw error instanceof RelApiError ? error : explainFileError(folder, error as NodeJS.ErrnoException);
  }
  const enter = resolve(folder) === process.cwd() ? "" : `cd ${/^[\w./-]+$/.test(folder) ? folder : `'${folder}'`} && `;
  return [
    ...Object.keys(files).map((path) => `  ${join(folder, path)}`),
    "",
    `Next: ${enter}npm install && npm test, then npm start`,
  ].join("\n");
};
