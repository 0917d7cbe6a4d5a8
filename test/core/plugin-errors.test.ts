/** The log of errors in plugins that only appear with a database or a request. */
import { describe, expect, test } from "vitest";
import {
  definePlugin,
  relApi,
  compose,
  sql,
  defineService,
  type Answer,
  type OperatorSpec,
  type Plugin,
  type RelApiOptions,
  type Surface,
} from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { openSocket } from "../support/socket.ts";
import { until } from "../support/until.ts";
import { leaveOut } from "./left-out.ts";
import { watchChangesHook } from "../../plugins/live/api.ts";
import { takeUpgradeHook } from "../../plugins/live/api.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const keepLog = (): { readonly lines: Line[]; readonly logger: NonNullable<RelApiOptions["logger"]> } => {
  const lines: Line[] = [];
  const logAt =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      void lines.push({ level, message, fields });
  return {
    lines,
    logger: {
      error: logAt("error"),
      warn: logAt("warn"),
      info: logAt("info"),
      debug: logAt("debug"),
      access: () => undefined,
    },
  };
};

const operator = (name: string, types: readonly string[]): OperatorSpec => ({
  name,
  types,
  operand: "scalar",
  compile: (column, operand) => sql`${column} = ${operand}`,
});

test("X-START-6 a type that the database lacks is logged once, types of missing extensions are not logged", async () => {
  const { lines, logger } = keepLog();
  const near = definePlugin({ name: "near", operators: [operator("near", ["texxt", "int4", "array"])] });
  const far = definePlugin({
    name: "far",
    operators: [operator("far", ["halfvec", "no_such_type_at_all"])],
    extensionTypes: ["halfvec"],
  });
  const api = await startApi({ parts: [near, far], logger });
  await api.reload();
  const warnings = lines.filter(
    ({ message }) => message === "an operator is for a type that the database does not have",
  );
  expect(warnings.map(({ level, fields }) => ({ level, ...fields }))).toEqual([
    { level: "warn", plugin: "near", operator: "near", type: "texxt", near: ["text"] },
    { level: "warn", plugin: "far", operator: "far", type: "no_such_type_at_all" },
  ]);
});

const boom = (): never => {
  throw new TypeError("x is not a function");
};

/** The plugin and hook that the log names. */
const blame = (lines: readonly Line[]): readonly unknown[] =>
  lines.filter(({ level }) => level === "error").map(({ fields: { plugin, hook } }) => ({ plugin, hook }));

const faulty = (apply: NonNullable<Plugin["apply"]>, members: Partial<Plugin> = {}): Plugin =>
  definePlugin({ name: "faulty", ...members, apply });

const startLogged = async (
  parts: NonNullable<StartOptions["parts"]>,
  options: StartOptions = {},
): Promise<{ readonly api: TestApi; readonly lines: Line[] }> => {
  const { lines, logger } = keepLog();
  return { api: await startApi({ ...options, parts, logger }), lines };
};

const plain = (body: string): Answer => ({ status: 200, headers: [], body });

/** Serves `GET /odd/…`. */
const oddSurface = (members: Partial<Surface> = {}): Surface => ({
  name: "odd",
  match: (path) => path.startsWith("/odd/"),
  handle: () => plain("fine"),
  encodeError: ({ status }) => ({ status, headers: [], body: "rejected" }),
  ...members,
});

describe("an error in a request is logged with plugin and hook, and answered as an error of the server", () => {
  test.each<readonly [hook: string, plugin: Plugin, path: string]>([
    ["authorize", faulty((hooks) => hooks.authorize.tap("faulty", boom), { before: ["anonymous"] }), "/vessels"],
    ["authorize", faulty((hooks) => hooks.authorize.tapPromise("faulty", async () => boom())), "/vessels"],
    [
      "authorize",
      faulty((hooks) =>
        hooks.authorize.tapAsync("faulty", (_, answer) => {
          try {
            boom();
          } catch (error) {
            answer(error as Error);
          }
        }),
      ),
      "/vessels",
    ],
    [
      'addStep("odd").beforeAuthorize',
      faulty((_, context) => context.addStep({ name: "odd", beforeAuthorize: boom })),
      "/vessels",
    ],
    [
      'addStep("odd").afterAuthorize',
      faulty((_, context) => context.addStep({ name: "odd", afterAuthorize: async () => boom() })),
      "/vessels",
    ],
    ["buildRestRoute", faulty((hooks) => hooks.buildRestRoute.tap("faulty", boom)), "/vessels"],
    ["transformPlan", faulty((hooks) => hooks.transformPlan.tap("faulty", boom)), "/vessels"],
    [
      'compileFilter.for("boom")',
      definePlugin({ name: "faulty", operators: [{ ...operator("boom", ["text"]), compile: boom }] }),
      "/vessels?name=boom.x",
    ],
    [
      'compileFilter.for("boom")', // a type that it is not meant for
      definePlugin({ name: "faulty", operators: [{ ...operator("boom", ["text"]), compile: boom }] }),
      "/vessels?id=boom.1",
    ],
    [
      'operators("boom").restOperand',
      definePlugin({ name: "faulty", operators: [{ ...operator("boom", ["text"]), restOperand: boom }] }),
      "/vessels?name=boom.x",
    ],
    [
      'addSurface("odd").handle',
      faulty((_, context) => context.addSurface(oddSurface({ handle: boom })), { before: ["rest"] }),
      "/odd/1",
    ],
    [
      'addSurface("odd").handle',
      faulty((_, context) => context.addSurface(oddSurface({ handle: async () => boom() })), { before: ["rest"] }),
      "/odd/1",
    ],
    [
      'addSurface("odd").beforeAuthorize',
      faulty((_, context) => context.addSurface(oddSurface({ beforeAuthorize: boom })), { before: ["rest"] }),
      "/odd/1",
    ],
  ])("X-FLT-1 %s", async (hook, plugin, path) => {
    const { api, lines } = await startLogged([plugin]);
    const answer = await api.get(path);
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("x is not a function");
    expect(blame(lines)).toEqual([{ plugin: "faulty", hook }]);
    const cause = lines.find(({ level }) => level === "error")?.fields["cause"];
    expect(String(cause)).toBe("TypeError: x is not a function");
    expect((cause as Error).stack).toMatch(/^TypeError.*\n +at .*boom.*plugin-errors/); // the place of the error
  });

  test.each<readonly [hook: string, plugin: Plugin, query: string]>([
    ["transformPlan", faulty((hooks) => hooks.transformPlan.tap("faulty", boom)), "{ artist { name } }"],
    ["buildGqlField", faulty((hooks) => hooks.buildGqlField.tap("faulty", boom)), "{ artist { name } }"],
    [
      'updateOperators("boom").compile',
      definePlugin({
        name: "faulty",
        updateOperators: [
          { name: "boom", graphql: "_boom", types: ["any"], description: "", inputDescription: "", compile: boom },
        ],
      }),
      'mutation { update_artist(where: {id: {_eq: 1}}, _boom: {name: "x"}) { affected_rows } }',
    ],
  ])("X-FLT-1 an error in a hook of GraphQL is logged with plugin and hook: %s", async (hook, plugin, query) => {
    const { api, lines } = await startLogged([plugin], forGraphql());
    const answer = await api.gql(query);
    expect(answer.errors[0].message).toBe("internal error");
    expect(blame(lines)).toEqual([{ plugin: "faulty", hook }]);
  });

  test("X-FLT-1 an error in encodeError or in a stream of a surface is logged with its plugin", async () => {
    const encoding = await startLogged([
      faulty((_, context) => context.addSurface(oddSurface({ handle: boom, encodeError: boom })), {
        before: ["rest"],
      }),
    ]);
    expect((await encoding.api.get("/odd/1")).status).toBe(500);
    expect(blame(encoding.lines)).toEqual([
      { plugin: "faulty", hook: 'addSurface("odd").handle' },
      { plugin: "faulty", hook: 'addSurface("odd").encodeError' },
    ]);
    const streaming = await startLogged([
      faulty(
        (_, context) =>
          context.addSurface(oddSurface({ handle: () => ({ status: 200, headers: [], stream: async () => boom() }) })),
        { before: ["rest"] },
      ),
    ]);
    await expect(fetch(`${streaming.api.url}/odd/1`).then((response) => response.text())).rejects.toThrow();
    expect(blame(streaming.lines)).toEqual([{ plugin: "faulty", hook: 'addSurface("odd").handle' }]);
  });

  test("X-FLT-1 an error of a service belongs to its plugin, and the caller gets it unchanged", async () => {
    const wordsService = defineService<{ read(text: string): unknown }>("words");
    const words = definePlugin({
      name: "words",
      apply: (_, context) => context.offer(wordsService, { read: (text) => JSON.parse(text) as unknown }),
    });
    const reader = definePlugin({
      name: "reader",
      before: ["rest"],
      apply: (_, context) =>
        context.addSurface(
          oddSurface({
            handle: ({ path }) => {
              const read = context.use(wordsService)!; // composed below
              if (path === "/odd/1") return plain(JSON.stringify(read.read("[")));
              try {
                return plain(JSON.stringify(read.read("[")));
              } catch (error) {
                return plain(`${error instanceof SyntaxError} ${(error as Error).message}`);
              }
            },
          }),
        ),
    });
    const { api, lines } = await startLogged([words, reader]);
    expect((await api.get("/odd/2")).text).toMatch(/^true Unexpected end of JSON/);
    expect(blame(lines)).toEqual([]);
    expect((await api.get("/odd/1")).status).toBe(500);
    expect(blame(lines)).toEqual([{ plugin: "words", hook: 'service("words").read' }]);
  });
});

describe("an error outside of a request is logged, and everything else continues", () => {
  test("X-FLT-2 errors in listeners of onModel, onClose and notifications are logged and stop nothing", async () => {
    const events: string[] = [];
    const { api, lines } = await startLogged([
      faulty((_, context) => {
        context.onModel(boom);
        context.onModel((async () => boom()) as () => void);
        context.listen("faulty_channel", boom);
        context.onClose(boom);
        context.onClose(async () => boom());
      }),
      definePlugin({
        name: "sound",
        apply: (_, context) => {
          context.onModel(() => void events.push("model"));
          context.listen("faulty_channel", (payload) => void events.push(payload));
          context.onClose(() => void events.push("close"));
        },
      }),
    ]);
    expect((await api.get("/vessels?limit=1")).status).toBe(200);
    expect(events).toEqual(["model"]);
    expect(blame(lines)).toEqual(Array.from({ length: 2 }, () => ({ plugin: "faulty", hook: "onModel" })));
    for (const payload of ["one", "two"]) {
      // The listening connection may not be open yet.
      await expect
        .poll(async () => {
          await api.sql(`notify faulty_channel, '${payload}'`);
          return events;
        })
        .toContain(payload);
    }
    expect(blame(lines)).toContainEqual({ plugin: "faulty", hook: 'listen("faulty_channel")' });
    lines.length = 0;
    await api.close();
    // Another notification may still arrive in between.
    expect(blame(lines)).toEqual(expect.arrayContaining(Array(2).fill({ plugin: "faulty", hook: "onClose" })));
    expect(events).toContain("close");
  });

  test("X-FLT-2 a surface whose match fails takes no part in the request", async () => {
    const { api, lines } = await startLogged([
      faulty((_, context) => context.addSurface(oddSurface({ match: boom })), { before: ["rest"] }),
    ]);
    expect((await api.get("/vessels?limit=1")).status).toBe(200);
    expect(blame(lines)).toEqual([{ plugin: "faulty", hook: 'addSurface("odd").match' }]);
  });

  test("X-FLT-2 X-SURF-1 a surface whose paths fail takes no part in any request", async () => {
    const { api, lines } = await startLogged([
      faulty((_, context) => context.addSurface(oddSurface({ paths: boom })), { before: ["rest"] }),
    ]);
    expect((await api.get("/vessels?limit=1")).status).toBe(200);
    expect(new Set(blame(lines).map((error) => JSON.stringify(error)))).toEqual(
      new Set([JSON.stringify({ plugin: "faulty", hook: 'addSurface("odd").paths' })]),
    );
  });

  test("X-FLT-2 an upgrade that fails is closed, and the server continues", async () => {
    const { api, lines } = await startLogged([
      faulty((_hooks, context) => context.use(takeUpgradeHook).tap("faulty", boom), {
        requires: ["upgrades"],
        before: ["websocket-transport", "legacy-websocket"],
      }),
    ]);
    await expect(openSocket(api)).rejects.toThrow();
    expect(blame(lines)).toEqual([{ plugin: "faulty", hook: "takeUpgrade" }]);
    expect((await api.get("/vessels?limit=1")).status).toBe(200);
  });

  test("X-FLT-2 with a failing change source a live query sends one result", async () => {
    const { api, lines } = await startLogged(
      [
        ...leaveOut("notify-changes", "replication-changes"),
        faulty((_hooks, context) => context.use(watchChangesHook).tap("faulty", boom), {
          requires: ["live-queries"],
          before: ["poll-changes"],
        }),
      ],
      forGraphql(),
    );
    const socket = await openSocket(api);
    await socket.init();
    socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { artist_by_pk(id: 1) { id } }" } });
    expect(await socket.next((message) => message.type === "next")).toMatchObject({
      payload: { data: { artist_by_pk: { id: 1 } } },
    });
    await until(() => blame(lines).length > 0, "the error is logged");
    expect(blame(lines)).toEqual([{ plugin: "faulty", hook: "watchChanges" }]);
    await socket.close();
  });

  test("X-FLT-2 after an introspect tap that fails once, the schema is loaded at the next attempt", async () => {
    let isFirst = true;
    const { api, lines } = await startLogged([
      faulty((hooks) =>
        hooks.introspect.tapPromise("faulty", async (model) => {
          if (isFirst) {
            isFirst = false;
            boom();
          }
          return model;
        }),
      ),
    ]);
    expect((await api.get("/vessels?limit=1")).status).toBe(200);
    expect(blame(lines)).toEqual([{ plugin: "faulty", hook: "introspect" }]);
  });
});

test("X-FLT-3 an error of apply is thrown by relApi(preset) and logged, with the plugin's name", () => {
  const { lines, logger } = keepLog();
  const options = { databaseUrl: "postgres://nobody@127.0.0.1:1/none", logger };
  expect(() => relApi(compose(fullCompat(options), faulty(boom)))).toThrow(
    'plugin "faulty", hook apply: x is not a function',
  );
  expect(blame(lines)).toEqual([{ plugin: "faulty", hook: "apply" }]);
});
