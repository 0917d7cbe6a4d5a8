/** How each test file runs: one of the projects of vitest.config.ts for each. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Kind = "no-database" | "own-process" | "shared-process" | "embedded";

/** They open no database of the run, and start no program on one. They are not offered any (`provide` in vitest.config.ts): a file that asks for one fails. */
const NO_DATABASE = new Set([
  "cli/C-CLI",
  "clients/docs-site",
  "clients/get-and-persisted",
  "clients/graphql-clients",
  "clients/graphql-codegen",
  "clients/openapi-typescript",
  "core/cache",
  "core/contributing",
  "core/declared-settings",
  "core/embedded",
  "core/graphql-numbers",
  "core/graphql-words",
  "core/imports",
  "core/json-fault",
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
  "observability/grafana-model",
  "pages/links",
  "production/faults",
]);

/** One file of each surface, which runs on the embedded database as well. What that database can do beside is tested by
 *  core/embedded. */
const EMBEDDED = new Set(["rest/R-FLT", "rest/R-INS", "graphql/G-INS", "live/sse"]);

/** Nearly all of their files speak HTTP with servers that they start, each on the database of the file, and look at
 *  nothing of the process around them. */
const SHARED_FOLDERS = new Set(["graphql", "plus", "rest"]);

/** Of other folders, as those. */
const SHARED = new Set([
  "core/call",
  "core/coalesced-reads",
  "core/guides",
  "core/introspection",
  "core/plans",
  "core/relationships",
  "core/statements",
  "core/third-party",
  "core/without-callers",
  "core/without-graphql",
  "core/without-rest",
  "plugins/app-users",
  "plugins/distance",
  "plugins/further-writes",
  "plugins/key-order",
  "plugins/loaded-field",
  "plugins/median",
  "plugins/permissions",
  "plugins/plan-rows",
  "plugins/wrap",
  "security/api-limits",
  "security/bad-input",
  "security/grants",
  "security/left-over",
  "security/matrix",
  "security/metadata-rest",
  "security/names",
  "security/rest-reads",
  "security/rest-writes",
  "security/schemes",
  "security/two-callers",
]);

/** Of the shared folders: they look at the memory or the time that their process takes, or turn its clock. */
const OWN_PROCESS = new Set([
  "graphql/G-AUTH",
  "graphql/R-SC-15",
  "graphql/R-STR",
  "graphql/playground",
  "rest/R-AUT",
  "rest/R-STR",
]);

const kindOf = (name: string): Exclude<Kind, "embedded"> => {
  if (NO_DATABASE.has(name)) return "no-database";
  const folder = name.slice(0, name.indexOf("/"));
  return SHARED.has(name) || (SHARED_FOLDERS.has(folder) && !OWN_PROCESS.has(name)) ? "shared-process" : "own-process";
};

const ENDING = ".test.ts";

/** Paths from the project's root. @throws Error if a list names a file that there is none of */
export const filesOf = (kind: Kind): string[] => {
  const names = readdirSync(fileURLToPath(new URL("..", import.meta.url)), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ENDING))
    .map((path) => path.replaceAll("\\", "/").slice(0, -ENDING.length));
  const gone = [...NO_DATABASE, ...EMBEDDED, ...SHARED, ...OWN_PROCESS].filter((name) => !names.includes(name));
  if (gone.length > 0) throw new Error(`test/support/files.ts names what is not there: ${gone.join(", ")}`);
  return names
    .filter((name) => (kind === "embedded" ? EMBEDDED.has(name) : kindOf(name) === kind))
    .map((name) => `test/${name}${ENDING}`);
};
