/** The image of the embedded database with the fixtures, rebuilt only when the fixtures or the package change. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { embedded } from "../../plugins/database/index.ts";
import { loadCapabilities, type Capabilities } from "./capabilities.ts";
import { databaseScripts, embeddedExtensions, fixtureDigest, rolesScript, sessionSettings } from "./fixtures.ts";
import type { DatabasePlan } from "./global-setup.ts";
import { runScript } from "./server-template.ts";

const packageVersion = async (): Promise<string> => {
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  const text = await readFile(join(dirname(entry), "..", "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
};

/** The source files on which an image depends: they decide its extensions and its compression. */
const embeddedSources = async (): Promise<string[]> => {
  const folder = fileURLToPath(new URL("../../plugins/database/embedded/", import.meta.url));
  const names = (await readdir(folder)).filter((name) => name.endsWith(".ts")).sort();
  return Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Writes a temporary file and renames it, so that parallel runs never read a partial file. */
const writeWhole = async (path: string, content: Uint8Array | string): Promise<void> => {
  const temporaryPath = `${path}.${process.pid}`;
  await writeFile(temporaryPath, content);
  await rename(temporaryPath, path);
};

const dayMs = 86_400_000;

/** Removes images of earlier fixtures, except recent ones, which a parallel run may be reading. */
const removeOld = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (Date.now() - (await stat(path)).mtimeMs > dayMs) await rm(path, { force: true });
  }
};

const buildImage = async (imagePath: string, factsPath: string): Promise<void> => {
  console.log("preparing the embedded database with the fixtures, once, about 10 s");
  const database = embedded({ image: "empty", extensions: embeddedExtensions, statementTimeout: 0 });
  try {
    await database.ready;
    const client = new pg.Client({ user: "postgres", database: "postgres", stream: () => database.stream() });
    await client.connect();
    for (const script of [rolesScript, ...databaseScripts]) await runScript(client, script);
    await client.query(sessionSettings("postgres"));
    const facts = await loadCapabilities(client, false);
    await client.end();
    await writeWhole(factsPath, JSON.stringify(facts));
    await writeWhole(imagePath, await database.dump());
  } finally {
    await database.close();
  }
};

export const prepareImage = async (): Promise<{
  plan: DatabasePlan;
  capabilities: Capabilities;
  remove: () => Promise<void>;
}> => {
  const folder = fileURLToPath(new URL("../../node_modules/.cache/relapi/", import.meta.url));
  const name = `fixtures-${fixtureDigest(await packageVersion(), ...(await embeddedSources()))}`;
  const imagePath = join(folder, `${name}.tar.gz`);
  const factsPath = join(folder, `${name}.json`);
  if (!(await exists(imagePath)) || !(await exists(factsPath))) {
    await mkdir(folder, { recursive: true });
    await removeOld(folder);
    await buildImage(imagePath, factsPath);
  }
  const capabilities = JSON.parse(await readFile(factsPath, "utf8")) as Capabilities;
  return { plan: { kind: "embedded", imagePath }, capabilities, remove: async () => {} };
};
