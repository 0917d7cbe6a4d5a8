/** Makes session variables readable for SQL, in transactions that run user-defined code:
 *  `current_setting('session.user_id')`. */
import { definePlugin, VARIABLE_PREFIX, type Session } from "../../core/index.ts";

const SETTING_NAME = /^[a-z_][a-z0-9_]*$/; // for example `user_id`

const removePrefix = (name: string): string => name.slice(VARIABLE_PREFIX.length);

type DatabaseSetting = readonly [name: string, value: string];

const buildVariableSettings = ({ variables }: Session): readonly DatabaseSetting[] => [
  ["session.variables", JSON.stringify(variables)],
  ...Object.entries(variables).flatMap(([name, value]): readonly DatabaseSetting[] => {
    const short = removePrefix(name).replaceAll("-", "_");
    return SETTING_NAME.test(short) && short !== "variables" ? [[`session.${short}`, value]] : [];
  }),
];

/** Makes session variables readable for SQL. @rule G-SES-1 G-SES-2 */
export const sessionSettings = definePlugin({
  name: "session-settings",
  sessions: [{ name: "session-settings", settings: buildVariableSettings, isForUserCode: true }],
});

const HASURA_PREFIX = "x-hasura-";

/** Supports trigger functions and policies that are written for Hasura:
 *  `current_setting('hasura.user')::json ->> 'x-hasura-user-id'`. @rule G-SES-4 G-SES-5 */
export const hasuraSession = definePlugin({
  name: "hasura-session",
  sessions: [
    {
      name: "hasura-session",
      prefix: HASURA_PREFIX,
      isForUserCode: true,
      settings: ({ variables }) => {
        const renamedVariables = Object.entries(variables).map(([name, value]) => [
          HASURA_PREFIX + removePrefix(name),
          value,
        ]);
        return [["hasura.user", JSON.stringify(Object.fromEntries(renamedVariables))]];
      },
    },
  ],
});
