/** Root fields, and fields of rows, whose selection belongs to another GraphQL schema. */
import { buildSchema, print, type DocumentNode, type GraphQLObjectType } from "graphql";
import { beforeEach, expect, test } from "vitest";
import { definePlugin, RelApiError } from "../../core/index.ts";
import type { GqlField, GqlFieldContext, GqlFields } from "../../plugins/graphql/api.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";

const schema = buildSchema(`
  type Query { found: Found }
  union Found = Book | Author
  interface Named { name: String }
  type Book { title: String by: Named }
  type Author implements Named { name: String }
`);

let ran: string[] = [];
let checkedPaths: string[] = [];

const write = ({ definitions, ...document }: DocumentNode): string =>
  print({ ...document, definitions }).replace(/\s+/g, " ");

const echo = (answer: (text: string, variables: unknown) => string): GqlField => ({
  config: { type: (schema.getQueryType() as GraphQLObjectType).getFields()["found"]?.type as never },
  toPlan: {
    kind: "custom",
    forward: {
      types: [schema.getType("Author") as GraphQLObjectType],
      check: (document, path) => {
        checkedPaths.push(path);
        if (write(document).includes("forbidden"))
          throw new RelApiError({ code: "validation-failed", status: 400, message: "not here", path });
      },
      run: async ({ document, variables }) => {
        ran.push(write(document));
        return answer(write(document), variables);
      },
    },
  },
});

const joinField: GqlField = {
  config: { type: schema.getType("Found") as never },
  toPlan: {
    kind: "custom",
    columns: ["id", "name"],
    delegate: {
      types: [schema.getType("Author") as GraphQLObjectType],
      check: (document, path) => {
        checkedPaths.push(path);
        if (write(document).includes("forbidden"))
          throw new RelApiError({ code: "validation-failed", status: 400, message: "not here", path });
      },
      load: async (rows, { document, variables }) => {
        ran.push(write(document));
        return rows.map((row) => JSON.stringify({ ...row, ...variables }));
      },
    },
  },
};

const forwardedFields = definePlugin({
  name: "forwarded-fields",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    hooks.buildGqlField.tap("forwarded-fields", (fields: GqlFields, { scope, relation }: GqlFieldContext) =>
      scope === "row" && relation?.name === "artist"
        ? { ...fields, joined: joinField }
        : scope === "query_root" || scope === "mutation_root"
          ? {
              ...fields,
              found: echo((text, variables) => JSON.stringify({ text, variables })),
              rejected: echo(() => {
                throw new RelApiError({
                  code: "rejected",
                  status: 400,
                  message: "no",
                  facts: { graphqlErrors: [{ message: "theirs", path: ["a", 0], extensions: { own: 1 } }] },
                });
              }),
              plain: echo(() => {
                throw new RelApiError({ code: "away", status: 502, message: "it is away" });
              }),
            }
          : fields,
    ),
});

const api = await startApi(forGraphql({ parts: [forwardedFields] }));

beforeEach(() => {
  ran = [];
  checkedPaths = [];
});

test("X-GQL-12 the field is a document of its own, with the fragments and variables that it uses", async () => {
  const query = `query ($a: Int = 1, $b: [String!], $c: Boolean!, $d: Int) {
    x: found(any: $b) @include(if: $c) { ...one } album(limit: $d) { id }
    x: found(any: $b) { more(of: {a: $a}) }
  }
  fragment one on Book { title ...two }
  fragment two on Named { name @skip(if: $c) }`;
  const { data, errors } = await api.gql(query, {
    b: ["y"],
    c: true,
    d: 1,
  });
  expect(errors).toBeUndefined();
  expect(data.album).toHaveLength(1);
  expect(data.x).toEqual({
    text: "query ($b: [String!], $a: Int = 1, $c: Boolean!) { x: found(any: $b) { ...one more(of: {a: $a}) } } fragment one on Book { title ...two } fragment two on Named { name @skip(if: $c) }",
    variables: { b: ["y"], c: true },
  });
});

test("X-GQL-12 a document is checked once and runs with the variables of each request", async () => {
  const query = "query ($v: Int) { found(v: $v) { a } }";
  for (const v of [1, 2, 3]) expect((await api.gql(query, { v })).data.found.variables).toEqual({ v });
  expect(checkedPaths).toEqual(["$.selectionSet.found"]);
  expect((await api.gql("{ found { forbidden } album { id } }")).errors).toEqual([
    { message: "not here", extensions: { path: "$.selectionSet.found", code: "validation-failed" } },
  ]);
  expect((await api.gql("{ found(a: $nothing) { a } }")).errors[0].message).toBe('unbound variable "nothing"');
  expect((await api.gql("{ found @skip(if: true) { a } __typename }")).data).toEqual({ __typename: "query_root" });
});

test("X-GQL-12a introspection has the members of unions and the types of interfaces", async () => {
  const { data } = await api.gql(
    `{ found: __type(name: "Found") { kind possibleTypes { name } } named: __type(name: "Named") { kind possibleTypes { name } }
       __schema { types { name kind possibleTypes { name } interfaces { name } } } }`,
  );
  expect(data.found).toEqual({ kind: "UNION", possibleTypes: [{ name: "Book" }, { name: "Author" }] });
  expect(data.named).toEqual({ kind: "INTERFACE", possibleTypes: [{ name: "Author" }] });
  const findType = (name: string) => data.__schema.types.find((type: any) => type.name === name);
  expect(findType("Named").possibleTypes).toEqual([{ name: "Author" }]);
  expect(findType("Author").interfaces).toEqual([{ name: "Named" }]);
});

test("X-GQL-12b the fields of a mutation keep their order, and the writes before an error stay", async () => {
  const insert = (name: string) => `insert_artist_one(object: {name: "${name}"}) { name }`;
  const { data } = await api.gql(`mutation { a: found { a } ${insert("First")} b: found { b } }`);
  expect(Object.keys(data)).toEqual(["a", "insert_artist_one", "b"]);
  const { errors } = await api.gql(`mutation { ${insert("Kept")} plain { a } two: ${insert("Lost")} b: found { b } }`);
  expect(errors).toEqual([{ message: "it is away", extensions: { path: "$.selectionSet.plain", code: "away" } }]);
  expect(ran.map((text) => text.slice(0, 16))).toEqual(["mutation { a: fo", "mutation { b: fo", "mutation { plain"]);
  expect(await api.sql("delete from artist where name in ('First', 'Kept', 'Lost') returning name")).toEqual([
    { name: "First" },
    { name: "Kept" },
  ]);
});

test("X-GQL-12c errors of another schema are answered unchanged", async () => {
  expect(await api.gql("{ rejected { a } album { id } }")).toEqual({
    errors: [{ message: "theirs", path: ["a", 0], extensions: { own: 1 } }],
  });
});

test("X-GQL-14 a field of rows is a document of its own, which runs once for all rows", async () => {
  const query = `query ($a: Int = 1, $b: Int) {
    album(order_by: {id: asc}, limit: 2) { artist { x: joined(of: $a) { ...one } } }
    artist_by_pk(id: 2) { joined(of: $b) { title } }
  }
  fragment one on Book { title }`;
  const { data, errors } = await api.gql(query, { b: 2 });
  expect(errors).toBeUndefined();
  const abba = { artist: { x: { id: 1, name: "Abba" } } };
  expect(data).toEqual({ album: [abba, abba], artist_by_pk: { joined: { id: 2, name: "Bjork", b: 2 } } });
  expect(ran.toSorted()).toEqual([
    "query ($a: Int = 1) { x: joined(of: $a) { ...one } } fragment one on Book { title }",
    "query ($b: Int) { joined(of: $b) { title } }",
  ]);
  expect(checkedPaths).toEqual([
    "$.selectionSet.album.selectionSet.artist.selectionSet.joined",
    "$.selectionSet.artist_by_pk.selectionSet.joined",
  ]);
});

test("X-GQL-14 the field is rejected by its own check, and for roles that may not read its columns", async () => {
  expect((await api.gql("{ artist { joined { forbidden } } }")).errors).toEqual([
    {
      message: "not here",
      extensions: { path: "$.selectionSet.artist.selectionSet.joined", code: "validation-failed" },
    },
  ]);
  expect(ran).toEqual([]);
  await api.sql("grant select (id) on artist to music_nobody");
  await api.reload();
  expect((await api.gql("{ artist { joined { title } } }", {}, asAdmin("music_nobody"))).errors[0].message).toBe(
    "field 'joined' not found in type: 'artist'",
  );
  await api.sql("revoke select (id) on artist from music_nobody");
});
