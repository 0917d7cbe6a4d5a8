#!/usr/bin/env node
/** `relapi`: the command line, and without a command the standalone server (docs/reference/command-line.md). */
import { runCommandLine } from "./cli/program.ts";

await runCommandLine(process.argv.slice(2));
