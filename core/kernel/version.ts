/** Reads the version of the package from its own package.json. */
import { readFileSync } from "node:fs";
import { findPackageFile } from "./package-files.ts";

const readVersion = (): string => {
  const path = findPackageFile("package.json");
  if (path === undefined) return "0.0.0"; // a bundle without the package beside it
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { readonly version: string };
  return version;
};

/** The version of relapi. */
export const VERSION = readVersion();
