import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi, type HeaderValues, type TestApi } from "../support/api.ts";
import { requireLinearTime } from "../support/growth.ts";
import { openSocket } from "../support/socket.ts";
import { withMetadata } from "./with-metadata.ts";

const api = await startApi(forGraphql({ compatMode: false, errorHints: true }));

interface GqlError {
  readonly message: string;
  readonly extensions: Readonly<Record<string, unknown>>;
}

const send = async (
  target: TestApi,
  query: string,
  variables?: Readonly<Record<string, unknown>>,
  headers: HeaderValues = asAdmin(),
): Promise<GqlError> => {
  const { errors } = (await target.post("/v1/graphql", { headers, body: { query, variables } })).json();
  expect(errors).toHaveLength(1);
  return errors[0];
};

describe("names", () => {
  test.each([
    ["a root field", "{ albun { id } }", ["album"]],
    ["a field", "{ album { titel } }", ["title"]],
    ["a relationship", "{ album { artsit { name } } }", ["artist"]],
    ["another letter case", "{ album { Title } }", ["title"]],
    ["an argument", "{ album(limt: 1) { id } }", ["limit"]],
    ["a column of where", "{ album(where: {titel: {_eq: 1}}) { id } }", ["title"]],
    ["an operator", "{ album(where: {title: {_ilke: 1}}) { id } }", ["_ilike"]],
    ["a column of order_by", "{ album(order_by: {titel: asc}) { id } }", ["title"]],
    ["a direction", "{ album(order_by: {title: ascc}) { id } }", ["asc"]],
    ["an enum value", "{ album(distinct_on: [titel]) { id } }", ["title"]],
    ["an input field", "mutation { insert_album_one(object: {titel: 1}) { id } }", ["title"]],
    ["a mutation", "mutation { insert_albun_one(object: {}) { id } }", ["insert_album_one"]],
    ["a directive", "{ album @inclde(if: true) { id } }", ["include"]],
    ["an argument of a directive", "{ album @include(iff: true) { id } }", ["if"]],
    ["a fragment", "{ album { ...part } } fragment parts on album { id }", ["parts"]],
    ["a variable", "query ($limit: Int) { album(limit: $limt) { id } }", ["limit"]],
  ])("G-HNT-1 G-HNT-1a a misspelt name gets a suggestion: %s", async (_, query, suggestions) => {
    const { extensions } = await send(api, query);
    expect(Object.keys(extensions)).toEqual(["path", "code", "suggestions"]);
    expect([...(extensions["suggestions"] as string[])].sort()).toEqual(suggestions);
  });

  test("G-HNT-1 suggestions leave the messages of the dialect unchanged", async () => {
    expect(await send(api, "{ album { titel } }")).toEqual({
      message: "field 'titel' not found in type: 'album'",
      extensions: {
        path: "$.selectionSet.album.selectionSet.titel",
        code: "validation-failed",
        suggestions: ["title"],
      },
    });
  });

  test("G-HNT-1 G-HNT-1a an error without a similar name has no suggestion", async () => {
    const { extensions } = await send(api, "{ album { zzzzzzzz } }");
    expect(Object.keys(extensions)).toEqual(["path", "code"]);
  });

  test("G-HNT-1 suggestions name given variables and operations", async () => {
    const { extensions } = await send(api, "query ($limit: Int) { album(limit: $limit) { id } }", { limt: 1 });
    expect(extensions["suggestions"]).toEqual(["limit"]);
    const body = { query: "query Albums { album { id } }", operationName: "Album" };
    const answer = (await api.post("/v1/graphql", { headers: asAdmin(), body })).json();
    expect(answer.errors[0].extensions.suggestions).toEqual(["Albums"]);
  });

  test("G-HNT-1 suggestions name a similar value of a database enum", async () => {
    const { message, extensions } = await send(api, '{ specimen(where: {c_mood: {_eq: "hapy"}}) { __typename } }');
    expect(message).toBe('invalid input value for enum mood: "hapy"');
    expect(extensions["suggestions"]).toEqual(["happy"]);
  });

  test("G-HNT-1 errors on sockets have suggestions too", async () => {
    const socket = await openSocket(api);
    await socket.init();
    socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { album { titel } }" } });
    const { payload } = await socket.next(({ type }) => type === "error");
    expect(payload[0].extensions.suggestions).toEqual(["title"]);
    await socket.close();
  });
});

describe("names that a role may not see", () => {
  test("G-HNT-2 suggestions are names of the role's own types", async () => {
    // The role music_reader sees id, name and country of artists.
    const [hiddenColumn] = (await api.sql(
      `select attname as name from pg_attribute where attrelid = 'public.artist'::regclass and attnum > 0
         and not attisdropped and not has_column_privilege('music_reader', attrelid, attnum, 'select')
         and length(attname) > 3 limit 1`,
    )) as [{ name: string }];
    const query = `{ artist { ${hiddenColumn.name}x } }`;
    expect((await send(api, query)).extensions["suggestions"]).toEqual([hiddenColumn.name]);
    expect((await send(api, query, undefined, asAdmin("music_reader"))).extensions).not.toHaveProperty("suggestions");
    const table = "{ song_playlists { id } }";
    expect((await send(api, table, undefined, asAdmin("music_nobody"))).extensions).not.toHaveProperty("suggestions");
  });

  test("G-HNT-2 roles without introspection get no suggestions", async () => {
    const closedApi = await startApi(
      forGraphql({
        compatMode: false,
        errorHints: true,
        parts: [
          withMetadata(() => ({
            findAccess: (session) =>
              session.role === "closed"
                ? {
                    key: "closed",
                    role: "closed",
                    rights: ({ relation }) => ({
                      select: {
                        columns: new Set(relation.columns.map(({ name }) => name)),
                        computedFields: new Set<string>(),
                        mayAggregate: false,
                      },
                    }),
                    mayCall: () => false,
                    isIntrospectionClosed: true,
                  }
                : undefined,
          })),
        ],
      }),
    );
    const { message, extensions } = await send(closedApi, "{ album { titel } }", undefined, asAdmin("closed"));
    expect(message).toBe("field 'titel' not found in type: 'album'");
    expect(Object.keys(extensions)).toEqual(["path", "code"]);
    expect((await send(closedApi, "{ album { titel } }")).extensions["suggestions"]).toEqual(["title"]);
    await closedApi.close();
    const bareApi = await startApi(
      forGraphql({ compatMode: false, errorHints: true, parts: [without("graphql-introspection")] }),
    );
    expect((await send(bareApi, "{ album { titel } }")).extensions).not.toHaveProperty("suggestions");
    await bareApi.close();
  });
});

describe("positions", () => {
  const post = async (body: string): Promise<GqlError> =>
    (await api.post("/v1/graphql", { headers: { ...asAdmin(), "content-type": "application/json" }, body })).json()
      .errors[0];

  test("G-HNT-3 the error of a body that is not JSON has a position", async () => {
    const { message, extensions } = await post('{\n "query": "{ album { id } }",\n "variables" {}\n}');
    expect(message).toMatch(/^Error in \$: /);
    expect(extensions).toEqual({
      path: "$",
      code: "invalid-json",
      position: { line: 3, column: 14 },
      hint: 'expected ":", found "{"',
    });
  });

  test("G-HNT-3 the error of variables in a URL has a position", async () => {
    const query = `query=${encodeURIComponent("{ album { id } }")}&variables=${encodeURIComponent('{"a":1,}')}`;
    const answer = await api.get(`/v1/graphql?${query}`, { headers: { ...asAdmin(), accept: "application/json" } });
    expect(answer.json().errors[0].extensions).toEqual({
      path: "$.variables",
      code: "invalid-json",
      position: { line: 1, column: 8 },
      hint: 'expected a key in double quotes, found "}"',
    });
  });

  test("G-HNT-3 the error of a document that does not parse has a position", async () => {
    expect(await send(api, "{\n  album {\n    id\n  }")).toEqual({
      message: "not a valid graphql query",
      extensions: {
        path: "$.query",
        code: "validation-failed",
        position: { line: 4, column: 4 },
        hint: "Expected Name, found <EOF>",
      },
    });
  });

  test("G-HNT-3 each request of a batch has its own position", async () => {
    const body = [{ query: "{ album { titel } }" }, { query: "{" }];
    const [firstResult, secondResult] = (await api.post("/v1/graphql", { headers: asAdmin(), body })).json();
    expect(firstResult.errors[0].extensions.suggestions).toEqual(["title"]);
    expect(secondResult.errors[0].extensions.position).toEqual({ line: 1, column: 2 });
  });
});

test("G-HNT-4 errors are those of the dialect with COMPAT_MODE, without the setting and without the plugin", async () => {
  const exactApi = await startApi(forGraphql({ compatMode: true, errorHints: true }));
  const usualApi = await startApi(forGraphql({ compatMode: false }));
  const bareApi = await startApi(
    forGraphql({ compatMode: false, errorHints: true, parts: [without("graphql-hints")] }),
  );
  for (const target of [exactApi, usualApi, bareApi]) {
    for (const query of [
      "{ album { titel } }",
      "{ album",
      '{ specimen(where: {c_mood: {_eq: "hapy"}}) { __typename } }',
    ])
      expect(Object.keys((await send(target, query, undefined, asAdmin("music_reader"))).extensions)).toEqual([
        "path",
        "code",
      ]);
    await target.close();
  }
});

test("G-HNT-1 the time for wrong names grows at most linearly with their number and length", async () => {
  const ask = async (count: number, name: string): Promise<void> => {
    const queries = Array.from({ length: count }, (_, i) => ({ query: `{ ${name}${i} { id } }` }));
    const answers = (await api.post("/v1/graphql", { headers: asAdmin(), body: queries })).json();
    expect(answers).toHaveLength(count);
  };
  await requireLinearTime((n) => ask(n, "albun"), 25);
  await requireLinearTime((n) => ask(10, "albun".repeat(n)), 100);
});
