/** Requests beyond a limit are rejected at once, in the format of the surface. Requests at the limit succeed. */
import { request as send, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { definePlugin, type Counters, type Limit as AnyLimit, type Plugin } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi, type Answer, type HeaderValues, type TestApi } from "../support/api.ts";
import { watchExecutions } from "../support/context.ts";
import { openSocket } from "../support/socket.ts";
import { requireLinearTime } from "../support/growth.ts";
import { adminSecret, bearer, signToken } from "../support/tokens.ts";
import { collectErrors, collectLines, createLogger } from "../support/logger.ts";

const { logger: errorLogger, lines: internalErrors } = collectErrors();
const { logger: warningLogger, lines: warnings } = collectLines("warn");
const logger = createLogger({ error: errorLogger.error, warn: warningLogger.warn });

/** A limit of the preset fullCompat. */
type Limit = Exclude<AnyLimit, "maxBatchRequests">;

/** Small limits, so that a test can reach and exceed them. */
const smallLimits: Readonly<Record<Limit, number>> = {
  maxUrlBytes: 15_000,
  maxJsonDepth: 10,
  maxColumns: 4,
  maxParameters: 9,
  maxSelectFields: 5,
  maxEmbeds: 3,
  maxRelationDepth: 2,
  maxFilters: 8,
  maxLogicDepth: 3,
  maxOrderTerms: 3,
  maxPathKeys: 5,
  maxDocumentBytes: 2000,
  maxDocumentDepth: 8,
  maxDocumentFields: 12,
  maxAliases: 4,
  maxRootFields: 4,
  maxRelatedConditions: 3,
  maxIntrospectionDepth: 2,
  maxIntrospectionLists: 3,
  maxVariablesBytes: 4000,
  maxListItems: 20,
  maxInsertValues: 6,
  maxWriteStatements: 4,
  maxBatchEntries: 4,
  maxBatchBytes: 3000,
  maxSocketOperations: 5,
};

let counters: Counters;
const watch: Plugin = definePlugin({
  name: "watch-counters",
  apply: (_hooks, context) => void (counters = context.counters),
});

const rest = await startApi({ ...smallLimits, logger, parts: [watch] });
const restCounters = counters!; // the plugin was applied
const graphql = await startApi(forGraphql({ ...smallLimits, logger, parts: [watch] }));
const graphqlCounters = counters!;
/** An API with the default limits. */
const usual = await startApi({ logger });
/** Limits too high for any test. */
const far = 1_000_000;
const wide = await startApi({
  logger,
  maxUrlBytes: far,
  maxPathKeys: far,
  maxParameters: far,
  maxFilters: far,
  maxOrderTerms: far,
  maxLogicDepth: far,
  maxSelectFields: far,
});
const usualGraphql = await startApi(forGraphql({ logger }));

afterAll(() => expect(internalErrors).toEqual([]));

const nest = (levels: number, open: string, close: string, core = ""): string =>
  open.repeat(levels) + core + close.repeat(levels);
/** The nullable columns of `vessels`. */
const NULLABLE = ["tonnage", "home_port_id", "specs", "flags"];

const list = (count: number, item: (i: number) => string, separator = ","): string =>
  Array.from({ length: count }, (_, i) => item(i)).join(separator);

/**
 * Expects the time of a rejection to grow at most linearly with the request. @returns the response to the larger
 * request
 */
const askInLinearTime = async (ask: (n: number) => Promise<Answer>, n: number): Promise<Answer> => {
  const answer = await ask(n);
  await requireLinearTime(ask, n / 4);
  return answer;
};

const expectCounted = async (rejectionCounters: Counters, limit: Limit, run: () => Promise<void>): Promise<void> => {
  const before = rejectionCounters.get(`refused-${limit}`);
  await run();
  expect(rejectionCounters.get(`refused-${limit}`)).toBe(before + 1);
};

type RestRow = readonly [
  title: string,
  limit: Limit,
  request: (count: number) => readonly [method: string, path: string, body?: string, headers?: HeaderValues],
  message: string,
  code?: string,
  status?: number,
];

const json = { "content-type": "application/json" };

const keys = (count: number): string => "->a".repeat(count);

const restRows: readonly RestRow[] = [
  ...(
    [
      ["selected", (path: string) => `/vessels?select=${path}`],
      ["of a filter", (path: string) => `/vessels?${path}=is.null`],
      ["of a condition in a logic tree", (path: string) => `/vessels?or=(${path}.is.null,id.gt.0)`],
      ["of an order", (path: string) => `/vessels?order=${path}`],
      ["selected in an embed", (path: string) => `/vessels?select=ports(vessels(${path}))`],
      ["of a related order", (path: string) => `/voyages?select=vessels(specs)&order=vessels(${path})`],
    ] as const
  ).map(([title, query]): RestRow => [
    `R-LIM-1 the keys of a JSON path ${title} are limited`,
    "maxPathKeys",
    (n) => ["GET", query(`specs${keys(n)}`)],
    "The request has more than 5 keys in a JSON path",
  ]),
  [
    "R-LIM-1 the parameters of a URL are limited",
    "maxParameters",
    (n) => ["GET", `/ports?${list(n, (i) => (i < 2 ? `id=gt.${i}` : `select${i}`), "&")}`],
    "The request has more than 9 parameters",
  ],
  [
    "R-LIM-1 the arguments of a function are limited",
    "maxParameters",
    (n) => ["GET", `/rpc/join_words?${list(n, () => "words=a", "&")}`],
    "The request has more than 9 parameters",
  ],
  [
    "R-LIM-1 the terms of an order are limited",
    "maxOrderTerms",
    (n) => ["GET", `/ports?order=${list(n, () => "id")}`],
    "The request has more than 3 terms in an order",
  ],
  [
    "R-LIM-1 the terms of an embed's order are limited",
    "maxOrderTerms",
    (n) => ["GET", `/ports?select=vessels(id)&vessels.order=${list(n, () => "id.desc")}`],
    "The request has more than 3 terms in an order",
  ],
  [
    "R-LIM-1 the names in columns are limited",
    "maxColumns",
    (n) => [
      "POST",
      `/ports?columns=${list(n, (i) => ["name", "country", "name", "name", "name"][i] ?? "")}`,
      '{"name":"Limit"}',
      json,
    ],
    "The request has more than 4 columns",
  ],
  [
    "R-LIM-1 the selected fields are limited, including those of embeds",
    "maxSelectFields",
    (n) => ["GET", `/ports?select=id,vessels(${list(n - 1, (i) => `a${i}:id`)})`],
    "The request has more than 5 selected fields",
  ],
  [
    "R-LIM-1 the number of embeds is limited",
    "maxEmbeds",
    (n) => ["GET", `/ports?select=id,${list(n, (i) => `a${i}:vessels(id)`)}`],
    "The request has more than 3 embeds",
  ],
  [
    "R-LIM-1 the depth of embeds is limited",
    "maxRelationDepth",
    (n) => ["GET", `/ports?select=${n === 2 ? "vessels(ports(id))" : "vessels(ports(vessels(id)))"}`],
    "The request has embeds nested deeper than 2 levels",
  ],
  [
    "R-LIM-1 the filters are limited",
    "maxFilters",
    (n) => ["GET", `/ports?${list(n, () => "id=gt.0", "&")}`],
    "The request has more than 8 conditions",
  ],
  [
    "R-LIM-1 the conditions of logic trees count as filters",
    "maxFilters",
    (n) => ["GET", `/ports?id=gt.0&or=(${list(n - 1, () => "id.gt.0")})`],
    "The request has more than 8 conditions",
  ],
  [
    "R-LIM-1 the depth of logic trees is limited",
    "maxLogicDepth",
    (n) => ["GET", `/ports?and=(${nest(n - 1, "or(", ")", "id.gt.0,id.lt.9")})`],
    "The request has logic trees nested deeper than 3 levels",
  ],
  [
    "R-LIM-2 the depth of a body is limited",
    "maxJsonDepth",
    (n) => ["POST", "/vessels", `{"name":"Limit","specs":${nest(n - 1, "[", "]")}}`, json],
    "The body is nested deeper than 10 levels",
    "PGRST102",
  ],
  [
    "R-LIM-2 the depth of a body of rows is limited",
    "maxJsonDepth",
    (n) => ["POST", "/vessels", `[{"name":"Limit","specs":${nest(n - 2, '{"a":', "}", "1")}}]`, json],
    "The body is nested deeper than 10 levels",
    "PGRST102",
  ],
  [
    "R-LIM-2 the depth of a body with columns is limited",
    "maxJsonDepth",
    (n) => [
      "POST",
      "/vessels?columns=name,specs",
      `{"name":"Limit","specs":${nest(n - 1, '["\\\\]",', "]", "1")}}`,
      json,
    ],
    "The body is nested deeper than 10 levels",
    "PGRST102",
  ],
  [
    "R-LIM-2 the depth of a body that is an argument is limited",
    "maxJsonDepth",
    (n) => ["POST", "/rpc/raw_json", `{"a":${nest(n - 1, "[", "]")}}`, json],
    "The body is nested deeper than 10 levels",
    "PGRST102",
  ],
  [
    "R-LIM-3 the keys of a body are limited",
    "maxColumns",
    (n) => ["POST", "/vessels", `{"name":"Limit",${list(n - 1, (i) => `"${NULLABLE[i]}":null`)}}`, json],
    "The body names more than 4 columns",
    "PGRST102",
  ],
  [
    "R-LIM-3 the keys of a long body are limited",
    "maxColumns",
    (n) => [
      "POST",
      "/vessels",
      `[{"name":"Limit",${list(n - 1, (i) => `"${NULLABLE[i]}":null`)}}]`.padEnd(65_537),
      json,
    ],
    "The body names more than 4 columns",
    "PGRST102",
  ],
  [
    "R-LIM-3 the columns of CSV are limited",
    "maxColumns",
    (n) => ["POST", "/vessels", `${list(n, () => "name")}\n${list(n, () => "Limit")}`, { "content-type": "text/csv" }],
    "The body names more than 4 columns",
    "PGRST102",
  ],
  [
    "R-LIM-3 the columns of CSV are limited before the line ends",
    "maxColumns",
    (n) => [
      "POST",
      "/vessels",
      list(n, () => "name") + (n === 4 ? "\nLimit,Limit,Limit,Limit" : ""),
      { "content-type": "text/csv" },
    ],
    "The body names more than 4 columns",
    "PGRST102",
  ],
  [
    "R-LIM-3 the fields of a form are limited",
    "maxColumns",
    (n) => [
      "POST",
      "/vessels",
      list(n, () => "name=Limit", "&"),
      { "content-type": "application/x-www-form-urlencoded" },
    ],
    "The body names more than 4 columns",
    "PGRST102",
  ],
  [
    "R-LIM-3 the arguments of a form are limited",
    "maxColumns",
    (n) => [
      "POST",
      "/rpc/join_words",
      list(n, () => "words=a", "&"),
      { "content-type": "application/x-www-form-urlencoded" },
    ],
    "The body names more than 4 columns",
    "PGRST102",
  ],
  [
    "R-LIM-4 the depth of the claims of a token is limited",
    "maxJsonDepth",
    (n) => ["GET", "/ports", undefined, bearer(`{"role":"sea_anon","a":${nest(n - 1, "[", "]")}}`)],
    "The JWT claims are nested deeper than 10 levels",
    "PGRST303",
    401,
  ],
];

describe("REST", () => {
  for (const [title, limit, request, message, code = "PGRST100", status = 400] of restRows)
    test(title, async () => {
      const ask = (count: number): Promise<Answer> => {
        const [method, path, body, headers] = request(count);
        return rest.request(method, path, { body, headers: { prefer: "tx=rollback", ...headers } });
      };
      const allowedAnswer = await ask(smallLimits[limit]);
      expect(allowedAnswer.status, allowedAnswer.text.slice(0, 300)).toBeLessThan(300);
      await expectCounted(restCounters, limit, async () => {
        const rejectedAnswer = await ask(smallLimits[limit] + 1);
        expect(rejectedAnswer.status).toBe(status);
        expect(rejectedAnswer.json()).toEqual({
          code,
          details: null,
          hint: `The limit is the setting ${limit}.`,
          message,
        });
      });
    });

  test("R-LIM-1 the usual limits reject requests that would take seconds or fail internally", async () => {
    const fetchError = async (
      method: string,
      path: string,
      parts: Parameters<TestApi["request"]>[2] = {},
    ): Promise<unknown> => {
      const answer = await usual.request(method, path, {
        ...parts,
        headers: { prefer: "tx=rollback", ...parts.headers },
      });
      return [answer.status, answer.json().code];
    };
    const rejectedSoon = async (body: (n: number) => string, n: number, headers: HeaderValues): Promise<unknown> => {
      const ask = (size: number): Promise<Answer> =>
        usual.post("/vessels", { body: body(size), headers: { prefer: "tx=rollback", ...headers } });
      const answer = await askInLinearTime(ask, n);
      return [answer.status, answer.json().code];
    };
    expect(await fetchError("GET", `/ports?select=${list(200, (i) => `a${i}:vessels!inner(id)`)}`)).toEqual([
      400,
      "PGRST100",
    ]);
    expect(await fetchError("GET", `/ports?select=${nest(200, "vessels(", ")", "id")}`)).toEqual([400, "PGRST100"]);
    expect(await rejectedSoon((n) => `{"name":"x","specs":${nest(n, "[", "]")}}`, 100_000, json)).toEqual([
      400,
      "PGRST102",
    ]);
    expect(
      await fetchError("GET", "/ports", { headers: bearer(`{"role":"sea_anon","a":${nest(4500, "[", "]")}}`) }),
    ).toEqual([401, "PGRST303"]);
    expect(await fetchError("GET", `/ports?or=${nest(400, "(and", "")}`)).toEqual([400, "PGRST100"]);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(await rejectedSoon((n) => `nothing=${"+".repeat(n)}`, 4_000_000, form)).toEqual([400, "PGRST204"]);
    expect(await rejectedSoon((n) => "a=1&".repeat(n), 1_000_000, form)).toEqual([400, "PGRST102"]);
  });

  test.each([
    ["a JSON path", (n) => `select=specs${keys(n)}`],
    ["a JSON path of a filter", (n) => `specs${keys(n)}=is.null`],
    ["a JSON path in a logic tree", (n) => `or=(specs${keys(n)}.is.null,id.gt.0)`],
    ["a JSON path of an order", (n) => `order=specs${keys(n)}`],
    ["selected fields", (n) => `select=${list(n / 4, (i) => `a${i}:id`)}`],
    ["casts", (n) => `select=${list(n / 4, (i) => `a${i}:id::text`)}`],
    ["terms of an order", (n) => `order=${list(n / 4, () => "specs->>a.desc.nullslast")}`],
    ["a list of values", (n) => `id=in.(${list(n, String)})`],
    ["a list of quoted values", (n) => `name=not.in.(${list(n, () => '"\\\\\\""')})`],
    ["filters", (n) => list(n, (i) => `id=gt.-${i}`, "&")],
    ["parameters without a value", (n) => list(n, () => "id", "&")],
    ["parameters without a dot", (n) => list(n, () => "limit=1", "&")],
    ["conditions of a logic tree", (n) => `or=(${list(n, (i) => `id.eq.${i}`)})`],
    ["logic trees inside each other", (n) => `or=(${nest(n / 8, "not.and(id.gt.0,", ")", "id.lt.9")})`], // a thousand levels may exceed the stack
  ] as readonly (readonly [string, (n: number) => string])[])(
    "R-LIM-1 with large limits the time for %s grows at most linearly with the request",
    async (_what, query) => {
      const ask = (n: number) => wide.relApi.rest({ path: `/vessels?${query(n)}` }).catch((error: unknown) => error);
      await requireLinearTime(ask, 1000);
    },
  );

  test("R-ERR-3 a statement too complex for PostgreSQL is an error of the client", async () => {
    const deep = (n: number) => wide.relApi.rest({ path: `/vessels?select=id&specs${keys(n)}=is.null` });
    await expect(deep(30_000)).rejects.toMatchObject({ status: 400, code: "54001" });
    await expect(deep(70_000)).rejects.toMatchObject({
      status: 400,
      code: "54000",
      message: "the statement has more than 65535 values",
    });
  });

  test("R-LIM-2 brackets within strings are not counted as levels", async () => {
    const specs = { text: `${"[".repeat(1000)}\\"${"{".repeat(1000)}`, list: ["\\", '["['] };
    for (const path of ["/vessels?select=specs", "/vessels?columns=name,specs&select=specs"]) {
      const answer = await rest.post(path, {
        body: { name: "Limit", specs },
        headers: { prefer: "return=representation, tx=rollback" },
      });
      expect(answer.json()).toEqual([{ specs }]);
    }
  });
});

describe("tokens", () => {
  test("R-AUT-4 G-AUTH-14 a token without exp is accepted unless the setting requires it", async () => {
    const strict = await startApi({ logger, jwtRequireExp: true });
    const headers = bearer({ role: "sea_clerk" });
    expect((await usual.get("/ports", { headers })).status).toBe(200);
    const rejection = await strict.get("/ports", { headers });
    expect([rejection.status, rejection.json().code, rejection.json().message]).toEqual([
      401,
      "PGRST303",
      "The JWT 'exp' claim is required",
    ]);
    expect((await strict.get("/ports", { headers: bearer({ role: "sea_clerk", exp: 4e9 }) })).status).toBe(200);
    const answer = await strict.gql("{ __typename }", {}, { "x-session-admin-secret": null, ...headers });
    expect(answer.errors[0]).toEqual({
      message: 'Could not verify JWT: JWSError (JSONDecodeError "the exp claim is missing")',
      extensions: { path: "$", code: "invalid-jwt" },
    });
    await strict.close();
  });

  test("R-AUT-3 G-AUTH-11 R-AUT-3a a token with b64 false is rejected, with and without crit", async () => {
    for (const header of [{ b64: false }, { b64: false, crit: ["b64"] }, { b64: 0 }, { crit: ["b64"] }]) {
      const answer = await usual.get("/ports", { headers: bearer({ role: "sea_clerk" }, { header }) });
      expect([answer.status, answer.json().code], JSON.stringify(header)).toEqual([401, "PGRST301"]);
    }
    expect(
      (await usual.get("/ports", { headers: bearer({ role: "sea_clerk" }, { header: { b64: true } }) })).status,
    ).toBe(200);
  });

  test("G-LIM-2 G-AUTH-16 claims in a text are limited in depth", async () => {
    const api = await startApi(
      forGraphql({
        logger,
        jwtSecret: {
          type: "HS256",
          key: "another-secret-of-the-tests-with-32-bytes",
          claims_format: "stringified_json",
        },
      }),
    );
    const claims = {
      "https://hasura.io/jwt/claims": `{"x-hasura-allowed-roles":["music_reader"],"x-hasura-default-role":"music_reader","x-hasura-deep":${nest(5000, "[", "]")}}`,
    };
    const answer = await api.gql(
      "{ artist { id } }",
      {},
      { "x-session-admin-secret": null, ...bearer(claims, { secret: "another-secret-of-the-tests-with-32-bytes" }) },
    );
    expect(answer.errors[0].extensions.code).toBe("jwt-invalid-claims");
    await api.close();
  });

  for (const [title, payload, reason] of [
    ["a wrong secret", { headers: { "x-session-admin-secret": "wrong" } }, "invalid x-session-admin-secret"],
    [
      "an expired token",
      { headers: { authorization: `Bearer ${signToken({ role: "music_reader", exp: 1 })}` } },
      "Could not verify JWT: JWTExpired",
    ],
    [
      "a token of another key",
      { headers: { authorization: `Bearer ${signToken({ role: "music_reader" }, { secret: "x".repeat(40) })}` } },
      "Could not verify JWT: JWSError JWSInvalidSignature",
    ],
    ["a header that is none", { headers: { authorization: "Basic eDp5" } }, "Malformed Authorization header"],
  ] as const)
    test(`G-WS-10 the reason for closing the connection is sent: ${title}`, async () => {
      const socket = await openSocket(usualGraphql);
      socket.send({ type: "connection_init", payload });
      expect(await socket.closed).toEqual({ code: 4403, reason: `Forbidden: ${reason}` });
    });
});

const post = (api: TestApi, body: string, headers: HeaderValues = asAdmin()): Promise<Answer> =>
  api.post("/v1/graphql", { headers: { "content-type": "application/json", ...headers }, body });

const asBody = (query: string, variables?: unknown): string => JSON.stringify({ query, variables });

/** Nests selection sets from artist to albums and back: `{ albums { artist { id } } }` has three. */
const deepRows = (count: number, field: "artist" | "albums"): string =>
  count === 1 ? "{ id }" : `{ ${field} ${deepRows(count - 1, field === "artist" ? "albums" : "artist")} }`;

const WHERE_QUERY = "query ($w: artist_bool_exp) { artist(where: $w) { id } }";

const deepCondition = (count: number): object => {
  let condition: object = { id: { _gt: 0 } };
  for (let level = count; level > 0; level--)
    condition = level % 2 === 1 ? { albums: condition } : { artist: condition };
  return condition;
};

type GraphqlRow = readonly [
  title: string,
  limit: Limit,
  body: (count: number) => string,
  message: string,
  path?: string,
  code?: string,
];

const graphqlRows: readonly GraphqlRow[] = [
  [
    "G-LIM-2 the depth of a body is limited",
    "maxJsonDepth",
    (n) =>
      asBody("query ($d: jsonb) { profile(where: {doc: {_contains: $d}}) { id } }", {
        d: JSON.parse(nest(n - 2, "[", "]")),
      }),
    "the request is nested deeper than 10 levels",
  ],
  [
    "G-LIM-3 the bytes of a document are limited",
    "maxDocumentBytes",
    (n) => asBody("{ artist { id } } #é".padEnd(n - 1, "x")),
    "the document is larger than 2000 bytes",
    "$.query",
  ],
  [
    "G-LIM-3 G-LIM-3a the depth of a document is limited",
    "maxDocumentDepth",
    (n) => asBody(`{ artist ${deepRows(n - 1, "albums")} }`),
    "the operation selects fields nested deeper than 8 levels",
  ],
  [
    "G-LIM-3 G-LIM-3a the depth of a document is limited with fragments",
    "maxDocumentDepth",
    (n) =>
      asBody(
        `{ artist { ...A } } fragment A on artist { ... on artist { albums { ...B } } } fragment B on album ${deepRows(n - 2, "artist")}`,
      ),
    "the operation selects fields nested deeper than 8 levels",
  ],
  [
    "G-LIM-3 G-LIM-3a the root fields are limited",
    "maxRootFields",
    (n) => asBody(`{ ${list(n, (i) => (i === 0 ? "artist { id }" : `a${i}: __typename`), " ")} }`),
    "the operation has more than 4 root fields",
  ],
  [
    "G-LIM-3 G-LIM-3a the root fields of fragments are limited",
    "maxRootFields",
    (n) => asBody(`{ ${list(n - 2, () => "...A", " ")} __typename ...A } fragment A on query_root { artist { id } }`),
    "the operation has more than 4 root fields",
  ],
  [
    "G-LIM-3 G-LIM-3a the aliases are limited",
    "maxAliases",
    (n) => asBody(`{ artist { ${list(n, (i) => `a${i}: id`, " ")} } }`),
    "the operation has more than 4 aliases",
  ],
  [
    "G-LIM-3 G-LIM-3a the fields are limited",
    "maxDocumentFields",
    (n) =>
      asBody(
        `{ artist { ...A ...A ...A ...A ...A ${list(n - 11, () => "name", " ")} } } fragment A on artist { id name }`,
      ),
    "the operation has more than 12 fields",
  ],
  [
    "G-LIM-4 the conditions are limited",
    "maxFilters",
    (n) =>
      asBody(WHERE_QUERY, {
        w: {
          id: Object.fromEntries(
            ["_eq", "_neq", "_gt", "_gte", "_lt", "_lte", "_in", "_nin"]
              .slice(0, n - 1)
              .map((name) => [name, name.endsWith("in") ? [1] : 1]),
          ),
        },
      }),
    "the operation has more than 8 conditions",
  ],
  [
    "G-LIM-4 empty conditions count as conditions",
    "maxFilters",
    (n) => asBody(WHERE_QUERY, { w: { _or: Array.from({ length: n - 1 }, () => ({})) } }),
    "the operation has more than 8 conditions",
  ],
  [
    "G-LIM-4 the relationships of conditions are limited",
    "maxRelatedConditions",
    (n) =>
      asBody(
        `{ artist(where: {albums: {}, ${n === 3 ? "" : "_not: {albums: {}}, "}albums_aggregate: {count: {predicate: {_gt: 0}}}}) { albums(where: {artist: {}}) { id } } }`,
      ),
    "the operation has more than 3 relationships in its conditions",
  ],
  [
    "G-LIM-4 the depth of relationships in conditions is limited",
    "maxRelationDepth",
    (n) => asBody(WHERE_QUERY, { w: deepCondition(n) }),
    "the operation has more than 2 levels of relationships in a condition",
  ],
  [
    "G-LIM-4 the terms of an order are limited",
    "maxOrderTerms",
    (n) => asBody(`{ artist(order_by: [${list(n, () => "{id: asc}")}]) { id } }`),
    "the operation has more than 3 terms in an order_by",
  ],
  [
    "G-LIM-4 the items of a list in a variable are limited",
    "maxListItems",
    (n) =>
      asBody("query ($v: [Int!]) { artist(where: {id: {_in: $v}}) { id } }", {
        v: Array.from({ length: n }, (_, i) => i),
      }),
    "the operation has more than 20 items in a list of values",
    "$.selectionSet.artist.args.where.id._in",
  ],
  [
    "G-LIM-4 the items of a list in the document are limited",
    "maxListItems",
    (n) => asBody(`{ artist(where: {id: {_nin: [${list(n, String)}]}}) { id } }`),
    "the operation has more than 20 items in a list of values",
    "$.selectionSet.artist.args.where.id._nin",
  ],
  [
    "G-LIM-4 the values to insert are limited",
    "maxInsertValues",
    (n) =>
      asBody(
        "mutation ($o: [artist_insert_input!]!) { insert_artist(objects: $o, on_conflict: {constraint: artist_pkey, update_columns: []}) { affected_rows } }",
        {
          o: [
            { id: 1, name: "x" },
            { id: 2, name: "y", ...(n > 6 ? { country: "NO" } : {}) },
          ],
        },
      ),
    "the operation has more than 6 values to insert",
  ],
  [
    "G-LIM-4 the values to insert are limited in the document and in nested inserts",
    "maxInsertValues",
    (n) =>
      asBody(
        `mutation { insert_artist(objects: [{id: 1, name: "x", country: "NO", albums: {data: [${n > 6 ? "{}, {}" : ""}], on_conflict: {constraint: album_pkey, update_columns: []}}}], on_conflict: {constraint: artist_pkey, update_columns: []}) { affected_rows } }`,
      ),
    "the operation has more than 6 values to insert",
  ],
  [
    "G-LIM-4 the writing statements are limited, including nested ones",
    "maxWriteStatements",
    (n) =>
      asBody(`mutation {
        insert_artist(objects: [{name: "N", albums: {data: [{title: "N"}]}}]) { affected_rows }
        delete_album(where: {title: {_eq: "N"}}) { affected_rows }
        delete_artist(where: {name: {_eq: "N"}}) { affected_rows }
        update_artist_many(updates: [${list(n - 4, () => `{where: {name: {_eq: "N"}}, _set: {name: "N"}}`)}]) { affected_rows } }`),
    "the operation has more than 4 statements that write",
  ],
  [
    "G-LIM-4 the keys of a JSON path are limited",
    "maxPathKeys",
    (n) => asBody("query ($p: String) { artist { stats(path: $p) } }", { p: list(n, () => "a", ".") }),
    "the operation has more than 5 keys in a JSON path",
    "$.selectionSet.artist.selectionSet.stats.args.path",
  ],
  [
    "G-LIM-5 the depth of introspection is limited",
    "maxIntrospectionDepth",
    (n) => asBody(`{ __type(name: "artist") { ${nest(n, "fields { type { ", " } }", "name")} } }`),
    "the operation has more than 2 lists of fields inside each other in introspection",
  ],
  [
    "G-LIM-5 the types of introspection are limited",
    "maxIntrospectionLists",
    (n) => asBody(`{ ${list(n, (i) => `t${i}: __type(name: "artist") { name }`)} }`),
    "the operation has more than 3 lists of types and fields in its introspection",
  ],
  [
    "G-LIM-5 the lists of introspection are limited",
    "maxIntrospectionLists",
    (n) => asBody(`{ __schema { ${list(n - 2, (i) => `t${i}: types { name }`)} types { fields { name } } } }`),
    "the operation has more than 3 lists of types and fields in its introspection",
  ],
  [
    "G-LIM-2 G-LIM-2a the bytes of variables are limited",
    "maxVariablesBytes",
    (n) => {
      const query = `{ artist { id } } #${"x".repeat(1000)}"`;
      const body = JSON.stringify({ query, extensions: { a: "" } });
      return JSON.stringify({ query, extensions: { a: "x".repeat(n - (body.length - JSON.stringify(query).length)) } });
    },
    "the variables are larger than 4000 bytes",
    "$.variables",
  ],
  [
    "G-LIM-6 the requests of a batch are limited",
    "maxBatchEntries",
    (n) => JSON.stringify(Array.from({ length: n }, () => ({ query: "{ __typename }" }))),
    "the batch has more than 4 requests",
    "$",
    "bad-request",
  ],
];

/** The first query of GraphQL tools. */
const INTROSPECTION = `query IntrospectionQuery { __schema { queryType { name } mutationType { name } subscriptionType { name } types { ...FullType }
  directives { name description isRepeatable locations args { ...InputValue } } } }
  fragment FullType on __Type { kind name description specifiedByURL fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason }
  inputFields(includeDeprecated: true) { ...InputValue } interfaces { ...TypeRef } enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { ...TypeRef } }
  fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
  fragment TypeRef on __Type { kind name ${nest(9, "ofType { kind name ", "}")} }`;

describe("G-LIM-4 the items of a list in a variable are counted in each request, also with a cached plan", () => {
  const errorMessage = "the operation has more than 6 values to insert";
  const insertOfList =
    "mutation ($o: [artist_insert_input!]!) { insert_artist(objects: $o, on_conflict: {constraint: artist_pkey, update_columns: []}) { affected_rows } }";
  const insertOfTwoLists =
    "mutation ($a: [artist_insert_input!]!, $b: [artist_insert_input!]!) { a: insert_artist(objects: $a, on_conflict: {constraint: artist_pkey, update_columns: []}) { affected_rows } b: insert_artist(objects: $b, on_conflict: {constraint: artist_pkey, update_columns: []}) { affected_rows } }";
  const rows = (count: number): unknown => Array.from({ length: count }, (_, i) => ({ id: 1 + i, name: "x" }));
  const send = async (query: string, variables: unknown): Promise<string> => {
    const answer = (await post(graphql, JSON.stringify({ query, variables }))).json();
    return answer.errors?.[0].message ?? Object.keys(answer.data).join();
  };

  test("G-LIM-4 the limit applies to one list", async () => {
    for (const count of [2, 3, 1, 3, 2])
      expect(await send(insertOfList, { o: rows(count) })).toBe(count > 2 ? errorMessage : "insert_artist");
  });

  test("G-LIM-4 the limit applies to two lists of an operation together", async () => {
    for (const [a, b] of [
      [1, 1],
      [2, 1],
      [1, 2],
      [1, 1],
      [2, 0],
    ] as const)
      expect(await send(insertOfTwoLists, { a: rows(a), b: rows(b) })).toBe(a + b > 2 ? errorMessage : "a,b");
  });

  test("G-LIM-4 an operation that is rejected for another reason is not counted", async () => {
    for (let i = 0; i < 9; i++)
      expect(await send(insertOfList, { o: [{ id: [1], name: "x" }] })).not.toBe(errorMessage);
    expect(await send(insertOfList, { o: rows(2) })).toBe("insert_artist");
  });
});

describe("GraphQL", () => {
  for (const [title, limit, body, message, path = "$", code = "validation-failed"] of graphqlRows)
    test(title, async () => {
      const allowedResult = (await post(graphql, body(smallLimits[limit]))).json();
      expect(JSON.stringify(allowedResult)).not.toMatch(/"errors"/);
      await expectCounted(graphqlCounters, limit, async () => {
        expect((await post(graphql, body(smallLimits[limit] + 1))).json()).toEqual({
          errors: [{ message, extensions: { path, code } }],
        });
      });
    });

  test("G-LIM-2 the depth of the claims of a token is limited", async () => {
    const ask = (levels: number): Promise<Answer> =>
      post(graphql, asBody("{ artist { id } }"), bearer(`{"role":"music_reader","a":${nest(levels - 1, "[", "]")}}`));
    expect((await ask(10)).json().data.artist).toHaveLength(4);
    await expectCounted(graphqlCounters, "maxJsonDepth", async () => {
      expect((await ask(11)).json()).toEqual({
        errors: [
          {
            message: "Could not verify JWT: the claims are nested deeper than 10 levels",
            extensions: { path: "$", code: "invalid-jwt" },
          },
        ],
      });
    });
  });

  test("G-LIM-2 G-WS-8 the depth of a message of a socket is limited", async () => {
    const socket = await openSocket(graphql);
    await socket.init();
    socket.send({
      id: "1",
      type: "subscribe",
      payload: { query: WHERE_QUERY, variables: { w: { _not: { _not: { id: { _eq: -1 } } } } } },
    });
    expect(await socket.next()).toMatchObject({ type: "next", payload: { data: { artist: [] } } });
    await expectCounted(graphqlCounters, "maxJsonDepth", async () => {
      socket.send(`{"id":"2","type":"subscribe","payload":{"query":"","variables":{"w":${nest(100_000, "[", "]")}}}}`);
      expect(await socket.closed).toEqual({
        code: 4400,
        reason: "Parsing client message failed: the request is nested deeper than 10 levels",
      });
    });
  });

  test("G-LIM-3 the usual limits reject operations that would take seconds", async () => {
    const fetchErrorMessage = async (body: string): Promise<unknown> =>
      (await post(usualGraphql, body)).json().errors[0].message;
    const rejectedSoon = async (body: (n: number) => string, n: number): Promise<unknown> =>
      (await askInLinearTime((size) => post(usualGraphql, body(size)), n)).json().errors[0].message;
    expect(
      await rejectedSoon((n) => asBody(`{ ${list(n, (i) => `a${i}: artist(limit: 1) { id }`, " ")} }`), 20_000),
    ).toMatch(/^the (document|operation)/);
    expect(await fetchErrorMessage(asBody(`{ ${list(2001, (i) => `a${i}: __typename`, " ")} }`))).toBe(
      "the operation has more than 1000 root fields",
    );
    expect(await fetchErrorMessage(asBody(`{ artist ${nest(30, "{ albums { artist ", "} }", "{ id }")} }`))).toBe(
      "the operation selects fields nested deeper than 50 levels",
    );
    expect(await fetchErrorMessage(asBody(WHERE_QUERY, { w: deepCondition(100) }))).toBe(
      "the operation has more than 20 levels of relationships in a condition",
    );
    expect(
      await rejectedSoon((n) => asBody(WHERE_QUERY, { w: { _or: Array.from({ length: n }, () => ({})) } }), 50_000),
    ).toBe("the operation has more than 10000 conditions");
    expect(
      await rejectedSoon((n) => `{"query":"{ artist { id } }","variables":${nest(n, '{"a":', "}", "1")}}`, 100_000),
    ).toBe("the request is nested deeper than 500 levels");
    // These fragments double forty times.
    const bomb = `{ ...F0 } ${list(40, (i) => `fragment F${i} on query_root { ...F${i + 1} ... on query_root { ...F${i + 1} } }`, " ")} fragment F40 on query_root { __typename }`;
    expect(await fetchErrorMessage(asBody(bomb))).toBe("the operation has more than 1000 root fields");
  });

  test("G-LIM-2 G-LIM-2a a value counts at each use, with and without a cached plan", async () => {
    const ask = (uses: number, length: number) =>
      post(
        graphql,
        asBody(`query ($x: String) { artist(where: {_or: [${list(uses, () => "{name: {_eq: $x}}")}]}) { id } }`, {
          x: "x".repeat(length),
        }),
      );
    const rejection = {
      errors: [
        {
          message: "the values of the operation are larger than 16000 bytes",
          extensions: { path: "$.variables", code: "validation-failed" },
        },
      ],
    };
    for (const length of [3700, 3900, 3700, 3900])
      expect((await ask(3, length)).json()).toEqual({ data: { artist: [] } });
    const counting = await startApi(forGraphql({ maxVariablesBytes: 4000, logger }));
    const postMany = (length: number) =>
      post(
        counting,
        asBody(`query ($x: String) { artist(where: {_or: [${list(5, () => "{name: {_eq: $x}}")}]}) { id } }`, {
          x: "x".repeat(length),
        }),
      );
    expect((await postMany(3300)).json()).toEqual(rejection);
    for (let i = 0; i < 2; i++) {
      expect((await postMany(3000)).json()).toEqual({ data: { artist: [] } });
      expect((await postMany(3300)).json()).toEqual(rejection);
    }
  });

  test("G-LIM-2a a list variable is converted once for all its uses", async () => {
    const uses = (n: number) => list(n, () => "{id: {_in: $ids}} {tags: {_contains: $tags}}", " ");
    const ids = (n: number) => Array.from({ length: 40 * n }, (_, i) => i);
    const tags = (n: number) => Array.from({ length: 10 * n }, (_, i) => `t${i}`);
    const query = (n: number, declarations: string) =>
      `query (${declarations}) { album(where: {_or: [${uses(n)} {unknown: {}}]}) { id } }`;
    // The last condition is rejected after the lists have been converted.
    const errorMessage = "field 'unknown' not found in type: 'album_bool_exp'";
    const answer = await askInLinearTime(
      (n) => post(usualGraphql, asBody(query(n, "$ids: [Int!] $tags: [String!]"), { ids: ids(n), tags: tags(n) })),
      400,
    );
    expect(answer.json().errors[0].message).toBe(errorMessage);
    const defaults = await askInLinearTime(
      (n) =>
        post(
          usualGraphql,
          asBody(query(n, `$ids: [Int!] = [${ids(n).join()}] $tags: [String!] = ${JSON.stringify(tags(n))}`)),
        ),
      400,
    );
    expect(defaults.json().errors[0].message).toBe(errorMessage);
  });

  test("G-LIM-4 a usual number of items is accepted, and an invalid item is reported", async () => {
    const answer = await post(
      usualGraphql,
      asBody("query ($v: [Int!]) { artist(where: {id: {_in: $v}}) { id } }", {
        v: Array.from({ length: 100_000 }, (_, i) => i),
      }),
    );
    expect(answer.json().data.artist).toHaveLength(4);
    const wrong = Array.from({ length: 20 }, (_, i) => (i === 7 ? [] : i));
    const rejection = (
      await post(graphql, asBody("query ($v: [Int!]) { artist(where: {id: {_in: $v}}) { id } }", { v: wrong }))
    ).json();
    expect(rejection.errors[0].extensions).toEqual({
      path: "$.selectionSet.artist.args.where.id._in[7]",
      code: "parse-failed",
    });
  });

  test("G-LIM-3 G-LIM-5 the introspection of tools is within the usual limits", async () => {
    const { __schema } = (await post(usualGraphql, asBody(INTROSPECTION))).json().data;
    expect(__schema.queryType.name).toBe("query_root");
  });
});

describe("batches", () => {
  const batchError = {
    errors: [
      {
        message: "the responses of the batch exceed 3000 bytes",
        extensions: { path: "$", code: "bad-request" },
      },
    ],
  };

  test("G-LIM-6 requests of a batch after the limit of bytes are rejected and do not run", async () => {
    const large = { query: "{ __schema { types { name kind description } } }" };
    const write = {
      query: 'mutation { update_artist(where: {id: {_eq: 1}}, _set: {country: "XX"}) { affected_rows } }',
    };
    await expectCounted(graphqlCounters, "maxBatchBytes", async () => {
      const [first, second, ...furtherResults] = (
        await post(graphql, JSON.stringify([{ query: "{ __typename }" }, large, write]))
      ).json();
      expect([first, Object.keys(second), furtherResults]).toEqual([
        { data: { __typename: "query_root" } },
        ["data"],
        [batchError],
      ]);
    });
    expect(await graphql.sql("select country from artist where id = 1")).not.toEqual([{ country: "XX" }]);
  });

  /** The number of entries whose results exceed the buffers of a connection. */
  const ENTRIES = 20;
  const PAGE_BYTES = 2_000_000;
  const body = JSON.stringify(
    Array.from({ length: ENTRIES }, (_, i) => ({ query: `{ a${i}: limits_page { text } }` })),
  );
  const headers = {
    "x-session-admin-secret": adminSecret,
    "content-type": "application/json",
    "accept-encoding": "gzip",
  };
  let runs = 0;
  const counting = watchExecutions(() => runs++);
  let api: TestApi;
  const names = (answers: readonly any[]): readonly string[] => answers.flatMap(({ data }) => Object.keys(data));
  const inOrder = Array.from({ length: ENTRIES }, (_, i) => `a${i}`);

  beforeAll(async () => {
    await rest.sql(`create table limits_page as select repeat('x', ${PAGE_BYTES}) as text`);
    api = await startApi(forGraphql({ logger, parts: [counting] }));
  });

  test("G-LIM-6 G-LIM-6a large responses of a batch are sent one after another, complete and in order", async () => {
    const answer = await api.post("/v1/graphql", { headers, body });
    expect([answer.status, answer.headers["content-type"], answer.headers["transfer-encoding"]]).toEqual([
      200,
      "application/json; charset=utf-8",
      "chunked",
    ]);
    const answers = answer.json();
    expect(names(answers)).toEqual(inOrder);
    expect(answers.every(({ data }: any, i: number) => data[`a${i}`][0].text.length === PAGE_BYTES)).toBe(true);
  });

  test("G-LIM-6 G-LIM-6a while a client does not read, the remaining requests of a batch do not run", async () => {
    runs = 0;
    const unread = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = send({ port: api.port, method: "POST", path: "/v1/graphql", headers }, (incoming) =>
        resolve(incoming.pause()),
      );
      outgoing.on("error", reject).end(body);
    });
    // A client that reads gets all of its responses, although its request was later.
    expect(names((await api.post("/v1/graphql", { headers, body })).json())).toEqual(inOrder);
    expect(runs).toBeLessThan(2 * ENTRIES);
    const chunks: Buffer[] = [];
    for await (const chunk of unread) chunks.push(chunk as Buffer);
    expect(names(JSON.parse(Buffer.concat(chunks).toString()))).toEqual(inOrder);
    expect(runs).toBe(2 * ENTRIES);
  });
});

describe("headers set by SQL", () => {
  const OF_THE_CONNECTION = [
    "Transfer-Encoding",
    "content-length",
    "Connection",
    "Keep-Alive",
    "Upgrade",
    "Trailer",
    "TE",
    "Proxy-Connection",
    "Proxy-Authenticate",
    "Proxy-Authorization",
  ];

  test("R-GUC-5 headers of the connection that SQL sets are left out with a warning", async () => {
    for (const name of OF_THE_CONNECTION) {
      warnings.length = 0;
      const headers = JSON.stringify([
        { [name]: "chunked" },
        { "X-Kept": "yes" },
        { "Set-Cookie": "a=1" },
        { "Set-Cookie": "b=2" },
      ]);
      const answer = await usual.post("/rpc/answer_headers", { body: { headers } });
      expect(answer.status, name).toBe(200);
      const transferHeaders = answer.rawHeaders.filter(
        ([header, value]) => value === "chunked" || header.toLowerCase() === "transfer-encoding",
      );
      expect(transferHeaders, name).toEqual([]);
      expect(Number(answer.headers["content-length"])).toBe(answer.bytes.length);
      expect([
        answer.headers["x-kept"],
        answer.rawHeaders.filter(([header]) => header === "Set-Cookie").map(([, value]) => value),
      ]).toEqual(["yes", ["a=1", "b=2"]]);
      expect(warnings).toEqual([
        `ignored a connection header set by SQL: only the server sets those ${JSON.stringify({ header: name.toLowerCase() })}`,
      ]);
    }
  });

  test("R-GUC-5 R-ERR-5 headers of the connection in a raised error are left out with a warning", async () => {
    for (const name of OF_THE_CONNECTION) {
      const message = JSON.stringify({ code: "X1", message: "no" });
      const detail = JSON.stringify({ status: 419, headers: { [name]: "chunked", "X-Kept": "yes" } });
      const answer = await usual.post("/rpc/raise_pgrst", { body: { message, detail } });
      expect([answer.status, answer.json().code, answer.headers["x-kept"]], name).toEqual([419, "X1", "yes"]);
      expect(
        answer.rawHeaders.filter(([, value]) => value === "chunked"),
        name,
      ).toEqual([]);
      expect(Number(answer.headers["content-length"])).toBe(answer.bytes.length);
    }
  });

  test("R-GUC-3 R-GUC-5 R-GUC-5a a status without a body has none, and the connection stays usable", async () => {
    for (const status of [204, 205, 304]) {
      const answer = await usual.post("/rpc/answer_status", { body: { status: String(status) } });
      expect([answer.status, answer.bytes.length], String(status)).toEqual([status, 0]);
      expect((await usual.get("/ports?select=id&order=id")).json()).toEqual([{ id: 1 }, { id: 2 }]);
    }
    for (const status of ["100", "101", "199", "1000", "x"]) {
      const answer = await usual.post("/rpc/answer_status", { body: { status } });
      expect([answer.status, answer.json().code], status).toEqual([500, "PGRST112"]);
    }
  });
});
