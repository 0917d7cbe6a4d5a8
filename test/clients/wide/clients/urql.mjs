import { Client, cacheExchange, fetchExchange, subscriptionExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { createClient as createSocket } from "graphql-ws";
import { WebSocket } from "ws";
import { client as createChecks, equals, eventually, has, place } from "../checks.mjs";

const { check, report } = createChecks("@urql/core", import.meta.url);
const headers = { "x-hasura-admin-secret": place.secret };
const requests = [];
const recording = async (url, init) => {
  requests.push({ method: init?.method ?? "GET", url: String(url) });
  return fetch(url, init);
};
const make = (extraOptions = {}) =>
  new Client({
    url: place.graphqlUrl,
    exchanges: [cacheExchange, fetchExchange],
    fetch: recording,
    fetchOptions: { headers },
    ...extraOptions,
  });
const client = make();
const good = ({ data, error }) => {
  if (error !== undefined) throw error;
  return data;
};
const query = async (document, variables = {}, context = {}) =>
  good(await client.query(document, variables, context).toPromise());
const mutate = async (document, variables = {}) => good(await client.mutation(document, variables).toPromise());
const FILM = "query Film($id: Int!) { films_by_pk(id: $id) { id title } }";

await check("a query, as it is sent by default", async () => {
  requests.length = 0;
  has(await query(FILM, { id: 3 }), { films_by_pk: { title: "Rashomon" } });
  has(requests, [{ method: "GET" }]);
});
await check("a long query, which it sends by POST", async () => {
  requests.length = 0;
  const document = `query ($id: Int!) { ${Array.from({ length: 120 }, (_, i) => `alias_${i}: films_by_pk(id: $id) { title }`).join(" ")} }`;
  has(await query(document, { id: 3 }), { alias_119: { title: "Rashomon" } });
  has(requests, [{ method: "POST" }]);
});
await check("preferGetMethod: force", async () =>
  has(good(await make({ preferGetMethod: "force" }).query(FILM, { id: 2 }).toPromise()), {
    films_by_pk: { title: "Vagabond" },
  }),
);
await check("preferGetMethod: false", async () =>
  has(good(await make({ preferGetMethod: false }).query(FILM, { id: 2 }).toPromise()), {
    films_by_pk: { title: "Vagabond" },
  }),
);
await check("filters, order, page and total", async () =>
  has(
    await query(
      "query ($where: films_bool_exp) { films(where: $where, order_by: {year: desc}, limit: 2) { id director { name } } films_aggregate(where: $where) { aggregate { count } } }",
      {
        where: { director: { name: { _ilike: "%kurosawa" } } },
      },
    ),
    {
      films: [{ id: 4, director: { name: "Akira Kurosawa" } }, { id: 3 }],
      films_aggregate: { aggregate: { count: 2 } },
    },
  ),
);
await check("type names, for its cache", async () =>
  has(await query("{ directors(limit: 1, order_by: {id: asc}) { id } }"), {
    directors: [{ __typename: "directors", id: 1 }],
  }),
);
await check("a mutation, by POST", async () => {
  requests.length = 0;
  has(
    await mutate("mutation ($o: directors_insert_input!) { insert_directors_one(object: $o) { id name } }", {
      o: { id: 60, name: "Jean Vigo" },
    }),
    { insert_directors_one: { id: 60 } },
  );
  has(requests, [{ method: "POST" }]);
});
await check("a mutation makes its cache ask again", async () => {
  const names = "query Names { directors(where: {id: {_eq: 60}}) { id name } }";
  await query(names);
  await mutate('mutation { update_directors_by_pk(pk_columns: {id: 60}, _set: {name: "Vigo"}) { id name } }');
  has(await query(names), { directors: [{ name: "Vigo" }] });
});
await check("upsert", async () =>
  has(
    await mutate(
      'mutation { insert_directors_one(object: {id: 60, name: "Jean Vigo"}, on_conflict: {constraint: directors_pkey, update_columns: [name]}) { name } }',
    ),
    { insert_directors_one: { name: "Jean Vigo" } },
  ),
);
await check("delete", async () =>
  has(await mutate("mutation { delete_directors_by_pk(id: 60) { name } }"), {
    delete_directors_by_pk: { name: "Jean Vigo" },
  }),
);
await check("a function", async () =>
  has(await query('{ search_films(args: {words: "samurai"}) { id } }'), { search_films: [{ id: 4 }] }),
);
await check("an error of the document", async () =>
  has((await client.query("{ films { titel } }", {}).toPromise()).error.graphQLErrors, [
    { message: /titel/, extensions: { code: "validation-failed" } },
  ]),
);
await check("an error of the database", async () =>
  has(
    (await client.mutation('mutation { insert_directors_one(object: {name: "Jane Campion"}) { id } }', {}).toPromise())
      .error.graphQLErrors,
    [{ extensions: { code: "constraint-violation" } }],
  ),
);
for (const preferGet of [true, false])
  await check(`persisted queries, GET ${preferGet}`, async () => {
    requests.length = 0;
    const persisting = make({
      exchanges: [persistedExchange({ preferGetForPersistedQueries: preferGet }), fetchExchange],
      preferGetMethod: preferGet,
    });
    const document = `query Persisted${preferGet}($id: Int!) { films_by_pk(id: $id) { title } }`;
    for (const id of [4, 5])
      has(good(await persisting.query(document, { id }).toPromise()), {
        films_by_pk: { title: id === 4 ? "Seven Samurai" : "The Piano" },
      });
    equals(requests.length, 3);
  });

const socket = createSocket({ url: place.socketUrl, webSocketImpl: WebSocket, connectionParams: { headers } });
const live = make({
  exchanges: [
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: (request) => ({
        subscribe: (sink) => ({ unsubscribe: socket.subscribe({ ...request, query: request.query ?? "" }, sink) }),
      }),
    }),
  ],
});
await check("a subscription brings changes", async () => {
  const results = [];
  const { unsubscribe } = live
    .subscription("subscription { films_by_pk(id: 1) { year } }", {})
    .subscribe(({ data }) => results.push(data?.films_by_pk?.year));
  await eventually(() => equals(results, [1962]));
  await mutate("mutation { update_films_by_pk(pk_columns: {id: 1}, _inc: {year: 1}) { id } }");
  await eventually(() => equals(results, [1962, 1963]));
  unsubscribe();
});
await socket.dispose();
await check("subscriptions by its fetch exchange, as server-sent events", async () => {
  const results = [];
  const streaming = make({ exchanges: [fetchExchange], fetchSubscriptions: true });
  const { unsubscribe } = streaming
    .subscription("subscription { films_by_pk(id: 2) { year } }", {})
    .subscribe(({ data, error }) => results.push(error?.message ?? data?.films_by_pk?.year));
  await eventually(() => equals(results, [1985]));
  await mutate("mutation { update_films_by_pk(pk_columns: {id: 2}, _inc: {year: 1}) { id } }");
  await eventually(() => equals(results, [1985, 1986]));
  unsubscribe();
});
report();
