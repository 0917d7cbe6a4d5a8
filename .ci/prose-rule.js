/** The lint rule `prose/plain`: the rules of prose.mjs for comments, titles of tests and descriptions of settings, and
 *  the form of comments. */
import { listFaults } from "./prose.mjs";

const RULE_IDS = /^(?:[A-Z]+(?:-[A-Z0-9]+)+[a-z]?(?: …)? )+/;

/** The file of tests of one family of rules. */
const RULE_FILE = /[/\\][RGXCP]-[A-Z]{2,5}[^/\\]*\.test\.ts$/;

/** A directive for a tool, such as `oxlint-disable-next-line`, `@ts-expect-error` or `#!/usr/bin/env node`. */
const DIRECTIVE = /^\s*(?:eslint-|oxlint-|@(?:ts|vite|runs)-|\/usr\/bin\/)/;

/** A text that consists of examples. */
const ONLY_CODE = /^(?:`[^`]*`(?:, | and )?)+$/;

const beginsLine = ({ range }, code) => code.slice(code.lastIndexOf("\n", range[0] - 1) + 1, range[0]).trim() === "";

/** Returns the fault in the form of a comment. A comment that begins its line has full sentences. Others are fragments. */
const findFormFault = (text, isFirst) => {
  if (!isFirst) return text.endsWith(".") ? "end a comment beside code without a full stop" : undefined;
  if (text === "") return "begin with a sentence";
  if (ONLY_CODE.test(text)) return undefined;
  if (/^[a-z]/.test(text)) return "begin the sentence with a capital letter";
  return /[.:?!…]\)?$/.test(text) ? undefined : "end the sentence with a full stop";
};

/** Joins line comments that follow each other. */
const groupComments = (comments, code) => {
  const blocks = [];
  for (const comment of comments) {
    const last = blocks.at(-1)?.at(-1);
    const isNext =
      last?.type === "Line" &&
      beginsLine(last, code) &&
      /^\s*\/\/$/.test(code.slice(last.range[1], comment.range[0] + 2));
    if (isNext) blocks.at(-1).push(comment);
    else blocks.push([comment]);
  }
  return blocks;
};

const joinComments = (comments) =>
  comments
    .map(({ value }) => value.replace(/^\*/, "").replaceAll(/\n\s*\*/g, " "))
    .join(" ")
    .replace(/@(?:rule|throws|param|returns|see|experimental|deprecated)\b[\s\S]*/, "");

/** The name at the start of a call: `test` of `test.skipIf(…).each(…)(…)`. */
const getCalleeName = (node) => (node.callee || node.object ? getCalleeName(node.callee ?? node.object) : node.name);

/** Returns whether a literal is the title of a test, or of a group of tests. */
const titlesTest = ({ parent, value }, functions) =>
  parent.type === "CallExpression" && parent.arguments[0]?.value === value && functions.test(getCalleeName(parent));

const isTitle = (node) => RULE_IDS.test(node.value) || titlesTest(node, /^(?:test|describe)$/);

/** Returns whether the title of a test, or of a group around it, begins with the id of a rule. A pattern such as `%s` takes
 *  the id from a table. */
const hasRuleId = ({ value, parent }) => {
  if (RULE_IDS.test(value) || /^[%$]/.test(value)) return true;
  for (let node = parent.parent; node; node = node.parent)
    if (node.type === "CallExpression" && getCalleeName(node) === "describe" && RULE_IDS.test(node.arguments[0]?.value))
      return true;
  return false;
};

const isDescription = ({ parent }) => parent.type === "Property" && /^(?:description|whenUnset)$/.test(parent.key.name);

const plain = {
  create: ({ sourceCode, filename, report }) => {
    const check = (node, text) => listFaults(text).forEach((message) => report({ node, message }));
    return {
      Program: () => {
        for (const block of groupComments(sourceCode.getAllComments(), sourceCode.text)) {
          const [node] = block;
          if (DIRECTIVE.test(node.value)) continue;
          const text = joinComments(block);
          check(node, text);
          const fault = findFormFault(text.trim(), beginsLine(node, sourceCode.text));
          if (fault !== undefined) report({ node, message: `${fault}: ${text.trim().slice(0, 120)}` });
        }
      },
      Literal: (node) => {
        const isProse = /settings\.ts$/.test(filename) ? isDescription : isTitle;
        if (typeof node.value !== "string" || !isProse(node)) return;
        check(node, node.value.replace(RULE_IDS, ""));
        if (RULE_FILE.test(filename) && titlesTest(node, /^test$/) && !hasRuleId(node))
          report({ node, message: `begin with the id of the rule: ${node.value}` });
      },
    };
  },
};

export default { meta: { name: "prose" }, rules: { plain } };
