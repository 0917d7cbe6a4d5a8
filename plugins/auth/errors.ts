/** Errors of callers. REST words carry the codes its encoder knows; GraphQL words carry the code that its clients see.
 *  */
import { limitExceeded, presetError, RelApiError } from "../../core/index.ts";

// --- settings -------------------------------------------------------------------------------------------------------

/** An error in the key configuration; never contains the key itself. @rule R-AUT-3 G-AUTH-11 */
export const jwtSecretMistake = (what: string): RelApiError => presetError(`jwtSecret (JWT_SECRET) ${what}`);

/** @rule R-AUT-7 */
export const roleClaimKeyMistake = (expression: string, what: string): RelApiError =>
  presetError(
    `jwtRoleClaimKey (JWT_ROLE_CLAIM_KEY) ${JSON.stringify(expression)} ${what}: accepted are JSON Path ($.a.b[0], $.roles[?(@ == 'x')]) and the older form (.a."b c"[0], .roles[?(@ == "x")])`,
  );

// --- the admin secret -----------------------------------------------------------------------------------------------

/** @rule G-AUTH-4 */
export const adminSecretRefused = (): RelApiError =>
  new RelApiError({ code: "admin-secret-refused", status: 401, message: "invalid x-session-admin-secret", path: "$" });

/** @rule G-AUTH-20 */
export const backendFlagInvalid = (trueWords: readonly string[], falseWords: readonly string[]): RelApiError =>
  new RelApiError({
    code: "bad-request",
    status: 400,
    message: `x-session-use-backend-only-permissions:  Not a valid boolean text. True values are ${JSON.stringify(trueWords)} and  False values are ${JSON.stringify(falseWords)}. All values are case insensitive`,
    path: "$",
  });

// --- tokens ----------------------------------------------------------------------------------------------------------

/** @rule R-LIM-4 G-LIM-2 */
export const claimsTooDeep = (code: "token-claims-refused" | "invalid-jwt", message: string): RelApiError =>
  limitExceeded("maxJsonDepth", { code, status: code === "invalid-jwt" ? 400 : 401, message, path: "$" });

// --- REST -----------------------------------------------------------------------------------------------------------

/** @rule R-AUT-2 PGRST300 */
export const jwtSecretMissing = (): RelApiError =>
  new RelApiError({ code: "jwt-secret-missing", status: 500, message: "Server lacks JWT secret" });

/** The signature is valid, but a claim is not. @rule R-AUT-4 R-AUT-5 PGRST303 */
export const tokenClaimsRefused = (message: string): RelApiError =>
  new RelApiError({ code: "token-claims-refused", status: 401, message });

/** @rule R-AUT-6 */
export const roleNotAllowed = (role: string): RelApiError =>
  new RelApiError({ code: "role-not-allowed", status: 403, message: `permission denied to set role "${role}"` });

// --- GraphQL --------------------------------------------------------------------------------------------------------

const graphqlError = (code: string, message: string, status = 400): RelApiError =>
  new RelApiError({ code, status, message, path: "$" });

/** @rule G-AUTH-12 G-AUTH-14 */
export const couldNotVerify = (reason: string): RelApiError =>
  graphqlError("invalid-jwt", `Could not verify JWT: ${reason}`);

/** @rule G-AUTH-13 */
export const malformedAuthorization = (): RelApiError =>
  graphqlError("invalid-headers", "Malformed Authorization header");

/** @rule G-AUTH-13 */
export const multipleTokens = (): RelApiError =>
  graphqlError("invalid-headers", "Could not verify JWT: Multiple JWTs found");

/** @rule G-AUTH-16 G-AUTH-17 G-AUTH-18 */
export const invalidClaims = (message: string): RelApiError => graphqlError("jwt-invalid-claims", message);

/** @rule G-AUTH-17 G-AUTH-18 */
export const roleClaimMissing = (claim: string): RelApiError =>
  graphqlError("jwt-missing-role-claims", `JWT claim does not contain ${claim}`);

/** @rule G-AUTH-19 */
export const requestedRoleNotAllowed = (): RelApiError =>
  graphqlError("access-denied", "Your requested role is not in allowed roles");

/** @rule G-AUTH-5 */
export const adminSecretRequired = (): RelApiError =>
  graphqlError("access-denied", "x-session-admin-secret required, but not found", 401);

/** @rule G-AUTH-8 */
export const tokenRequired = (): RelApiError =>
  graphqlError("invalid-headers", "Missing 'Authorization' or 'Cookie' header in JWT authentication mode");

/** @rule G-AUTH-9 */
export const nothingConfigured = (): RelApiError =>
  graphqlError(
    "access-denied",
    "no authentication is configured; set an admin secret, a JWT secret or an anonymous role",
    401,
  );
