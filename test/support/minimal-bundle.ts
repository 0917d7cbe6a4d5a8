/** What the preset `minimal` leads to, as esbuild finds it. Nothing is written. */
import { build, type Metafile } from "esbuild";

/** @param root the project's root. Paths in the result are relative to it. */
export const bundleMinimal = async (root: string): Promise<Metafile> => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["presets/minimal.ts"],
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    write: false,
    metafile: true,
  });
  return metafile;
};
