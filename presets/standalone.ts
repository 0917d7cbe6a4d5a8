#!/usr/bin/env node
/** `relapi`: runs a command, or the standalone server if none is given (docs/reference/command-line.md). */
const words = process.argv.slice(2);

const isServer = (words[0] ?? "serve") === "serve" || words[0]?.startsWith("-") === true;
const isQuestion = words.some((word) => ["-h", "--help", "-V", "--version"].includes(word));
const isWorker = process.env["NODE_UNIQUE_ID"] !== undefined; // node:cluster sets this variable

// Loading takes a while, so a terminal shows that it has begun. @rule C-CLI-7
if (process.stderr.isTTY && isServer && !isQuestion && !isWorker && process.env["LOG_LEVEL"] !== "silent")
  process.stderr.write("relapi: starting\n");

interface LaterNode {
  getBuiltinModule?(name: "node:module"): { enableCompileCache?(folder: string): unknown };
  getBuiltinModule?(name: "node:url"): { fileURLToPath(url: URL): string };
}
const { getBuiltinModule } = process as LaterNode; // the type definitions describe Node 20

/**
 * From Node 22.8, V8's code cache is stored beside the code, where only users that may change the code can write. Node
 * validates it against the code and works without it in a read-only folder. @rule C-PKG-9
 */
const compileCacheUrl = new URL("../chunks/compiled", import.meta.url);
getBuiltinModule?.("node:module").enableCompileCache?.(getBuiltinModule("node:url").fileURLToPath(compileCacheUrl));

const { main } = await import("./cli/main.ts");
process.exit(await main(words, process));

export {};
