/** Builds requests to copy into a terminal. Names are URL-encoded or GraphQL names, so they cannot end the quotes. */
import type { RestExample } from "../../rest/api.ts";

/** The credential that requests need: the caller's token, or the admin secret. */
export type CredentialKind = "token" | "admin-secret";

const HEADERS: Readonly<Record<CredentialKind, string>> = {
  token: `-H "Authorization: Bearer $TOKEN"`,
  "admin-secret": `-H "X-Session-Admin-Secret: $ADMIN_SECRET"`,
};

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const joinArguments = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(" \\\n  ");

/** Returns the request for the example. Without an example, it requests the description of the schema. */
export const buildRestCommand = (
  at: string,
  example: RestExample | undefined,
  secret: CredentialKind | undefined,
): string =>
  joinArguments([
    `curl ${quoteForShell(`${at}${example?.path ?? "/"}`)}`,
    example?.profile === undefined ? undefined : `-H ${quoteForShell(`Accept-Profile: ${example.profile}`)}`,
    secret && HEADERS[secret],
  ]);

export const buildGraphqlCommand = (
  at: string,
  example: string | undefined,
  secret: CredentialKind | undefined,
): string =>
  joinArguments([
    `curl ${quoteForShell(at)}`,
    secret && HEADERS[secret],
    "-H 'Content-Type: application/json'",
    `-d ${quoteForShell(JSON.stringify({ query: (example ?? "{ __typename }").replace(/\s+/g, " ").replace(/^query /, "") }))}`,
  ]);
