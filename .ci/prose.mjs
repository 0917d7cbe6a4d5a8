#!/usr/bin/env node
// Checks the prose of the project: comments, titles of tests, descriptions of settings, and the pages except those of
// docs/reference. A line with `prose-ok` is exempt: it quotes another program. usage: node .ci/prose.mjs [PATH…]
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const MAX_WORDS = 25;

/** Words and beginnings that make a sentence hard to read, and their replacement. */
const RULES = [
  [/^(?:Of|Those of|That of|One of which|For (?:who|those)|Whose|Who|Whom|Whatever)\b(?!.*\?$)/, "name the subject"],
  [/^What (?:is|are|was|were|has|have|may|can|the|it|they|a|an|\w+s)\b(?!.*\?$)/, "name the subject"],
  [/\b(?:from|of|by|for|to|with|than|is|are|before|behind|after|in) (?:what|who|whom|whoever|whatever) (?!(?:to|version|kind|role|name|type|order)\b)/i, "use the noun that the clause stands for"],
  [/\b(?:nobody|somebody|everybody|whoever|whomever)\b/i, "name the actor"],
  [/(?<!stand-)\balone\b/i, "only"],
  [/\bso (?:many|much|long|few)\b(?! (?:that|as)\b)/i, "name the limit"],
  [/\b(?:is|are|was|were|be) told\b|\btells? (?:of|whether|apart|what|which)\b|\bhears? of\b/i, "report, notify or distinguish"],
  [/\b(?:is|are|was|were) none\b/i, "is not one"],
  [/\bbut (?:for|one|two)\b/i, "except"],
  [/\b(?:anew|of late|thereby|therein|thereof|wherein|whereof|hereafter|all the same|of ours|of yours|to be had)\b/i, "use the plain word"],
  [/\bstands? (?:in|for|beside|behind|before|there|at|on|between|around|above|below)\b/i, "is, is listed or represents"],
  [/^(?:Undefined|Absent|Empty|Null): /, "Undefined if …"],
  [/\bcode of users?\b/i, "user-defined code"],
  [{ test: (text) => text.split(/[:;]\s/).some((part) => part.split(/\s+/).length > MAX_WORDS) }, `more than ${MAX_WORDS} words`],
];

/** Comments and strings. Templates and regular expressions are matched so that their content is not taken for either. */
const TOKENS =
  /\/\*[\s\S]*?\*\/|\/\/.*(?:\n *\/\/.*)*|(?<=(?:[(,=:[!&|?{};]|return|^)\s*)\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\[\s\S]|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`|\{(?:[^{}]|\{[^{}]*\})*\})*\})*`/gm;
const TITLE = /(?:\b(?:test|describe)(?:\.\w+)*\(|\)\(|\btitle:)\s*$/;
const DESCRIPTION = /\b(?:description|whenUnset|unit):\s*$/;
const RULE_IDS = /^(?:[A-Z]+(?:-[A-Z0-9]+)+(?: …)? )+/;

const paths = process.argv.length > 2 ? process.argv.slice(2) : ["."];
const files = execFileSync("git", ["ls-files", "-z", "--", ...paths], { encoding: "utf8" })
  .split("\0")
  .filter((file) => /\.(?:ts|mts|mjs|js|md)$/.test(file) && !file.startsWith("docs/reference/"));

let count = 0;
const check = (file, line, text) => {
  for (const sentence of text.replaceAll(/`[^`]*`/g, "x").split(/(?<=[.!?]\)?)\s+/)) {
    const found = RULES.find(([rule]) => rule.test(sentence));
    if (found === undefined) continue;
    count++;
    console.log(`${file}:${line}: ${found[1]}: ${sentence.slice(0, 120)}`);
  }
};

const checkPage = (file, text) => {
  const withoutCode = text.replaceAll(/^ *(```|~~~)[\s\S]*?^ *\1/gm, (code) => code.replaceAll(/[^\n]/g, ""));
  let line = 1;
  for (const part of withoutCode.replaceAll(/\]\([^)]*\)/g, "]").split(/\n(?= *(?:[-*>|#]|\d+\.) ?|\n)/)) {
    const cells = part.trim().startsWith("|") ? part.split("|") : [part.trim().replace(/^(?:[-*>]+|\d+\.) /, "")];
    if (!/^\s*#|prose-ok/.test(part)) for (const cell of cells) check(file, line, cell.replaceAll(/\s+/g, " ").trim());
    line += part.split("\n").length;
  }
};

const checkCode = (file, text) => {
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    const before = text.slice(Math.max(0, index - 200), index);
    const isProse = /^\/[/*]/.test(token)
      ? !/prose-ok|^\/\/ (?:oxlint|@ts)/.test(token)
      : token.startsWith('"') && (/settings\.ts$/.test(file) ? DESCRIPTION.test(before) : file.startsWith("test/") && (TITLE.test(before) || RULE_IDS.test(token.slice(1))));
    const body = token.replaceAll(/^(?:\/\*\*?|\/\/|")|(?:\*\/|")$|\n *(?:\*(?=\s)|\/\/)/g, " ").replaceAll(/@(?:rule|throws|param|returns)\b.*/gs, "");
    if (isProse) check(file, text.slice(0, index).split("\n").length, body.replaceAll(/\s+/g, " ").trim().replace(RULE_IDS, ""));
  }
};

for (const file of files) {
  const text = readFileSync(file, "utf8");
  if (file.endsWith(".md")) checkPage(file, text);
  else checkCode(file, text);
}
if (count > 0) console.log(`${count} places`);
process.exitCode = count > 0 ? 1 : 0;
