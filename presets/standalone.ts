#!/usr/bin/env node
/** `relapi`: the command line, and without a command the standalone server (docs/reference/command-line.md). */
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";

const words = process.argv.slice(2);

const isServer = (words[0] ?? "serve") === "serve" || words[0]?.startsWith("-") === true;
const isQuestion = words.some((word) => ["-h", "--help", "-V", "--version"].includes(word));
const isWorker = process.env["NODE_UNIQUE_ID"] !== undefined; // of node:cluster

// Loading takes a while: somebody at a terminal sees that it has begun. @rule C-CLI-7
if (process.stderr.isTTY && isServer && !isQuestion && !isWorker && process.env["LOG_LEVEL"] !== "silent")
  process.stderr.write("relapi: starting\n");

/** From Node 22.8 on: what V8 has made of the code is kept beside it, where nobody may write who may not change the code
 *  itself; Node compares it with the code, and does without where it may not write. @rule C-PKG-9 */
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (folder: string) => unknown }; // the types are those of Node 20
enableCompileCache?.(fileURLToPath(new URL("../chunks/compiled", import.meta.url)));

const { runCommandLine } = await import("./cli/program.ts");
await runCommandLine(words);
