/** Requests to copy into a terminal. Names are encoded for URLs or are GraphQL's own, so nothing ends the quotes. */
import type { RestExample } from "../rest/api.ts";

/** The credential that requests need: a token of the caller, or the secret of the administrator. */
export type Secret = "token" | "admin-secret";

const HEADERS: Readonly<Record<Secret, string>> = {
  token: `-H "Authorization: Bearer $TOKEN"`,
  "admin-secret": `-H "X-Session-Admin-Secret: $ADMIN_SECRET"`,
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const command = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(" \\\n  ");

/** The request for the example; without one, for the description of the schema. */
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
