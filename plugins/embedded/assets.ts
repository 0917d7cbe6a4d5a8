/** Where the files of the embedded database lie: beside the compiled code, also when the sources themselves are
 *  running. */
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Node 20 runs no TypeScript in a thread, so tests that run the sources borrow the compiled thread.
const builtFolder = new URL(import.meta.url.endsWith(".ts") ? "../../dist/plugins/embedded/" : "./", import.meta.url);

export const threadUrl = new URL("worker.js", builtFolder);

/** Path of a prebuilt image; the file exists after `npm run build`. */
export const imagePath = (name: "demo" | "empty"): string => fileURLToPath(new URL(`${name}.image`, builtFolder));

/** Path of the file that records what the images were built from. */
export const stampPath = fileURLToPath(new URL("images.json", builtFolder));

/** The demo's SQL files beside the compiled code, where the build copies them. */
export const demoFolder = fileURLToPath(new URL("demo/", builtFolder));

/** The demo's SQL files, in the order in which they are run. */
export function demoScripts(): string[] {
  const folders = [fileURLToPath(new URL("../../../plugins/embedded/demo/", builtFolder)), demoFolder]; // prefer the sources, if they exist
  const folder = folders.find((path) => existsSync(path));
  if (folder === undefined) throw new Error("the demo database is missing: run npm run build");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => `${folder}${name}`);
}
