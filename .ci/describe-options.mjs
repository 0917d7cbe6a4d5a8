// Writes the description of each option into the type of the presets' options in `dist`, so that editors show it. It is
// the last step of `npm run build:ts`. @rule X-SET-8
import { readFileSync, writeFileSync } from "node:fs";
import { settingsOf } from "../dist/core/index.js";
import { plus } from "../dist/presets/index.js";

const file = new URL("../dist/presets/options.d.ts", import.meta.url);

/** Links are relative to the settings page, and a comment must not contain its own end. */
const commentOf = ({ description, default: value, unit, whenUnset }) => {
  const text = description.replace(/\[([^[\]]*)\]\([^()]*\)/g, "$1").replaceAll("*/", "*\u200b/");
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  if (value === undefined) return whenUnset === undefined ? sentence : `${sentence} Unset: ${whenUnset}.`;
  return `${sentence} Default: \`${JSON.stringify(value)}\`${unit === undefined ? "" : ` (${unit})`}.`;
};

const members = settingsOf(plus({}))
  .filter(({ isOption }) => isOption)
  .map((option) => `    /** ${commentOf(option)} */\n    readonly ${option.name}?: RelApiOptions["${option.name}"];`);

/** The last declaration of the file. */
const HEAD = "export interface PresetOptions extends RelApiOptions {";
const [before, after] = readFileSync(file, "utf8").split(HEAD);
if (after === undefined) throw new Error(`no "${HEAD}" in ${file.pathname}`);
writeFileSync(file, [before + HEAD, ...members, "}", ""].join("\n"));
