/** Settings of the administrator operations. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const runSqlSettings = [
  defineSetting({
    name: "runSql",
    environment: ["RUN_SQL"],
    kind: settingKinds.flag,
    default: false,
    description:
      "`true`: administrators may run SQL as the login role at `/v2/query`, so the admin secret gives full access to the database",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof runSqlSettings> {}
}
