/** The fixture scripts in their order, and the digest of their text, which identifies the embedded image. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface FixtureScript {
  readonly name: string;
  readonly text: string;
}

const read = (name: string): FixtureScript => ({
  name,
  text: readFileSync(fileURLToPath(new URL(`./fixtures/${name}.sql`, import.meta.url)), "utf8"),
});

/** The roles, which belong to the cluster, so the script can run repeatedly. */
export const rolesScript = read("roles");

/** The scripts for an empty database, after the roles. */
export const databaseScripts: readonly FixtureScript[] = [
  "extensions",
  "sea-tables",
  "sea-functions",
  "sea-grants",
  "music-tables",
  "music-functions",
  "music-grants",
].map(read);

/** The extensions that the embedded database needs for the fixtures. */
export const embeddedExtensions: readonly string[] = ["citext", "ltree", "hstore", "pg_trgm", "file_fdw"];

/** The script for databases with PostGIS. */
export const geoScript = read("geo");

/** Settings that affect responses and may differ between servers. */
export const sessionSettings = (database: string): string =>
  [
    "timezone = 'UTC'",
    "datestyle = 'ISO, MDY'",
    "intervalstyle = 'postgres'",
    "lc_monetary = 'C'",
    "bytea_output = 'hex'",
  ]
    .map((setting) => `alter database "${database}" set ${setting};`)
    .join("\n");

export const fixtureDigest = (...extraTexts: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const text of [rolesScript.text, ...databaseScripts.map((script) => script.text), ...extraTexts])
    hash.update(text).update("\0");
  return hash.digest("hex").slice(0, 16);
};
