/** No credential: `GET /vessels` runs as the anonymous role, where one is configured. */
import { definePlugin, Stage, type Session } from "../../core/index.ts";

/** @rule R-AUT-6 R-AUT-10 G-AUTH-7 */
export const anonymous = definePlugin({
  name: "anonymous",
  stage: Stage.late,
  apply: (hooks, { options }) => {
    const { anonRole } = options;
    if (anonRole === undefined || anonRole === "") return;
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
