import { SubscriptionClient } from "subscriptions-transport-ws";
import { WebSocket } from "ws";
import { client as createChecks, equals, eventually, has, place } from "../checks.mjs";
import { checkLiveQueries } from "../live-checks.mjs";

const { check, report } = createChecks("subscriptions-transport-ws", import.meta.url);
const headers = { "x-hasura-admin-secret": place.secret };
const open = (url = place.socketUrl, connectionParams = { headers }, extraOptions = {}) =>
  new SubscriptionClient(url, { reconnect: true, connectionParams, ...extraOptions }, WebSocket);
const admin = open();
const follow = (request, socket = admin) => {
  const results = [];
  const outcome = { error: undefined, isComplete: false };
  const { unsubscribe } = socket.request(request).subscribe({
    next: (result) => results.push(result),
    error: (error) => (outcome.error = error),
    complete: () => (outcome.isComplete = true),
  });
  return { results, outcome, stop: unsubscribe };
};
const firstResult = async (request, socket = admin) => {
  const { results, outcome, stop } = follow(request, socket);
  await eventually(() => equals(results.length > 0 || outcome.error !== undefined, true));
  stop();
  return results[0] ?? { error: outcome.error };
};
const setYear = (id, year) =>
  firstResult({ query: `mutation { update_films_by_pk(pk_columns: {id: ${id}}, _set: {year: ${year}}) { id } }` });
const YEAR = "subscription ($id: Int!) { films_by_pk(id: $id) { year } }";

await check("a query", async () =>
  has(await firstResult({ query: "{ films_by_pk(id: 3) { title } }" }), {
    data: { films_by_pk: { title: "Rashomon" } },
  }),
);
await check("variables and an operation name", async () =>
  has(
    await firstResult({
      query: "query A { films { id } } query B($id: Int!) { films_by_pk(id: $id) { title } }",
      operationName: "B",
      variables: { id: 4 },
    }),
    { data: { films_by_pk: { title: "Seven Samurai" } } },
  ),
);
await check("a query completes", async () => {
  const { outcome } = follow({ query: "{ films_by_pk(id: 3) { title } }" });
  await eventually(() => equals(outcome.isComplete, true));
});
await check("insert", async () =>
  has(await firstResult({ query: 'mutation { insert_directors_one(object: {id: 60, name: "Vigo"}) { name } }' }), {
    data: { insert_directors_one: { name: "Vigo" } },
  }),
);
await check("delete", async () =>
  has(await firstResult({ query: "mutation { delete_directors_by_pk(id: 60) { id } }" }), {
    data: { delete_directors_by_pk: { id: 60 } },
  }),
);
await checkLiveQueries(check, { follow, setYear });
await check("an error of the document", async () => {
  const { outcome, results } = follow({ query: "subscription { film { id } }" });
  await eventually(() => equals(outcome.error !== undefined || results.length > 0, true));
  has(JSON.stringify(outcome.error ?? results[0]) + String(outcome.error?.message), /film/);
});
await check("an error of the database", async () =>
  has(
    JSON.stringify(
      await firstResult({ query: 'mutation { insert_directors_one(object: {name: "Jane Campion"}) { id } }' }),
    ),
    /Uniqueness violation/,
  ),
);
await check("a wrong secret is reported", async () => {
  let connectionError;
  const socket = open(
    place.socketUrl,
    { headers: { "x-hasura-admin-secret": "wrong" } },
    { reconnect: false, connectionCallback: (error) => (connectionError = error) },
  );
  await eventually(() => has(JSON.stringify(connectionError), /secret/));
  socket.close();
});
await check("a reader's rights", async () => {
  const socket = open(place.socketUrl, { headers: { Authorization: `Bearer ${place.reader}` } });
  has(await firstResult({ query: "{ films_by_pk(id: 3) { title } }" }, socket), {
    data: { films_by_pk: { title: "Rashomon" } },
  });
  socket.close();
});
await check("a lost connection is opened again, and the live query goes on", async () => {
  const socket = open();
  const { results, stop } = follow({ query: YEAR, variables: { id: 5 } }, socket);
  await eventually(() => equals(results.length, 1));
  socket.client.terminate();
  await eventually(() => equals(results.length > 1, true));
  await setYear(5, 1994);
  await eventually(() => equals(results.at(-1).data.films_by_pk.year, 1994));
  stop();
  socket.close();
});
for (const path of ["/v1/graphql/ws", "/v1alpha1/graphql", "/v1/graphql/"])
  await check(`the address ${path}`, async () => {
    const socket = open(place.socketUrl.replace("/v1/graphql", path));
    has(await firstResult({ query: "{ films_by_pk(id: 3) { title } }" }, socket), {
      data: { films_by_pk: { title: "Rashomon" } },
    });
    socket.close();
  });
admin.close();
report();
