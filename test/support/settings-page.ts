/** Generates the tables of docs/reference/settings.md from the declarations. `npm run docs:settings` writes them. */
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildSettingRow, collectSettings, type Setting } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { appSettings, featureSetting, serverSettings } from "../../presets/server/server-settings.ts";

const BEGIN = "<!-- Written by `npm run docs:settings` from the declarations. -->";
const END = "<!-- The generated tables end here. -->";

const table = (heading: string, settings: readonly Parameters<typeof buildSettingRow>[0][]): string =>
  [
    `## ${heading}`,
    "",
    "| Environment variable | Aliases | Default | Meaning |",
    "|---|---|---|---|",
    ...settings.map(buildSettingRow),
  ].join("\n");

/** Settings by the plugin that declares them, those of core under the empty name. */
const groupSettings = (): ReadonlyMap<string, readonly Setting[]> => {
  const preset = plus({});
  const settingsByOwner = new Map<string, Setting[]>();
  for (const setting of collectSettings(preset)) {
    const owners = preset.plugins.filter(({ settings = [] }) => settings.some(({ name }) => name === setting.name));
    const key = owners.map(({ name }) => `\`${name}\``).join(", ");
    settingsByOwner.set(key, [...(settingsByOwner.get(key) ?? []), setting]);
  }
  return settingsByOwner;
};

/** The page with its tables replaced by the generated ones. */
export const settingsPage = (page: string): string => {
  const [before, after] = [page.split(BEGIN)[0] ?? "", page.split(END)[1] ?? ""];
  const tables = [
    ...[...groupSettings()].map(([names, settings]) => table(names === "" ? "Core" : names, settings)),
    table("The standalone server", [...serverSettings, appSettings, featureSetting]),
  ];
  return [before + BEGIN, ...tables, END + after].join("\n\n");
};

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const path = "docs/reference/settings.md";
  writeFileSync(path, settingsPage(readFileSync(path, "utf8")));
}
