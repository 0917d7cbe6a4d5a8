/** Core knows no surface and no dialect: none of its files contains their names, or names of their settings in SQL. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const core = fileURLToPath(new URL("../../core/", import.meta.url));
const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((name) => /\.(?:ts|md|sql)$/.test(name));

/** A hook has the name of a surface, and ids of rules name the place of a contract. */
const ALLOWED = /\bbuildGqlField\b|\b[RGX]-[A-Z]+-\d+/g;

test.each(files)("core/%s names no surface and no dialect", (name) => {
  const text = readFileSync(core + name, "utf8").replaceAll(ALLOWED, "");
  expect(text).not.toMatch(/graphql|gql|hasura|pgrst|postgrest|schema cache|jwt\.claims|app\.settings/i);
});
