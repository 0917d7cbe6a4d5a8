// Compresses files of other packages for `dist`, and collects their licences. Several scripts of the build use it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const params = {
  // quality 9 gives files that are a tenth larger, and 11 takes twice as long
  [constants.BROTLI_PARAM_QUALITY]: 10,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
};

/** Replaces each file of the folder by `<name>.br`, which keeps the package small. Returns the size of all in bytes. */
export const compressFiles = (folder) =>
  readdirSync(folder)
    .map((name) => {
      const compressed = brotliCompressSync(readFileSync(join(folder, name)), { params });
      writeFileSync(join(folder, `${name}.br`), compressed);
      rmSync(join(folder, name));
      return compressed.length;
    })
    .reduce((sum, bytes) => sum + bytes, 0);

export const joinLicences = (texts) => texts.join(`\n${"-".repeat(80)}\n\n`);

/** Returns the licence of each package that has one of the files. `inputs` are paths relative to `root`. */
export const collectLicences = (root, inputs) => {
  const folders = new Set(inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []));
  return [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const texts = readdirSync(join(root, folder))
      .filter((each) => /^(?:licen[cs]e|notice|thirdpartynotices)(?:\.(?:txt|md))?$/i.test(each))
      .map((each) => readFileSync(join(root, folder, each), "utf8").trim());
    return `${name} ${version}\n\n${texts.length === 0 ? license : texts.join("\n\n")}\n`;
  });
};
