// Copies the browser files of Swagger UI beside the built page. The package is a development dependency, so installing
// relapi runs none of its scripts. `npm run build` runs this script.
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compressFiles } from "./bundled-files.mjs";

const source = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/swagger-ui-bundle.js"));
const target = fileURLToPath(new URL("../dist/plugins/pages/openapi/swagger-ui", import.meta.url));

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const file of ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"])
  copyFileSync(join(source, file), join(target, file));
compressFiles(target);
