/** Names of session variables in requests to webhooks. */
import { VARIABLE_PREFIX } from "../../../core/index.ts";

/** Returns session variables by the names that Hasura gives them, such as `x-hasura-user-id`. */
export const renameSessionVariables = (variables: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name.startsWith(VARIABLE_PREFIX) ? `x-hasura-${name.slice(VARIABLE_PREFIX.length)}` : name,
      value,
    ]),
  );
