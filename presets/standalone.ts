#!/usr/bin/env node
/** `relapi`: the command line, and without a command the standalone server (docs/reference/command-line.md). */
const words = process.argv.slice(2);

const isServer = (words[0] ?? "serve") === "serve" || words[0]?.startsWith("-") === true;
const isQuestion = words.some((word) => ["-h", "--help", "-V", "--version"].includes(word));
const isWorker = process.env["NODE_UNIQUE_ID"] !== undefined; // of node:cluster

// Loading takes a while: somebody at a terminal sees that it has begun. @rule C-CLI-7
if (process.stderr.isTTY && isServer && !isQuestion && !isWorker && process.env["LOG_LEVEL"] !== "silent")
  process.stderr.write("relapi: starting\n");

const { runCommandLine } = await import("./cli/program.ts");
await runCommandLine(words);

export {};
