/** The types of `import … from "relapi"`: those of core, with the members that the surfaces add to them (`api.rest`, the
 *  REST name of an operator). At run time that import loads core alone. */
export * from "../core/index.ts";
export type {
  ClaimsReading,
  ClaimValues,
  Grant,
  TokenFailure,
  TokenRules,
  VerifiedToken,
} from "../plugins/auth/api.ts";
export type { GraphqlCall, GraphqlResult } from "../plugins/graphql/api.ts";
export type { RestCall } from "../plugins/rest/api.ts";
