/** Rules of `npm run lint`. The table of imports is in docs/design/house-rules.md. */

/** The last entry that names a file counts for it, with nothing of the entries before. In an entry, the first pattern that
 *  allows an import or forbids it decides. */
const imports = (files, ...patterns) => ({ files, rules: { "no-restricted-imports": ["error", { patterns }] } });

const allow = (paths) => paths.map((path) => `!${path}`);
/** The file may import files of its folder and these, packages included. */
const only = (...paths) => ({ regex: "^(?:[^.]|\\.\\./)", group: allow(paths) });
/** The file may import files of its folder, of the folders beside it and these, packages included. */
const onlyOutside = (...paths) => ({ regex: "^(?:[^.]|\\.\\./\\.\\./)", group: allow(paths) });
/** The file may import only types of these. The pattern after this one has to allow them too. */
const typesOf = (...expressions) => ({ regex: expressions.join("|"), allowTypeImports: true });

/** The folders that run plans. */
const ENGINE = "/(?:model|plan|sql|database)/";
const CONTRACT = "/(?:hooks|plugin)\\.ts$";

const core = [
  imports(["core/*.ts"], only("node:*", "tapable")),
  imports(
    ["core/kernel/*.ts"],
    typesOf(CONTRACT, ENGINE, "/http/", "/settings/"),
    only(
      "node:*",
      "tapable",
      "lru-cache",
      "../hooks.ts",
      "../plugin.ts",
      "../{model,plan,sql,database,http,settings}/**",
    ),
  ),
  imports(
    ["core/settings/*.ts"],
    typesOf(CONTRACT, ENGINE),
    only("node:*", "../plugin.ts", "../kernel/**", "../{model,database}/**"),
  ),
  imports(
    ["core/http/*.ts"],
    typesOf(CONTRACT, ENGINE, "/settings/", "/model-loader\\.ts$"),
    only(
      "node:*",
      "../hooks.ts",
      "../plugin.ts",
      "../model-loader.ts",
      "../{kernel,model,plan,sql,database,settings}/**",
    ),
  ),
  imports(
    ["core/{database,values}/*.ts"],
    typesOf(CONTRACT, "/settings/"),
    only("node:*", "../hooks.ts", "../plugin.ts", "../{kernel,model,plan,sql,database,values,settings}/**"),
  ),
  imports(["core/database/client.ts"], only("node:*", "pg", "../{kernel,sql}/**")),
  imports(["core/database/wire.ts"], only("node:*", "pg-protocol", "../{kernel,sql}/**")),
  imports(
    ["core/{model,plan}/*.ts"],
    only("../model/**", "../plan/**", "../kernel/memoize.ts", "../kernel/session.ts"),
  ),
  imports(
    ["core/sql/*.ts"],
    typesOf(CONTRACT),
    only(
      "../model/**",
      "../plan/**",
      "../hooks.ts",
      "../plugin.ts",
      "../kernel/errors.ts",
      "../kernel/memoize.ts",
      "../kernel/did-you-mean.ts",
    ),
  ),
];

const packages = { regex: "^(?:express|pg|@electric-sql)(?:$|[-/])" };
/** Beside files of its own folder of plugins, a plugin may import these. `up` is the path from it to `plugins`. */
const shared = (up, ...more) => ({
  regex: `^${up.replaceAll(".", "\\.")}`,
  group: allow(["../core/index.ts", "*/api.ts", "shared/**", ...more].map((path) => up + path)),
});
const FRAGMENT = "../core/sql/fragment.ts";
const CONNECTION = ["backoff", "connection", "connector", "pg-errors", "pool", "sharing"].map(
  (name) => `../core/database/${name}.ts`,
);
/** The surfaces write plans, and no SQL. */
const sql = {
  regex: "/core/index\\.ts$",
  importNames: [
    "sql",
    "quoteIdentifier",
    "bindValue",
    "bindSlot",
    "joinSql",
    "quoteLiteral",
    "inlineInteger",
    "trustedSql",
    "compileSql",
  ],
};
const roomOfRest = (room, ...below) =>
  imports(
    [`plugins/rest/${room}/*.ts`],
    sql,
    only("node:*", "../../../core/index.ts", "../api.ts", "../errors.ts", "../request.ts", ...below),
  );

const plugins = [
  imports(["plugins/shared/*.ts"], only("node:*", "graphql", "../../core/index.ts")),
  imports(["plugins/*/*.ts"], packages, shared("../", FRAGMENT)),
  imports(["plugins/*/*/*.ts"], packages, shared("../../", FRAGMENT)),
  imports(["plugins/*/*/*/*.ts"], packages, shared("../../../", FRAGMENT)),
  imports(["plugins/plus/*/*.ts"], packages, {
    regex: "^\\.\\./",
    group: allow(["../../../core/index.ts", "../../*/api.ts"]),
  }),
  imports(["plugins/{graphql,rest}/*.ts"], sql, packages, shared("../")),
  imports(["plugins/graphql/*/*.ts"], sql, packages, shared("../../")),
  roomOfRest("{answer,syntax}"),
  roomOfRest("plan", "../answer/**", "../syntax/**"),
  roomOfRest("openapi", "../plan/**"),
  // no plan can say what these ask the database
  imports(["plugins/rest/{openapi,openapi-3,response-settings}.ts"], packages, shared("../")),
  imports(["plugins/graphql/plan/functions.ts"], packages, shared("../../")),
  imports(
    ["plugins/database/embedded/*.ts"],
    only("node:*", "@electric-sql/pglite", "pg-protocol", "../../../core/index.ts"),
  ),
  // it opens connections, and reads the errors of PostgreSQL
  imports(["plugins/database/connector/*.ts"], packages, shared("../../", ...CONNECTION)),
  // it opens the connections of graphile-worker
  imports(["plugins/services/queue/queue.ts"], shared("../../")),
  imports(["plugins/**/settings.ts"], {
    regex: "",
    group: allow(["../core/index.ts", "../../core/index.ts", "../../../core/index.ts", "../../../../core/index.ts"]),
  }),
];

const presets = [
  imports(["presets/**"], {
    regex: "^(?:pg|@electric-sql)(?:$|[-/])|^(?:\\.\\./)+(?:core|test)/",
    group: allow(["**/core/index.ts"]),
  }),
];

/** The parts of the product and of other tests that tests import. `up` is the path from the test to `test`. */
const product = (up, ...more) => ({
  regex: `^${up.replaceAll(".", "\\.")}`,
  group: allow(
    ["../core/index.ts", "../presets/**", "../plugins/*/api.ts", "../plugins/live/patches/client.ts", "support/**"]
      .concat(more)
      .map((path) => up + path),
  ),
});
const MEASURED = ["../plugins/database/index.ts", "../plugins/operations/index.ts", "../plugins/speed/index.ts"];

const tests = [
  imports(["test/*/*.ts"], product("../")),
  imports(["test/*/*/*.ts"], product("../../")),
  imports(["test/services/*.ts"], product("../", "../plugins/services/index.ts", "cli/run.ts")), // its plugins with arguments
  imports(["test/{bench,support}/*.ts"], product("../", ...MEASURED)),
  imports(["test/support/*/*.ts"], product("../../", ...MEASURED)),
  { files: ["test/core/**"], rules: { "no-restricted-imports": "off" } },
];

export default {
  plugins: ["typescript", "unicorn", "oxc", "import"],
  jsPlugins: ["./.ci/linear-expressions.js", "./.ci/prose-rule.js"],
  rules: { "prose/plain": "error" },
  overrides: [
    {
      files: ["core/**", "plugins/**", "presets/**"],
      rules: { "expressions/linear": "error", "import/no-cycle": ["error", { ignoreTypes: false }] },
    },
    ...core,
    ...plugins,
    ...presets,
    ...tests,
  ],
};
