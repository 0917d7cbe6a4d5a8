/** The tables of docs/reference/settings.md and the type of the presets' options, from the declarations. As a program it
 *  writes them: `npm run docs:settings`. */
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format } from "oxfmt";
import { settingRow, settingsOf, type Setting } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { appSettings, featureSetting, serverSettings } from "../../presets/server-settings.ts";

const BEGIN = "<!-- Written by `npm run docs:settings` from the declarations. -->";
const END = "<!-- End of what is written. -->";

const table = (heading: string, settings: readonly Parameters<typeof settingRow>[0][]): string =>
  [
    `## ${heading}`,
    "",
    "| Environment variable | Aliases | Default | Meaning |",
    "|---|---|---|---|",
    ...settings.map(settingRow),
  ].join("\n");

/** Settings by the plugins that list them; those of core by the empty name. */
const groups = (): ReadonlyMap<string, readonly Setting[]> => {
  const preset = plus({});
  const found = new Map<string, Setting[]>();
  for (const setting of settingsOf(preset)) {
    const owners = preset.plugins.filter(({ settings = [] }) => settings.some(({ name }) => name === setting.name));
    const key = owners.map(({ name }) => `\`${name}\``).join(", ");
    found.set(key, [...(found.get(key) ?? []), setting]);
  }
  return found;
};

/** The page, with the tables that the declarations make. */
export const settingsPage = (page: string): string => {
  const [before, after] = [page.split(BEGIN)[0] ?? "", page.split(END)[1] ?? ""];
  const tables = [
    ...[...groups()].map(([names, settings]) => table(names === "" ? "Core" : names, settings)),
    table("The standalone server", [...serverSettings, appSettings, featureSetting]),
  ];
  return [before + BEGIN, ...tables, END + after].join("\n\n");
};

/** Links are the page's own, and a comment must not end early. */
const commentOf = ({ description, default: value, unit, whenUnset }: Setting): string => {
  const text = description.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("*/", "*\u200b/");
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  if (value === undefined) return whenUnset === undefined ? sentence : `${sentence} Unset: ${whenUnset}.`;
  return `${sentence} Default: \`${JSON.stringify(value)}\`${unit === undefined ? "" : ` (${unit})`}.`;
};

/** Types, and the files of plugins that export them. */
const ADDED = [
  ["AuthOptions, JwtSecret", "auth/settings.ts"],
  ["BusOptions", "bus/settings.ts"],
  ["StoreOptions", "database-settings/settings.ts"],
  ["GraphqlOptions", "graphql/settings.ts"],
  ["TraceOptions", "http/settings.ts"],
  ["LimitOptions", "limits/settings.ts"],
  ["LivePatchOptions", "live-patches/settings.ts"],
  ["MediaOptions", "media/settings.ts"],
  ["MetadataOptions", "metadata/settings.ts"],
  ["BatchOptions", "plus/rest-batch/settings.ts"],
  ["SoftDeleteOptions", "plus/soft-delete/settings.ts"],
  ["ChannelOptions", "reload/settings.ts"],
  ["RestOptions", "rest/settings.ts"],
  ["SharedOptions", "settings.ts"],
  ["StreamOptions", "streamed-answers/settings.ts"],
  ["LiveQueryOptions", "subscriptions/settings.ts"],
] as const;

/** presets/options.ts: what editors show of each option. @rule X-SET-8 */
export const optionsFile = async (): Promise<string> => {
  const options = settingsOf(plus({})).filter(({ isOption }) => isOption);
  const members = options.map(
    (option) =>
      `/** ${commentOf(option)} */\nreadonly ${option.name}?: NonNullable<RelApiOptions[${JSON.stringify(option.name)}]> | undefined;`,
  );
  const text = [
    "/** Written by `npm run docs:settings` from the declarations of the settings. */",
    'import type { RelApiOptions } from "../core/index.ts";',
    "// what their plugins add to `RelApiOptions`",
    ...ADDED.map(([types, file]) => `export type { ${types} } from "../plugins/${file}";`),
    "",
    "/** Options of the presets, with what each does: docs/reference/settings.md in camelCase. */",
    `export interface PresetOptions extends RelApiOptions {\n${members.join("\n")}\n}\n`,
  ].join("\n");
  return (await format("settings.ts", text, { printWidth: 120 })).code;
};

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const path = "docs/reference/settings.md";
  writeFileSync(path, settingsPage(readFileSync(path, "utf8")));
  writeFileSync("presets/options.ts", await optionsFile());
}
