/** The lint rule `prose/plain`: the rules of prose.mjs for comments, titles of tests and descriptions of settings. */
import { faultsIn } from "./prose.mjs";

const RULE_IDS = /^(?:[A-Z]+(?:-[A-Z0-9]+)+[a-z]?(?: …)? )+/;

/** Joins line comments that follow each other. */
const groupComments = (comments, code) => {
  const blocks = [];
  for (const comment of comments) {
    const last = blocks.at(-1)?.at(-1);
    const isNext = last?.type === "Line" && /^\s*\/\/$/.test(code.slice(last.range[1], comment.range[0] + 2));
    if (isNext) blocks.at(-1).push(comment);
    else blocks.push([comment]);
  }
  return blocks;
};

const joinComments = (comments) =>
  comments
    .map(({ value }) => value.replace(/^\*/, "").replaceAll(/\n\s*\*/g, " "))
    .join(" ")
    .replace(/@(?:rule|throws|param|returns)\b[\s\S]*/, "");

/** The name at the start of a call: `test` of `test.skipIf(…).each(…)(…)`. */
const getCalleeName = (node) => (node.callee || node.object ? getCalleeName(node.callee ?? node.object) : node.name);

const isTitle = ({ parent, value }) =>
  RULE_IDS.test(value) ||
  (parent.type === "CallExpression" &&
    parent.arguments[0]?.value === value &&
    /^(?:test|describe)$/.test(getCalleeName(parent)));

/** Files whose tests are about rules of docs/reference. Tests of other folders are about pages, packages and programs. */
const FILES_OF_RULES =
  /[/\\]test[/\\](?:cli|graphql|live|observability|plugins|plus|rest|security|services)[/\\][^/\\]+\.test\.ts$/;

/** Rows of a table may begin with their own ids: `%s`. */
const lacksRuleId = ({ parent, value }) =>
  parent.type === "CallExpression" &&
  parent.arguments[0]?.value === value &&
  getCalleeName(parent) === "test" &&
  !RULE_IDS.test(value) &&
  !/^[%$]/.test(value);

const isDescription = ({ parent }) => parent.type === "Property" && /^(?:description|whenUnset)$/.test(parent.key.name);

const plain = {
  create: ({ sourceCode, filename, report }) => {
    const check = (node, text) => faultsIn(text).forEach((message) => report({ node, message }));
    return {
      Program: () => {
        for (const block of groupComments(sourceCode.getAllComments(), sourceCode.text))
          if (!/^\s*(?:oxlint-|@ts-)/.test(block[0].value)) check(block[0], joinComments(block));
      },
      Literal: (node) => {
        const isProse = /settings\.ts$/.test(filename) ? isDescription : isTitle;
        if (typeof node.value === "string" && FILES_OF_RULES.test(filename) && lacksRuleId(node))
          report({ node, message: "begin the title of a test with the id of its rule" });
        if (typeof node.value === "string" && isProse(node)) check(node, node.value.replace(RULE_IDS, ""));
      },
    };
  },
};

export default { meta: { name: "prose" }, rules: { plain } };
