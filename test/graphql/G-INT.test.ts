import { buildClientSchema, getIntrospectionQuery, validateSchema } from "graphql";
import { expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { withMetadata } from "./with-metadata.ts";

const api = await startApi(forGraphql());
const { data } = await api.gql(
  getIntrospectionQuery({
    inputValueDeprecation: true,
    schemaDescription: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
  }),
);
const schema = data.__schema;
type NamedEntry = { readonly name: string };
const findType = (name: string) => schema.types.find((type: NamedEntry) => type.name === name);
const names = (list: readonly NamedEntry[]): string[] => list.map((entry) => entry.name);
const isSorted = (list: readonly NamedEntry[]): boolean =>
  JSON.stringify(names(list)) === JSON.stringify([...names(list)].sort());

gqlCases(api, [
  {
    title: "G-INT-1 __type returns a known type",
    query: '{ __type(name: "album") { name kind } }',
    data: { __type: { name: "album", kind: "OBJECT" } },
  },
  {
    title: "G-INT-1 __type returns null for an unknown name",
    query: '{ __type(name: "albun") { name } }',
    data: { __type: null },
  },
  {
    title: "G-INT-1 __type accepts a variable",
    query: "query ($n: String!) { __type(name: $n) { name } }",
    variables: { n: "Int" },
    data: { __type: { name: "Int" } },
  },
  {
    title: "G-INT-1 introspection shows the schema of the role",
    query: '{ __type(name: "artist") { fields { name } } }',
    role: "music_artist",
    data: {
      __type: {
        fields: ["albums", "albums_aggregate", "born", "country", "id", "name", "stats"].map((name) => ({ name })),
      },
    },
  },
  {
    title: "G-INT-1 a type that the role does not have is null",
    query: '{ __type(name: "diary") { name } }',
    role: "music_reader",
    data: { __type: null },
  },
  {
    title: "G-INT-1 introspection fields are answered beside data in the order of the selection",
    query: '{ a: team_by_pk(id: 1) { name } __type(name: "Int") { kind } b: team_by_pk(id: 2) { name } __typename }',
    bytes: '{"data":{"a":{"name":"Reds"},"__type":{"kind":"SCALAR"},"b":{"name":"Blues"},"__typename":"query_root"}}',
  },
  {
    title: "G-INT-3 fragments, aliases and directives are applied",
    query:
      "query ($no: Boolean!) { s: __schema { q: queryType { ...T kind @include(if: $no) } } } fragment T on __Type { n: name ... on __Type { __typename } }",
    variables: { no: false },
    data: { s: { q: { n: "query_root", __typename: "__Type" } } },
  },
  {
    title: "G-INT-3 deprecation fields are answered",
    query:
      '{ __type(name: "order_by") { specifiedByURL enumValues(includeDeprecated: true) { name isDeprecated deprecationReason } } }',
    data: {
      __type: {
        specifiedByURL: null,
        enumValues: ["asc", "asc_nulls_first", "asc_nulls_last", "desc", "desc_nulls_first", "desc_nulls_last"].map(
          (name) => ({ name, isDeprecated: false, deprecationReason: null }),
        ),
      },
    },
  },
  {
    title: "G-INT-3 repeated selections are merged",
    query: "{ __schema { queryType { name } } __schema { queryType { kind } } }",
    data: { __schema: { queryType: { name: "query_root", kind: "OBJECT" } } },
  },
  {
    title: "G-INT-4 __schema has the root types",
    query: "{ __schema { queryType { name kind } mutationType { name kind } subscriptionType { name kind } } }",
    data: {
      __schema: {
        queryType: { name: "query_root", kind: "OBJECT" },
        mutationType: { name: "mutation_root", kind: "OBJECT" },
        subscriptionType: { name: "subscription_root", kind: "OBJECT" },
      },
    },
  },
  {
    title: "G-INT-4 roots that a role does not have are null",
    query: "{ __schema { mutationType { name } subscriptionType { name } } }",
    role: "music_nobody",
    data: { __schema: { mutationType: null, subscriptionType: null } },
  },
  {
    title: "G-INT-10 introspection is rejected in a subscription",
    query: "subscription { __schema { queryType { name } } }",
    error: { message: "field '__schema' not found in type: 'subscription_root'", code: "validation-failed" },
  },
  {
    title: "G-INT-3 an unknown introspection field is rejected",
    query: "{ __schema { kinds } }",
    error: {
      message: "field 'kinds' not found in type: '__Schema'",
      path: "$.selectionSet.__schema.selectionSet.kinds",
    },
  },
]);

test("G-INT-2 all types, fields and values are sorted by name", () => {
  expect(isSorted(schema.types)).toBe(true);
  expect(isSorted(schema.directives)).toBe(true);
  const lists = schema.types.flatMap((type: any) => [
    type.fields ?? [],
    type.inputFields ?? [],
    type.enumValues ?? [],
    ...(type.fields ?? []).map((field: any) => field.args),
  ]);
  expect(lists.filter((list: NamedEntry[]) => !isSorted(list)).map(names)).toEqual([]);
});

test("G-INT-3 tools build a valid schema from introspection", () => {
  const clientSchema = buildClientSchema(data);
  expect(validateSchema(clientSchema).map((error) => error.message)).toEqual([]);
});

test("G-INT-5 lists are null or empty as in the dialect", () => {
  expect(findType("album")).toMatchObject({ interfaces: [], inputFields: null, enumValues: null, possibleTypes: null });
  expect(findType("album_bool_exp")).toMatchObject({
    interfaces: null,
    fields: null,
    enumValues: null,
    possibleTypes: null,
  });
  expect(findType("order_by")).toMatchObject({
    interfaces: null,
    fields: null,
    inputFields: null,
    possibleTypes: null,
  });
  expect(findType("jsonb")).toMatchObject({
    kind: "SCALAR",
    interfaces: null,
    fields: null,
    inputFields: null,
    enumValues: null,
    possibleTypes: null,
  });
});

test("G-INT-6 default values are printed as literals", () => {
  const defaults = schema.types.flatMap((type: any) =>
    (type.inputFields ?? []).flatMap((field: any) =>
      field.defaultValue === null ? [] : [[field.name, field.defaultValue]],
    ),
  );
  expect(new Set(defaults.map((pair: unknown) => JSON.stringify(pair)))).toEqual(new Set(['["update_columns","[]"]']));
  expect(
    schema.directives
      .find((entry: NamedEntry) => entry.name === "cached")
      .args.map((arg: any) => [arg.name, arg.defaultValue]),
  ).toEqual([
    ["refresh", "false"],
    ["ttl", "60"],
  ]);
});

test("G-INT-7 introspection lists the used built-in scalars and its own types", async () => {
  expect(names(schema.types)).toEqual(
    expect.arrayContaining(["Boolean", "Float", "Int", "String", "__Schema", "__Type", "__TypeKind"]),
  );
  const { data: nobodyData } = await api.gql("{ __schema { types { name } } }", {}, asAdmin("music_nobody"));
  expect(names(nobodyData.__schema.types).filter((name) => !name.startsWith("__"))).toEqual([
    "Boolean",
    "Int",
    "String",
    "query_root",
  ]);
});

test("G-INT-8 introspection lists the directives", () => {
  const fields = ["FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"];
  expect(
    schema.directives.map(({ name, description, locations, isRepeatable }: any) => ({
      name,
      description,
      locations,
      isRepeatable,
    })),
  ).toEqual([
    {
      name: "cached",
      description: "whether this query should be cached (Hasura Cloud only)",
      locations: ["QUERY"],
      isRepeatable: false,
    },
    { name: "include", description: "whether this query should be included", locations: fields, isRepeatable: false },
    { name: "skip", description: "whether this query should be skipped", locations: fields, isRepeatable: false },
  ]);
});

const closedApi = await startApi(
  forGraphql({
    parts: [
      withMetadata(() => ({
        findAccess: (session) =>
          session.role === "closed"
            ? { key: "closed", role: "closed", rights: () => ({}), mayCall: () => false, isIntrospectionClosed: true }
            : undefined,
      })),
    ],
  }),
);

gqlCases(closedApi, [
  {
    title: "G-INT-9 G-CON-15 introspection can be disabled for a role",
    query: "{ __schema { queryType { name } } }",
    role: "closed",
    error: { message: 'introspection is disabled for role: "closed"', path: "$", code: "not-supported" },
  },
  {
    title: "G-INT-9 __typename stays available",
    query: "{ __typename }",
    role: "closed",
    data: { __typename: "query_root" },
  },
  {
    title: "G-INT-9 introspection stays available to other roles",
    query: "{ __schema { queryType { name } } }",
    data: { __schema: { queryType: { name: "query_root" } } },
  },
]);

test("G-INT-1 without the plugin __schema and __type are unknown fields", async () => {
  const bareApi = await startApi(forGraphql({ parts: [without("graphql-introspection")] }));
  try {
    expect(await bareApi.gql("{ __schema { queryType { name } } }")).toMatchObject({
      errors: [{ message: "field '__schema' not found in type: 'query_root'" }],
    });
    expect(await bareApi.gql("{ __typename }")).toEqual({ data: { __typename: "query_root" } });
  } finally {
    await bareApi.close();
  }
});
