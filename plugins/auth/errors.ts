/** Errors of credentials. Surfaces with their own credential rules have other messages for tokens. */
import { limitExceeded, presetError, RelApiError } from "../../core/index.ts";

// --- settings -------------------------------------------------------------------------------------------------------

/** An error in the key configuration. It never contains the key itself. @rule R-AUT-3 G-AUTH-11 */
export const jwtSecretError = (problem: string): RelApiError => presetError(`jwtSecret (JWT_SECRET) ${problem}`);

/** An error in the location of the REST role. @rule R-AUT-7 */
export const roleClaimKeyError = (expression: string, problem: string): RelApiError =>
  presetError(
    `jwtRoleClaimKey (JWT_ROLE_CLAIM_KEY) ${JSON.stringify(expression)} ${problem}: use a JSON Path ($.a.b[0], $.roles[?(@ == 'x')]) or the older form (.a."b c"[0], .roles[?(@ == "x")])`,
  );

// --- the admin secret -----------------------------------------------------------------------------------------------

/** The admin secret is wrong. @rule G-AUTH-4 */
export const adminSecretRefused = (): RelApiError =>
  new RelApiError({ code: "admin-secret-refused", status: 401, message: "invalid x-session-admin-secret", path: "$" });

// --- tokens ---------------------------------------------------------------------------------------------------------

/** The claims exceed `maxJsonDepth`. @rule R-LIM-4 */
export const claimsTooDeep = (levels: number): RelApiError =>
  limitExceeded("maxJsonDepth", {
    code: "token-claims-refused",
    status: 401,
    message: `The JWT claims are nested deeper than ${levels} levels`,
    path: "$",
  });

/** A token was sent, but no key is configured. @rule R-AUT-2 */
export const jwtSecretMissing = (): RelApiError =>
  new RelApiError({ code: "jwt-secret-missing", status: 500, message: "Server lacks JWT secret" });

/** The signature is valid, but a claim is not. @rule R-AUT-4 R-AUT-5 */
export const tokenClaimsRefused = (message: string): RelApiError =>
  new RelApiError({ code: "token-claims-refused", status: 401, message });

/** The role header names a role that the token does not allow. @rule R-AUT-6 */
export const roleNotAllowed = (role: string): RelApiError =>
  new RelApiError({ code: "role-not-allowed", status: 403, message: `permission denied to set role "${role}"` });
