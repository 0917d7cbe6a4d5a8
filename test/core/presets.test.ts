/** Presets as values, the order of plugins, and the message of every start-up error. */
import { SyncBailHook } from "tapable";
import { afterEach, describe, expect, test } from "vitest";
import {
  compose,
  definePlugin,
  relApi,
  sql,
  Stage,
  without,
  defineService,
  defineHook,
  type OperatorSpec,
  type Plugin,
  type Preset,
  type PresetPart,
  type RelApi,
  type RelApiHooks,
  type UpdateOperatorSpec,
  type ValueOf,
} from "../../core/index.ts";
import { orderPlugins } from "../../core/kernel/preset.ts";
import { connector } from "../../plugins/database/connector/connector.ts";
import { graphql } from "../../plugins/graphql/graphql.ts";
import { rest } from "../../plugins/rest/rest.ts";
import { fullCompat, gqlCompat, knownPlugins, minimal, plus, restCompat } from "../../presets/index.ts";

/** No server listens there, so an error that is thrown was found without a database. */
const options = { databaseUrl: "postgres://nobody@127.0.0.1:1/none", logLevel: "silent" } as const;

const plugin = (name: string, members: Omit<Plugin, "name"> = {}): Plugin => definePlugin({ name, ...members });

const operator = (name: string, types: readonly string[], members: Partial<OperatorSpec> = {}): OperatorSpec => ({
  name,
  types,
  operand: "scalar",
  compile: (column) => column,
  ...members,
});

const updateOperator = (types: readonly string[]): UpdateOperatorSpec => ({
  name: "inc",
  graphql: "_inc",
  types,
  description: "",
  inputDescription: "",
  compile: () => sql`1`,
});

const startedApis: RelApi[] = [];
afterEach(async () => {
  for (const api of startedApis.splice(0)) await api.close();
});

const start = (...parts: readonly PresetPart[]): RelApi => {
  const api = relApi(compose({ plugins: [connector], options }, ...parts));
  startedApis.push(api);
  return api;
};

const listPluginNames = (...parts: readonly PresetPart[]): readonly string[] =>
  orderPlugins(compose(...parts)).map((item) => item.name);

describe("composition", () => {
  test("X-PRE-1 compose joins plugins and merges options, of which the later takes precedence", () => {
    const [a, b] = [plugin("a"), plugin("b")];
    const preset = compose({ plugins: [a], options: { dbPool: 3, anonRole: "x" } }, b, {
      plugins: [],
      options: { dbPool: 4, anonRole: undefined },
    });
    expect(preset.plugins).toEqual([a, b]);
    expect(preset.options).toEqual({ dbPool: 4, anonRole: "x" });
  });

  test("X-PRE-1 without removes an earlier plugin, which a later part may add again", () => {
    const [a, b] = [plugin("a"), plugin("b")];
    expect(compose(a, b, without("a")).plugins).toEqual([b]);
    expect(compose(a, b, without("a"), a).plugins).toEqual([b, a]);
  });

  test("X-PRE-1 the same plugin counts once", () => {
    const a = plugin("a");
    expect(compose(a, { plugins: [a], options: {} }).plugins).toEqual([a]);
  });

  test("X-START-3 two plugins of one name are rejected, with the parts of the preset that they are in", () => {
    expect(() => compose(plugin("fuzzy-operator"), plugin("b"), without("b"), plugin("fuzzy-operator"))).toThrow(
      'plugin name "fuzzy-operator" is used twice (parts 1 and 4 of the preset): rename one or remove it with without("fuzzy-operator")',
    );
  });

  test("X-START-2 an unknown name in without is rejected, with the known names", () => {
    expect(() => compose(plugin("a"), plugin("b"), without("c"))).toThrow(
      'without("c"), part 3 of the preset: no preceding part has a plugin of that name; known plugins: "a", "b"',
    );
  });
});

describe("order", () => {
  test("X-PRE-2 required plugins are applied first, then the stage decides, then the order of the list", () => {
    const latePlugin = plugin("late", { stage: Stage.late });
    const earlyPlugin = plugin("early", { stage: Stage.early });
    expect(
      listPluginNames(latePlugin, plugin("a", { requires: ["z"] }), plugin("b"), plugin("z"), earlyPlugin),
    ).toEqual(["early", "b", "z", "a", "late"]);
  });

  test("X-START-2 the member before orders two plugins if both are present", () => {
    const preset = { plugins: [], options: {}, knownPlugins: ["absent"] };
    expect(listPluginNames(preset, plugin("poll"), plugin("notify", { before: ["poll", "absent"] }))).toEqual([
      "notify",
      "poll",
    ]);
  });

  test("X-PRE-2 a late plugin that an early one requires is applied before it", () => {
    expect(
      listPluginNames(plugin("a", { stage: Stage.early, requires: ["b"] }), plugin("b", { stage: Stage.late })),
    ).toEqual(["b", "a"]);
  });

  test("X-PRE-2 plugins are applied in their order", async () => {
    const appliedNames: string[] = [];
    const recorder = (name: string, members: Omit<Plugin, "name"> = {}): Plugin =>
      plugin(name, { ...members, apply: () => void appliedNames.push(name) });
    start(recorder("a", { requires: ["b"] }), recorder("b"), recorder("c", { stage: Stage.early }));
    expect(appliedNames).toEqual(["c", "b", "a"]);
  });
});

describe("start-up errors", () => {
  test("X-START-1 a requirement that a part removed is reported with both names and the part", () => {
    const preset = [
      plugin("live-queries"),
      plugin("notify-changes", { requires: ["live-queries"] }),
      without("live-queries"),
    ] as const;
    expect(() => relApi(compose({ plugins: [], options }, ...preset))).toThrow(
      'plugin "notify-changes" requires "live-queries", which part 4 of the preset removed: remove both or keep both',
    );
  });

  test("X-START-1 a requirement that an inner preset removed is reported with the part of that preset", () => {
    const inner = compose(plugin("a"), without("a"));
    expect(() => start(inner, plugin("b", { requires: ["a"] }))).toThrow(
      'plugin "b" requires "a", which part 2 of the preset removed',
    );
  });

  test("X-START-1 a requirement that is not a known name is rejected with the known names", () => {
    expect(() => relApi(compose(plugin("a"), plugin("b", { requires: ["lively-queries"] })))).toThrow(
      'plugin "b" requires "lively-queries", which the preset does not contain: add it or remove "b"; known plugins: "a", "b"',
    );
  });

  test("X-START-1 a requirement that is nearly a known name suggests that name", () => {
    expect(() => start(plugin("live-queries"), plugin("b", { requires: ["live-querys"] }))).toThrow(
      'plugin "b" requires "live-querys", which the preset does not contain: add it or remove "b"; did you mean "live-queries"?',
    );
    expect(() => start(minimal(options), plugin("b", { requires: ["live-querys"] }))).toThrow(
      'did you mean "live-queries"?',
    );
  });

  test("X-START-2 an unknown name in before is rejected, with a similar one", () => {
    expect(() => start(plugin("poll-changes"), plugin("b", { before: ["poll-chnages"] }))).toThrow(
      'plugin "b" goes before "poll-chnages", which no plugin of the preset is called: correct the name, or list it in "knownPlugins" of the preset if that plugin may be absent; did you mean "poll-changes"?',
    );
    expect(() => start(minimal(options), plugin("b", { before: ["grapql"] }))).toThrow('did you mean "graphql"?');
  });

  test("X-START-2 a plugin that was left out or that the preset knows may be named", () => {
    expect(() => start(plugin("poll"), without("poll"), plugin("b", { before: ["poll"] }))).not.toThrow();
    expect(() => start(minimal(options), plugin("b", { before: ["graphql", "poll-changes"] }))).not.toThrow();
  });

  test.each<readonly [value: unknown, message: string]>([
    [minimal, 'is the function "minimal": call it, as in minimal({ … })'],
    [[minimal(options)], "is an array, not a preset or a plugin"],
    [undefined, "is undefined, not a preset or a plugin"],
    [null, "is null, not a preset or a plugin"],
    ["minimal", "is string, not a preset or a plugin"],
  ])("X-START-7 neither compose nor relApi takes %s", (value, message) => {
    expect(() => start(value as Preset)).toThrow(`part 2 of the preset ${message}`);
    expect(() => relApi(value as Preset)).toThrow(`the argument of relApi ${message}`);
  });

  test("X-START-7 relApi takes no options in place of a preset", () => {
    expect(() => relApi(options as unknown as Preset)).toThrow("the argument of relApi has no plugins");
  });

  test("X-START-1 plugins that require each other are reported as a cycle", () => {
    expect(() => start(plugin("a", { before: ["b"] }), plugin("b", { before: ["a"] }))).toThrow(
      'cycle in the order of plugins: "a" before "b", "b" before "a"',
    );
    expect(() => start(plugin("a", { requires: ["b"] }), plugin("b", { requires: ["a"] }))).toThrow(
      'cycle in the order of plugins: "a" requires "b", "b" requires "a"',
    );
    expect(() =>
      start(
        plugin("free"),
        plugin("a", { before: ["b"] }),
        plugin("b", { before: ["c"] }),
        plugin("c", { before: ["b"] }),
      ),
    ).toThrow('cycle in the order of plugins: "b" before "c", "c" before "b"');
  });

  test("X-START-4 the name of a plugin that is not in kebab-case is rejected", () => {
    expect(() => start(plugin("FuzzyOperator"))).toThrow('plugin name "FuzzyOperator" is not kebab-case');
  });

  test("X-START-3 two plugins of one name are found in a preset that was not composed", () => {
    expect(() => relApi({ plugins: [plugin("a"), plugin("b"), plugin("a")], options })).toThrow(
      'plugin name "a" is used twice (plugins 1 and 3 of the preset)',
    );
  });

  test("X-START-3 operators whose types overlap are rejected under any of their names", () => {
    const fuzzyPlugin = plugin("fuzzy-operator", { operators: [operator("fuzzy", ["text", "name"])] });
    const deferStart =
      (spec: OperatorSpec, ...surfaces: readonly Plugin[]) =>
      () =>
        start(...surfaces, fuzzyPlugin, plugin("trigram", { operators: [spec] }));
    expect(deferStart(operator("fuzzy", ["text"]))).toThrow(
      'operator "fuzzy" on text is declared by plugins "fuzzy-operator" and "trigram": their types must not overlap',
    );
    expect(deferStart(operator("similar", ["any"], { rest: "fuzzy" }), rest)).toThrow(
      'REST operator "fuzzy" on text is declared by',
    );
    expect(deferStart(operator("similar", ["name"], { graphql: "_fuzzy" }), rest, graphql)).toThrow(
      'GraphQL operator "_fuzzy" on name is declared by',
    );
    expect(deferStart(operator("fuzzy", ["any"], { exceptTypes: ["text", "name"] }), rest, graphql)).not.toThrow();
    expect(deferStart(operator("fuzzy", ["json"]), rest, graphql)).not.toThrow();
    // These are names of a surface that is not part of the preset.
    expect(deferStart(operator("similar", ["any"], { rest: "fuzzy", graphql: "_fuzzy" }))).not.toThrow();
  });

  test("R-PRF-7a X-START-3 a preference that two plugins declare, or that cannot be sent, is rejected", () => {
    const declaring = (name: string, preference: string): Plugin =>
      plugin(name, { preferences: [{ name: preference, values: ["on"] }] });
    expect(() => start(declaring("a", "shine"), declaring("b", "shine"))).toThrow(
      'preference "shine" is declared by plugins "a" and "b": rename one or remove one of the plugins',
    );
    expect(() => start(declaring("a", "two words"))).toThrow(
      'preference "two words" of plugin "a" cannot be sent: name it with letters, digits and dashes',
    );
  });

  test("X-START-3 groups of types overlap with their members", () => {
    const deferStart = (types: readonly string[]) => () =>
      start(
        plugin("a", { operators: [operator("x", ["array", "range"])] }),
        plugin("b", { operators: [operator("x", types)] }),
      );
    expect(deferStart(["_int4"])).toThrow('operator "x" on _int4');
    expect(deferStart(["tstzrange"])).toThrow('operator "x" on tstzrange');
    expect(deferStart(["int4", "enum"])).not.toThrow();
  });

  test("X-START-3 two plugins with the same update operator or function are rejected", () => {
    const updateOperators = [updateOperator(["int4"])];
    expect(() => start(plugin("a", { updateOperators }), plugin("b", { updateOperators }))).toThrow(
      'update operator "inc" on int4 is declared by plugins "a" and "b"',
    );
    const functions = [{ name: "to-geojson", compile: () => sql`1` }];
    expect(() => start(plugin("a", { functions }), plugin("b", { functions }))).toThrow(
      'function "to-geojson" is declared by plugins "a" and "b": rename one or remove one of the plugins',
    );
  });

  test.each<readonly [OperatorSpec, string]>([
    [operator("", ["text"]), 'plugin "a": operator "" is not kebab-case'],
    [operator("Fuzzy Match", ["text"]), 'plugin "a": operator "Fuzzy Match" is not kebab-case'],
    [
      operator("fuzzy", ["text"], { rest: "fuzzy.match" }),
      'plugin "a": operator "fuzzy" cannot be called "fuzzy.match" in REST: use neither "not", blanks nor',
    ],
    [operator("fuzzy", ["text"], { rest: "" }), 'operator "fuzzy" cannot be called "" in REST'],
    [operator("fuzzy", ["text"], { rest: "not" }), 'operator "fuzzy" cannot be called "not" in REST'],
    [
      operator("fuzzy", ["text"], { graphql: "~fuzzy" }),
      'plugin "a": operator "fuzzy" cannot be called "~fuzzy" in GraphQL: use letters, digits and _, with no digit and no __ at the start',
    ],
    [operator("fuzzy", ["text"], { graphql: "__fuzzy" }), 'cannot be called "__fuzzy" in GraphQL'],
    [operator("fuzzy", ["text"], { graphql: { name: "", keywords: {} } }), 'cannot be called "" in GraphQL'],
  ])("X-START-4 an operator name that no surface can read is rejected: %#", (spec, message) => {
    expect(() => start(rest, graphql, plugin("a", { operators: [spec] }))).toThrow(message);
  });

  test("X-START-4 an update operator with an invalid GraphQL name is rejected", () => {
    const updateOperators = [{ ...updateOperator(["int4"]), graphql: "+=" }];
    expect(() => start(rest, graphql, plugin("a", { updateOperators }))).toThrow(
      'plugin "a": update operator "inc" cannot be called "+=" in GraphQL: use letters, digits and _',
    );
  });

  test("X-START-5a an operator with fields names them", () => {
    const between = { ...operator("between", ["int4"]), operand: "fields" } as const;
    const input = { typeName: "int_between_input", fields: { from: "Int!", to: "Int!" } };
    const deferStart = (spec: OperatorSpec) => () => start(rest, graphql, plugin("a", { operators: [spec] }));
    expect(deferStart(between)).toThrow(
      'plugin "a": operator "between" has the operand "fields" without input: give the name and the fields of its GraphQL input type',
    );
    expect(deferStart({ ...between, graphql: false })).not.toThrow();
    expect(deferStart({ ...between, input })).not.toThrow();
  });

  test("X-START-4 valid names start", () => {
    const operators = [operator("st-3d-near", ["text"], { rest: "@>", graphql: "_near3d" })];
    expect(() => start(rest, graphql, plugin("a", { operators }))).not.toThrow();
  });

  test.each([
    ["integer", 'write "int4"'],
    ["int4[]", 'write "_int4"'],
    ["integer[]", 'write "_int4"'],
    ["character varying(20)", 'write "varchar"'],
    ["numeric(10,2)", 'write "numeric"'],
    ["timestamp with time zone", 'write "timestamptz"'],
    ["pg_catalog.int8", 'write "int8"'],
    ['"Mood"', 'write the name in pg_type, such as "int4"'],
    ["", 'write the name in pg_type, such as "int4"'],
  ])("X-START-5 %j is not a type name of the catalog", (type, remedy) => {
    const complaint = `is for the type "${type}", which is not a type name of the catalog: ${remedy}`;
    for (const spec of [
      operator("fuzzy", [type]),
      operator("fuzzy", ["any"], { exceptTypes: [type] }),
      operator("fuzzy", ["any"], { operandType: type }),
    ])
      expect(() => start(plugin("a", { operators: [spec] }))).toThrow(`plugin "a": operator "fuzzy" ${complaint}`);
    const updateOperators = [updateOperator([type])];
    expect(() => start(plugin("a", { updateOperators }))).toThrow(`plugin "a": update operator "inc" ${complaint}`);
  });

  test("X-START-5 groups and names of the database's own types start", () => {
    const types = ["any", "array", "enum", "range", "composite", "_int4", "Mood", "möwe", "mood$2"];
    expect(() => start(plugin("a", { operators: [operator("fuzzy", types)] }))).not.toThrow();
  });

  test("X-START-3 two plugins with the same embedding mode are rejected", () => {
    const embeds = [{ mode: "fold", compile: () => ({ columns: [] }) }];
    expect(() => start(plugin("a", { embeds }), plugin("b", { embeds }))).toThrow(
      'embedding mode "fold" is declared by plugins "a" and "b": rename one or remove one of the plugins',
    );
  });

  test("X-SVC-3 an async function in a plain tap of an awaited hook is rejected", () => {
    const async = plugin("keys", { apply: (hooks) => hooks.authorize.tap("keys", (async () => undefined) as never) });
    expect(() => start(async)).toThrow(
      'plugin "keys" passes an async function to authorize.tap, which would take its promise for the result: use tapPromise',
    );
    const introspect = plugin("more", {
      apply: (hooks) => hooks.introspect.tap("more", (async (model: unknown) => model) as never),
    });
    expect(() => start(introspect)).toThrow("introspect.tap");
  });

  test("X-SVC-3 two taps of one name on one hook are rejected", () => {
    const duplicateTaps = plugin("keys", {
      apply: (hooks) => [1, 2].forEach(() => hooks.authorize.tap("keys", () => undefined)),
    });
    expect(() => start(duplicateTaps)).toThrow(
      'hook authorize has two taps named "keys" (plugin "keys"): give each a different name',
    );
  });

  test("X-SVC-3 a tap after the start is rejected, on hooks created later too", () => {
    let capturedHooks: RelApiHooks | undefined;
    start(plugin("late-comer", { apply: (hooks) => void (capturedHooks = hooks) }));
    expect(() => capturedHooks?.authorize.tap("late-comer", () => undefined)).toThrow(
      'hook authorize is sealed: "late-comer" tapped it after relApi(preset) had applied the plugins; tap it in the plugin\'s apply function',
    );
    expect(() => capturedHooks?.compileFilter.for("eq").tap("late-comer", () => undefined)).toThrow(
      'hook compileFilter.for("eq") is sealed',
    );
  });

  test("X-FLT-1 the message of an unexpected error of a tap begins with plugin and hook", () => {
    let capturedHooks: RelApiHooks | undefined;
    const faulty = plugin("faulty", {
      apply: (hooks) => {
        capturedHooks = hooks;
        hooks.transformPlan.tap("faulty", () => {
          throw new TypeError("x is not a function");
        });
      },
    });
    start(faulty);
    expect(() => capturedHooks?.transformPlan.call({} as never, {} as never)).toThrow(
      'plugin "faulty", hook transformPlan: x is not a function',
    );
  });

  const tidesService = defineService<number>("tides");
  const correctTideHook = defineHook(
    "correctTide",
    "a",
    () => new SyncBailHook<[height: number], number | undefined>(["height"]),
  );
  const using = (name: string): Plugin =>
    plugin(name, { apply: (_, context) => void context.use(correctTideHook).tap(name, () => 1) });

  test("X-SVC-1 the type has to be that of the token, or it does not compile", () => {
    const typedPlugin = plugin("typed", {
      apply: (_, context) => {
        // @ts-expect-error: another type
        context.offer(tidesService, "high");
        // @ts-expect-error: no token
        context.use("tides");
        // @ts-expect-error: the service may be missing
        context.use(tidesService).toFixed();
        // @ts-expect-error: another hook
        context.use(correctTideHook).tap("typed", (height: string) => Number(height));
      },
    });
    expect(typedPlugin.name).toBe("typed"); // only the compiler checks this
  });

  test("X-SVC-2 two services of one token are rejected with both names", () => {
    const offering = (name: string): Plugin => plugin(name, { apply: (_, context) => context.offer(tidesService, 1) });
    expect(() => start(offering("a"), offering("b"))).toThrow(
      'the service "tides" is offered by "a" and by "b": drop one of them with without("b")',
    );
  });

  test("X-SVC-2 a name belongs to one thing", () => {
    const hook = defineHook("tides", "b", () => new SyncBailHook<[height: number], number>(["height"]));
    const offering = plugin("a", { apply: (_, context) => context.offer(tidesService, 1) });
    const tapping = plugin("b", { apply: (_, context) => void context.use(hook) });
    expect(() => start(offering, tapping)).toThrow(
      '"tides" is shared by plugins "a" and "b": rename one or remove one of the plugins',
    );
  });

  test("X-SVC-2 a hook of a missing plugin is rejected, with advice", () => {
    expect(() => start(using("user"))).toThrow(
      'plugin "user" uses the hook "correctTide" of the plugin "a", which the preset lacks: name "a" in "requires"',
    );
    expect(() => start(using("user"), plugin("a", {}))).not.toThrow();
  });

  test("X-SVC-2 no service is offered after the start", () => {
    let offerLate: (() => void) | undefined;
    start(plugin("late-comer", { apply: (_, context) => void (offerLate = () => context.offer(tidesService, 1)) }));
    expect(offerLate).toThrow('plugin "late-comer" offers the service "tides" after relApi(preset)');
  });

  test("X-SVC-3 the hook of a plugin is guarded like those of core", () => {
    let capturedHook: ValueOf<typeof correctTideHook> | undefined;
    const tapping = plugin("tapping", {
      apply: (_, context) => {
        capturedHook = context.use(correctTideHook);
        capturedHook.tap("tapping", () => {
          throw new TypeError("x is not a function");
        });
      },
    });
    start(plugin("a", {}), tapping);
    expect(() => capturedHook?.call(1)).toThrow('plugin "tapping", hook correctTide: x is not a function');
    expect(() => capturedHook?.tap("more", () => 1)).toThrow("hook correctTide is sealed");
    const duplicateTaps = plugin("twice", {
      apply: (_, context) => [1, 2].forEach(() => context.use(correctTideHook).tap("twice", () => 1)),
    });
    expect(() => start(plugin("a", {}), duplicateTaps)).toThrow('hook correctTide has two taps named "twice"');
  });

  test("R-PROF-6 system schemas cannot be exposed", () => {
    expect(() => start({ plugins: [], options: { dbSchemas: ["public", "pg_catalog"] } })).toThrow(
      "dbSchemas names pg_catalog",
    );
    expect(() => start({ plugins: [], options: { dbSchemas: [] } })).toThrow("dbSchemas is empty");
  });

  test.each([
    [{ dbSchemas: "public" }, 'invalid option dbSchemas "public": expected a list of names of schemas'],
    [{ dbPool: 0 }, "invalid option dbPool 0: expected a positive number"],
    [{ dbPool: "5" }, 'invalid option dbPool "5": expected a positive number'],
    [{ dbMaxRows: -1 }, "invalid option dbMaxRows -1: expected a non-negative number"],
    [{ dbAggregatesEnabled: "true" }, 'invalid option dbAggregatesEnabled "true": expected true or false'],
    [{ anonRole: null }, "invalid option anonRole null: expected any text"],
    [
      { dbTxEnd: "never" },
      'invalid option dbTxEnd "never": expected one of commit, commit-allow-override, rollback, rollback-allow-override',
    ],
    [
      { databaseUrl: "mysql://u:topsecret@h/d" },
      "invalid option databaseUrl: expected a connection string, postgres://user:password@host:5432/database or host=... dbname=...",
    ],
    [
      { databaseReplicaUrls: ["postgres://h/d", "nonsense"] },
      "invalid option databaseReplicaUrls: expected a list of connection strings",
    ],
  ])("X-SET-2 an option of another kind is rejected: %j", (wrong, message) => {
    expect(() => start(fullCompat(wrong as object))).toThrow(message); // as in a program without types
  });

  test("X-SET-2 a preset without a database is rejected", () => {
    expect(() => relApi(compose(connector))).toThrow("database: embedded() from relapi/plugins/database");
  });

  test("X-CON-1 a preset in which no plugin connects, or two plugins do, is rejected", () => {
    expect(() => relApi(compose(minimal(options), without("connector")))).toThrow(
      'no plugin of the preset connects to the database: add the plugin "connector"',
    );
    expect(() => start(plugin("tunnel", { connector: connector.connector }))).toThrow(
      'plugins "connector" and "tunnel" both connect to the database: drop one of them with without("tunnel")',
    );
  });
});

describe("presets", () => {
  test.each([
    ["fullCompat", fullCompat],
    ["restCompat", restCompat],
    ["gqlCompat", gqlCompat],
    ["minimal", minimal],
    ["plus", plus],
  ])("X-START-1 the preset %s starts", (_, preset) => {
    expect(() => start(preset({ ...options, anonRole: "nobody" }))).not.toThrow();
  });

  test("X-START-2 the presets know every plugin of the package, and no others", () => {
    // These are the plugins of the server and of the commands.
    const elsewhere = ["admin-server", "command-line", "live-triggers", "metrics", "start-report", "worker-limits"];
    const all = [...plus(options).plugins, ...minimal(options).plugins].map((item) => item.name);
    expect([...knownPlugins].sort()).toEqual([...new Set([...all, ...elsewhere])].sort());
  });

  test("X-PRE-3 fullCompat has the plugins of restCompat and gqlCompat, and no others", () => {
    const names = (parts: readonly Plugin[]): readonly string[] => parts.map((item) => item.name).sort();
    const full = names(fullCompat(options).plugins);
    expect(full).toEqual(
      [...new Set([...names(restCompat(options).plugins), ...names(gqlCompat(options).plugins)])].sort(),
    );
  });
});
