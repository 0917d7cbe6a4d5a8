// Before `npm start` and `npm test` in a clone: builds if the sources are newer than the build, as after a `git pull` that
// changed no dependency (npm then runs no script of an installation). `npm test` names the folder of the tests, some
// of which run as programs of their own.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const SERVER = "dist/presets/standalone.js";
/** Written by the last step of a build. */
const LAST = "dist/THIRD-PARTY-LICENSES.txt";
/** The last step of each part of `npm run build`. */
const BUILT = [SERVER, LAST, "dist/plugins/pages/playground/app", "dist/plugins/database/embedded/databases.images"];
const builtAtMs = BUILT.every((path) => existsSync(path)) ? statSync(LAST).mtimeMs : 0;

// an image may have what was built and nothing else
const canBuild = existsSync("core/index.ts") && existsSync("node_modules/typescript");

const isNewer = (folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).some(
    (name) => /\.(?:ts|mjs|sql)$/.test(name) && statSync(join(folder, name)).mtimeMs > builtAtMs,
  );

const run = (script) => {
  const { status } = spawnSync("npm", ["run", script], { stdio: "inherit", shell: true });
  if (status !== 0) process.exit(status ?? 1);
};

if (canBuild) {
  if ([".ci", "core", "plugins", "presets"].some(isNewer)) run("build");
  else if (process.argv.slice(2).some(isNewer)) ["build:ts", "build:bundle"].forEach(run);
  else if (statSync(SERVER).mtimeMs > builtAtMs) run("build:bundle"); // `npm run build:ts` leaves its modules apart
} else if (!existsSync(SERVER)) {
  console.error("relapi is not built: run npm install without --omit=dev, which builds it");
  process.exit(1);
}
