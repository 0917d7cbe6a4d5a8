/** The locations of the embedded database's files. The files are beside the compiled code, even when the sources are
 *  running. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from "node:zlib";

// Node 20 cannot run TypeScript in a thread, so tests that run the sources use the compiled thread.
const builtFolder = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/plugins/database/embedded/" : "./",
  import.meta.url,
);

export const threadUrl = new URL("worker.js", builtFolder);

export type BuiltImage = "demo" | "empty";

/** A built image, or a file with a gzipped tar of a cluster. */
export type Image = BuiltImage | { readonly path: string };

/** The path of the file that has both built images. The file exists after `npm run build`. */
export const imagesPath = fileURLToPath(new URL("databases.images", builtFolder));

/** The built images share most of their content, so the file compresses them together. It is the length of the empty
 *  image in 4 bytes, the empty image and the demo. */
export const packImages = (empty: Uint8Array, demo: Uint8Array): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(empty.length);
  const content = Buffer.concat([length, empty, demo]);
  return brotliCompressSync(content, {
    params: {
      // the highest quality takes twenty times as long, for a file that is a tenth smaller
      [constants.BROTLI_PARAM_QUALITY]: 9,
      // the window must reach from the demo back to the empty image
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
};

/** Returns the tar of the image. */
export const readImage = (image: Image): Uint8Array<ArrayBuffer> => {
  if (typeof image !== "string") return gunzipSync(readFileSync(image.path));
  const content = brotliDecompressSync(readFileSync(imagesPath));
  const demoStart = 4 + content.readUInt32LE();
  return image === "empty" ? content.subarray(4, demoStart) : content.subarray(demoStart);
};

/** The path of the file that records the inputs of the images. */
export const stampPath = fileURLToPath(new URL("images.json", builtFolder));

/** Lists the paths of the demo's SQL files, in the order in which they run. A published package has the images instead.
 *  @throws Error if the folder is missing */
export function listDemoScripts(): string[] {
  const folder = fileURLToPath(new URL("../../../../plugins/database/embedded/demo/", builtFolder));
  if (!existsSync(folder)) throw new Error("the demo database is missing: run npm run build");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => `${folder}${name}`);
}
