/** Options of the presets. The build adds the description of each one with `.ci/write-declarations.mjs`. */
import type { RelApiOptions } from "../core/index.ts";
export type { JwtSecret } from "../plugins/auth/settings.ts";
// These type imports add the options of other plugins.
export type {} from "../plugins/cluster/settings.ts";
export type {} from "../plugins/database/settings.ts";
export type {} from "../plugins/graphql/settings.ts";
export type {} from "../plugins/limits/settings.ts";
export type {} from "../plugins/live/settings.ts";
export type {} from "../plugins/metadata/settings.ts";
export type {} from "../plugins/operations/settings.ts";
export type {} from "../plugins/plus/hasura/settings.ts";
export type {} from "../plugins/plus/mcp/settings.ts";
export type {} from "../plugins/plus/rest-batch/settings.ts";
export type {} from "../plugins/plus/soft-delete/settings.ts";
export type {} from "../plugins/plus/why/settings.ts";
export type {} from "../plugins/rest/settings.ts";
export type {} from "../plugins/services/auth-hook/settings.ts";
export type {} from "../plugins/services/remote-schemas/settings.ts";
export type {} from "../plugins/services/queue/settings.ts";
export type {} from "../plugins/services/webhook/settings.ts";
export type {} from "../plugins/shared/settings.ts";
export type {} from "../plugins/speed/settings.ts";

/** Options of the presets: the settings of docs/reference/settings.md in camelCase. */
export interface PresetOptions extends RelApiOptions {}
