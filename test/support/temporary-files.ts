/** Files and folders that are deleted after the test file. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { atFileEnd } from "./file-end.ts";

/** A folder with these files, by path. */
export const temporaryFolder = (files: Readonly<Record<string, string>> = {}): string => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-test-"));
  atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return folder;
};

/** A file in a folder of its own. */
export const temporaryFile = (name: string, text: string): string => join(temporaryFolder({ [name]: text }), name);
