import { SubscriptionClient } from "subscriptions-transport-ws";
import { WebSocket } from "ws";
import { client as checksOf, eventually, has, place, same } from "../checks.mjs";
import { checkLiveQueries } from "../live-checks.mjs";

const { check, done } = checksOf("subscriptions-transport-ws", import.meta.url);
const headers = { "x-hasura-admin-secret": place.secret };
const open = (url = place.socketUrl, connectionParams = { headers }, more = {}) =>
  new SubscriptionClient(url, { reconnect: true, connectionParams, ...more }, WebSocket);
const admin = open();
const follow = (request, socket = admin) => {
  const seen = [];
  const ended = { error: undefined, isComplete: false };
  const { unsubscribe } = socket.request(request).subscribe({
    next: (result) => seen.push(result),
    error: (error) => (ended.error = error),
    complete: () => (ended.isComplete = true),
  });
  return { seen, ended, stop: unsubscribe };
};
const one = async (request, socket = admin) => {
  const { seen, ended, stop } = follow(request, socket);
  await eventually(() => same(seen.length > 0 || ended.error !== undefined, true));
  stop();
  return seen[0] ?? { error: ended.error };
};
const setYear = (id, year) =>
  one({ query: `mutation { update_films_by_pk(pk_columns: {id: ${id}}, _set: {year: ${year}}) { id } }` });
const YEAR = "subscription ($id: Int!) { films_by_pk(id: $id) { year } }";

await check("a query", async () =>
  has(await one({ query: "{ films_by_pk(id: 3) { title } }" }), { data: { films_by_pk: { title: "Rashomon" } } }),
);
await check("variables and an operation name", async () =>
  has(
    await one({
      query: "query A { films { id } } query B($id: Int!) { films_by_pk(id: $id) { title } }",
      operationName: "B",
      variables: { id: 4 },
    }),
    { data: { films_by_pk: { title: "Seven Samurai" } } },
  ),
);
await check("a query completes", async () => {
  const { ended } = follow({ query: "{ films_by_pk(id: 3) { title } }" });
  await eventually(() => same(ended.isComplete, true));
});
await check("insert", async () =>
  has(await one({ query: 'mutation { insert_directors_one(object: {id: 60, name: "Vigo"}) { name } }' }), {
    data: { insert_directors_one: { name: "Vigo" } },
  }),
);
await check("delete", async () =>
  has(await one({ query: "mutation { delete_directors_by_pk(id: 60) { id } }" }), {
    data: { delete_directors_by_pk: { id: 60 } },
  }),
);
await checkLiveQueries(check, { follow, setYear });
await check("an error of the document", async () => {
  const { ended, seen } = follow({ query: "subscription { film { id } }" });
  await eventually(() => same(ended.error !== undefined || seen.length > 0, true));
  has(JSON.stringify(ended.error ?? seen[0]) + String(ended.error?.message), /film/);
});
await check("an error of the database", async () =>
  has(
    JSON.stringify(await one({ query: 'mutation { insert_directors_one(object: {name: "Jane Campion"}) { id } }' })),
    /Uniqueness violation/,
  ),
);
await check("a wrong secret is told", async () => {
  let told;
  const socket = open(
    place.socketUrl,
    { headers: { "x-hasura-admin-secret": "wrong" } },
    { reconnect: false, connectionCallback: (error) => (told = error) },
  );
  await eventually(() => has(JSON.stringify(told), /secret/));
  socket.close();
});
await check("a reader's rights", async () => {
  const socket = open(place.socketUrl, { headers: { Authorization: `Bearer ${place.reader}` } });
  has(await one({ query: "{ films_by_pk(id: 3) { title } }" }, socket), {
    data: { films_by_pk: { title: "Rashomon" } },
  });
  socket.close();
});
await check("a lost connection is opened again, and the live query goes on", async () => {
  const socket = open();
  const { seen, stop } = follow({ query: YEAR, variables: { id: 5 } }, socket);
  await eventually(() => same(seen.length, 1));
  socket.client.terminate();
  await eventually(() => same(seen.length > 1, true));
  await setYear(5, 1994);
  await eventually(() => same(seen.at(-1).data.films_by_pk.year, 1994));
  stop();
  socket.close();
});
for (const path of ["/v1/graphql/ws", "/v1alpha1/graphql", "/v1/graphql/"])
  await check(`the address ${path}`, async () => {
    const socket = open(place.socketUrl.replace("/v1/graphql", path));
    has(await one({ query: "{ films_by_pk(id: 3) { title } }" }, socket), {
      data: { films_by_pk: { title: "Rashomon" } },
    });
    socket.close();
  });
admin.close();
done();
