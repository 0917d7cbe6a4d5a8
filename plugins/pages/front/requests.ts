/** Builds requests to copy, as commands for a terminal and as code of clients. Names are encoded for URLs, quoted for
 *  the shell, or written as strings of JavaScript, so that no name can end the quotes. */
import type { RestExample } from "../../rest/api.ts";

/** The credential that requests need: the caller's token, or the admin secret. */
export type CredentialKind = "token" | "admin-secret";

/** A request that the page shows, under the name of its client. */
export interface ExampleRequest {
  readonly client: string;
  readonly text: string;
}

const CURL_HEADERS: Readonly<Record<CredentialKind, string>> = {
  token: `-H "Authorization: Bearer $TOKEN"`,
  "admin-secret": `-H "X-Session-Admin-Secret: $ADMIN_SECRET"`,
};

const EXPLAIN_CLIENT = "relapi explain: the statement, its plan and the row policies, on the server";

/** The headers as a JavaScript object. */
const CLIENT_HEADERS: Readonly<Record<CredentialKind, string>> = {
  token: `{ Authorization: "Bearer <token>" }`,
  "admin-secret": `{ "X-Session-Admin-Secret": "<secret>" }`,
};

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const joinArguments = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(" \\\n  ");

/** Joins the members of a JavaScript object that is the second argument of a call. Returns an empty text without
 *  members. */
const joinMembers = (members: readonly (string | undefined)[]): string => {
  const definedMembers = members.filter((member) => member !== undefined);
  return definedMembers.length === 0 ? "" : `, { ${definedMembers.join(", ")} }`;
};

/** The prefix that supabase-js adds to its URL. */
const SUPABASE_PREFIX = "/rest/v1";

/** Returns the requests for the example. Without an example, curl requests the description of the schema. `origin` is
 *  the address of the server with the mount path, and `roots` are the paths of REST below it. */
export const buildRestRequests = (
  origin: string,
  roots: readonly string[],
  example: RestExample | undefined,
  credentialKind: CredentialKind | undefined,
): readonly ExampleRequest[] => {
  const surfaceUrl = `${origin}${roots[0] ?? ""}`;
  const profile = example?.profile;
  const curl = joinArguments([
    `curl ${quoteForShell(`${surfaceUrl}${example?.path ?? "/"}`)}`,
    profile === undefined ? undefined : `-H ${quoteForShell(`Accept-Profile: ${profile}`)}`,
    credentialKind && CURL_HEADERS[credentialKind],
  ]);
  const { relation = "<table>", select = "*" } = example ?? {};
  const call = `.from(${JSON.stringify(relation)}).select(${JSON.stringify(select)}).limit(3)`;
  const options = joinMembers([
    profile === undefined ? undefined : `schema: ${JSON.stringify(profile)}`,
    credentialKind && `headers: ${CLIENT_HEADERS[credentialKind]}`,
  ]);
  const postgrest = `import { PostgrestClient } from "@supabase/postgrest-js";

const api = new PostgrestClient(${JSON.stringify(surfaceUrl)}${options});
const { data, error } = await api${call};
console.log(error ?? data);`;
  const supabaseOptions = profile === undefined ? "" : `, { db: { schema: ${JSON.stringify(profile)} } }`;
  const supabaseRoot = roots.find((root) => root.endsWith(SUPABASE_PREFIX))?.slice(0, -SUPABASE_PREFIX.length);
  const supabase = `import { createClient } from "@supabase/supabase-js";

const supabase = createClient(${JSON.stringify(`${origin}${supabaseRoot ?? ""}`)}, "<token>"${supabaseOptions});
const { data, error } = await supabase${call};
console.log(error ?? data);`;
  const explain = joinArguments([
    `npx relapi explain ${quoteForShell(example?.path ?? "/<table>?limit=3")}`,
    profile === undefined ? undefined : `--header ${quoteForShell(`Accept-Profile: ${profile}`)}`,
  ]);
  return [
    { client: "curl", text: curl },
    { client: "postgrest-js", text: postgrest },
    ...(supabaseRoot === undefined ? [] : [{ client: "supabase-js", text: supabase }]),
    { client: EXPLAIN_CLIENT, text: explain },
  ];
};

const QUERY_WITHOUT_TABLES = "query {\n  __typename\n}";

/** Returns the requests for the example, which is a query of several lines. Without an example, the query names no
 *  table. */
export const buildGraphqlRequests = (
  surfaceUrl: string,
  example: string | undefined,
  credentialKind: CredentialKind | undefined,
): readonly ExampleRequest[] => {
  const query = example ?? QUERY_WITHOUT_TABLES;
  const shortQuery = query.replace(/\s+/g, " ").replace(/^query /, "");
  const curl = joinArguments([
    `curl ${quoteForShell(surfaceUrl)}`,
    credentialKind && CURL_HEADERS[credentialKind],
    "-H 'Content-Type: application/json'",
    `-d ${quoteForShell(JSON.stringify({ query: shortQuery }))}`,
  ]);
  const url = JSON.stringify(surfaceUrl);
  const headers = credentialKind && `headers: ${CLIENT_HEADERS[credentialKind]}`;
  const document = `const query = gql\`\n${query}\n\`;`;
  const apollo = `import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";

${document}
const link = new HttpLink({ uri: ${url}${headers === undefined ? "" : `, ${headers}`} });
const client = new ApolloClient({ link, cache: new InMemoryCache() });
const { data } = await client.query({ query });
console.log(data);`;
  const urql = `import { Client, cacheExchange, fetchExchange, gql } from "@urql/core";

${document}
const client = new Client({
  url: ${url},
  exchanges: [cacheExchange, fetchExchange],${headers === undefined ? "" : `\n  fetchOptions: { ${headers} },`}
});
const { data, error } = await client.query(query, {});
console.log(error ?? data);`;
  return [
    { client: "curl", text: curl },
    { client: "Apollo Client", text: apollo },
    { client: "urql", text: urql },
    {
      client: EXPLAIN_CLIENT,
      text: `npx relapi explain ${quoteForShell(shortQuery)}`,
    },
  ];
};
