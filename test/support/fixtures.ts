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

/** Only where PostGIS is. */
export const geoScript = read("geo");

export const fixtureDigest = (...more: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const text of [rolesScript.text, ...databaseScripts.map((script) => script.text), ...more]) hash.update(text).update("\0");
  return hash.digest("hex").slice(0, 16);
};
