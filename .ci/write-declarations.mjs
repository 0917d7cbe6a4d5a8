// Writes into `dist` what the plugins of the package declare: the description of each option into the type of the presets'
// options, and the names of plugins and options into `known-plugins.js`. It also writes the version of the package into
// `version.js`. `npm run build:ts` runs it. @rule X-SET-8 X-SET-6a C-PKG-10
import { readFileSync, writeFileSync } from "node:fs";
import { coreSettings, collectSettings } from "../dist/core/index.js";
import { workerLimits } from "../dist/plugins/limits/index.js";
import { liveTriggers } from "../dist/plugins/live/index.js";
import { adminServer, metrics } from "../dist/plugins/operations/index.js";
import { plus } from "../dist/presets/index.js";

const inDist = (path) => new URL(`../dist/presets/${path}`, import.meta.url);

const file = inDist("options.d.ts");

/** Links are relative to the settings page, and a comment must not contain its own end. */
const buildComment = ({ description, default: value, unit, whenUnset }) => {
  const text = description.replace(/\[([^[\]]*)\]\([^()]*\)/g, "$1").replaceAll("*/", "*\u200b/");
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  const start = value === undefined ? "Unset by default" : `Default: \`${JSON.stringify(value)}\``;
  const ofUnit = unit === undefined ? "" : ` (${unit})`;
  return `${sentence} ${start}${ofUnit}${whenUnset === undefined ? "" : `: ${whenUnset}`}.`;
};

const members = collectSettings(plus({})).map((option) => `    /** ${buildComment(option)} */\n    readonly ${option.name}?: RelApiOptions["${option.name}"];`);

/** The last declaration of the file. */
const HEAD = "export interface PresetOptions extends RelApiOptions {";
const [before, after] = readFileSync(file, "utf8").split(HEAD);
if (after === undefined) throw new Error(`no "${HEAD}" in ${file.pathname}`);
writeFileSync(file, [before + HEAD, ...members, "}", ""].join("\n"));

/** The server and the commands add these plugins to a preset, and two of their own. */
const added = [adminServer({ port: 0 }), liveTriggers(() => undefined), metrics, workerLimits];
const OF_COMMANDS = ["command-line", "start-report"];

const plugins = [...plus({}).plugins, ...added];
const ofCore = new Set(coreSettings.map(({ name }) => name));
const lists = {
  knownPlugins: [...plugins.map(({ name }) => name), ...OF_COMMANDS],
  knownOptions: collectSettings({ plugins })
    .map(({ name }) => name)
    .filter((name) => !ofCore.has(name)),
};

const known = inDist("known-plugins.js");
let text = readFileSync(known, "utf8");
for (const [list, names] of Object.entries(lists)) {
  const head = `\nexport const ${list} = [`;
  const [start, end] = text.split(head);
  if (end === undefined) throw new Error(`no "${head.trim()}" in ${known.pathname}`);
  text = `${start}${head}${JSON.stringify(names.sort()).slice(1)}${end.slice(end.indexOf("]") + 1)}`;
}
writeFileSync(known, text);

const versionFile = new URL("../dist/core/kernel/version.js", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const withVersion = readFileSync(versionFile, "utf8").replace(/(?<=VERSION = )"[^"]*"/, JSON.stringify(version));
if (!withVersion.includes(JSON.stringify(version))) throw new Error(`no "VERSION =" in ${versionFile.pathname}`);
writeFileSync(versionFile, withVersion);
