import { definePlugin, defineSetting, RelApiError, settingKinds, sql, type ValuesOf } from "../../core/index.ts";

const settings = [
  defineSetting({
    name: "maintenance",
    environment: ["MAINTENANCE"],
    kind: settingKinds.oneOf(["off", "writes", "all"]),
    default: "off",
    description: "which requests are rejected with 503: `off`, `writes`, `all`",
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof settings> {}
}

const FLAGS = sql`select maintenance from app.flags`;

/** `maintenance: "all"`: requests are rejected while work is done on the database. */
export const maintenance = definePlugin({
  name: "maintenance",
  settings,
  apply: (_hooks, context) => {
    context.addStep({
      name: "maintenance",
      beforeAuthorize: ({ method }) => {
        const { maintenance: rejected } = context.options;
        if (rejected === "off" || (rejected === "writes" && method === "GET")) return undefined;
        throw new RelApiError({ code: "maintenance", status: 503, message: "Back in a minute" });
      },
    });
    // The setting is changed in the database, and applies with the next reload of the schema.
    context.addOptionSource({
      name: "the flags of the application",
      read: async (query) => {
        const [row] = await query<{ maintenance: "off" | "writes" | "all" }>(FLAGS);
        return row === undefined ? {} : { maintenance: row.maintenance };
      },
    });
  },
});
