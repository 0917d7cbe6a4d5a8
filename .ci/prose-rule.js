/** The lint rule `prose/plain`: the rules of prose.mjs for comments, titles of tests and descriptions of settings. */
import { faultsIn } from "./prose.mjs";

const RULE_IDS = /^(?:[A-Z]+(?:-[A-Z0-9]+)+(?: …)? )+/;

/** Joins line comments that follow each other. */
const blocksOf = (comments, code) => {
  const blocks = [];
  for (const comment of comments) {
    const last = blocks.at(-1)?.at(-1);
    const isNext = last?.type === "Line" && /^\s*\/\/$/.test(code.slice(last.range[1], comment.range[0] + 2));
    if (isNext) blocks.at(-1).push(comment);
    else blocks.push([comment]);
  }
  return blocks;
};

const textOf = (comments) =>
  comments
    .map(({ value }) => value.replace(/^\*/, "").replaceAll(/\n\s*\*/g, " "))
    .join(" ")
    .replace(/@(?:rule|throws|param|returns)\b[\s\S]*/, "");

/** The name at the start of a call: `test` of `test.skipIf(…).each(…)(…)`. */
const startOf = (node) => (node.callee || node.object ? startOf(node.callee ?? node.object) : node.name);

const isTitle = ({ parent, value }) =>
  RULE_IDS.test(value) ||
  (parent.type === "CallExpression" &&
    parent.arguments[0]?.value === value &&
    /^(?:test|describe)$/.test(startOf(parent)));

const isDescription = ({ parent }) => parent.type === "Property" && /^(?:description|whenUnset)$/.test(parent.key.name);

const plain = {
  create: ({ sourceCode, filename, report }) => {
    const check = (node, text) => faultsIn(text).forEach((message) => report({ node, message }));
    return {
      Program: () => {
        for (const block of blocksOf(sourceCode.getAllComments(), sourceCode.text))
          if (!/^\s*(?:oxlint-|@ts-)/.test(block[0].value)) check(block[0], textOf(block));
      },
      Literal: (node) => {
        const isProse = /settings\.ts$/.test(filename) ? isDescription : isTitle;
        if (typeof node.value === "string" && isProse(node)) check(node, node.value.replace(RULE_IDS, ""));
      },
    };
  },
};

export default { meta: { name: "prose" }, rules: { plain } };
