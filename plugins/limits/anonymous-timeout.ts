/** Limits the duration of statements of callers without a credential: `ANON_STATEMENT_TIMEOUT=10`. */
import { definePlugin, Stage, sql, bindValue, type CallerSettings } from "../../core/index.ts";
import { anonRole, compatMode } from "../shared/settings.ts";
import { anonymousTimeoutSettings } from "./settings.ts";
import { formatCount } from "../shared/plural.ts";

const DEFAULT_SECONDS = 10;
const QUERY_CANCELED = "57014";

/** Returns whether another session cancelled the statement with `pg_cancel_backend`, and not the timeout. */
const isCancelledByUser = (message: string): boolean => message.includes("user request");

const buildCallerSettings = (seconds: number): CallerSettings => ({
  settings: [["statement_timeout", `${seconds}s`]],
  explain: ({ code, message, facts }) =>
    code !== QUERY_CANCELED || isCancelledByUser(message) || facts["isRaised"] === true
      ? undefined
      : {
          hint: `The limit is the setting anonStatementTimeout: ${formatCount(seconds, "second")}.`,
          facts: { limit: "anonStatementTimeout", seconds },
        },
});

/** Compiles a query that tests whether `statement_timeout` is set for the server, the database, the login role, the
 *  connection, or the anonymous role. Settings of the anonymous role would take precedence over this limit anyway. */
const compileTimeoutTest = (role: string) => sql`
  select exists (
      select from pg_catalog.pg_settings where name = 'statement_timeout' and source <> 'default'
    ) or exists (
      select
      from pg_catalog.pg_db_role_setting as entry
      join pg_catalog.pg_roles as owner on owner.oid = entry.setrole,
        pg_catalog.unnest(entry.setconfig) as setting
      where owner.rolname = ${bindValue(role)} and pg_catalog.starts_with(setting, 'statement_timeout=')
    ) as "isSet"`;

/** Limits the duration of the statements of callers without a credential. @rule R-LIM-9 G-LIM-12 */
export const anonymousTimeout = definePlugin({
  name: "anonymous-timeout",
  settings: [...anonymousTimeoutSettings, anonRole, compatMode],
  stage: Stage.late,
  apply: (hooks) => {
    hooks.introspect.tapPromise("anonymous-timeout", async (model, { query, options }) => {
      const { anonRole: role = "" } = options;
      // Neither PostgREST nor Hasura has such a limit, so it is off in compatibility mode.
      const seconds = options.anonStatementTimeout ?? (options.compatMode ? 0 : DEFAULT_SECONDS);
      if (role === "" || seconds === 0) return model;
      const [timeout] = await query<{ isSet: boolean }>(compileTimeoutTest(role));
      return timeout?.isSet === true
        ? model
        : {
            ...model,
            callerSettings: new Map([...(model.callerSettings ?? []), [role, buildCallerSettings(seconds)]]),
          };
    });
  },
});
