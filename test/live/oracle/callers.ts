/** The subscribers' callers, and their credentials on each surface. */
import { asAdmin } from "../../support/api.ts";
import { bearer } from "../../support/tokens.ts";
import { GRANT_ROLES, METADATA_ROLES, USERS, type GrantRole, type MetadataRole } from "./world.ts";

export interface Caller {
  /** The role. Undefined for the administrator. */
  readonly role: GrantRole | MetadataRole | undefined;
  readonly user: string;
}

export const GRAPHQL_CALLERS: readonly Caller[] = [
  { role: undefined, user: "u1" },
  ...[...GRANT_ROLES, ...METADATA_ROLES].flatMap((role) => USERS.map((user) => ({ role, user }))),
];

export const REST_CALLERS: readonly Caller[] = GRANT_ROLES.flatMap((role) => USERS.map((user) => ({ role, user })));

export const graphqlHeaders = ({ role, user }: Caller): Record<string, string> =>
  Object.fromEntries(
    Object.entries(asAdmin(role, { "user-id": user })).flatMap(([name, header]) =>
      typeof header === "string" ? [[name, header]] : [],
    ),
  );

export const restHeaders = ({ role = "music_reader", user }: Caller): Record<string, string> =>
  bearer({ role, user_id: user });
