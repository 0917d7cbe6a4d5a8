/** Names of session variables in requests to webhooks. */
import { VARIABLE_PREFIX } from "../../../core/index.ts";

const HASURA_PREFIX = "x-hasura-";

/** Replaces the prefix of the names. */
const replacePrefix = (variables: Readonly<Record<string, string>>, from: string, to: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name.startsWith(from) ? `${to}${name.slice(from.length)}` : name,
      value,
    ]),
  );

/** Returns session variables by the names that Hasura gives them, such as `x-hasura-user-id`. */
export const renameSessionVariables = (variables: Readonly<Record<string, string>>): Record<string, string> =>
  replacePrefix(variables, VARIABLE_PREFIX, HASURA_PREFIX);

/** Returns session variables by the names that handlers know, such as `x-session-user-id`. */
export const restoreSessionVariables = (variables: Readonly<Record<string, string>>): Record<string, string> =>
  replacePrefix(variables, HASURA_PREFIX, VARIABLE_PREFIX);
