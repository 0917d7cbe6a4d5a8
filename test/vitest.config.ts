import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import { LongestFirst } from "./support/sequencer.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What is tested is what is shipped. It is also loaded by Node itself: a file has a process of its own, and transforming
 *  hundreds of modules for each took half the time of a run. */
const testDist: Plugin = {
  name: "test-dist",
  enforce: "pre",
  resolveId: (source, importer) => {
    // the package has a second copy, which bundlers take: objects of the one are none of the other
    if (source === "graphql") return { id: import.meta.resolve(source), external: true };
    if (importer === undefined || !source.startsWith(".")) return undefined;
    const path = relative(root, resolve(dirname(importer), source));
    return /^(core|plugins|presets)\/.*\.ts$/.test(path) ? join(root, "dist", path.replace(/ts$/, "js")) : undefined;
  },
};

/** A file has a process and a database of its own; two at a time, since each embedded database takes some 400 MB. */
export default defineConfig({
  root,
  plugins: [testDist],
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/setup.ts"],
    server: { deps: { external: [/\/dist\/(core|plugins|presets)\//] } },
    pool: "forks",
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    // the oracle asks when a file ends
    hookTimeout: (process.env["ORACLE"] ?? "") === "" ? 120_000 : 1_200_000,
    teardownTimeout: 30_000,
  },
});
