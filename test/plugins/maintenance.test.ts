/** Options that a plugin outside the product declares, and options that it reads from the database. */
import { expect, test } from "vitest";
import {
  compose,
  definePlugin,
  defineSetting,
  limitExceeded,
  optionsFromEnvironment,
  relApi,
  settingKinds,
  buildSettingRows,
  collectSettings,
  without,
  type Counters,
  type Plugin,
  type RelApiOptions,
  type Limit,
  type PresetPart,
  type ValuesOf,
} from "../../core/index.ts";
import { fullCompat, minimal } from "../../presets/index.ts";
import { startApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { adminSecret } from "../support/tokens.ts";
import { maintenance } from "./maintenance.ts";
import { createLogger } from "../support/logger.ts";

const database = await testDatabase();
await database.query("create schema app; create table app.flags (maintenance text)");
const errors: (readonly [string, unknown])[] = [];
const warnings: (readonly [string, unknown])[] = [];
const logger = createLogger({
  error: (message: string, fields?: unknown): void => void errors.push([message, fields]),
  warn: (message: string, fields?: unknown): void => void warnings.push([message, fields]),
});
const api = await startApi({ parts: [maintenance], logger });

const fetchStatus = async (method: "get" | "post"): Promise<number> =>
  (method === "get"
    ? await api.get("/rpc/add_numbers?a=1&b=2")
    : await api.post("/rpc/add_numbers", { body: { a: 1, b: 2 } })
  ).status;

const keep = async (flag: string): Promise<void> => {
  await api.sql(`delete from app.flags; insert into app.flags values ('${flag}')`);
  await api.reload();
};

const nowhere = { databaseUrl: "postgres://nobody@127.0.0.1:1/none", logger } as const;

const start = (...parts: readonly PresetPart[]): void => {
  void relApi(compose(...parts)).close();
};

test("X-SET-1 X-SET-2 an option of a plugin is given like any other, with its type and its default", async () => {
  expect([await fetchStatus("get"), await fetchStatus("post")]).toEqual([200, 200]);
  const ownApi = await startApi({ parts: [maintenance], maintenance: "writes" });
  expect((await ownApi.get("/ports?limit=1")).status).toBe(200);
  const rejection = await ownApi.post("/rpc/add_numbers", { body: { a: 1, b: 2 } });
  expect([rejection.status, rejection.json().code]).toEqual([503, "maintenance"]);
  // @ts-expect-error: not one of its values
  expect(() => start(fullCompat({ ...nowhere, maintenance: "now" }), maintenance)).toThrow(
    'invalid option maintenance "now": expected one of off, writes, all',
  );
});

test("X-SET-4a only programs that are configured by variables read variables of options", async () => {
  const preset = compose(fullCompat({}), maintenance);
  expect(optionsFromEnvironment(preset, { MAINTENANCE: "all", PGRST_DB_POOL: "3", PATH: "/bin" })).toEqual({
    maintenance: "all",
    dbPool: 3,
  });
  expect(() => optionsFromEnvironment(preset, { MAINTENANCE: "now", DB_POOL: "x" })).toThrow(
    /^invalid DB_POOL "x": .*\ninvalid MAINTENANCE "now": expected one of off, writes, all$/,
  );
  process.env["MAINTENANCE"] = "all";
  const ownApi = await startApi({ parts: [maintenance] });
  delete process.env["MAINTENANCE"];
  expect((await ownApi.get("/ports?limit=1")).status).toBe(200);
});

const limits = [
  defineSetting({
    name: "maxWishes",
    environment: ["MAX_WISHES"],
    kind: settingKinds.wholeNumber(1),
    default: 2,
    description: "wishes of one request",
    isLimit: true,
  }),
] as const;

declare module "../../core/index.ts" {
  // A published plugin extends `RequestLimits`, of which another test file covers every member.
  interface ResolvedOptions extends ValuesOf<typeof limits> {}
}

test("X-SET-4 a limit of a plugin is counted under its name", async () => {
  let counters: Counters | undefined;
  const wishes = definePlugin({
    name: "wishes",
    settings: limits,
    apply: (_, context) => {
      counters = context.counters;
      context.addStep({
        name: "wishes",
        beforeAuthorize: (exchange) => {
          const { maxWishes: limit } = context.options;
          if (Number(exchange.header("x-wishes") ?? 0) <= limit) return undefined;
          throw limitExceeded("maxWishes" as Limit, {
            code: "too-many-wishes",
            message: `more than ${limit} wishes`,
          });
        },
      });
    },
  });
  const ownApi = await startApi({ parts: [wishes] });
  expect((await ownApi.get("/ports?limit=1", { headers: { "x-wishes": "2" } })).status).toBe(200);
  expect((await ownApi.get("/ports?limit=1", { headers: { "x-wishes": "3" } })).status).toBe(400);
  expect(counters?.get("refused-maxWishes")).toBe(1);
  expect(buildSettingRows([wishes])).toEqual(["| `MAX_WISHES` |  | `2` | wishes of one request |"]);
});

test("X-SET-5 a declaration that several plugins list counts once, also one of the product", () => {
  const reader = definePlugin({
    name: "reader",
    settings: fullCompat({}).plugins.flatMap((plugin) => plugin.settings ?? []),
  });
  expect(() => start(fullCompat(nowhere), reader)).not.toThrow();
  expect(collectSettings(compose(fullCompat({}), reader)).filter(({ name }) => name === "dbMaxRows")).toHaveLength(1);
});

const option = (name: string, environment: readonly string[] = []): Plugin =>
  definePlugin({
    name: "second",
    settings: [defineSetting({ name, environment, kind: settingKinds.text, description: "" })],
  });

test.each([
  [option("maxEmbeds"), 'the setting "maxEmbeds" is declared by "rest" and by "second"'],
  [option("mine", ["JWT_SECRET"]), 'the setting "JWT_SECRET" is declared by "jwt-tokens" and by "second"'],
  [option("mine", ["PGRST_DB_POOL"]), 'the setting "PGRST_DB_POOL" is declared by relapi itself and by "second"'],
  [option("logger"), 'the setting "logger" is declared by relapi itself and by "second"'],
  [option("maintenance"), 'the setting "maintenance" is declared by "maintenance" and by "second"'],
])("X-SET-2 nothing is declared twice, by any plugin: %#", (second, message) => {
  expect(() => start(fullCompat(nowhere), maintenance, second)).toThrow(
    `${message}: rename one or drop one of the plugins`,
  );
});

test("X-SET-6 an unknown option is rejected with a similar name", () => {
  const unknown = (options: object, ...parts: readonly PresetPart[]) =>
    start(fullCompat({ ...nowhere, ...options }), ...parts);
  expect(() => unknown({ maxEmbed: 1 })).toThrow('there is no option "maxEmbed"; did you mean "maxEmbeds"?');
  expect(() => unknown({ maintenanc: "all" }, maintenance)).toThrow('did you mean "maintenance"?');
  expect(() => unknown({ colourOfTheSea: 1 })).toThrow('there is no option "colourOfTheSea": see docs/reference');
  expect(() => unknown({ maintenance: undefined })).not.toThrow();
});

test("X-SET-6 options of plugins that a preset leaves out are accepted", () => {
  expect(() => start(minimal({ ...nowhere, jwtSecret: "x", maxAliases: 1, liveQueryInterval: 1 }))).not.toThrow();
  expect(() => start(fullCompat({ ...nowhere, serverTraceHeader: "x" }), without("trace-header"))).not.toThrow();
});

test("X-SET-6 a preset without a list of options accepts any, and logs those that no plugin has", () => {
  warnings.length = 0;
  const plugins = minimal({}).plugins.filter(({ name }) => name === "connector");
  start({ plugins, options: { ...nowhere, maxEmbeds: 1 } });
  expect(warnings).toEqual([
    ["no plugin of the preset declares this option, so it has no effect", { option: "maxEmbeds" }],
  ]);
});

test("X-SET-7 options that a plugin reads with each load override those of the preset", async () => {
  await keep("writes");
  expect([await fetchStatus("get"), await fetchStatus("post")]).toEqual([200, 503]);
  await keep("all");
  expect(await fetchStatus("get")).toBe(503);
  errors.length = 0;
  await keep("now");
  expect(await fetchStatus("get")).toBe(503); // the state before the change
  expect(errors).toEqual([
    [
      "invalid settings in the database or the flags of the application; keeping the previous settings",
      { reason: 'invalid option maintenance "now": expected one of off, writes, all' },
    ],
  ]);
  await api.sql("delete from app.flags");
  await api.reload();
  expect(await fetchStatus("post")).toBe(200);
});

test("X-SET-7 an option that is read only once cannot change", async () => {
  const pool = definePlugin({
    name: "pool",
    apply: (_, context) => context.addOptionSource({ name: "the pool", read: async () => ({ dbPool: 1 }) }),
  });
  errors.length = 0;
  const ownApi = await startApi({ parts: [pool], logger });
  expect((await ownApi.get("/ports?limit=1")).status).toBe(200);
  expect(errors[0]?.[1]).toEqual({ reason: "the option dbPool cannot change after the start" });
});

test("X-SET-7 R-LIM-1 limits of REST and the first admin secret follow a source", async () => {
  let storedOptions: RelApiOptions = {};
  const moving = definePlugin({
    name: "moving",
    apply: (_, context) => context.addOptionSource({ name: "the test", read: async () => storedOptions }),
  });
  const ownApi = await startApi({ parts: [moving], adminSecret: undefined });
  const askFields = async () => (await ownApi.get("/ports?select=id,name&limit=1")).status;
  const guessSecret = async () =>
    (await ownApi.get("/ports?limit=1", { headers: { "x-session-admin-secret": "guess" } })).status;
  expect([await askFields(), await guessSecret()]).toEqual([200, 200]); // without a secret the header has no effect
  storedOptions = { maxSelectFields: 1, adminSecret };
  await ownApi.reload();
  expect([await askFields(), await guessSecret()]).toEqual([400, 401]);
});

test("X-SET-7 X-FLT-1 a source that fails fails the load, with the plugin's name", async () => {
  const faulty = definePlugin({
    name: "faulty",
    apply: (_, context) =>
      context.addOptionSource({
        name: "nowhere",
        read: async () => {
          throw new Error("no options");
        },
      }),
  });
  errors.length = 0;
  const handler = relApi(compose(fullCompat({ ...database.options, logger }), faulty));
  await expect(handler.reload()).rejects.toThrow("no options");
  await handler.close();
  expect(errors[0]).toMatchObject(["failed to load the schema", { plugin: "faulty", hook: "addOptionSource.read" }]);
});
