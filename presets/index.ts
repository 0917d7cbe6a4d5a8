export { fullCompat } from "./full-compat.ts";
export { gqlCompat } from "./gql-compat.ts";
export { knownOptions, knownPlugins } from "./known-plugins.ts";
export { minimal } from "./minimal.ts";
export { restCompat } from "./rest-compat.ts";
// the ways to call an api that these presets bring along
export type { GraphqlCall, GraphqlResult } from "../plugins/graphql/api.ts";
export type { RestCall } from "../plugins/rest/api.ts";
export type { TakeUpgrade, Upgrade } from "../plugins/upgrades/api.ts";
// the options that their plugins add to `RelApiOptions`
export type { AuthOptions, JwtSecret } from "../plugins/auth/settings.ts";
export type { StoreOptions } from "../plugins/database-settings/settings.ts";
export type { GraphqlOptions } from "../plugins/graphql/settings.ts";
export type { TraceOptions } from "../plugins/http/settings.ts";
export type { MediaOptions } from "../plugins/media/settings.ts";
export type { MetadataOptions } from "../plugins/metadata/settings.ts";
export type { ChannelOptions } from "../plugins/reload/settings.ts";
export type { RestOptions } from "../plugins/rest/settings.ts";
export type { SharedOptions } from "../plugins/settings.ts";
export type { LiveQueryOptions } from "../plugins/subscriptions/settings.ts";
