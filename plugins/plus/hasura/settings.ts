/** Settings of the administrator operations. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const runSqlSettings = [
  defineSetting({
    name: "runSql",
    environment: ["RUN_SQL"],
    kind: settingKinds.flag,
    default: false,
    description:
      "`/v2/query` runs SQL of administrators as the login role: the admin secret then gives full access to the database",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof runSqlSettings> {}
}
