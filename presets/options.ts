/** Options of the presets. `option-docs.mjs` adds what each does when the package is built. */
import type { RelApiOptions } from "../core/index.ts";
// what their plugins add to `RelApiOptions`
export type { AuthOptions, JwtSecret } from "../plugins/auth/settings.ts";
export type { BusOptions } from "../plugins/bus/settings.ts";
export type { StoreOptions } from "../plugins/database-settings/settings.ts";
export type { GraphqlOptions } from "../plugins/graphql/settings.ts";
export type { TraceOptions } from "../plugins/http/settings.ts";
export type { LimitOptions } from "../plugins/limits/settings.ts";
export type { LivePatchOptions } from "../plugins/live-patches/settings.ts";
export type { MediaOptions } from "../plugins/media/settings.ts";
export type { MetadataOptions } from "../plugins/metadata/settings.ts";
export type { BatchOptions } from "../plugins/plus/rest-batch/settings.ts";
export type { SoftDeleteOptions } from "../plugins/plus/soft-delete/settings.ts";
export type { ChannelOptions } from "../plugins/reload/settings.ts";
export type { RestOptions } from "../plugins/rest/settings.ts";
export type { SharedOptions } from "../plugins/settings.ts";
export type { StreamOptions } from "../plugins/streamed-answers/settings.ts";
export type { LiveQueryOptions } from "../plugins/subscriptions/settings.ts";

/** Options of the presets: those of docs/reference/settings.md in camelCase. */
export interface PresetOptions extends RelApiOptions {}
