/** Presets without a plugin and the plugins that require it. */
import { without, type Plugin, type PresetPart } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";

export const getPlugin = (name: string): Plugin => {
  const match = fullCompat({}).plugins.find((plugin) => plugin.name === name);
  if (match === undefined) throw new Error(`fullCompat has no plugin "${name}"`);
  return match;
};

/** Returns the plugin, and then all plugins that require it directly or indirectly. */
export const withDependents = (name: string): readonly string[] => {
  const { plugins } = fullCompat({});
  const removedNames = new Set([getPlugin(name).name]);
  for (let size = 0; size !== removedNames.size;) {
    size = removedNames.size;
    for (const plugin of plugins)
      if (plugin.requires?.some((requiredName) => removedNames.has(requiredName)) === true)
        removedNames.add(plugin.name);
  }
  return [...removedNames];
};

export const leaveOut = (...names: readonly string[]): readonly PresetPart[] =>
  [...new Set(names.flatMap(withDependents))].map(without);
