/** `relapi types`. */
import type { EnvironmentSettings } from "../environment.ts";
import { databaseTypes, EXTENSION_FUNCTIONS } from "./database-types.ts";
import { withApi } from "./open-api.ts";

export const printTypes = (settings: EnvironmentSettings): Promise<string> =>
  withApi(settings, async ({ model, context }) => {
    const rows = await context.query<{ readonly oid: number }>(EXTENSION_FUNCTIONS);
    return databaseTypes(model, context.options.dbExtraSearchPath, new Set(rows.map(({ oid }) => oid)));
  });
