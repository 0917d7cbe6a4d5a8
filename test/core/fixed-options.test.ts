/** Options that plugins read only when they are applied. An option source could not change them, so they are fixed. */
import { expect, test } from "vitest";
import {
  collectSettings,
  type Plugin,
  type PluginContext,
  type Preset,
  type RelApiOptions,
  type ResolvedOptions,
} from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { forGraphql, startApi } from "../support/api.ts";
import { openSocket } from "../support/socket.ts";
import { bearer } from "../support/tokens.ts";

type Reads = Set<`${string} ${string}`>;

/** The reads of the options that plugins had while they were applied, and of those that they had later. */
const startReads: Reads = new Set();
const laterReads: Reads = new Set();

const watchOptions = (plugin: string, options: ResolvedOptions, reads: Reads): ResolvedOptions =>
  new Proxy(options, {
    get: (target, name, receiver) => {
      if (typeof name === "string") reads.add(`${plugin} ${name}`);
      return Reflect.get(target, name, receiver) as unknown;
    },
  });

/** Returns the plugin with a context that notes which options the plugin reads. */
const watchPlugin = (plugin: Plugin): Plugin => {
  const { name, apply } = plugin;
  if (apply === undefined) return plugin;
  return {
    ...plugin,
    apply: (hooks, context) => {
      let isApplied = false;
      const getOptions = () => watchOptions(name, context.options, isApplied ? laterReads : startReads);
      apply(hooks, Object.create(context, { options: { get: getOptions } }) as PluginContext);
      isApplied = true;
    },
  };
};

const watchedPreset = (options: RelApiOptions): Preset => {
  const { plugins, ...rest } = plus(options);
  return { ...rest, plugins: plugins.map(watchPlugin) };
};

test("X-SET-7 an option that a plugin reads only at the start is fixed", async () => {
  const api = await startApi(forGraphql({ preset: watchedPreset, restPath: "/api" }));
  const headers = { origin: "https://page.example", ...bearer({ role: "music_reader" }) };
  await api.reload();
  await api.get("/api/album", { headers });
  await api.post("/v1/graphql", { headers, body: { query: "{ album { id } }" } });
  await api.post("/mcp", { headers, body: {} });
  const socket = await openSocket(api, { headers: { origin: `http://127.0.0.1:${api.port}` } });
  await socket.close();
  const settings = collectSettings(plus({}));
  const changeableNames = new Set(settings.flatMap(({ name, isFixed }) => (isFixed === true ? [] : [name])));
  const isChangeable = (read: string): boolean => changeableNames.has(read.slice(read.indexOf(" ") + 1));
  expect([...startReads].filter((read) => isChangeable(read) && !laterReads.has(read))).toEqual([]);
});
