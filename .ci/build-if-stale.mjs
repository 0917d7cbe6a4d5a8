// Before `npm start` and `npm test` in a clone: builds if the sources are newer than what was built, as after a `git pull`
// that changed no dependency (npm then runs no script of an installation).
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The last step of each part of `npm run build`. */
const BUILT = ["dist/presets/standalone.js", "dist/plugins/graphql/playground/app", "dist/plugins/embedded/demo.image"];
const builtAtMs = BUILT.every((path) => existsSync(path)) ? statSync(BUILT[0]).mtimeMs : 0;

// an image may have what was built and nothing else
const canBuild = existsSync("core/index.ts") && existsSync("node_modules/typescript");

const isStale = () =>
  ["core", "plugins", "presets"].some((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).some(
      (name) => /\.(?:ts|mjs|sql)$/.test(name) && statSync(join(folder, name)).mtimeMs > builtAtMs,
    ),
  );
if (canBuild && isStale())
  process.exit(spawnSync("npm", ["run", "build"], { stdio: "inherit", shell: true }).status ?? 1);
