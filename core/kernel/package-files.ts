/** Finds packages and the files of this package at run time, also if a bundler has put this module into a file of the
 *  application. */
import { existsSync } from "node:fs";
import nodeModule from "node:module"; // the usual banner of a bundle declares the name createRequire
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { presetError } from "./errors.ts";

/** The path of this module, or of the bundle. `import.meta` is empty in bundles in CommonJS format. */
const modulePath = (import.meta.url as string | undefined) === undefined ? __filename : fileURLToPath(import.meta.url);

/** The paths from which packages are looked up. webpack replaces `import.meta.url` by a path of the machine that built
 *  the bundle, so the path of the program follows. */
const requires = [modulePath, resolve(process.argv[1] ?? "index.js")].map((path) => nodeModule.createRequire(path));

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND";

const tryEach = <Result>(use: (load: NodeJS.Require) => Result): Result => {
  const [first, second] = requires as [NodeJS.Require, NodeJS.Require];
  try {
    return use(first);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return use(second);
  }
};

const MISSING_CODES: ReadonlySet<unknown> = new Set(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"]);

/** Returns an error with the command that installs the package if `error` says that the package is missing. Any other
 *  error is returned unchanged, such as that of a package which lacks one of its own dependencies. @rule C-PKG-3a */
const explainMissingPackage = (error: unknown, plugin: string, spec: string): unknown => {
  const name = spec.split(/(?<=.)@/)[0] ?? spec;
  const { code, message = "" } = (error ?? {}) as { readonly code?: unknown; readonly message?: string };
  return MISSING_CODES.has(code) && message.includes(`'${name}`)
    ? presetError(`the plugin ${plugin} needs the package ${name}, which is not installed: npm install ${spec}`)
    : error;
};

/** Loads an optional package that bundles do not contain. @throws RelApiError `preset` with the command that installs
 *  the package for the plugin */
export const requirePackage = (name: string, plugin: string): unknown => {
  try {
    return tryEach((load) => load(name));
  } catch (error) {
    throw explainMissingPackage(error, plugin, name);
  }
};

/** Returns the path of a package that bundles do not contain. @throws Error with the code `MODULE_NOT_FOUND` */
export const resolvePackage = (name: string): string => tryEach((load) => load.resolve(name));

/** Imports an optional package, or a file of it. Bundlers do not see the path, so the package need not be installed
 *  where they run. `spec` is the name with or without a version: `graphile-worker@0.16`. @throws RelApiError `preset`
 *  with the command that installs the package for the plugin */
export const importPackage = async (path: string, plugin: string, spec: string = path): Promise<unknown> => {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ path)) as unknown;
  } catch (error) {
    throw explainMissingPackage(error, plugin, spec);
  }
};

/** Returns the folder with the `package.json` of this package. A bundle has no such folder, unless the package is
 *  installed beside it. */
const findPackageFolder = (): string | undefined => {
  const packageRoot = /^(.*?)[\\/](?:dist[\\/])?core[\\/]kernel[\\/]package-files\.[jt]s$/.exec(modulePath)?.[1];
  if (packageRoot !== undefined && existsSync(join(packageRoot, "package.json"))) return packageRoot;
  try {
    return dirname(resolvePackage("relapi/package.json"));
  } catch {
    return undefined;
  }
};

/** The folder with the `package.json` of this package. Undefined in a bundle without the package beside it. */
const packageFolder = findPackageFolder();

/** Returns the path of a file or folder of this package, such as `dist/chunks`. Undefined if it does not exist. */
export const findPackageFile = (path: string): string | undefined => {
  if (packageFolder === undefined) return undefined;
  const filePath = join(packageFolder, path);
  return existsSync(filePath) ? filePath : undefined;
};

/** Returns the reason why a file of this package is missing: a bundle does not contain the files. Outside a bundle, the
 *  reason is `otherwise`. */
export const explainMissingFile = (otherwise: string): string =>
  packageFolder === undefined
    ? "its files are not in the bundle of the application; install relapi beside the bundle (docs/guides/bundle-your-app.md)"
    : otherwise;
