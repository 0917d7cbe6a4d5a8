/** Assigns each test file to a project of vitest.config.ts, which determines how it runs. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Kind = "no-database" | "own-process" | "shared-process" | "embedded";

/**
 * Files that use no database of the run. None is provided to them (`provide` in vitest.config.ts), so that a file that
 * opens one fails.
 */
const NO_DATABASE = new Set([
  "cli/C-CLI",
  "clients/docs-site",
  "clients/get-and-persisted",
  "clients/graphql-clients",
  "clients/graphql-codegen",
  "clients/openapi-typescript",
  "core/cache",
  "core/embedded",
  "core/graphql-numbers",
  "core/graphql-words",
  "core/json-errors",
  "core/live-patches",
  "core/loaded",
  "core/package-types",
  "core/plan-cost",
  "core/presets",
  "core/reference-docs",
  "core/rest-fuzzy",
  "core/rest-parsers",
  "core/tokens",
  "core/walk",
  "core/without",
  "core/words",
  "pages/links",
  "production/faults",
]);

/** One file per surface that also runs on the embedded database. Its other features are tested by core/embedded. */
const EMBEDDED_FILES = new Set(["rest/R-FLT", "rest/R-INS", "graphql/G-INS", "live/sse"]);

/**
 * Files that measure the memory or time of their process, or change its clock, environment or packages. All other files
 * share processes, whose code is compiled already, which takes a third of the time.
 */
const OWN_PROCESS = new Set([
  "clients/supabase",
  "core/http",
  "graphql/G-AUTH",
  "live/bus",
  "live/oracle",
  "observability/X-TRC",
  "oracle/live",
  "oracle/oracle",
  "pages/recipes",
  "production/bus",
  "production/large-schema",
  "production/workers",
  "rest/R-AUT",
  "security/bounds",
  "security/key-rotation",
  "security/limits",
  "security/memory",
]);

const getKind = (name: string): Exclude<Kind, "embedded"> =>
  NO_DATABASE.has(name) ? "no-database" : OWN_PROCESS.has(name) ? "own-process" : "shared-process";

const ENDING = ".test.ts";

/** Paths relative to the project's root. @throws Error if a list names a file that does not exist */
export const listFiles = (kind: Kind): string[] => {
  const names = readdirSync(fileURLToPath(new URL("..", import.meta.url)), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ENDING))
    .map((path) => path.replaceAll("\\", "/").slice(0, -ENDING.length));
  const missingNames = [...NO_DATABASE, ...EMBEDDED_FILES, ...OWN_PROCESS].filter((name) => !names.includes(name));
  if (missingNames.length > 0)
    throw new Error(`test/support/files.ts lists files that do not exist: ${missingNames.join(", ")}`);
  return names
    .filter((name) => (kind === "embedded" ? EMBEDDED_FILES.has(name) : getKind(name) === kind))
    .map((name) => `test/${name}${ENDING}`);
};
