/** The rules that a caller's surface goes by. */
import type { Credentials } from "../../core/index.ts";
import { databaseRoleRules } from "./database-role-rules.ts";
import type { TokenRules } from "./token-rules.ts";

export const rulesOf = ({ rules }: Pick<Credentials, "rules">): TokenRules => rules ?? databaseRoleRules;
