/**
 * Invalid input: each row gets an error in the surface's format, and the server keeps working. Internal errors are not
 * accepted.
 */
import { connect } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { forGraphql, startApi, type Answer, type HeaderValues, type TestApi } from "../support/api.ts";
import { initSocket, subscribe } from "../support/live.ts";
import { adminSecret, bearer } from "../support/tokens.ts";
import { collectErrors } from "../support/logger.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;

const { logger, lines: internalErrors } = collectErrors();

const rest = await startApi({ logger, maxBodyBytes: MAX_BODY_BYTES });
const graphql = await startApi(forGraphql({ logger, maxBodyBytes: MAX_BODY_BYTES }));

/** Nests brackets: `nest(3, "[", "]")` is `[[[]]]`. */
const nest = (levels: number, open: string, close: string, core = ""): string =>
  open.repeat(levels) + core + close.repeat(levels);
const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

afterAll(async () => {
  expect((await rest.get("/ports?select=id&order=id")).json()).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await graphql.gql("{ artist(where: {id: {_eq: 1}}) { name } }")).toEqual({
    data: { artist: [{ name: "Abba" }] },
  });
  expect(internalErrors).toEqual([]);
});

/** The request, status and code, then the request options. */
type RestRow = readonly [
  title: string,
  request: string,
  status: number,
  code: string,
  parts?: { readonly headers?: HeaderValues; readonly body?: unknown },
];

const isRestError = (answer: Answer, code: string): void => {
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(answer.json()).toEqual({
    code,
    details: answer.json().details,
    hint: answer.json().hint,
    message: expect.stringMatching(/./),
  });
};

const restRows = (rows: readonly RestRow[]): void => {
  for (const [title, request, status, code, parts] of rows)
    test(title, async () => {
      const [method = "", path = ""] = request.split(/ (.*)/s);
      const answer = await rest.request(method, path, {
        ...parts,
        headers: { prefer: "tx=rollback", ...parts?.headers },
      });
      expect(answer.status, answer.text.slice(0, 500)).toBe(status);
      isRestError(answer, code);
    });
};

const json = (body: string | Buffer, extraHeaders: HeaderValues = {}) => ({
  headers: { "content-type": "application/json", ...extraHeaders },
  body,
});

describe("REST", () => {
  restRows([
    ["R-PATH-5 a path of a percent sign is not found", "GET /%", 404, "PGRST205"],
    ["R-PATH-5 a path with bytes that are not UTF-8 is not found", "GET /%ff%C3%28", 404, "PGRST205"],
    ["R-PATH-5 a path with a zero byte is not found", "GET /ports%00", 404, "PGRST205"],
    ["R-PATH-5 a path with an escaped slash is not found", "GET /ports%2F1", 404, "PGRST205"],
    ["R-PATH-6 a path that leads upwards is not found", "GET /../ports", 404, "PGRST125"],
    ["R-PATH-6 a path with two slashes is not found", "GET //ports", 404, "PGRST125"],
    ["R-PATH-6 a path of two thousand segments is not found", `GET /${"x/".repeat(2000)}`, 404, "PGRST125"],
    ["R-PATH-10 a relation name of five thousand characters is not found", `GET /${"x".repeat(5000)}`, 404, "PGRST205"],
    [
      "R-PATH-10 a relation named like a member of JavaScript objects is not found",
      "GET /constructor",
      404,
      "PGRST205",
    ],
    [
      "R-RPC-9 a function named like a member of JavaScript objects is not found",
      "GET /rpc/__proto__",
      404,
      "PGRST202",
    ],
    ["R-PATH-7 a method of another protocol is rejected", "PROPFIND /ports", 405, "PGRST117"],
    ["R-PATH-7 TRACE on a function is rejected", "TRACE /rpc/fleet_weight", 405, "PGRST101"],
    ["R-LEX-10 a parameter without a name is rejected", "GET /ports?=1", 400, "PGRST100"],
    ["R-LEX-10 an invalid escape in place of an operator is rejected", "GET /ports?id=%", 400, "PGRST100"],
    ["R-LEX-10 a zero byte in order is rejected", "GET /ports?order=%00", 400, "PGRST100"],
    [
      "R-LEX-10 embeds that are not closed are rejected",
      `GET /ports?select=${nest(20, "vessels(", "")}`,
      400,
      "PGRST100",
    ],
    ["R-LEX-10 logic trees that are not closed are rejected", `GET /ports?or=${nest(90, "(and", "")}`, 400, "PGRST100"],
    [
      "R-LIM-1 three hundred nested embeds are rejected",
      `GET /ports?select=${nest(300, "ports(", ")", "*")}`,
      400,
      "PGRST100",
    ],
    ["R-ERR-3 a zero byte in a value is rejected", "GET /ports?name=eq.a%00b", 400, "22021"],
    ["R-ERR-3 a value of another type is rejected", "GET /ports?id=eq.abc", 400, "22P02"],
    ["R-ERR-3 a number that is too large is rejected", "GET /ports?id=eq.99999999999999999999", 400, "22003"],
    ["R-ERR-3 full-width digits are rejected", "GET /ports?id=eq.１２", 400, "22P02"],
    ["R-ERR-3 a limit beyond 64 bits is rejected", "GET /ports?limit=99999999999999999999", 400, "22003"],
    ["R-RNG-2 a negative limit is rejected", "GET /ports?limit=-1", 416, "PGRST103"],
    ["R-RNG-4 a reversed range is rejected", "GET /ports", 416, "PGRST103", { headers: { range: "10-5" } }],
    ["R-ERR-3 an invalid pattern is rejected", "GET /ports?name=match.(", 400, "2201B"],
    [
      "R-ERR-3 a pattern of three thousand parentheses is rejected",
      `GET /ports?name=match.${"(".repeat(3000)}`,
      400,
      "2201B",
    ],
    [
      "R-ERR-3 a column named like a member of JavaScript objects is rejected",
      "GET /ports?select=constructor",
      400,
      "42703",
    ],
    [
      "R-ERR-3 a filter named like a member of JavaScript objects is rejected",
      "GET /ports?__proto__=eq.1",
      400,
      "42703",
    ],
    ["R-ERR-3 a JSON document that is not closed is rejected", "GET /vessels?specs=cs.{", 400, "22P02"],
    [
      "R-ERR-3 the escape of a zero byte in a JSON document is rejected",
      `GET /vessels?specs=cs.${encodeURIComponent('{"a":"\\u0000"}')}`,
      400,
      "22P05",
    ],
    [
      "R-PROF-2 a schema that is not exposed is rejected",
      "GET /ports",
      406,
      "PGRST106",
      { headers: { "accept-profile": 'x"; drop schema sea; --' } },
    ],
    ["R-MED-1 an invalid media type is rejected", "GET /ports", 406, "PGRST107", { headers: { accept: "nope" } }],
    [
      "R-MED-1 two thousand unknown media types are rejected",
      "GET /ports",
      406,
      "PGRST107",
      { headers: { accept: "a/b,".repeat(2000) } },
    ],
    [
      "R-PRF-2 unknown preferences are rejected under strict handling",
      "GET /ports",
      400,
      "PGRST122",
      { headers: { prefer: "handling=strict, 😀=1".replace("😀", "\u00ff") } },
    ],
    [
      "R-ERR-3 an invalid time zone is rejected",
      "GET /ports",
      400,
      "22023",
      { headers: { prefer: "timezone='; drop" } },
    ],
    [
      "R-AUT-3 a token of one part is rejected",
      "GET /ports",
      401,
      "PGRST301",
      { headers: { authorization: `Bearer ${"a".repeat(6000)}` } },
    ],
    [
      "R-AUT-3 a token of characters outside of base64url is rejected",
      "GET /ports",
      401,
      "PGRST301",
      { headers: { authorization: "Bearer \u00ff.\u00ff.\u00ff" } },
    ],
    [
      "R-AUT-8 an invalid role is rejected",
      "GET /ports",
      401,
      "22023",
      { headers: { "x-session-admin-secret": adminSecret, "x-session-role": 'x"; drop role sea_anon; --' } },
    ],
    ["R-BODY-2 an empty body is rejected", "POST /ports", 400, "PGRST102", json("")],
    ["R-BODY-2 an incomplete body is rejected", "PATCH /ports?id=eq.1", 400, "PGRST102", json('{"name":')],
    ["R-BODY-2 two bodies in one are rejected", "POST /ports", 400, "PGRST102", json('{"name":"a"}{"name":"b"}')],
    [
      "R-BODY-2 a body with bytes that are not UTF-8 is rejected",
      "POST /ports",
      400,
      "PGRST102",
      json(latin1('{"name":"\xff"}')),
    ],
    [
      "R-BODY-2 a body in UTF-16 is rejected",
      "POST /ports",
      400,
      "PGRST102",
      json(Buffer.from('{"name":"a"}', "utf16le")),
    ],
    ["R-BODY-2 an invalid number is rejected", "POST /ports", 400, "PGRST102", json('{"name":NaN}')],
    ["R-BODY-2 a list with a null is rejected", "POST /ports", 400, "PGRST102", json("[null]")],
    [
      "R-LIM-2 a hundred thousand nested lists are rejected",
      "POST /ports",
      400,
      "PGRST102",
      json(nest(100_000, "[", "]")),
    ],
    ["R-BODY-5 an empty key is rejected", "POST /ports", 400, "PGRST204", json('{"":1}')],
    ["R-BODY-5 the key __proto__ is rejected", "POST /ports", 400, "PGRST204", json('{"__proto__":{"name":"a"}}')],
    [
      "R-LIM-3 five thousand keys are rejected",
      "POST /ports",
      400,
      "PGRST102",
      json(JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 1])))),
    ],
    [
      "R-ERR-3 the escape of a zero byte in a text is rejected",
      "POST /ports",
      400,
      "22P05",
      json('{"name":"a\\u0000"}'),
    ],
    ["R-ERR-3 half of a surrogate pair is rejected", "POST /ports", 400, "22P02", json('{"name":"\\ud800"}')],
    ["R-ERR-3 an object for a number is rejected", "POST /ports", 400, "22P02", json('{"id":{},"name":"a"}')],
    [
      "R-ERR-3 a number that is not an integer is rejected",
      "POST /ports",
      400,
      "22P02",
      json('{"id":1e400,"name":"a"}'),
    ],
    [
      "R-BODY-8 CSV with an open quote is rejected",
      "POST /ports",
      400,
      "PGRST102",
      { headers: { "content-type": "text/csv" }, body: 'name\n"a' },
    ],
    [
      "R-BODY-8 CSV that is not UTF-8 is rejected",
      "POST /ports",
      400,
      "PGRST102",
      { headers: { "content-type": "text/csv" }, body: latin1("name\n\xff\n") },
    ],
    [
      "R-BODY-1 a body of an unknown type is rejected",
      "POST /ports",
      400,
      "PGRST102",
      { headers: { "content-type": "multipart/form-data; boundary=x" }, body: "--x--" },
    ],
    ["R-BODY-4 R-BODY-4a a scalar body with columns is rejected", "POST /ports?columns=name", 400, "22023", json("3")],
    [
      "R-RPC-9 an empty list of arguments does not match the function",
      "POST /rpc/fleet_weight",
      404,
      "PGRST202",
      json("[]"),
    ],
    ["R-PUT-1 PUT without its key is rejected", "PUT /ports?name=eq.x", 405, "PGRST105", json('{"id":1,"name":"x"}')],
    [
      "R-PUT-3 PUT with another key in the body is rejected",
      "PUT /ports?id=eq.1",
      400,
      "PGRST115",
      json('{"id":2,"name":"x"}'),
    ],
    [
      "R-BODY-1 a body beyond the limit is rejected",
      "POST /ports",
      413,
      "PGRST102",
      json(Buffer.alloc(MAX_BODY_BYTES + 1, " ")),
    ],
  ]);

  test("R-URL-4 the headers of a response to a long list of values stay short", async () => {
    const path = `/ports?select=id&id=in.(${Array.from({ length: 2800 }, (_, i) => i).join()})&order=id`;
    const answer = await rest.get(path);
    expect(answer.json()).toEqual([{ id: 1 }, { id: 2 }]);
    expect(answer.headers["content-location"]).toBeUndefined();
    expect((await rest.get("/ports?id=in.(1,2)")).headers["content-location"]).toBe("/ports?id=in.%281%2C2%29");
  });
});

const isGraphqlError = (
  answer: Answer,
  code: string,
  message: unknown = expect.stringMatching(/./),
  path: unknown = expect.stringMatching(/^\$/),
): void => {
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  const body = answer.json();
  expect(body, answer.text.slice(0, 500)).toEqual({ errors: [{ message, extensions: { path, code } }] });
};

const post = (api: TestApi, body: unknown, headers: HeaderValues = {}) =>
  api.post("/v1/graphql", { headers: { "content-type": "application/json", ...headers }, body });

describe("bodies for GraphQL", () => {
  const rows: readonly (readonly [
    title: string,
    body: string | Buffer,
    code: string,
    message?: unknown,
    headers?: HeaderValues,
  ])[] = [
    ["G-HTTP-7 an empty body is rejected", "", "invalid-json"],
    ["G-HTTP-7 a single brace is rejected", "{", "invalid-json"],
    ["G-HTTP-7 a trailing comma is rejected", '{"query":"{__typename}",}', "invalid-json"],
    [
      "G-HTTP-7 a form is rejected",
      "query={__typename}",
      "invalid-json",
      undefined,
      { "content-type": "application/x-www-form-urlencoded" },
    ],
    [
      "G-HTTP-7 a document without JSON is rejected",
      "{__typename}",
      "invalid-json",
      undefined,
      { "content-type": "application/graphql" },
    ],
    ["G-HTTP-7 a body in UTF-16 is rejected", Buffer.from('{"query":"{__typename}"}', "utf16le"), "invalid-json"],
    [
      "G-HTTP-7 a body with bytes that are not UTF-8 is rejected",
      latin1('{"query":"{ artist(where: {name: {_eq: \\"\xe9\\"}}) { name } }"}'),
      "invalid-json",
      "Error in $: the body is not UTF-8",
    ],
    ["G-HTTP-7 a zero byte is rejected", '{"query":"{__typename}\0"}', "invalid-json"],
    ["G-HTTP-8 G-HTTP-8a a body of null is rejected", "null", "parse-failed"],
    ["G-HTTP-8 G-HTTP-8a a body of a number is rejected", "1", "parse-failed"],
    ["G-LIM-2 a hundred thousand nested lists are rejected", nest(100_000, "[", "]"), "validation-failed"],
    ["G-HTTP-8 an empty object is rejected", "{}", "parse-failed"],
    ["G-HTTP-8 a query that is null is rejected", '{"query":null}', "parse-failed"],
    ["G-HTTP-8 a batch of texts is rejected", '["{__typename}"]', "parse-failed"],
    ["G-HTTP-8 a query inside __proto__ is rejected", '{"__proto__":{"query":"{__typename}"}}', "parse-failed"],
    ["G-VAR-10 variables in a text are rejected", '{"query":"{__typename}","variables":"{}"}', "parse-failed"],
    ["G-VAR-10 variables in a list are rejected", '{"query":"{__typename}","variables":[]}', "parse-failed"],
    [
      "G-DOC-3 an invalid operation name is rejected",
      '{"query":"query a {__typename}","operationName":"😀"}',
      "parse-failed",
    ],
    [
      "G-DOC-2 an operation name like a member of JavaScript objects is rejected",
      '{"query":"query a {__typename}","operationName":"constructor"}',
      "validation-failed",
    ],
    [
      "G-VAR-3 variables inside __proto__ are rejected",
      '{"query":"query ($a: Int) { artist(limit: $a) { name } }","variables":{"__proto__":{"a":1}}}',
      "validation-failed",
    ],
    [
      "G-VAR-4 a variable named like a member of JavaScript objects needs a value",
      '{"query":"query ($toString: Int!) { artist(limit: $toString) { name } }"}',
      "validation-failed",
    ],
    [
      "G-COE-5 ten thousand nested filters are rejected",
      `{"query":"query ($a: artist_bool_exp) { artist(where: $a) { name } }","variables":{"a":${nest(10_000, '{"_not":', "}", "{}")}}}`,
      "validation-failed",
      "the request is nested deeper than 500 levels",
    ],
    [
      "G-TYP-33 a JSON document of a hundred thousand levels is rejected in a filter",
      `{"query":"query ($a: jsonb) { profile(where: {doc: {_contains: $a}}) { id } }","variables":{"a":${nest(100_000, "[", "]")}}}`,
      "validation-failed",
      "the request is nested deeper than 500 levels",
    ],
    [
      "G-TYP-33 a JSON document of a hundred thousand levels is rejected in a write",
      `{"query":"mutation ($a: jsonb) { update_profile(where: {id: {_eq: -1}}, _set: {doc: $a}) { affected_rows } }","variables":{"a":${nest(100_000, '{"a":', "}", "1")}}}`,
      "validation-failed",
      "the request is nested deeper than 500 levels",
    ],
    [
      "G-HTTP-15 a body beyond the limit is rejected",
      Buffer.alloc(MAX_BODY_BYTES + 1, " "),
      "bad-request",
      `The request body is larger than ${MAX_BODY_BYTES} bytes`,
    ],
    [
      "G-AUTH-4 an invalid admin secret is rejected",
      '{"query":"{__typename}"}',
      "access-denied",
      undefined,
      { "x-session-admin-secret": "\u00ff" },
    ],
    [
      "G-AUTH-13 another auth scheme is rejected",
      '{"query":"{__typename}"}',
      "invalid-headers",
      undefined,
      { "x-session-admin-secret": null, authorization: "Basic eDp5" },
    ],
    [
      "G-AUTH-14 a token of characters outside of base64url is rejected",
      '{"query":"{__typename}"}',
      "invalid-jwt",
      undefined,
      { "x-session-admin-secret": null, authorization: "Bearer \u00ff.\u00ff.\u00ff" },
    ],
  ];
  for (const [title, body, code, message, headers] of rows)
    test(title, async () =>
      isGraphqlError(await post(graphql, body, { "x-session-admin-secret": adminSecret, ...headers }), code, message),
    );

  test("G-HTTP-15 a body beyond the limit has status 413 at every address, with and without Content-Length", async () => {
    const body = Buffer.alloc(MAX_BODY_BYTES + 1, " ");
    for (const path of ["/v1/graphql", "/v1alpha1/graphql", "/api/graphql"])
      expect((await graphql.post(path, { body })).status, path).toBe(413);
    const answer = await graphql.post("/v1/graphql", {
      headers: { "content-length": null, "transfer-encoding": "chunked" },
      body,
    });
    expect(answer.status).toBe(413);
    isGraphqlError(answer, "bad-request");
  });
});

describe("documents for GraphQL", () => {
  const rows: readonly (readonly [
    title: string,
    query: string,
    code: string,
    path?: unknown,
    variables?: Readonly<Record<string, unknown>>,
  ])[] = [
    ["G-DOC-1 a document of a comment is rejected", "# nothing", "validation-failed", "$.query"],
    ["G-DOC-1 a document of a closing brace is rejected", "}", "validation-failed", "$.query"],
    [
      "G-DOC-1 a string that is not closed is rejected",
      '{ artist(where: {name: {_eq: "x}}) { name } }',
      "validation-failed",
      "$.query",
    ],
    [
      "G-DOC-1 an invalid escape is rejected",
      '{ artist(where: {name: {_eq: "\\x41"}}) { name } }',
      "validation-failed",
      "$.query",
    ],
    [
      "G-DOC-1 half of a surrogate pair is rejected",
      '{ artist(where: {name: {_eq: "\\ud800"}}) { name } }',
      "validation-failed",
      "$.query",
    ],
    ["G-DOC-1 an emoji as a name is rejected", "{ 😀 }", "validation-failed", "$.query"],
    ["G-DOC-1 a type definition is rejected", "type A { a: Int }", "validation-failed", "$.query"],
    [
      "G-DOC-1 a hundred thousand nested selections are rejected",
      nest(100_000, "{ a ", "}"),
      "validation-failed",
      "$.query",
    ],
    [
      "G-DOC-1 two thousand nested relationships are rejected",
      `{ artist ${nest(2000, "{ albums { artist ", "} }", "{ name }")} }`,
      "validation-failed",
      "$.query",
    ],
    [
      "G-DOC-1 twenty thousand nested lists are rejected",
      `{ artist(where: ${nest(20_000, "[", "]")}) { name } }`,
      "validation-failed",
      "$.query",
    ],
    ["G-DOC-8 a fragment within itself is rejected", "{ ...A } fragment A on query_root { ...A }", "validation-failed"],
    [
      "G-DOC-8 fragments that double sixteen times are rejected",
      `{ artist { ...F0 } } ${Array.from({ length: 17 }, (_, i) => `fragment F${i} on artist { ${i === 16 ? "name" : `a${i}: albums { artist { ...F${i + 1} } } b${i}: albums { artist { ...F${i + 1} } }`} }`).join(" ")}`,
      "validation-failed",
    ],
    [
      "G-DOC-4 a field named like a member of JavaScript objects is rejected",
      "{ artist { constructor } }",
      "validation-failed",
      "$.selectionSet.artist.selectionSet.constructor",
    ],
    [
      "G-DOC-4 a filter named like a member of JavaScript objects is rejected",
      "{ artist(where: {__proto__: {_eq: 1}}) { name } }",
      "validation-failed",
      "$.selectionSet.artist.args.where.__proto__",
    ],
    ["G-DOC-4 a name of a hundred thousand characters is rejected", `{ ${"a".repeat(100_000)} }`, "validation-failed"],
    [
      "G-DOC-12 a directive that is repeated a thousand times is rejected",
      `{ artist { name ${"@include(if: true) ".repeat(1000)} } }`,
      "validation-failed",
    ],
    [
      "G-PAG-1 a fractional limit is rejected",
      "{ artist(limit: 1.5) { name } }",
      "validation-failed",
      "$.selectionSet.artist.args.limit",
    ],
    [
      "G-COE-3 a limit beyond 64 bits is rejected",
      "{ artist(limit: 99999999999999999999) { name } }",
      "parse-failed",
      "$.selectionSet.artist.args.limit",
    ],
    ["G-PAG-2 a negative offset is rejected", "{ artist(offset: -1) { name } }", "data-exception", "$"],
    [
      "G-COE-9 a number beyond the range of floats is rejected",
      "{ artist(where: {id: {_eq: 1e400}}) { name } }",
      "parse-failed",
      "$.selectionSet.artist.args.where.id._eq",
    ],
    [
      "G-COE-9 a list for a number is rejected",
      "{ artist(where: {id: {_eq: [1, [2]]}}) { name } }",
      "parse-failed",
      "$.selectionSet.artist.args.where.id._eq",
    ],
    [
      "G-TYP-32 full-width digits are rejected",
      '{ artist(where: {id: {_eq: "１２"}}) { name } }',
      "data-exception",
      "$",
    ],
    [
      "G-TYP-32 an invalid date is rejected",
      '{ artist(where: {born: {_eq: "2024-13-01"}}) { name } }',
      "data-exception",
      "$",
    ],
    [
      "G-DBE-8 a zero byte in a value is rejected",
      '{ artist(where: {name: {_eq: "a\\u0000"}}) { name } }',
      "data-exception",
      "$",
    ],
    [
      "G-DBE-8 a zero byte in a JSON document is rejected",
      "query ($a: jsonb!) { profile(where: {doc: {_contains: $a}}) { id } }",
      "data-exception",
      "$",
      { a: { x: "\0" } },
    ],
    [
      "G-DBE-8 half of a surrogate pair in a JSON document is rejected",
      "query ($a: jsonb!) { profile(where: {doc: {_contains: $a}}) { id } }",
      "data-exception",
      "$",
      { a: ["\ud800"] },
    ],
    [
      "G-DBE-8 an invalid pattern is rejected",
      '{ artist(where: {name: {_regex: "("}}) { name } }',
      "data-exception",
      "$",
    ],
    [
      "G-DBE-8 a pattern that is too complex is rejected",
      `{ artist(where: {name: {_regex: "${"a?".repeat(3000)}"}}) { name } }`,
      "data-exception",
      "$",
    ],
    [
      "G-COE-5 a key that is not a valid name is rejected",
      "query ($w: artist_bool_exp) { artist(where: $w) { name } }",
      "validation-failed",
      "$.selectionSet.artist.args.where",
      { w: { "na me": 1 } },
    ],
    [
      "G-COE-11 an invalid JSON path is rejected",
      "query ($p: String) { artist { stats(path: $p) } }",
      "validation-failed",
      "$.selectionSet.artist.selectionSet.stats.args",
      { p: "a[-1]" },
    ],
    [
      "G-INS-1 a zero byte in a write is rejected",
      "mutation ($n: String!) { insert_artist_one(object: {name: $n}) { id } }",
      "data-exception",
      "$.selectionSet.insert_artist_one.args.object",
      { n: "\0" },
    ],
    [
      "G-UPD-1b an increment beyond the column's type is rejected",
      "mutation { update_artist(where: {id: {_eq: 1}}, _inc: {id: 2147483647}) { affected_rows } }",
      "data-exception",
      "$",
    ],
    ["G-HTTP-9 a subscription over HTTP is rejected", "subscription { artist { name } }", "unexpected-payload", "$"],
  ];
  for (const [title, query, code, path, variables] of rows)
    test(title, async () => {
      const answer = await post(
        graphql,
        { query, variables },
        { "x-session-admin-secret": adminSecret, "x-session-role": "music_editor" },
      );
      expect(answer.status).toBe(200);
      isGraphqlError(answer, code, undefined, path);
    });
});

describe("addresses and methods of GraphQL", () => {
  test("G-HTTP-12 each address of GraphQL rejects other methods", async () => {
    for (const path of ["/v1/graphql", "/api/graphql", "/v1alpha1/graphql", "/v1/graphql/ws"]) {
      for (const method of ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"]) {
        const answer = await graphql.request(method, path);
        expect([answer.status, answer.headers["allow"]], `${method} ${path}`).toEqual([
          405,
          path === "/v1/graphql/ws" ? "OPTIONS, GET" : "OPTIONS, GET, HEAD, POST",
        ]);
      }
      expect((await graphql.options(path)).status, path).toBe(200);
    }
    expect((await graphql.post("/v1/graphql/ws", { body: { query: "{ __typename }" } })).status).toBe(405);
    expect((await graphql.get("/v1/graphql/ws")).status).toBe(426);
  });

  for (const path of [
    "/v1/",
    "/v1/graphql/",
    "/v1/%67raphql",
    "/v1/graphql%2F",
    "/v1/%",
    "/v1/%ff",
    "/v1/../v1/graphql",
    "/v1/graphql;x",
    "/v1beta1/relay",
  ])
    test(`G-HTTP-12 the path ${path} is not found`, async () => {
      const answer = await post(graphql, { query: "{ __typename }" });
      expect(answer.json()).toEqual({ data: { __typename: "query_root" } });
      const otherAnswer = await graphql.post(path, { body: { query: "{ __typename }" } });
      expect([otherAnswer.status, otherAnswer.text]).toEqual([
        404,
        '{"path":"$","error":"resource does not exist","code":"not-found"}',
      ]);
    });
});

describe("NUL", () => {
  const NUL = "\u0000";
  const statements: string[] = [];
  const noting = { logQuery: true, logger: { ...logger, info: (message: string) => void statements.push(message) } };
  const byte = { code: "22021", message: 'invalid byte sequence for encoding "UTF8": 0x00', details: null, hint: null };
  const escape = {
    code: "22P05",
    message: "unsupported Unicode escape sequence",
    details: "\\u0000 cannot be converted to text.",
    hint: null,
  };

  test("R-ERR-7 a NUL in a filter, a path, an argument, a body or a claim is rejected before a statement runs", async () => {
    const api = await startApi(noting);
    const expectRejection = async (
      request: string,
      error: unknown,
      parts?: { headers?: HeaderValues; body?: unknown },
    ) => {
      statements.length = 0;
      const [method = "", path = ""] = request.split(/ (.*)/s);
      const answer = await api.request(method, path, parts);
      expect([answer.status, answer.json(), statements], request).toEqual([400, error, []]);
    };
    for (const path of [
      "/ports?name=eq.a%00b",
      "/ports?name=in.(a%00,b)",
      "/ports?name=match.a%00",
      "/ports?name=wfts.a%00",
      "/ports?or=(name.eq.a%00,id.eq.1)",
      "/ports?select=vessels(name)&vessels.name=eq.%00",
      "/ports?id=eq.1%00",
      "/vessels?flags=cs.{a%00}",
      "/vessels?specs->>a%00=eq.1",
      "/vessels?select=specs->a%00->b",
      "/vessels?order=specs->>a%00",
      "/rpc/json_key?data={}&key=a%00",
    ])
      await expectRejection(`GET ${path}`, byte);
    const json = encodeURIComponent('{"a":"\\u0000"}');
    for (const filter of [`eq.${json}`, `not.eq.${json}`, `cs.${json}`, `cd.${json}`, `isdistinct.${json}`])
      await expectRejection(`GET /vessels?specs=${filter}`, escape);
    await expectRejection(
      `GET /vessels?select=id,ports(id)&or=(specs.eq."${json.replaceAll("%22", "%5C%22").replaceAll("%5Cu", "%5C%5Cu")}",id.eq.1)`,
      escape,
    );
    const ports = (body: unknown, type = "application/json", path = "/ports") =>
      expectRejection(`POST ${path}`, escape, { headers: { "content-type": type }, body });
    await ports({ name: NUL });
    await ports([{ name: "a" }, { name: `a${NUL}` }]);
    await ports({ name: "a", [NUL]: 1 }, "application/json", "/ports?columns=name");
    await ports({ name: "a", specs: { [NUL]: 1 } }, "application/json", "/vessels");
    await ports({ data: {}, key: NUL }, "application/json", "/rpc/json_key");
    await ports('{"a":"\\u0000"}', "application/json", "/rpc/raw_jsonb");
    await ports(`name\n${NUL}\n`, "text/csv");
    await ports("name=%00", "application/x-www-form-urlencoded");
    await expectRejection("PATCH /ports?id=eq.1", escape, { body: { name: NUL } });
    await expectRejection("POST /rpc/raw_text", byte, { headers: { "content-type": "text/plain" }, body: `a${NUL}` });
    for (const claims of [{ role: `sea_anon${NUL}` }, { role: "sea_anon", a: [NUL] }, { role: "sea_anon", [NUL]: 1 }])
      await expectRejection("GET /ports", byte, { headers: bearer(claims) });
  });

  test("R-ERR-7 an escaped backslash before u0000, and binary data, are accepted", async () => {
    const headers = { prefer: "tx=rollback, return=representation" };
    const insertAnswer = await rest.post("/ports?select=name", { headers, body: { name: "\\u0000" } });
    expect([insertAnswer.status, insertAnswer.json()]).toEqual([201, [{ name: "\\u0000" }]]);
    const callAnswer = await rest.post("/rpc/raw_bytes", {
      headers: { "content-type": "application/octet-stream" },
      body: Buffer.from([0x61, 0]),
    });
    expect([callAnswer.status, callAnswer.text]).toEqual([200, "2"]);
  });

  test("R-ERR-7 a NUL in values and variables of GraphQL is rejected before a statement runs", async () => {
    const api = await startApi(forGraphql(noting));
    const expectRejection = async (query: string, variables: Record<string, unknown>, message: string, path = "$") => {
      statements.length = 0;
      const { errors } = await api.gql(query, variables);
      expect([errors, statements], query).toEqual([
        [{ message, extensions: expect.objectContaining({ path, code: "data-exception" }) }],
        [],
      ]);
    };
    const artists = "$.selectionSet.insert_artist.args.objects";
    await expectRejection('{ artist(where: { name: { _eq: "a\\u0000" } }) { id } }', {}, byte.message);
    await expectRejection(
      "query ($x: String) { artist(where: { name: { _like: $x } }) { id } }",
      { x: NUL },
      byte.message,
    );
    await expectRejection(
      "query ($x: [String!]) { artist(where: { name: { _in: $x } }) { id } }",
      { x: [NUL] },
      byte.message,
    );
    await expectRejection(
      "query ($x: artist_bool_exp) { artist(where: $x) { id } }",
      { x: { name: { _eq: NUL } } },
      byte.message,
    );
    await expectRejection('{ artist(where: { stats: { _has_key: "\\u0000" } }) { id } }', {}, byte.message);
    await expectRejection('{ search_albums(args: { term: "\\u0000" }) { id } }', {}, byte.message);
    await expectRejection(
      'mutation { update_artist(where: { id: { _eq: 1 } }, _set: { name: "\\u0000" }) { affected_rows } }',
      {},
      byte.message,
    );
    const inStats = "query ($x: jsonb) { artist(where: { stats: { _contains: $x } }) { id } }";
    await expectRejection(inStats, { x: { a: NUL } }, escape.message);
    await expectRejection(inStats, { x: { [NUL]: 1 } }, escape.message);
    await expectRejection(
      "mutation ($x: jsonb) { update_artist(where: { id: { _eq: 1 } }, _append: { stats: $x }) { affected_rows } }",
      { x: { a: NUL } },
      escape.message,
    );
    const insert = "mutation ($x: [artist_insert_input!]!) { insert_artist(objects: $x) { affected_rows } }";
    await expectRejection(insert, { x: [{ name: "a" }, { name: NUL }] }, escape.message, artists);
    await expectRejection(insert, { x: [{ name: "a", stats: { a: NUL } }] }, escape.message, artists);
  });

  test("R-ERR-7a half of a surrogate pair in a variable is rejected, and not replaced", async () => {
    const api = await startApi(forGraphql(noting));
    const message = 'invalid byte sequence for encoding "UTF8": 0xed 0xa0 0xbd';
    const half = "a\ud83d";
    for (const [query, variables] of [
      ["query ($x: String) { artist(where: { name: { _eq: $x } }) { id } }", { x: half }],
      ["query ($x: [String!]) { artist(where: { name: { _in: $x } }) { id } }", { x: ["b", half] }],
      [
        "mutation ($x: String) { update_artist(where: { id: { _eq: 1 } }, _set: { name: $x }) { affected_rows } }",
        { x: half },
      ],
    ] as const) {
      statements.length = 0;
      const { errors } = await api.gql(query, variables);
      expect([errors, statements], query).toEqual([
        [{ message, extensions: expect.objectContaining({ path: "$", code: "data-exception" }) }],
        [],
      ]);
    }
    const completePair = "a\ud83d\ude00";
    expect(
      await api.gql("query ($x: String) { artist(where: { name: { _eq: $x } }) { id } }", { x: completePair }),
    ).toEqual({
      data: { artist: [] },
    });
  });

  test("R-ERR-7a half of a surrogate pair ends only its own live query", async () => {
    const socket = await initSocket(graphql);
    const query = "subscription ($x: String) { artist(where: { name: { _eq: $x } }) { id } }";
    subscribe(socket, "good", query, { x: "Later" });
    expect(await socket.next()).toMatchObject({ id: "good", type: "next", payload: { data: { artist: [] } } });
    subscribe(socket, "bad", query, { x: "\udc00" });
    expect(await socket.next()).toMatchObject({
      id: "bad",
      type: "error",
      payload: [{ message: 'invalid byte sequence for encoding "UTF8": 0xed 0xb0 0x80' }],
    });
    await socket.close();
  });

  test("R-ERR-7 a NUL in a variable ends only its own live query", async () => {
    const socket = await initSocket(graphql);
    const query = "subscription ($x: String) { artist(where: { name: { _eq: $x } }) { id } }";
    subscribe(socket, "good", query, { x: "Later" });
    expect(await socket.next()).toMatchObject({ id: "good", type: "next", payload: { data: { artist: [] } } });
    subscribe(socket, "bad", query, { x: NUL });
    expect(await socket.next()).toMatchObject({
      id: "bad",
      type: "error",
      payload: [{ message: byte.message, extensions: { code: "data-exception" } }],
    });
    await graphql.sql("insert into artist (id, name) values (7001, 'Later')");
    expect(await socket.next()).toMatchObject({ id: "good", payload: { data: { artist: [{ id: 7001 }] } } });
    await graphql.sql("delete from artist where id = 7001");
    await socket.close();
  });
});

/** The response to bytes that no HTTP client sends, once the server has closed the connection. */
const answerTo = (bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(graphql.port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => void chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
    socket.write(latin1(bytes));
  });

describe("requests that are not valid HTTP", () => {
  const rows: readonly (readonly [title: string, bytes: string])[] = [
    ["a greeting of TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["a length that is none", "POST /v1/graphql HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n"],
    [
      "both kinds of length",
      "POST /v1/graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a chunk that is none", "POST /v1/graphql HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"],
    ["a blank in the path", "GET /ports?name=eq.a b HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["other bytes in the path", "GET /p\xf6rts HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a zero byte in a header", "GET /ports HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n"],
    ["a header line that goes on", "GET /ports HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"],
    [
      "a socket without its key",
      "GET /v1/graphql/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ],
  ];
  for (const [title, bytes] of rows)
    test(`R-BND-10a http: ${title} is rejected, and the connection ended`, async () =>
      expect(await answerTo(bytes)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/));

  test("R-BND-10a http: headers larger than Node accepts are rejected", async () => {
    expect(await answerTo(`GET /ports HTTP/1.1\r\nHost: x\r\nA: ${"b".repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
  });
});
