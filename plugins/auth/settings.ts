/** Settings of the auth schemes. */
import { defineSetting, settingKinds, type SettingKind, type ValuesOf } from "../../core/index.ts";

const { document, flag, text, textList, wholeNumber } = settingKinds;

/** The key configuration of tokens: a plain secret, a JWK or JWKS (object or text), or the object of the settings page.
 *  A list of these is accepted too. */
export type JwtSecret = string | Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];

const jwtSecretKind: SettingKind<JwtSecret> = document;

/** The admin secrets, which all auth schemes read. */
export const adminSecretSettings = [
  defineSetting({
    name: "adminSecret",
    environment: ["ADMIN_SECRET", "HASURA_GRAPHQL_ADMIN_SECRET"],
    kind: text,
    description: "the admin secret",
    whenUnset: "no caller is administrator",
    isSecret: true,
  }),
  defineSetting({
    name: "adminSecrets",
    environment: ["ADMIN_SECRETS", "HASURA_GRAPHQL_ADMIN_SECRETS"],
    kind: textList,
    description: "JSON list of admin secrets, any of which matches; for rotation",
    isSecret: true,
  }),
] as const;

/** Settings of the plugin `jwt-tokens`. */
export const tokenSettings = [
  defineSetting({
    name: "jwtSecret",
    environment: ["JWT_SECRET", "PGRST_JWT_SECRET", "HASURA_GRAPHQL_JWT_SECRET"],
    kind: jwtSecretKind,
    description:
      "a plain HS256 secret (32 bytes or more), a JWK, a JWKS, or an object `{type, key \\| jwk_url, claims_namespace, claims_format, claims_map, header, audience, issuer, allowed_skew}`",
    isSecret: true,
  }),
  defineSetting({
    name: "jwtSecretIsBase64",
    environment: ["JWT_SECRET_IS_BASE64", "PGRST_JWT_SECRET_IS_BASE64"],
    kind: flag,
    default: false,
    description: "`true`: the plain secret is in base64",
  }),
  defineSetting({
    name: "jwtAud",
    environment: ["JWT_AUD", "PGRST_JWT_AUD"],
    kind: text,
    description: "the audience that tokens must have (R-AUT-5)",
  }),
  defineSetting({
    name: "jwtRoleClaimKey",
    environment: ["JWT_ROLE_CLAIM_KEY", "PGRST_JWT_ROLE_CLAIM_KEY"],
    kind: text,
    default: ".role",
    description:
      "the path of the REST role in the claims if there is no `x-session-default-role`, in jq style (`.a.b[0]`) or as JSON Path (`$.a.b[0]`)",
  }),
  defineSetting({
    name: "jwtCacheMaxEntries",
    environment: ["JWT_CACHE_MAX_ENTRIES", "PGRST_JWT_CACHE_MAX_ENTRIES"],
    kind: wholeNumber(0, 10_000_000),
    default: 1000,
    description: "largest number of cached tokens; `0` turns the cache off",
    isFixed: true,
  }),
  defineSetting({
    name: "jwtRequireExp",
    environment: ["JWT_REQUIRE_EXP"],
    kind: flag,
    default: false,
    description: "`true`: a token without `exp` is rejected (R-AUT-4, G-AUTH-14)",
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof adminSecretSettings>, ValuesOf<typeof tokenSettings> {}
}
