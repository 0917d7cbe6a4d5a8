/** A preset without one plugin, and without what requires it. */
import { without, type Plugin, type PresetPart } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";

export const pluginOf = (name: string): Plugin => {
  const found = fullCompat({}).plugins.find((plugin) => plugin.name === name);
  if (found === undefined) throw new Error(`fullCompat has no plugin "${name}"`);
  return found;
};

/** The plugin first, then all that requires it, however far. */
export const requiring = (name: string): readonly string[] => {
  const { plugins } = fullCompat({});
  const gone = new Set([pluginOf(name).name]);
  for (let known = 0; known !== gone.size;) {
    known = gone.size;
    for (const plugin of plugins)
      if (plugin.requires?.some((required) => gone.has(required)) === true) gone.add(plugin.name);
  }
  return [...gone];
};

export const leftOut = (...names: readonly string[]): readonly PresetPart[] =>
  [...new Set(names.flatMap(requiring))].map(without);
