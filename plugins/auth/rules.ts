/** The rules that surfaces go by. */
import type { Credentials } from "../../core/index.ts";
import { graphqlRules } from "./graphql-rules.ts";
import { restRules } from "./rest-rules.ts";
import type { TokenRules } from "./token-rules.ts";

const RULES: ReadonlyMap<string, TokenRules> = new Map([
  ["database-role", restRules],
  ["session-roles", graphqlRules],
]);

export const rulesOf = ({ rules }: Pick<Credentials, "rules">): TokenRules =>
  (rules === undefined ? undefined : RULES.get(rules)) ?? restRules;
