export { fullCompat } from "./full-compat.ts";
export { gqlCompat } from "./gql-compat.ts";
export { knownPlugins } from "./known-plugins.ts";
export { minimal } from "./minimal.ts";
export { restCompat } from "./rest-compat.ts";
