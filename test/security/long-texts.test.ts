/**
 * Long strings that regular expressions could match in many ways: the time of a request grows at most linearly with its
 * text. `npm run lint` proves that each single expression is linear.
 */
import { describe, expect, test } from "vitest";
import { plus } from "../../presets/index.ts";
import { requireLinearTime } from "../support/growth.ts";
import { asAdmin } from "../support/api.ts";
import { startWithContext } from "../support/context.ts";
import { adminSecret } from "../support/tokens.ts";

const { context } = await startWithContext({
  preset: plus,
  maxParameters: 1_000_000,
  maxFilters: 1_000_000,
  adminSecret,
  restPrefixes: ["/"],
  compatMode: false,
});

/** Blanks, quotes, brackets, separators, digits and letters, which are repeated. */
const PIECES = [" ", '"', "(", "{", ",", ".", "/", "-", "->", "0", "1e", "a", "a ", " ,", "%25"];

type Headers = Readonly<Record<string, string>>;

interface TextRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Headers;
  readonly body?: string;
}

const encode = encodeURIComponent;
const inHeader = (
  name: string,
  request: TextRequest = { path: "/ports?select=id&limit=1" },
): ((text: string) => TextRequest) => {
  return (text) => ({ ...request, headers: { ...request.headers, [name]: text } });
};
const inBody = (path: string, type: string): ((text: string) => TextRequest) => {
  return (body) => ({ method: "POST", path, headers: { "content-type": type, prefer: "tx=rollback" }, body });
};

/** Each kind of text that a request contains. */
const PLACES: Readonly<Record<string, (text: string) => TextRequest>> = {
  "the path": (text) => ({ path: `/${encode(text)}` }),
  "the path, as it is": (text) => ({ path: `/${text.replace(/[?#]/g, "")}` }),
  "the query string": (text) => ({ path: `/ports?${text}` }),
  "the name of a parameter": (text) => ({ path: `/ports?${encode(text)}=eq.1` }),
  ...Object.fromEntries(
    [
      "select",
      "order",
      "id",
      "or",
      "vessels.not.and",
      "columns",
      "on_conflict",
      "limit",
      "offset",
      "having",
      "cursor",
    ].map((name) => [
      `the parameter ${name}`,
      (text: string): TextRequest => ({ path: `/ports?${name}=${encode(text)}` }),
    ]),
  ),
  "a value of a filter": (text) => ({ path: `/ports?name=eq.${encode(text)}` }),
  "a pattern": (text) => ({ path: `/ports?name=like.${encode(text)}` }),
  "a list": (text) => ({ path: `/ports?name=in.(${encode(text)})` }),
  "an argument of a function": (text) => ({ path: `/rpc/join_words?words=${encode(text)}` }),
  ...Object.fromEntries(
    [
      "accept",
      "accept-encoding",
      "accept-profile",
      "authorization",
      "cookie",
      "if-match",
      "if-none-match",
      "origin",
      "prefer",
      "range",
      "traceparent",
      "x-relapi-why",
      "x-request-id",
      "x-session-role",
      "x-session-admin-secret",
    ].map((name) => [`the header ${name}`, inHeader(name)]),
  ),
  "the header content-type": inHeader("content-type", { method: "POST", path: "/ports", body: "{}" }),
  "a media type's parameter": (text) => ({ path: "/ports", headers: { accept: `application/openapi+json;${text}` } }),
  "a bearer token": (text) => ({ path: "/ports", headers: { authorization: `Bearer ${text}` } }),
  JSON: inBody("/ports", "application/json"),
  "a string of JSON": (text) => inBody("/ports", "application/json")(JSON.stringify({ name: text })),
  CSV: inBody("/ports", "text/csv"),
  "a form": inBody("/ports", "application/x-www-form-urlencoded"),
  "a batch": inBody("/batch", "application/json"),
  "the Model Context Protocol": inBody("/mcp", "application/json"),
  "a document": (text) => graphql({ query: text }),
  "a comment of a document": (text) => graphql({ query: `# ${text}\n{ __typename }` }),
  "a string of a document": (text) =>
    graphql({ query: `{ ports(where: {name: {_eq: ${JSON.stringify(text)}}}) { id } }` }),
  "a variable": (text) =>
    graphql({ query: "query ($x: String!) { __type(name: $x) { name } }", variables: { x: text } }),
  "a number of variables": (text) => graphql({ query: "query ($x: Float) { __typename }", variables: { x: text } }),
  "SQL of an administrator": (text) => ({
    ...graphql({}),
    path: "/v2/query",
    body: JSON.stringify({ type: "run_sql", args: { sql: `select ${text}`, read_only: true } }),
  }),
};

const graphql = (body: unknown): TextRequest => ({
  method: "POST",
  path: "/v1/graphql",
  headers: { ...(asAdmin() as Headers), "content-type": "application/json" },
  body: JSON.stringify(body),
});

describe("R-LIM-10 the time for a text grows linearly with its length", () => {
  test.each(Object.entries(PLACES))("R-LIM-10 %s", async (_name, carry) => {
    const ask = async (length: number): Promise<void> => {
      const texts = PIECES.map((piece) => `${piece.repeat(length / piece.length)}!`);
      // This is an unterminated string with positions at which another could begin.
      for (const text of [...texts, `"${'\\"'.repeat(length / 2)}`]) {
        const { method = "GET", ...call } = carry(text);
        const status = await context.call({ method, ...call }).then(
          (answer) => answer.status,
          (error: { readonly status: number }) => error.status,
        );
        expect([status, text.slice(0, 10)]).not.toEqual([500, text.slice(0, 10)]);
      }
    };
    await requireLinearTime(ask, 25_000);
  });
});
