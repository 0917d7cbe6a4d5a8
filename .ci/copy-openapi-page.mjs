// Copies the browser files of Swagger UI beside the built page. The package is a development dependency, so installing
// relapi runs none of its scripts. `npm run build` runs this script.
import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const files = [
  "swagger-ui.css",
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "favicon-32x32.png",
  "LICENSE",
  "NOTICE",
];
const source = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/swagger-ui-bundle.js"));
const target = fileURLToPath(new URL("../dist/plugins/pages/openapi/swagger-ui", import.meta.url));

mkdirSync(target, { recursive: true });
for (const file of files) copyFileSync(join(source, file), join(target, file));
