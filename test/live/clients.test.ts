/** Third-party clients with a running server. */
import { ApolloClient, gql, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { createClient } from "graphql-ws";
import { SubscriptionClient } from "subscriptions-transport-ws";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { forGraphql, startApi } from "../support/api.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";

const api = await startApi(forGraphql({ liveQueryInterval: 20 }));

const connectionParams = { headers: { "x-session-admin-secret": adminSecret } };
const query = "subscription Country($id: Int!) { artist_by_pk(id: $id) { country } }";

const countries = (answers: readonly any[]): unknown[] => answers.map((answer) => answer.data?.artist_by_pk?.country);

test("G-WS-5 the client of graphql-ws runs live queries and queries, and ends them", async () => {
  await api.sql("update artist set country = 'A' where id = 1");
  const client = createClient({
    url: `${api.wsUrl}/v1/graphql/ws`,
    webSocketImpl: WebSocket,
    connectionParams,
    lazy: false,
    retryAttempts: 0,
  });
  const answers: unknown[] = [];
  let hasCompleted = false;
  const stop = client.subscribe(
    { query, variables: { id: 1 } },
    { next: (answer) => void answers.push(answer), error: () => undefined, complete: () => (hasCompleted = true) },
  );
  await until(() => answers.length === 1, "the first result");
  await api.sql("update artist set country = 'B' where id = 1");
  await until(() => answers.length === 2, "the second result");
  expect(countries(answers)).toEqual(["A", "B"]);
  const results: unknown[] = [];
  await new Promise<void>((resolve, reject) =>
    client.subscribe(
      { query: "{ artist_by_pk(id: 1) { country } }" },
      { next: (answer) => void results.push(answer), error: reject, complete: resolve },
    ),
  );
  expect(results).toEqual([{ data: { artist_by_pk: { country: "B" } } }]);
  await expect(
    new Promise((resolve, reject) =>
      client.subscribe(
        { query: "subscription { nothing }" },
        { next: resolve, error: reject, complete: () => resolve(undefined) },
      ),
    ),
  ).rejects.toMatchObject([{ message: "field 'nothing' not found in type: 'subscription_root'" }]);
  stop();
  await until(() => hasCompleted, "the end of the live query");
  await client.dispose();
});

test("G-WS-5 Apollo Client over graphql-ws receives live queries", async () => {
  await api.sql("update artist set country = 'A' where id = 2");
  const socketClient = createClient({
    url: `${api.wsUrl}/v1/graphql`,
    webSocketImpl: WebSocket,
    connectionParams,
    retryAttempts: 0,
  });
  const client = new ApolloClient({ link: new GraphQLWsLink(socketClient), cache: new InMemoryCache() });
  const answers: unknown[] = [];
  const subscription = client
    .subscribe({ query: gql(query), variables: { id: 2 } })
    .subscribe((answer) => void answers.push(answer));
  await until(() => answers.length === 1, "the first result");
  await api.sql("update artist set country = 'B' where id = 2");
  await until(() => answers.length === 2, "the second result");
  expect(countries(answers)).toEqual(["A", "B"]);
  subscription.unsubscribe();
  const { data } = await client.query({ query: gql("{ artist_by_pk(id: 2) { country } }"), fetchPolicy: "no-cache" });
  expect(data).toEqual({ artist_by_pk: { country: "B", __typename: "artist" } });
  client.stop();
  await socketClient.dispose();
});

test("G-WSL-3 the client of subscriptions-transport-ws receives live queries", async () => {
  await api.sql("update artist set country = 'A' where id = 3");
  const client = new SubscriptionClient(`${api.wsUrl}/v1/graphql`, { connectionParams, reconnect: false }, WebSocket);
  const answers: unknown[] = [];
  const subscription = client
    .request({ query, variables: { id: 3 } })
    .subscribe({ next: (answer) => void answers.push(answer) });
  await until(() => answers.length === 1, "the first result");
  await api.sql("update artist set country = 'B' where id = 3");
  await until(() => answers.length === 2, "the second result");
  expect(countries(answers)).toEqual(["A", "B"]);
  subscription.unsubscribe();
  const result = await new Promise((resolve) =>
    client.request({ query: "{ artist_by_pk(id: 3) { country } }" }).subscribe({ next: resolve }),
  );
  expect(result).toEqual({ data: { artist_by_pk: { country: "B" } } });
  client.close();
});
