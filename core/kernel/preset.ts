/** Presets as values, and the order in which their plugins are applied. */
import { presetError } from "./errors.ts";
import { buildSuggestion } from "./did-you-mean.ts";
import type { RelApiOptions } from "../settings/options.ts";
import type { Plugin } from "../plugin.ts";

/** Orders plugins that do not name each other. */
export const Stage = { early: -100, normal: 0, late: 100 } as const;

/** Plugins and their options as a value, built with `compose`. */
export interface Preset {
  readonly plugins: readonly Plugin[];
  readonly options: RelApiOptions;
  /** Plugins that may be missing although `before` names them. A name in `before` that is neither here nor in the
   *  preset is an error. @rule X-START-2 */
  readonly knownPlugins?: readonly string[];
  /** Options of plugins that the preset may lack. Any other undeclared option is rejected. If undefined, undeclared
   *  options are only logged. @rule X-SET-6 */
  readonly knownOptions?: readonly string[];
  /** Additional environment variables, by option: the names that other servers use for it. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  /** The plugins that `without` removed, with the number of the `without` part, which errors name. */
  readonly removed?: ReadonlyMap<string, number>;
}

interface Without {
  readonly without: string;
}

/** An argument of `compose`. A function has `bind`, so the compiler rejects a factory that was not called. */
export type PresetPart = (Preset | Plugin | Without) & { readonly bind?: never };

/** Removes the plugin of that name from the preceding parts. */
export const without = (name: string): Without => ({ without: name });

/** Merges presets, plugins and `without(name)` from left to right. Plugins accumulate; options merge shallowly, and
 *  later ones win. The same plugin object twice counts once. @throws RelApiError `preset` on two plugins of one name
 *  and on a `without` that finds nothing */
export const compose = (...parts: readonly PresetPart[]): Preset => {
  const plugins = new Map<string, { readonly plugin: Plugin; readonly part: number }>();
  const removedPlugins = new Map<string, number>();
  const knownNames = new Set<string>();
  let options: RelApiOptions = {};
  let knownOptions: readonly string[] | undefined;
  let aliases: Readonly<Record<string, readonly string[]>> = {};
  const add = (plugin: Plugin, part: number): void => {
    const present = plugins.get(plugin.name);
    if (present !== undefined && present.plugin !== plugin)
      throw nameDuplicated(plugin.name, `parts ${present.part} and ${part} of the preset`);
    removedPlugins.delete(plugin.name);
    if (present === undefined) plugins.set(plugin.name, { plugin, part });
  };
  parts.forEach((presetPart, i) => {
    const position = i + 1;
    rejectNonObject(presetPart, `part ${position} of the preset`);
    if ("without" in presetPart) {
      if (!plugins.delete(presetPart.without))
        throw presetError(
          `without("${presetPart.without}"), part ${position} of the preset: no preceding part has a plugin of that name; known plugins: ${formatNames(plugins.keys())}`,
        );
      removedPlugins.set(presetPart.without, position);
    } else if ("plugins" in presetPart) {
      for (const [name] of presetPart.removed ?? []) if (!plugins.has(name)) removedPlugins.set(name, position);
      for (const plugin of presetPart.plugins) add(plugin, position);
      for (const name of presetPart.knownPlugins ?? []) knownNames.add(name);
      options = { ...options, ...removeUndefinedOptions(presetPart.options) };
      if (presetPart.knownOptions !== undefined)
        knownOptions = [...new Set([...(knownOptions ?? []), ...presetPart.knownOptions])];
      aliases = { ...aliases, ...presetPart.aliases };
    } else {
      add(presetPart, position);
    }
  });
  return {
    plugins: [...plugins.values()].map((entry) => entry.plugin),
    options,
    removed: removedPlugins,
    knownPlugins: [...knownNames],
    knownOptions,
    aliases,
  };
};

/** Checks that a value is an object. @throws RelApiError `preset` for functions and values that are not objects
 *  @rule X-START-7 */
const rejectNonObject = (value: unknown, location: string): void => {
  if (typeof value === "function")
    throw presetError(`${location} is the function "${value.name}": call it, as in ${value.name || "preset"}({ … })`);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  const kind = value === null ? "null" : Array.isArray(value) ? "an array" : `${typeof value}`;
  throw presetError(`${location} is ${kind}, not a preset or a plugin`);
};

/** Checks that the argument of `relApi` is a preset. @throws RelApiError `preset` @rule X-START-7 */
const rejectNonPreset = (value: unknown): void => {
  rejectNonObject(value, "the argument of relApi");
  if (!Array.isArray((value as Partial<Preset>).plugins))
    throw presetError(
      "the argument of relApi has no plugins: pass a preset, as in relApi(fullCompat({ databaseUrl }))",
    );
};

const removeUndefinedOptions = (options: RelApiOptions): RelApiOptions =>
  Object.fromEntries(Object.entries(options).filter(([, option]) => option !== undefined));

const nameDuplicated = (name: string, where: string) =>
  presetError(`plugin name "${name}" is used twice (${where}): rename one or remove it with without("${name}")`);

const formatNames = (names: Iterable<string>): string => {
  const quotedNames = [...names].map((name) => `"${name}"`);
  return quotedNames.length === 0 ? "none" : quotedNames.join(", ");
};

/** Returns the plugins in the order of application: `requires` and `before` as a graph, then stage, then list order.
 *  @throws RelApiError `preset` on bad or duplicate names, missing requirements and cycles */
export const orderPlugins = (preset: Preset): readonly Plugin[] => {
  rejectNonPreset(preset);
  const positions = new Map<string, number>();
  preset.plugins.forEach((plugin, i) => {
    if (!KEBAB_CASE.test(plugin.name))
      throw presetError(
        `plugin name "${plugin.name}" is not kebab-case: use lower-case letters, digits and single dashes`,
      );
    const position = positions.get(plugin.name);
    if (position === undefined) positions.set(plugin.name, i);
    else if (preset.plugins[position] !== plugin)
      throw nameDuplicated(plugin.name, `plugins ${position + 1} and ${i + 1} of the preset`);
  });
  const plugins = preset.plugins.filter((plugin, i) => positions.get(plugin.name) === i);
  for (const plugin of plugins) {
    for (const requiredName of plugin.requires ?? [])
      if (!positions.has(requiredName)) throw pluginMissing(plugin.name, requiredName, preset);
    for (const laterName of plugin.before ?? [])
      if (!positions.has(laterName) && !isKnown(preset, laterName))
        throw laterPluginUnknown(plugin.name, laterName, preset);
  }
  const edges = collectEdges(plugins);
  const waitingPlugins = plugins.toSorted((a, b) => (a.stage ?? Stage.normal) - (b.stage ?? Stage.normal));
  const isWaiting = (name: string): boolean => waitingPlugins.some((plugin) => plugin.name === name);
  const orderedPlugins: Plugin[] = [];
  while (waitingPlugins.length > 0) {
    const next = waitingPlugins.findIndex(
      ({ name }) => !edges.some((edge) => edge.second === name && isWaiting(edge.first)),
    );
    if (next === -1) throw orderCyclic(edges.filter((edge) => isWaiting(edge.first) && isWaiting(edge.second)));
    orderedPlugins.push(...waitingPlugins.splice(next, 1));
  }
  return orderedPlugins;
};

/** Matches names such as `fuzzy-operator`. */
export const KEBAB_CASE = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

interface Edge {
  readonly first: string;
  readonly second: string;
  /** The declaration that the edge comes from. */
  readonly declaration: "before" | "requires";
}

const collectEdges = (plugins: readonly Plugin[]): readonly Edge[] =>
  plugins.flatMap(({ name, before = [], requires = [] }) => [
    ...before.map((laterName) => ({ first: name, second: laterName, declaration: "before" as const })),
    ...requires.map((requiredName) => ({ first: requiredName, second: name, declaration: "requires" as const })),
  ]);

const isKnown = ({ knownPlugins, removed: removedPlugins }: Preset, name: string): boolean =>
  knownPlugins?.includes(name) === true || removedPlugins?.has(name) === true;

const listKnownNames = (preset: Preset): readonly string[] => [
  ...new Set([...preset.plugins.map((plugin) => plugin.name), ...(preset.knownPlugins ?? [])]),
];

/** Returns the error for a plugin that requires a plugin which the preset lacks. @rule X-START-1 */
const pluginMissing = (name: string, requiredName: string, preset: Preset) => {
  const part = preset.removed?.get(requiredName);
  if (part !== undefined)
    return presetError(
      `plugin "${name}" requires "${requiredName}", which part ${part} of the preset removed: remove both or keep both`,
    );
  const message = `plugin "${name}" requires "${requiredName}", which the preset does not contain: add it or remove "${name}"`;
  if (isKnown(preset, requiredName)) return presetError(message);
  return presetError(
    `${message}${buildSuggestion(requiredName, listKnownNames(preset)) || `; known plugins: ${formatNames(preset.plugins.map((plugin) => plugin.name))}`}`,
  );
};

/** Returns the error for an unknown plugin name in `before`. @rule X-START-2 */
const laterPluginUnknown = (name: string, laterName: string, preset: Preset) =>
  presetError(
    `plugin "${name}" goes before "${laterName}", which no plugin of the preset is called: correct the name, or list it in "knownPlugins" of the preset if that plugin may be absent${buildSuggestion(laterName, listKnownNames(preset))}`,
  );

/** Follows edges until a name repeats. Nodes that only lead into the cycle are omitted. */
const orderCyclic = (edges: readonly Edge[]) => {
  const path: Edge[] = [];
  let pluginName = edges[0]?.first;
  while (pluginName !== undefined && !path.some((edge) => edge.first === pluginName)) {
    const next = edges.find((edge) => edge.first === pluginName);
    if (next === undefined) break;
    path.push(next);
    pluginName = next.second;
  }
  const start = path.findIndex((edge) => edge.first === pluginName);
  const steps = path
    .slice(Math.max(start, 0))
    .map((edge) =>
      edge.declaration === "before"
        ? `"${edge.first}" before "${edge.second}"`
        : `"${edge.second}" requires "${edge.first}"`,
    );
  return presetError(`cycle in the order of plugins: ${steps.join(", ")}`);
};
