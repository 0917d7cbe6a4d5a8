/** The version of relapi. `.ci/write-declarations.mjs` copies it from `package.json` into `dist` during the build,
 *  because a bundle of an application has no such file. */
export const VERSION: string = "0.0.0";
