// Removes the declarations in `dist` that no export of the package reaches, so that the types of the package need no
// types of packages that only its inside uses. It runs after `npm run build:ts` has written them. @rule C-PKG-4b
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const entries = Object.values(exports)
  .map((target) => (typeof target === "string" ? target : target.default))
  .filter((target) => target.endsWith(".js"));

const reached = new Set();
const pending = entries.map((target) => join(root, target.replace(/\.js$/, ".d.ts")));
for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
  if (reached.has(file) || !existsSync(file)) continue;
  reached.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g))
    pending.push(resolve(dirname(file), path.replace(/\.(?:ts|js)$/, ".d.ts")));
}

for (const folder of ["core", "plugins", "presets"])
  for (const path of readdirSync(join(root, "dist", folder), { recursive: true }))
    if (path.endsWith(".d.ts") && !reached.has(join(root, "dist", folder, path)))
      rmSync(join(root, "dist", folder, path));
