export { answerClientError } from "./server/client-errors.ts";
export { fullCompat } from "./full-compat.ts";
export { gqlCompat } from "./gql-compat.ts";
export { knownOptions, knownPlugins } from "./known-plugins.ts";
export { minimal } from "./minimal.ts";
export { plus } from "./plus.ts";
export { restCompat } from "./rest-compat.ts";
// These are the types of calls to an api that these presets add.
export type { GraphqlCall, GraphqlResult } from "../plugins/graphql/api.ts";
export type { RestCall } from "../plugins/rest/api.ts";
export type { Upgrade } from "../plugins/live/api.ts";
export type * from "./options.ts";
