/** Builds the images from which the embedded database starts quickly: `npm run build:demo`. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { PGlite } from "@electric-sql/pglite";
import { getImagesPath, getStampPath, listDemoScripts } from "./built-files.ts";
import { dumpCluster, INITDB_PARAMETERS, openCluster, readPgliteVersion, runScripts } from "./pglite.ts";
import { packImages } from "./images.ts";

/** Builds both images if their inputs have changed. Returns whether it built them. */
export async function buildImages(): Promise<boolean> {
  const scripts = listDemoScripts();
  const stamp = computeStamp(scripts);
  const imagesPath = getImagesPath();
  const stampPath = getStampPath();
  if (existsSync(imagesPath) && existsSync(stampPath) && readFileSync(stampPath, "utf8") === stamp) return false;

  // Retained WAL would only enlarge the images.
  const pg = await openCluster({ extensions: ["ltree"], settings: ["max_wal_size=2MB", "wal_recycle=off"] });
  // Clients connect to only one database, and its templates would be two thirds of the image.
  await pg.exec("update pg_database set datistemplate = false where datname in ('template0', 'template1')");
  await pg.exec("drop database template0");
  await pg.exec("drop database template1");
  const empty = await dumpImage(pg);
  await runScripts(pg, scripts);
  replaceFile(imagesPath, packImages(empty, await dumpImage(pg)));
  await pg.close();
  replaceFile(stampPath, stamp);
  return true;
}

async function dumpImage(pg: PGlite): Promise<Uint8Array> {
  await pg.exec("vacuum (full, analyze)");
  await pg.exec("vacuum (freeze, analyze)");
  await pg.exec("select pg_switch_wal()"); // the checkpoint of the dump then removes the used segments
  return dumpCluster(pg);
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
  return JSON.stringify({ pglite: readPgliteVersion(), initDbParams: INITDB_PARAMETERS, scripts: hash.digest("hex") });
}

if (process.argv[1] !== undefined && fileURLToPath(import.meta.url) === process.argv[1]) {
  const hasBuilt = await buildImages();
  console.log(
    hasBuilt ? "built the images of the embedded database" : "the images of the embedded database are up to date",
  );
}
