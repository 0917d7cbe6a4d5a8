/** Reads the version of the package from its own package.json: two folders above the sources, three above the build. */
import { readFileSync } from "node:fs";

const readVersion = (): string => {
  for (const path of ["../../package.json", "../../../package.json"]) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as {
        readonly name?: unknown;
        readonly version?: unknown;
      };
      if (name === "relapi" && typeof version === "string") return version;
    } catch {
      // the other path is the right one
    }
  }
  return "0.0.0";
};

/** The version of relapi. */
export const VERSION = readVersion();
