/** Checks the role of callers without a credential. */
import { buildSuggestion, type Model } from "../../core/index.ts";

/** Returns the reason why statements cannot run as the anonymous role. Undefined if they can. @rule R-AUT-16 */
export const findAnonymousRoleProblem = (
  { roles, loginRole, loginRoles }: Model,
  anonRole: string | undefined,
): string | undefined => {
  if (anonRole === undefined || anonRole === "") return undefined;
  // metadata may define roles that are not database roles
  if ([...(loginRoles?.values() ?? [])].some((surfaceRoles) => surfaceRoles.has(anonRole))) return undefined;
  const role = roles.get(anonRole);
  if (role === undefined)
    return `ANON_ROLE is "${anonRole}", a role that does not exist${buildSuggestion(anonRole, roles.keys())}`;
  return role.isAssumable
    ? undefined
    : `ANON_ROLE is "${anonRole}", which the login role "${loginRole}" may not become; run: GRANT "${anonRole}" TO "${loginRole}"`;
};
