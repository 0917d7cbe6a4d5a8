/** Third-party clients that accept patches, each with the single line of code that it needs. */
import { ApolloClient, ApolloLink, gql as apolloGql, HttpLink, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { Client, fetchExchange, gql, mapExchange, subscriptionExchange, type OperationResult } from "@urql/core";
import { createClient } from "graphql-ws";
import { map } from "rxjs";
import { afterAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createGraphqlPatchApplier } from "../../plugins/live/patches/client.ts";
import { forGraphql, startApi } from "../support/api.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";

const api = await startApi(forGraphql({ liveDirective: true, liveQueryInterval: 30 }));
afterAll(() => api.close());
await api.sql(`create table public.task (id int primary key, title text not null, text text not null);
  insert into public.task select i, 'task ' || i, repeat('long ', 20) from generate_series(1, 10) i`);
await api.reload();

const headers = { "x-session-admin-secret": adminSecret };
const url = `${api.url}/v1/graphql`;
const sockets = () =>
  createClient({ url: `${api.wsUrl}/v1/graphql`, webSocketImpl: WebSocket, connectionParams: { headers } });

const TASKS = "subscription Tasks @live(patch: true) { task(order_by: {id: asc}) { id title text } }";

/** The messages of the server, and the results that the client shows. */
interface FollowedQuery {
  readonly results: any[];
  readonly messages: any[];
  stop(): unknown;
}

const recordMessages =
  (messages: any[]) =>
  <Result>(result: Result): Result => {
    messages.push(structuredClone((result as any).extensions?.live));
    return result;
  };

const apollo = (link: ApolloLink, close?: () => unknown): FollowedQuery => {
  const [results, messages]: [any[], any[]] = [[], []];
  const patches = new ApolloLink((operation, forward) =>
    forward(operation).pipe(map(recordMessages(messages)), map(createGraphqlPatchApplier())),
  );
  const client = new ApolloClient({ link: patches.concat(link), cache: new InMemoryCache() });
  const subscription = client.subscribe({ query: apolloGql(TASKS) }).subscribe({
    next: (result) => void results.push(result.data),
    error: (error) => void results.push(error),
  });
  return {
    results,
    messages,
    stop: () => {
      subscription.unsubscribe();
      client.stop();
      return close?.();
    },
  };
};

/** One reducer per operation. */
const urqlPatches = (messages: any[]) => {
  const folds = new Map<number, ReturnType<typeof createGraphqlPatchApplier>>();
  return mapExchange({
    onOperation: ({ kind, key }) =>
      void (kind === "teardown" ? folds.delete(key) : folds.set(key, createGraphqlPatchApplier())),
    onResult: (result: OperationResult) =>
      folds.get(result.operation.key)?.(recordMessages(messages)(result)) ?? result,
  });
};

const urql = (exchange: any, fetchOptions: object = {}, close?: () => unknown): FollowedQuery => {
  const [results, messages]: [any[], any[]] = [[], []];
  const client = new Client({
    url,
    preferGetMethod: false,
    fetchSubscriptions: true,
    fetchOptions: { headers: { ...headers, ...fetchOptions } },
    exchanges: [urqlPatches(messages), exchange],
  });
  const { unsubscribe } = client
    .subscription(gql(TASKS), {})
    .subscribe(({ data, error }) => void results.push(error ?? data));
  return { results, messages, stop: () => (unsubscribe(), close?.()) };
};

const overSocket = (make: (socketClient: ReturnType<typeof createClient>) => any) => {
  const socketClient = sockets();
  return [make(socketClient), () => socketClient.dispose()] as const;
};

describe.each<readonly [string, () => FollowedQuery]>([
  ["@apollo/client over WebSocket", () => apollo(...overSocket((client) => new GraphQLWsLink(client)))],
  ["@apollo/client over HTTP, in parts", () => apollo(new HttpLink({ uri: url, headers }))],
  [
    "@urql/core over WebSocket",
    () => {
      const [exchange, close] = overSocket((client) =>
        subscriptionExchange({
          forwardSubscription: ({ query = "", variables }) => ({
            subscribe: (sink) => ({
              unsubscribe: client.subscribe({ query, variables: variables as Record<string, unknown> }, sink as any),
            }),
          }),
        }),
      );
      return urql(exchange, {}, close);
    },
  ],
  ["@urql/core over HTTP, as events", () => urql(fetchExchange)],
  ["@urql/core over HTTP, in parts", () => urql(fetchExchange, { accept: "multipart/mixed" })],
])("%s", (_name, start) => {
  test("X-PAT-6 G-MP-1 G-MP-2 a client that applies patches shows whole results", async () => {
    await api.sql("delete from public.task where id = 0; update public.task set title = 'task ' || id");
    const { results, messages, stop } = start();
    await until(() => results.length > 0, "the first result");
    expect(results[0].task).toHaveLength(10);
    await api.sql("insert into public.task values (0, 'first of all', '')");
    await until(() => results.at(-1).task?.length === 11, "the row that was inserted");
    await api.sql("update public.task set title = 'other' where id = 5");
    await until(() => results.at(-1).task?.[5].title === "other", "the row that was changed");
    expect(results.at(-1).task).toMatchObject(
      (await api.gql("{ task(order_by: {id: asc}) { id title text } }")).data.task,
    );
    expect(results.filter((result) => result instanceof Error)).toEqual([]);
    const patches = messages.flatMap((live) => live?.patch ?? []);
    expect(patches).toContainEqual({ op: "replace", path: "/task/5/title", value: "other" });
    expect(patches.map(({ op }) => op)).toContain("add");
    await stop();
  });
});
