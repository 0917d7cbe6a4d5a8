/** Builds requests to copy into a terminal. Names are URL-encoded or GraphQL names, so they cannot end the quotes. */
import type { RestExample } from "../../rest/api.ts";

/** The credential that requests need: the caller's token, or the admin secret. */
export type Secret = "token" | "admin-secret";

const HEADERS: Readonly<Record<Secret, string>> = {
  token: `-H "Authorization: Bearer $TOKEN"`,
  "admin-secret": `-H "X-Session-Admin-Secret: $ADMIN_SECRET"`,
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const command = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(" \\\n  ");

/** Returns the request for the example. Without an example, it requests the description of the schema. */
export const restRequest = (at: string, example: RestExample | undefined, secret: Secret | undefined): string =>
  command([
    `curl ${quoted(`${at}${example?.path ?? "/"}`)}`,
    example?.profile === undefined ? undefined : `-H ${quoted(`Accept-Profile: ${example.profile}`)}`,
    secret && HEADERS[secret],
  ]);

export const graphqlRequest = (at: string, example: string | undefined, secret: Secret | undefined): string =>
  command([
    `curl ${quoted(at)}`,
    secret && HEADERS[secret],
    "-H 'Content-Type: application/json'",
    `-d ${quoted(JSON.stringify({ query: (example ?? "{ __typename }").replace(/\s+/g, " ").replace(/^query /, "") }))}`,
  ]);
