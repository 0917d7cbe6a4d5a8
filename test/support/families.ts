/** With `TEST_WITHOUT=speed`, the presets of the tests lack the plugins of `plugins/speed`. Their answers are the
 *  same. */
import { compose, without, type Preset } from "../../core/index.ts";
import * as speed from "../../plugins/speed/index.ts";

const FAMILIES: Readonly<Record<string, object>> = { "": {}, speed };
const family = process.env["TEST_WITHOUT"] ?? "";

/** The condition of tests whose subject is speed itself. */
export const hasSpeed = family !== "speed";

const getPlugins = (name: string): ReadonlySet<unknown> => {
  const plugins = FAMILIES[name];
  if (plugins === undefined) throw new Error(`TEST_WITHOUT=${name} is not a family that tests can leave out`);
  return new Set(Object.values(plugins));
};

/** Returns the preset without the plugins of the family that the run leaves out. */
export const withoutFamily = (preset: Preset): Preset => {
  const absent = getPlugins(family);
  return compose(preset, ...preset.plugins.filter((plugin) => absent.has(plugin)).map(({ name }) => without(name)));
};
