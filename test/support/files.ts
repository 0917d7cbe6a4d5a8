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
  "core/embedded",
  "core/graphql-numbers",
  "core/graphql-words",
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
  "pages/links",
  "production/faults",
]);

/** One file of each surface, which runs on the embedded database as well. What that database can do beside is tested by
 *  core/embedded. */
const EMBEDDED = new Set(["rest/R-FLT", "rest/R-INS", "graphql/G-INS", "live/sse"]);

/** They look at the memory or the time that their process takes, or change what all of it has: its clock, its
 *  environment, its packages. All others run one after the other in a process for many, whose code is compiled already:
 *  that takes a third of the time. */
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
  "production/workers",
  "rest/R-AUT",
  "security/bounds",
  "security/key-rotation",
  "security/limits",
  "security/memory",
]);

const kindOf = (name: string): Exclude<Kind, "embedded"> =>
  NO_DATABASE.has(name) ? "no-database" : OWN_PROCESS.has(name) ? "own-process" : "shared-process";

const ENDING = ".test.ts";

/** Paths from the project's root. @throws Error if a list names a file that there is none of */
export const filesOf = (kind: Kind): string[] => {
  const names = readdirSync(fileURLToPath(new URL("..", import.meta.url)), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ENDING))
    .map((path) => path.replaceAll("\\", "/").slice(0, -ENDING.length));
  const gone = [...NO_DATABASE, ...EMBEDDED, ...OWN_PROCESS].filter((name) => !names.includes(name));
  if (gone.length > 0) throw new Error(`test/support/files.ts names what is not there: ${gone.join(", ")}`);
  return names
    .filter((name) => (kind === "embedded" ? EMBEDDED.has(name) : kindOf(name) === kind))
    .map((name) => `test/${name}${ENDING}`);
};
