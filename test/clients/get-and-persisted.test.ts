/**
 * Clients that send queries in the URL (urql by default, Apollo and graphql-request by an option), and by their hash.
 */
import { createHash } from "node:crypto";
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { Client, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { GraphQLClient } from "graphql-request";
import { describe, expect, test } from "vitest";
import { serveDemo } from "./demo.ts";

const demo = await serveDemo({ anonRole: "anon" });

/** Records the requests that a client sends with `send`. */
const recorder = () => {
  const requests: { readonly method: string; readonly url: string; readonly status: number }[] = [];
  const send: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    requests.push({ method: init?.method ?? "GET", url: String(url), status: answer.status });
    return answer;
  };
  return { requests, send };
};

const document = "query Genre($id: Int!) { genre_by_pk(genre_id: $id) { name } }";
const rock = { genre_by_pk: { name: "Rock" } };

describe("queries by GET", () => {
  test("G-GET-1 urql sends queries by GET by default", async () => {
    const { requests, send } = recorder();
    const client = new Client({ url: demo.graphqlUrl, exchanges: [fetchExchange], fetch: send });
    const { data, error } = await client.query(document, { id: 1 }).toPromise();
    expect(error).toBeUndefined();
    expect(data.genre_by_pk.name).toBe("Rock");
    expect(requests).toMatchObject([{ method: "GET", status: 200 }]);
  });

  test("G-GET-2 urql sends mutations by POST", async () => {
    const { requests, send } = recorder();
    const client = new Client({ url: demo.graphqlUrl, exchanges: [fetchExchange], fetch: send });
    await client.mutation("mutation { delete_album(where: {album_id: {_eq: -1}}) { affected_rows } }", {}).toPromise();
    expect(requests).toMatchObject([{ method: "POST", status: 200 }]);
  });

  test("G-GET-1 Apollo sends queries by GET with useGETForQueries", async () => {
    const { requests, send } = recorder();
    const client = new ApolloClient({
      cache: new InMemoryCache({ addTypename: false } as object),
      link: new HttpLink({ uri: demo.graphqlUrl, useGETForQueries: true, fetch: send }),
    });
    const { data } = await client.query<any>({ query: gql(document), variables: { id: 1 } });
    expect(data.genre_by_pk.name).toBe("Rock");
    expect(requests).toMatchObject([{ method: "GET", status: 200 }]);
  });

  test('G-GET-1 graphql-request sends queries by GET with method: "GET"', async () => {
    const { requests, send } = recorder();
    const client = new GraphQLClient(demo.graphqlUrl, { method: "GET", fetch: send });
    expect(await client.request(document, { id: 1 })).toEqual(rock);
    expect(requests).toMatchObject([{ method: "GET", status: 200 }]);
  });
});

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

let documentCount = 0;
/** A document that no client has sent before. */
const newDocument = (): string => document.replace("Genre", `Genre${documentCount++}`);

describe("persisted queries", () => {
  test.each([true, false])("G-APQ-2 Apollo's link sends the hash, and the document once (GET: %s)", async (useGET) => {
    const { requests, send } = recorder();
    const persistedLink = new PersistedQueryLink({ sha256, useGETForHashedQueries: useGET });
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: persistedLink.concat(new HttpLink({ uri: demo.graphqlUrl, fetch: send })),
    });
    const query = gql(newDocument());
    for (const id of [1, 2])
      await client.query<any>({ query, variables: { id }, fetchPolicy: "network-only" }).then(({ data }) => {
        expect(data.genre_by_pk.name).toBe(id === 1 ? "Rock" : "Jazz");
      });
    const hashMethod = useGET ? "GET" : "POST";
    expect(requests.map(({ method }) => method)).toEqual([hashMethod, "POST", hashMethod]);
  });

  test.each([true, false])("G-APQ-2 urql's exchange gets its documents by their hash (GET: %s)", async (preferGet) => {
    const { requests, send } = recorder();
    const client = new Client({
      url: demo.graphqlUrl,
      exchanges: [persistedExchange({ preferGetForPersistedQueries: preferGet }), fetchExchange],
      preferGetMethod: preferGet,
      fetch: send,
    });
    const query = newDocument();
    for (const id of [1, 2]) {
      const { data, error } = await client.query(query, { id }, { requestPolicy: "network-only" }).toPromise();
      expect(error).toBeUndefined();
      expect(data.genre_by_pk.name).toBe(id === 1 ? "Rock" : "Jazz");
    }
    expect(requests).toHaveLength(3);
  });
});
