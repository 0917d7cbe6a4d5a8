/** The service with graphql-js, graphql-request, @apollo/client and graphql-ws, without generated types. */
import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { BatchHttpLink } from "@apollo/client/link/batch-http";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { offsetLimitPagination } from "@apollo/client/utilities";
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  isEnumType,
  isNonNullType,
  isObjectType,
  isScalarType,
  getNamedType,
  lexicographicSortSchema,
  printSchema,
  validateSchema,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type IntrospectionQuery,
} from "graphql";
import { batchRequests, ClientError, GraphQLClient, rawRequest, request } from "graphql-request";
import { createClient } from "graphql-ws";
import { describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { atFileEnd } from "../support/file-end.ts";
import { until } from "../support/until.ts";
import { asShopper, secretHeader, serveDemo } from "./demo.ts";

// Node 20 has no WebSocket, which Apollo's link uses to distinguish errors.
vi.stubGlobal("WebSocket", WebSocket);

const demo = await serveDemo();

const roles: [role: string, headers: Record<string, string>][] = [
  ["administrator", secretHeader],
  ["visitor", {}],
  ["shopper", asShopper(2)],
  ["clerk", { ...secretHeader, "x-hasura-role": "clerk", "x-hasura-user-id": "3" }],
];

/** Everything that any version of the tools requests. */
const everything = getIntrospectionQuery({
  descriptions: true,
  directiveIsRepeatable: true,
  inputValueDeprecation: true,
  oneOf: true,
  schemaDescription: true,
  specifiedByUrl: true,
});

const fetchSchema = async (headers: Record<string, string>, query = everything): Promise<GraphQLSchema> =>
  buildClientSchema(
    await request<IntrospectionQuery>({ url: demo.graphqlUrl, document: query, requestHeaders: headers }),
  );

describe.each(roles)("graphql-js, %s", (_role, headers) => {
  test("G-INT-1 G-INT-3 graphql-js builds a valid schema, and its printed form parses to the same schema", async () => {
    const schema = await fetchSchema(headers);
    expect(validateSchema(schema)).toEqual([]);
    const printedSchema = printSchema(schema);
    const rebuiltSchema = buildSchema(printedSchema);
    expect(validateSchema(rebuiltSchema)).toEqual([]);
    expect(printSchema(lexicographicSortSchema(rebuiltSchema))).toBe(printSchema(lexicographicSortSchema(schema)));
  });

  test("G-INT-3 the introspection queries of older tools get the same schema", async () => {
    const plain = getIntrospectionQuery({ descriptions: false, oneOf: false });
    const [plainSchema, fullSchema] = await Promise.all([fetchSchema(headers, plain), fetchSchema(headers)]);
    expect(Object.keys(plainSchema.getTypeMap()).sort()).toEqual(Object.keys(fullSchema.getTypeMap()).sort());
  });

  test("G-ROOT-1 G-ROOT-2 every list of the schema returns all of its columns", async () => {
    const schema = await fetchSchema(headers);
    const query = schema.getQueryType() as GraphQLObjectType; // every role here may read some table
    const lists = Object.values(query.getFields()).filter((field) =>
      field.args.every((arg) => !isNonNullType(arg.type)),
    );
    const document = `{ ${lists.map((field) => `${field.name}(limit: 2) { ${leaves(field)} }`).join("\n")} }`;
    const answer = await request<Record<string, any>>({ url: demo.graphqlUrl, document, requestHeaders: headers });
    expect(Object.keys(answer)).toEqual(lists.map((field) => field.name));
    expect(answer["album"]).toHaveLength(2);
  });
});

const leaves = (field: GraphQLField<unknown, unknown>, depth = 0): string => {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) return "";
  const inner = Object.values(type.getFields()).map((subfield) => {
    const namedType = getNamedType(subfield.type);
    if (isScalarType(namedType) || isEnumType(namedType)) return subfield.name;
    return depth < 1 ? `${subfield.name} { ${leaves(subfield, depth + 1)} }` : "";
  });
  return ["__typename", ...inner].join(" ");
};

describe("graphql-request", () => {
  const client = new GraphQLClient(demo.graphqlUrl, { headers: secretHeader });

  test("G-HTTP-10 the raw response has status, headers and data", async () => {
    const { status, headers, data } = await rawRequest<any>(
      demo.graphqlUrl,
      "{ album_by_pk(album_id: 1) { title } }",
      {},
      { "x-request-id": "my own" },
    );
    expect([status, headers.get("content-type"), headers.get("x-request-id")]).toEqual([
      200,
      "application/json; charset=utf-8",
      "my own",
    ]);
    expect(data).toEqual({ album_by_pk: { title: "For Those About To Rock We Salute You" } });
  });

  test.each(["/v1/graphql", "/v1alpha1/graphql", "/api/graphql"])(
    "G-HTTP-2 %s returns the same response",
    async (path) => {
      expect(await request(`${demo.url}${path}`, "{ genre_by_pk(genre_id: 1) { name path } }")).toEqual({
        genre_by_pk: { name: "Rock", path: "music.rock" },
      });
    },
  );

  test("G-HTTP-3 the older address reports errors by status, and the others only in the body", async () => {
    const rejectionAt = (path: string): Promise<ClientError> =>
      request(`${demo.url}${path}`, "{ albun { title } }").then(
        () => Promise.reject(new Error("was not rejected")),
        (error: ClientError) => error,
      );
    const [currentRejection, olderRejection] = await Promise.all([
      rejectionAt("/v1/graphql"),
      rejectionAt("/v1alpha1/graphql"),
    ]);
    expect([currentRejection.response.status, olderRejection.response.status]).toEqual([200, 400]);
    expect(currentRejection.response.errors).toEqual([
      {
        message: "field 'albun' not found in type: 'query_root'",
        extensions: { path: "$.selectionSet.albun", code: "validation-failed", suggestions: ["album"] },
      },
    ]);
    expect(olderRejection.response.errors).toEqual(currentRejection.response.errors);
  });

  test("G-HTTP-5 a batch is answered", async () => {
    const document = "query ($id: Int!) { artist_by_pk(artist_id: $id) { name } }";
    const answer = await batchRequests<any>({
      url: demo.graphqlUrl,
      documents: [1, 2].map((id) => ({ document, variables: { id } })),
    });
    expect(answer.map((result: any) => result.data.artist_by_pk.name)).toEqual(["AC/DC", "Accept"]);
  });

  test("G-DOC-2 one of several operations runs, although this client names none", async () => {
    const document = "query First { artist(limit: 1) { name } } query Second { album(limit: 1) { title } }";
    await expect(client.request(document)).rejects.toMatchObject({
      response: {
        errors: [
          {
            message: "exactly one operation has to be present in the document when operationName is not specified",
            extensions: { path: "$", code: "validation-failed" },
          },
        ],
      },
    });
  });

  test("G-ERR-1 an error leaves no data, with any error policy of the client", async () => {
    const lenient = new GraphQLClient(demo.graphqlUrl, { headers: secretHeader, errorPolicy: "all" });
    const { data, errors } = await lenient.rawRequest(
      "{ artist(limit: 1) { name } broken: album(limit: 1, where: {nothing: 1}) { title } }",
    );
    expect(data).toBe(undefined);
    expect(errors).toMatchObject([
      {
        message: "field 'nothing' not found in type: 'album_bool_exp'",
        extensions: { path: "$.selectionSet.album.args.where.nothing" },
      },
    ]);
  });

  test("G-AUTH-4 a wrong secret is rejected", async () => {
    const result = client.request("{ __typename }", {}, { "x-hasura-admin-secret": "wrong" });
    await expect(result).rejects.toMatchObject({
      response: {
        status: 200,
        errors: [{ message: "invalid x-session-admin-secret", extensions: { path: "$", code: "access-denied" } }],
      },
    });
  });

  test("R-STR-5 a request that the client aborts does not affect later requests", async () => {
    const giveUp = new AbortController();
    demo.server.once("request", () => giveUp.abort());
    const abortedRequest = client.request({
      document: "{ track { name invoice_lines { invoice { customer { full_name } } } } }",
      signal: giveUp.signal,
    });
    await expect(abortedRequest).rejects.toThrow(/abort/i);
    expect(await client.request("{ artist_by_pk(artist_id: 1) { name } }")).toEqual({
      artist_by_pk: { name: "AC/DC" },
    });
  });
});

describe("@apollo/client", () => {
  const cacheByKeys = (): InMemoryCache =>
    new InMemoryCache({
      typePolicies: {
        Query: { fields: { artist: offsetLimitPagination(["where", "order_by"]) } },
        artist: { keyFields: ["artist_id"] },
        album: { keyFields: ["album_id"] },
        playlist: { keyFields: ["playlist_id"] },
      },
    });
  const overHttp = (): ApolloClient =>
    new ApolloClient({ link: new HttpLink({ uri: demo.graphqlUrl, headers: secretHeader }), cache: cacheByKeys() });

  test("G-DOC-10 type names identify rows in the cache: a mutation's answer reaches the queries that watch", async () => {
    const client = overHttp();
    const query = gql`
      query ($id: Int!) {
        artist_by_pk(artist_id: $id) {
          artist_id
          name
          albums(order_by: { album_id: asc }, limit: 1) {
            album_id
            title
          }
        }
      }
    `;
    const names: (string | undefined)[] = [];
    const subscription = client.watchQuery<any>({ query, variables: { id: 5 } }).subscribe(({ data, loading }) => {
      if (!loading) names.push(data?.artist_by_pk?.name);
    });
    await until(() => names.length > 0, "the first result");
    expect(names).toEqual(["Alice In Chains"]);
    await client.mutate({
      mutation: gql(
        'mutation { update_artist_by_pk(pk_columns: {artist_id: 5}, _set: {name: "Alice"}) { artist_id name } }',
      ),
    });
    await until(() => names.length > 1, "the result after the mutation");
    expect(names).toEqual(["Alice In Chains", "Alice"]);
    subscription.unsubscribe();
    expect(client.cache.extract()).toMatchObject({
      'artist:{"artist_id":5}': { __typename: "artist", name: "Alice" },
      'album:{"album_id":7}': { __typename: "album", title: "Facelift" },
    });
    client.stop();
  });

  test("G-PAG-2 a list is read page by page", async () => {
    const client = overHttp();
    const query = gql`
      query ($offset: Int = 0, $limit: Int!) {
        artist(order_by: { artist_id: asc }, offset: $offset, limit: $limit) {
          artist_id
        }
      }
    `;
    const pages: number[][] = [];
    const list = client.watchQuery<any>({ query, variables: { limit: 2, offset: 0 } });
    const reading = list.subscribe(({ data, loading }) => {
      if (!loading) pages.push(data.artist.map((artist: any) => artist.artist_id));
    });
    await until(() => pages.length > 0, "the first page");
    expect(pages).toEqual([[1, 2]]);
    await list.fetchMore({ variables: { offset: 2, limit: 2 } });
    await until(() => pages.at(-1)?.length === 4, "both pages");
    expect(pages.at(-1)).toEqual([1, 2, 3, 4]);
    reading.unsubscribe();
    client.stop();
  });

  test("G-HTTP-5 in a batch of queries only the wrong one fails", async () => {
    const client = new ApolloClient({
      link: new BatchHttpLink({ uri: demo.graphqlUrl, headers: secretHeader, batchInterval: 10 }),
      cache: cacheByKeys(),
    });
    const [first, second, third] = await Promise.allSettled([
      client.query<any>({ query: gql("{ album_by_pk(album_id: 2) { album_id title } }") }),
      client.query({ query: gql("{ album_by_pk(album_id: 2) { album_id tittle } }") }),
      client.query<any>({ query: gql("{ genre_by_pk(genre_id: 2) { name } }") }),
    ]);
    expect(first).toMatchObject({
      status: "fulfilled",
      value: { data: { album_by_pk: { title: "Balls to the Wall" } } },
    });
    expect(third).toMatchObject({ status: "fulfilled", value: { data: { genre_by_pk: { name: "Jazz" } } } });
    const error = second.status === "rejected" ? (second.reason as unknown) : undefined;
    expect(CombinedGraphQLErrors.is(error) && error.errors).toMatchObject([
      { message: "field 'tittle' not found in type: 'album'" },
    ]);
    client.stop();
  });

  test("G-WS-4 queries, mutations and their errors work over the socket", async () => {
    const socket = createClient({ url: demo.wsUrl, connectionParams: async () => ({ headers: asShopper(2) }) });
    atFileEnd(async () => socket.dispose());
    const client = new ApolloClient({ link: new GraphQLWsLink(socket), cache: cacheByKeys() });
    const { data: queryData } = await client.query<any>({ query: gql("{ customer { full_name } }") });
    expect(queryData.customer).toMatchObject([{ full_name: "Leonie Köhler" }]);
    const { data: mutationData } = await client.mutate<any>({
      mutation: gql(
        'mutation { insert_playlist_one(object: {name: "Mine"}) { playlist_id owner_id: customer { email } } }',
      ),
    });
    expect(mutationData.insert_playlist_one.owner_id).toMatchObject({ email: "leonekohler@surfeu.de" });
    const error = await client
      .mutate({ mutation: gql('mutation { insert_artist_one(object: {name: "Not mine"}) { name } }') })
      .catch((error: unknown) => error);
    expect(CombinedGraphQLErrors.is(error) && error.errors).toMatchObject([
      { message: "field 'insert_artist_one' not found in type: 'mutation_root'" },
    ]);
    client.stop();
  });
});

describe("graphql-ws", () => {
  test("G-SUB-3 G-WS-7 a live query is read by iteration and ended by the client", async () => {
    const socket = createClient({ url: demo.wsUrl, connectionParams: { headers: secretHeader } });
    const titles: unknown[] = [];
    for await (const { data } of socket.iterate<any>({
      query: "subscription ($id: Int!) { album_by_pk(album_id: $id) { title } }",
      variables: { id: 3 },
    })) {
      titles.push(data.album_by_pk.title);
      if (titles.length === 2) break;
      await request(
        demo.graphqlUrl,
        'mutation { update_album_by_pk(pk_columns: {album_id: 3}, _set: {title: "Restless"}) { album_id } }',
        {},
        secretHeader,
      );
    }
    expect(titles).toEqual(["Restless and Wild", "Restless"]);
    await socket.dispose();
  });

  test("G-WS-6 a rejected document ends the operation with its errors", async () => {
    const socket = createClient({ url: demo.wsUrl });
    const result = socket.iterate({ query: "subscription { albun { title } }" }).next();
    await expect(result).rejects.toEqual([
      {
        message: "field 'albun' not found in type: 'subscription_root'",
        extensions: { path: "$.selectionSet.albun", code: "validation-failed", suggestions: ["album"] },
      },
    ]);
    await socket.dispose();
  });

  test("G-WS-10 a wrong secret closes the connection for good", async () => {
    const socket = createClient({
      url: demo.wsUrl,
      retryAttempts: 0,
      connectionParams: { headers: { "x-hasura-admin-secret": "wrong" } },
    });
    await expect(socket.iterate({ query: "{ __typename }" }).next()).rejects.toMatchObject({
      code: 4403,
      reason: "Forbidden: invalid x-session-admin-secret",
    });
    await socket.dispose();
  });
});
