#!/usr/bin/env node
/** `relapi`: the command line, and without a command the standalone server (docs/reference/command-line.md). */
const words = process.argv.slice(2);

const isServer = (words[0] ?? "serve") === "serve" || words[0]?.startsWith("-") === true;
const isQuestion = words.some((word) => ["-h", "--help", "-V", "--version"].includes(word));
const isWorker = process.env["NODE_UNIQUE_ID"] !== undefined; // of node:cluster

// Loading takes a while: somebody at a terminal sees that it has begun. @rule C-CLI-7
if (process.stderr.isTTY && isServer && !isQuestion && !isWorker && process.env["LOG_LEVEL"] !== "silent")
  process.stderr.write("relapi: starting\n");

interface LaterNode {
  getBuiltinModule?(name: "node:module"): { enableCompileCache?(folder: string): unknown };
  getBuiltinModule?(name: "node:url"): { fileURLToPath(url: URL): string };
}
const { getBuiltinModule } = process as LaterNode; // the types are those of Node 20

/** From Node 22.8 on: what V8 has made of the code is kept beside it, where nobody may write who may not change the code
 *  itself; Node compares it with the code, and does without where it may not write. @rule C-PKG-9 */
const compiled = new URL("../chunks/compiled", import.meta.url);
getBuiltinModule?.("node:module").enableCompileCache?.(getBuiltinModule("node:url").fileURLToPath(compiled));

const { main } = await import("./cli/main.ts");
process.exit(await main(words, process));

export {};
