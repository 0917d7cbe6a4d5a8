/** The locations of the embedded database's files. The files are beside the compiled code, even when the sources are
 *  running. */
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Node 20 cannot run TypeScript in a thread, so tests that run the sources use the compiled thread.
const builtFolder = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/plugins/database/embedded/" : "./",
  import.meta.url,
);

export const threadUrl = new URL("worker.js", builtFolder);

/** Returns the path of a prebuilt image. The file exists after `npm run build`. */
export const getImagePath = (name: "demo" | "empty"): string => fileURLToPath(new URL(`${name}.image`, builtFolder));

/** The path of the file that records the inputs of the images. */
export const stampPath = fileURLToPath(new URL("images.json", builtFolder));

/** The folder beside the compiled code where the build copies the demo's SQL files. */
export const demoFolder = fileURLToPath(new URL("demo/", builtFolder));

/** Lists the paths of the demo's SQL files, in the order in which they run. @throws Error if the folder is missing */
export function listDemoScripts(): string[] {
  const folders = [fileURLToPath(new URL("../../../../plugins/database/embedded/demo/", builtFolder)), demoFolder]; // prefer the sources, if they exist
  const folder = folders.find((path) => existsSync(path));
  if (folder === undefined) throw new Error("the demo database is missing: run npm run build");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => `${folder}${name}`);
}
