/** Lets requests without a credential run as the anonymous role, if one is configured: `GET /vessels`. */
import {
  buildSuggestion,
  definePlugin,
  Stage,
  type Model,
  type PluginContext,
  type Session,
} from "../../core/index.ts";
import { isAdminSecretSet } from "./admin-secret-settings.ts";
import { acceptedCredentialsService, type AcceptedCredentials } from "./api.ts";
import { adminSecretSettings } from "./settings.ts";
import { anonRole } from "../shared/settings.ts";

const readAcceptedCredentials = ({ options, registry }: PluginContext): AcceptedCredentials => ({
  acceptsTokens: registry.has("jwt-tokens") && options.jwtSecret !== undefined && options.jwtSecret !== "",
  acceptsAdminSecret: isAdminSecretSet(options),
});

/** Returns the reason why statements cannot run as the anonymous role. Undefined if they can. @rule R-AUT-16 */
const findAnonymousRoleProblem = (
  { roles, loginRole, loginRoles }: Model,
  anonRole: string | undefined,
): string | undefined => {
  if (anonRole === undefined || anonRole === "") return undefined;
  // Metadata may define roles that are not database roles.
  if ([...(loginRoles?.values() ?? [])].some((surfaceRoles) => surfaceRoles.has(anonRole))) return undefined;
  const role = roles.get(anonRole);
  if (role === undefined)
    return `ANON_ROLE is "${anonRole}", a role that does not exist${buildSuggestion(anonRole, roles.keys())}`;
  return role.isAssumable
    ? undefined
    : `ANON_ROLE is "${anonRole}", which the login role "${loginRole}" may not become; run: GRANT "${anonRole}" TO "${loginRole}"`;
};

/** Lets requests without a credential run as the anonymous role. @rule R-AUT-6 R-AUT-10 G-AUTH-5 G-AUTH-7 G-AUTH-8
 *  G-AUTH-9 R-AUT-16 */
export const anonymous = definePlugin({
  name: "anonymous",
  settings: [anonRole, ...adminSecretSettings],
  stage: Stage.late,
  apply: (hooks, context) => {
    context.offer(acceptedCredentialsService, { read: () => readAcceptedCredentials(context) });
    let loggedProblem: string | undefined;
    context.onModel((model) => {
      const problem = findAnonymousRoleProblem(model, context.options.anonRole);
      if (problem !== undefined && problem !== loggedProblem) context.logger.warn(problem);
      loggedProblem = problem;
    });
    let session: Session | undefined;
    hooks.authorize.tap("anonymous", (credentials) => {
      const { anonRole } = context.options;
      if (anonRole !== undefined && anonRole !== "") {
        if (session?.role !== anonRole) session = buildAnonymousSession(anonRole);
        return session;
      }
      const error = credentials.rules?.createMissingCredentialError?.(readAcceptedCredentials(context));
      if (error !== undefined) throw error;
      return undefined; // core then rejects the request
    });
  },
});

/** Builds the session. All anonymous callers share one object, so that values that depend on the session are computed
 *  once. */
const buildAnonymousSession = (role: string): Session =>
  Object.freeze({
    role,
    databaseRole: role,
    isAdmin: false,
    isAnonymous: true,
    claims: Object.freeze({ role }),
    variables: Object.freeze({ "x-session-role": role }),
  });
