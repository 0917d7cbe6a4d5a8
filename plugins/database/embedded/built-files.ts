/** Finds the built files of the embedded database. They are beside the compiled code, even when the sources are
 *  running, because Node 20 cannot run TypeScript in a thread. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { explainMissingFile, findPackageFile, presetError } from "../../../core/index.ts";

/** Returns the folder of the compiled code. @throws RelApiError `preset` if it does not exist */
const getBuiltFolder = (): string => {
  const folder = findPackageFile("dist/plugins/database/embedded");
  if (folder !== undefined) return folder;
  throw presetError(`the embedded database cannot start: ${explainMissingFile("run npm run build")}`);
};

/** Returns the URL of the module that runs in the thread. */
export const getThreadUrl = (): URL => pathToFileURL(join(getBuiltFolder(), "worker.js"));

/** Returns the path of the file that has both built images. The file exists after `npm run build`. */
export const getImagesPath = (): string => join(getBuiltFolder(), "databases.images");

/** Returns the path of the file that records the inputs of the images. */
export const getStampPath = (): string => join(getBuiltFolder(), "images.json");

/** Lists the paths of the demo's SQL files, in the order in which they run. A published package has the images instead.
 *  @throws Error if the folder is missing */
export function listDemoScripts(): string[] {
  const folder = findPackageFile("plugins/database/embedded/demo");
  if (folder === undefined) throw new Error("the demo database is missing: run npm run build");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => join(folder, name));
}
