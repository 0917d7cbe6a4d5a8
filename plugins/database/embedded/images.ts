/** Packs and reads the images from which a fresh database starts. The thread reads them, so this file does not import
 *  core. */
import { readFileSync } from "node:fs";
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from "node:zlib";

export const BUILT_IMAGES = ["demo", "empty"] as const;

/** One of the built images in their file, or a file with a gzipped tar of a cluster. */
export interface Image {
  readonly path: string;
  readonly builtName?: (typeof BUILT_IMAGES)[number];
}

/** Packs the built images into one file, because they share most of their content. The file has the length of the empty
 *  image in 4 bytes, the empty image and the demo. */
export const packImages = (empty: Uint8Array, demo: Uint8Array): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(empty.length);
  const content = Buffer.concat([length, empty, demo]);
  return brotliCompressSync(content, {
    params: {
      // The highest quality takes twenty times as long, for a file that is a tenth smaller.
      [constants.BROTLI_PARAM_QUALITY]: 9,
      // The window must reach from the demo back to the empty image.
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
};

/** Returns the tar of the image. */
export const readImage = ({ path, builtName }: Image): Uint8Array<ArrayBuffer> => {
  const content = readFileSync(path);
  if (builtName === undefined) return gunzipSync(content);
  const images = brotliDecompressSync(content);
  const demoStart = 4 + images.readUInt32LE();
  return builtName === "empty" ? images.subarray(4, demoStart) : images.subarray(demoStart);
};
