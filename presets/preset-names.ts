/** The presets of the command line, by the name in `--preset` and `PRESET`. */
import { settingKinds, type Preset, type SettingKind } from "../core/index.ts";
import { fullCompat } from "./full-compat.ts";
import type { PresetOptions } from "./options.ts";
import { plus } from "./plus.ts";

const presets = { "full-compat": fullCompat, plus } satisfies Readonly<
  Record<string, (options: PresetOptions) => Preset>
>;

export type PresetName = keyof typeof presets;

export const presetNameKind: SettingKind<string> = settingKinds.oneOf(Object.keys(presets));

export const getPreset = (name: PresetName = "full-compat"): ((options: PresetOptions) => Preset) => presets[name];
