// After `npm install` or `npm ci` in a clone: builds. Not a `prepare` script, because npm warns about one in a tarball,
// and it would fail where development dependencies are left out.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

if (existsSync("node_modules/typescript") && existsSync("node_modules/esbuild"))
  process.exit(spawnSync("npm", ["run", "build"], { stdio: "inherit", shell: true }).status ?? 1);
console.log("relapi: development dependencies are left out, so nothing was built");
