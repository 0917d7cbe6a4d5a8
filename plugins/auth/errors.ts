/** Errors of credentials. Surfaces with their own credential rules have other messages for tokens. */
import { limitExceeded, presetError, RelApiError } from "../../core/index.ts";

/** Returns the error for a mistake in the key configuration. The message never contains the key itself. @rule R-AUT-3
 *  G-AUTH-11 */
export const jwtSecretInvalid = (problem: string): RelApiError => presetError(`jwtSecret (JWT_SECRET) ${problem}`);

/** Returns the error for a mistake in the location of the REST role. @rule R-AUT-7 */
export const roleClaimKeyInvalid = (expression: string, problem: string): RelApiError =>
  presetError(
    `jwtRoleClaimKey (JWT_ROLE_CLAIM_KEY) ${JSON.stringify(expression)} ${problem}: use a JSON Path ($.a.b[0], $.roles[?(@ == 'x')]) or the older form (.a."b c"[0], .roles[?(@ == "x")])`,
  );

/** Returns the error for a wrong admin secret. @rule G-AUTH-4 */
export const adminSecretRejected = (): RelApiError =>
  new RelApiError({ code: "admin-secret-refused", status: 401, message: "invalid x-session-admin-secret", path: "$" });

/** Returns the error for claims that exceed `maxJsonDepth`. @rule R-LIM-4 */
export const tokenClaimsTooDeep = (levels: number): RelApiError =>
  limitExceeded("maxJsonDepth", {
    code: "token-claims-refused",
    status: 401,
    message: `The JWT claims are nested deeper than ${levels} levels`,
    path: "$",
  });

/** Returns the error for a token if no key is configured. @rule R-AUT-2 */
export const jwtSecretMissing = (): RelApiError =>
  new RelApiError({ code: "jwt-secret-missing", status: 500, message: "Server lacks JWT secret" });

/** Returns the error for an invalid claim of a token with a valid signature. @rule R-AUT-4 R-AUT-5 */
export const tokenClaimsRejected = (message: string): RelApiError =>
  new RelApiError({ code: "token-claims-refused", status: 401, message });

/** Returns the error for a role header with a role that the token does not allow. @rule R-AUT-6 */
export const roleNotAllowed = (role: string): RelApiError =>
  new RelApiError({ code: "role-not-allowed", status: 403, message: `permission denied to set role "${role}"` });
