/** The presets that the command line serves, by the name that `--preset` and `PRESET` give. */
import { settingKinds, type Preset, type SettingKind } from "../core/index.ts";
import { fullCompat } from "./full-compat.ts";
import type { PresetOptions } from "./options.ts";
import { plus } from "./plus.ts";

const presets = { "full-compat": fullCompat, plus } satisfies Readonly<
  Record<string, (options: PresetOptions) => Preset>
>;

export type PresetName = keyof typeof presets;

export const presetName: SettingKind<string> = settingKinds.oneOf(Object.keys(presets));

export const presetNamed = (name: PresetName = "full-compat"): ((options: PresetOptions) => Preset) => presets[name];
