/** The fixture scripts, in the order they run in, and the digest of their text by which the embedded image is kept. */
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

/** Roles belong to the cluster: this one may run again. */
export const rolesScript = read("roles");

/** Into an empty database, after the roles. */
export const databaseScripts: readonly FixtureScript[] = [
  "extensions",
  "sea-tables",
  "sea-functions",
  "sea-grants",
  "music-tables",
  "music-functions",
  "music-grants",
].map(read);

/** What the embedded database must bring for them. */
export const embeddedExtensions: readonly string[] = ["citext", "ltree", "hstore", "pg_trgm", "file_fdw"];

/** Only where PostGIS is. */
export const geoScript = read("geo");

/** What answers depend on and a server may have set otherwise. */
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

export const fixtureDigest = (...more: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const text of [rolesScript.text, ...databaseScripts.map((script) => script.text), ...more])
    hash.update(text).update("\0");
  return hash.digest("hex").slice(0, 16);
};
