#!/usr/bin/env node
// The rules for prose. `npm run lint` applies them to comments, titles of tests and descriptions of settings
// (prose-rule.js). As a program, this file checks all pages: node .ci/prose.mjs [PATH…]
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MAX_WORDS = 25;

/** Words and beginnings that make a sentence hard to read, and the remedy. */
const RULES = [
  [/^(?:Of|Those of|That of|One of which|For (?:who|those)|Whose|Who|Whom|Whatever)\b(?!.*\?$)/, "name the subject"],
  [/^What (?:is|are|was|were|has|have|may|can|the|it|they|a|an|\w+s)\b(?!.*\?$)/, "name the subject"],
  [
    /\b(?:from|of|by|for|to|with|than|is|are|before|behind|after|in) (?:what|who|whom|whoever|whatever) (?!(?:to|version|kind|role|name|type|order)\b)/i,
    "use the noun that the clause stands for",
  ],
  [/\b(?:nobody|somebody|everybody|whoever|whomever)\b/i, "name the actor"],
  [/(?<!stand-)\balone\b/i, "write only"],
  [/\bso (?:many|much|long|few)\b(?! (?:that|as)\b)/i, "name the limit"],
  [
    /\b(?:is|are|was|were|be) told\b|\btells? (?:of|whether|apart|what|which)\b|\bhears? of\b/i,
    "write report or distinguish",
  ],
  [/\b(?:is|are|was|were) none\b/i, "write is not one"],
  [/\bbut (?:for|one|two)\b/i, "write except"],
  [
    /\b(?:anew|of late|there(?:by|in|of)|where(?:in|of)|hereafter|all the same|of (?:ours|yours)|to be had)\b/i,
    "use the plain word",
  ],
  [/\bstands? (?:in|for|beside|behind|before|there|at|on|between|around|above|below)\b/i, "write is or represents"],
  [/^(?:Undefined|Absent|Empty|Null): /, "write Undefined if …"],
  [/\bcode of users?\b/i, "write user-defined code"],
  [/\bfurther\b(?! (?:behind|down)\b)/i, "write another, additional or later"],
  [/\bsigns? of life\b/i, "write heartbeat"],
  [/\breturns true if\b/i, "write returns whether"],
];

const isTooLong = (sentence) => sentence.split(/[:;]\s/).some((part) => part.split(/\s+/).length > MAX_WORDS);

/** Returns the faults of a text. Text that quotes another program contains `prose-ok`. */
export const listFaults = (text) => {
  if (text.includes("prose-ok")) return [];
  const sentences = text
    .replaceAll(/`[^`]*`/g, "x")
    .replaceAll(/\s+/g, " ")
    .trim()
    .split(/(?<=[.!?]\)?) /);
  return sentences.flatMap((sentence) => {
    const remedy = RULES.find(([rule]) => rule.test(sentence))?.[1];
    const fault = remedy ?? (isTooLong(sentence) ? `write at most ${MAX_WORDS} words` : undefined);
    return fault === undefined ? [] : [`${fault}: ${sentence.slice(0, 120)}`];
  });
};

/** Paragraphs, items of lists and cells of tables with their line, without code, headings and targets of links. */
function* splitProse(page) {
  const prose = page
    .replaceAll(/^ *(```|~~~)[\s\S]*?^ *\1/gm, (code) => code.replaceAll(/[^\n]/g, ""))
    .replaceAll(/\]\([^)]*\)/g, "]");
  let line = 1;
  for (const part of prose.split(/\n(?= *(?:[-*>|#]|\d+\.) ?|\n)/)) {
    const text = part.trim();
    const start = line + part.length - part.replace(/^\n+/, "").length;
    if (text.startsWith("|")) for (const cell of text.split("|")) yield [start, cell];
    else if (!text.startsWith("#")) yield [start, text.replace(/^(?:[-*>]+|\d+\.) /, "")];
    line += part.split("\n").length;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = process.argv.length > 2 ? process.argv.slice(2) : ["*.md"];
  for (const file of execFileSync("git", ["ls-files", "--", ...paths], { encoding: "utf8" })
    .trim()
    .split("\n"))
    for (const [line, text] of splitProse(readFileSync(file, "utf8")))
      for (const fault of listFaults(text)) {
        console.log(`${file}:${line}: ${fault}`);
        process.exitCode = 1;
      }
}
