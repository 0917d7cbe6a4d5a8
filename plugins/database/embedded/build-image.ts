/** Builds the images from which the embedded database starts quickly: `npm run build:demo`. */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { PGlite } from "@electric-sql/pglite";
import { getDemoFolder, listDemoScripts, getImagePath, getStampPath } from "./assets.ts";
import { dumpCluster, initDbParams, openCluster, readPgliteVersion, runScripts } from "./cluster.ts";

/** Builds both images if their inputs have changed. Returns whether it built them. */
export async function buildImages(): Promise<boolean> {
  const scripts = listDemoScripts();
  const stamp = computeStamp(scripts);
  const paths = [getImagePath("demo"), getImagePath("empty")];
  if (
    paths.every((path) => existsSync(path)) &&
    existsSync(getStampPath()) &&
    readFileSync(getStampPath(), "utf8") === stamp
  )
    return false;

  // retained WAL would only enlarge the image
  const pg = await openCluster({ extensions: ["ltree"], settings: ["max_wal_size=2MB"] });
  // Clients connect to only one database, and its templates would be two thirds of the image.
  await pg.exec("update pg_database set datistemplate = false where datname in ('template0', 'template1')");
  await pg.exec("drop database template0");
  await pg.exec("drop database template1");
  await writeImage(pg, "empty");
  await runScripts(pg, scripts);
  await writeImage(pg, "demo");
  await pg.close();

  // The published package has no sources, but must include the licences, which are in the scripts.
  mkdirSync(getDemoFolder(), { recursive: true });
  for (const script of scripts) {
    const copy = join(getDemoFolder(), basename(script));
    if (copy !== script) copyFileSync(script, copy);
  }
  replaceFile(getStampPath(), stamp);
  return true;
}

async function writeImage(pg: PGlite, name: "demo" | "empty"): Promise<void> {
  await pg.exec("vacuum (full, analyze)");
  await pg.exec("vacuum (freeze, analyze)");
  replaceFile(getImagePath(name), gzipSync(await dumpCluster(pg), { level: 9 }));
}

/** Renames a finished file, so that two concurrent builds do not leave a mixture. */
function replaceFile(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}

function computeStamp(scripts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const script of scripts) hash.update(readFileSync(script)).update("\0");
  return JSON.stringify({ pglite: readPgliteVersion(), initDbParams, scripts: hash.digest("hex") });
}

if (process.argv[1] !== undefined && fileURLToPath(import.meta.url) === process.argv[1]) {
  const hasBuilt = await buildImages();
  console.log(
    hasBuilt ? "built the images of the embedded database" : "the images of the embedded database are up to date",
  );
}
