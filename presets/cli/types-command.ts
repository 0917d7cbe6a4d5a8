/** `relapi types`: prints the TypeScript types of the database. */
import type { EnvironmentSettings } from "../server/environment.ts";
import { databaseTypes, DIMENSIONS, EXTENSION_FUNCTIONS } from "./database-types.ts";
import { withApi } from "./open-api.ts";

export const printTypes = (settings: EnvironmentSettings): Promise<string> =>
  withApi(settings, async ({ model, context }) => {
    const functions = await context.query<{ readonly oid: number }>(EXTENSION_FUNCTIONS);
    const columns = await context.query<{ readonly oid: number; readonly name: string; readonly count: number }>(
      DIMENSIONS,
    );
    return databaseTypes(model, context.options.dbExtraSearchPath, {
      ofExtensions: new Set(functions.map(({ oid }) => oid)),
      dimensions: new Map(columns.map(({ oid, name, count }) => [`${oid}.${name}`, count])),
    });
  });
