/** No credential: `GET /vessels` runs as the anonymous role, where one is configured. */
import { definePlugin, Stage, type PluginContext, type RelApiError, type Session } from "../../core/index.ts";
import { adminSecretRequired, nothingConfigured, tokenRequired } from "./errors.ts";
import { isAdminSecretSet } from "./session-header.ts";

/** @rule R-AUT-6 R-AUT-10 G-AUTH-5 G-AUTH-7 G-AUTH-8 G-AUTH-9 */
export const anonymous = definePlugin({
  name: "anonymous",
  stage: Stage.late,
  apply: (hooks, context) => {
    const { anonRole } = context.options;
    if (anonRole === undefined || anonRole === "") {
      hooks.authorize.tap("anonymous", ({ surface }) => {
        if (surface === "graphql") throw credentialMissing(context);
        return undefined; // the REST words are core's
      });
      return;
    }
    // one object for all callers, so that what is derived from it is derived once
    const session: Session = Object.freeze({
      role: anonRole,
      databaseRole: anonRole,
      isAdmin: false,
      isAnonymous: true,
      claims: Object.freeze({ role: anonRole }),
      variables: Object.freeze({ "x-session-role": anonRole }),
    });
    hooks.authorize.tap("anonymous", () => session);
  },
});

/** Which credential the GraphQL surface asks for. */
const credentialMissing = ({ options, registry }: PluginContext): RelApiError => {
  const areTokensRead = registry.has("jwt-tokens") && options.jwtSecret !== undefined && options.jwtSecret !== "";
  if (areTokensRead) return tokenRequired();
  return isAdminSecretSet(options) ? adminSecretRequired() : nothingConfigured();
};
