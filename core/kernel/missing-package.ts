/** The error of an optional package that a plugin needs and that is not installed. */
import { presetError } from "./errors.ts";

const CODES: ReadonlySet<unknown> = new Set(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"]);

/** Returns an error with the command that installs the package if `error` says that it is not installed. Any other
 *  error is returned unchanged, such as that of a package which lacks one of its own dependencies. `spec` is a name
 *  with or without a version: `graphile-worker@0.16`. @rule C-PKG-3a @experimental */
export const explainMissingPackage = (error: unknown, plugin: string, spec: string): unknown => {
  const name = spec.split(/(?<=.)@/)[0] ?? spec;
  const { code, message = "" } = (error ?? {}) as { readonly code?: unknown; readonly message?: string };
  const isMissing = CODES.has(code) && message.includes(`'${name}`);
  return isMissing
    ? presetError(`the plugin ${plugin} needs the package ${name}, which is not installed: npm install ${spec}`)
    : error;
};
