/** A rule for oxlint: each regular expression takes linear time, whatever text it is given. `recheck` proves it, or shows
 *  an attack. Results are kept below `node_modules/.cache`, so that a later run looks at new expressions only. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { checkSync } from "recheck";

const CACHE = new URL("../node_modules/.cache/linear-expressions.json", import.meta.url);
/** Steps bound the search, and no clock does, so that each run has the same result. A negative `recallTimeout` switches off
 *  the validation that runs each attack by the clock. */
const WITHOUT_CLOCK = {
  timeout: null,
  seedingTimeout: null,
  incubationTimeout: null,
  attackTimeout: null,
  recallTimeout: -1,
};

const readCache = () => {
  try {
    return new Map(JSON.parse(readFileSync(CACHE, "utf8")));
  } catch {
    return new Map(); // the first run has no cache
  }
};

const results = readCache();

process.on("exit", () => {
  mkdirSync(new URL(".", CACHE), { recursive: true });
  writeFileSync(CACHE, JSON.stringify([...results]));
});

/** Escapes and classes: each of them matches one character. */
const CHARACTERS = /\\.|\[(?:\\.|[^\]\\])*\]?/g;
/** Without an unbounded repetition, what is tried at each place takes a bounded time. */
const REPEATS = /[*+]|\{\d+,\}/;

/** Says why an expression is not linear; undefined if it is. */
const findFault = (source, flags) => {
  if (!REPEATS.test(source.replace(CHARACTERS, "x"))) return undefined;
  const key = `/${source}/${flags}`;
  if (!results.has(key)) {
    const { status, complexity, attack, error } = checkSync(source, flags, WITHOUT_CLOCK);
    const fault =
      status === "vulnerable" ? `${complexity.summary}, as for ${attack.pattern}` : `unknown: ${error?.kind}`;
    results.set(key, status === "safe" ? null : fault);
  }
  return results.get(key) ?? undefined;
};

/** The text of an expression. A part that is known at run time only is taken for a word. */
const resolveText = (node, scope) => {
  if (node.type === "Literal") return node.regex?.pattern ?? String(node.value);
  if (node.type === "TemplateLiteral")
    return node.quasis
      .map(
        ({ value }, i) => value.cooked + (node.expressions[i] === undefined ? "" : resolveText(node.expressions[i], scope)),
      )
      .join("");
  if (node.type === "TaggedTemplateExpression" && node.tag.property?.name === "raw")
    return node.quasi.quasis
      .map(
        ({ value }, i) =>
          value.raw + (node.quasi.expressions[i] === undefined ? "" : resolveText(node.quasi.expressions[i], scope)),
      )
      .join("");
  if (node.type === "BinaryExpression" && node.operator === "+")
    return resolveText(node.left, scope) + resolveText(node.right, scope);
  if (node.type === "MemberExpression" && node.property.name === "source") return resolveText(node.object, scope);
  if (node.type === "Identifier") {
    for (let at = scope; at !== null; at = at.upper) {
      const [definition] = at.set.get(node.name)?.defs ?? [];
      if (definition === undefined) continue;
      const { init } = definition.node;
      return definition.parent?.kind === "const" && init ? resolveText(init, at) : "word";
    }
  }
  return "word";
};

const linear = {
  create: (context) => {
    const check = (node, source, flags) => {
      const fault = findFault(source, flags);
      if (fault !== undefined) context.report({ node, message: `this regular expression is not linear: ${fault}` });
    };
    const checkCall = (node) => {
      const {
        callee,
        arguments: [pattern, flags],
      } = node;
      if (callee.type !== "Identifier" || callee.name !== "RegExp" || pattern === undefined) return;
      const scope = context.sourceCode.getScope(node);
      check(node, resolveText(pattern, scope), flags === undefined ? "" : resolveText(flags, scope));
    };
    return {
      Literal: (node) => {
        if (node.regex) check(node, node.regex.pattern, node.regex.flags);
      },
      NewExpression: checkCall,
      CallExpression: checkCall,
    };
  },
};

export default { meta: { name: "expressions" }, rules: { linear } };
