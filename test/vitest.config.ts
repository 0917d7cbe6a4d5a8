import { availableParallelism } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin, type TestProjectInlineConfiguration } from "vitest/config";
import { listFiles, type Kind } from "./support/files.ts";
import { LongestFirst } from "./support/sequencer.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Tests run the shipped files, which Node itself loads: a file has a process of its own, and transforming hundreds of
 *  modules for each took half the time of a run. */
const testDist: Plugin = {
  name: "test-dist",
  enforce: "pre",
  resolveId: (source, importer) => {
    // The package has a second copy, which bundlers use; neither copy accepts objects of the other.
    if (source === "graphql") return { id: import.meta.resolve(source), external: true };
    if (importer === undefined || !source.startsWith(".")) return undefined;
    const path = relative(root, resolve(dirname(importer), source));
    return /^(core|plugins|presets)\/.*\.ts$/.test(path) ? join(root, "dist", path.replace(/ts$/, "js")) : undefined;
  },
};

const project = (
  name: Kind,
  overrides: TestProjectInlineConfiguration["test"] = {},
): TestProjectInlineConfiguration => ({
  root,
  plugins: [testDist],
  test: {
    name,
    include: listFiles(name),
    provide: { isProcessShared: overrides?.isolate === false },
    setupFiles: ["test/support/setup.ts"],
    server: { deps: { external: [/\/dist\/(core|plugins|presets)\//] } },
    pool: "forks",
    // A test file ends before the optimization of PGlite's code saves time.
    execArgv: ["--liftoff-only"],
    testTimeout: 180_000, // longer than the deadline of `until`, whose error names the condition
    // With ORACLE, a hook at the end of a file repeats all of its requests.
    hookTimeout: (process.env["ORACLE"] ?? "") === "" ? 120_000 : 1_200_000,
    ...overrides,
  },
});

/** Each file has a database of its own, and a process of its own or one in which files run one after the other
 *  (support/files.ts). */
export default defineConfig({
  root,
  plugins: [testDist],
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    sequence: { sequencer: LongestFirst },
    teardownTimeout: 120_000,
    // Some files mostly wait for servers, so four more workers than processors keep the processors busy.
    maxWorkers: availableParallelism() + 4,
    projects: [
      project("no-database", {
        isolate: false,
        provide: { databasePlan: undefined, capabilities: undefined, isProcessShared: true },
      }),
      project("own-process"),
      // Most code of these files runs too shortly for the time that its optimization takes.
      project("shared-process", { isolate: false, execArgv: ["--liftoff-only", "--no-opt"] }),
      project("embedded", { globalSetup: ["test/support/global-setup.ts"] }),
    ],
  },
});
