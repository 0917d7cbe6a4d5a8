import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** A file has a process and a database of its own; two at a time, since each embedded database takes some 400 MB. */
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    // the oracle asks when a file ends
    hookTimeout: (process.env["ORACLE"] ?? "") === "" ? 120_000 : 1_200_000,
    teardownTimeout: 30_000,
  },
});
