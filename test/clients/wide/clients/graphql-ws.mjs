import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { client as createChecks, equals, eventually, has, place, rejects } from "../checks.mjs";
import { checkLiveQueries } from "../live-checks.mjs";

const { check, report } = createChecks("graphql-ws", import.meta.url);
const headers = { "x-hasura-admin-secret": place.secret };
const open = (extraOptions = {}) =>
  createClient({ url: place.socketUrl, webSocketImpl: WebSocket, connectionParams: { headers }, ...extraOptions });
const admin = open();
const firstResult = async (payload, socket = admin) => (await socket.iterate(payload).next()).value;
const setYear = (id, year) =>
  firstResult({ query: `mutation { update_films_by_pk(pk_columns: {id: ${id}}, _set: {year: ${year}}) { id } }` });
const YEAR = "subscription ($id: Int!) { films_by_pk(id: $id) { year } }";

/** Collects results until `stop`. */
const follow = (payload, socket = admin) => {
  const results = [];
  const outcome = { error: undefined, isComplete: false };
  const stop = socket.subscribe(payload, {
    next: (result) => results.push(result),
    error: (error) => (outcome.error = error),
    complete: () => (outcome.isComplete = true),
  });
  return { results, outcome, stop };
};

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
await check("filters, order, page and total", async () =>
  has(
    await firstResult({
      query:
        "{ films(where: {year: {_gt: 1960}}, order_by: {year: asc}, limit: 2, offset: 1) { id } films_aggregate(where: {year: {_gt: 1960}}) { aggregate { count } } }",
    }),
    { data: { films: [{ id: 2 }, { id: 5 }], films_aggregate: { aggregate: { count: 4 } } } },
  ),
);
await check("insert", async () =>
  has(await firstResult({ query: 'mutation { insert_directors_one(object: {id: 60, name: "Vigo"}) { name } }' }), {
    data: { insert_directors_one: { name: "Vigo" } },
  }),
);
await check("upsert", async () =>
  has(
    await firstResult({
      query:
        'mutation { insert_directors_one(object: {id: 60, name: "Jean Vigo"}, on_conflict: {constraint: directors_pkey, update_columns: [name]}) { name } }',
    }),
    { data: { insert_directors_one: { name: "Jean Vigo" } } },
  ),
);
await check("delete", async () =>
  has(await firstResult({ query: "mutation { delete_directors_by_pk(id: 60) { id } }" }), {
    data: { delete_directors_by_pk: { id: 60 } },
  }),
);
await check("a function", async () =>
  has(await firstResult({ query: '{ search_films(args: {words: "piano"}) { id } }' }), {
    data: { search_films: [{ id: 5 }] },
  }),
);
await checkLiveQueries(check, { follow, setYear });
await check("a live list with a relationship", async () => {
  const { results, stop } = follow({
    query: "subscription { directors(where: {id: {_eq: 3}}) { name films { title } } }",
  });
  await eventually(() => has(results, [{ data: { directors: [{ films: [{ title: "The Piano" }] }] } }]));
  await firstResult({
    query: 'mutation { insert_films_one(object: {id: 60, title: "Bright Star", year: 2009, director_id: 3}) { id } }',
  });
  await eventually(() => equals(results.at(-1).data.directors[0].films.length, 2));
  stop();
});
await check("a live aggregate", async () => {
  const { results, stop } = follow({ query: "subscription { films_aggregate { aggregate { count } } }" });
  await eventually(() => has(results, [{ data: { films_aggregate: { aggregate: { count: 7 } } } }]));
  await firstResult({ query: "mutation { delete_films_by_pk(id: 60) { id } }" });
  await eventually(() => equals(results.at(-1).data.films_aggregate.aggregate.count, 6));
  stop();
});
await check("iteration, ended by the client", async () => {
  for await (const { data } of admin.iterate({ query: YEAR, variables: { id: 6 } })) {
    equals(data.films_by_pk.year, 2030);
    break;
  }
});
await check("an error of the document", () =>
  rejects(firstResult({ query: "subscription { film { id } }" }), [{ extensions: { code: "validation-failed" } }]),
);
await check("an error of the database is an answer", async () =>
  has(
    (
      await firstResult({ query: 'mutation { insert_directors_one(object: {name: "Jane Campion"}) { id } }' }).catch(
        (errors) => ({ errors }),
      )
    ).errors,
    [{ extensions: { code: "constraint-violation" } }],
  ),
);
await check("a wrong secret closes for good", () =>
  rejects(
    firstResult(
      { query: "{ __typename }" },
      open({ retryAttempts: 0, connectionParams: { headers: { "x-hasura-admin-secret": "wrong" } } }),
    ),
    { code: 4403 },
  ),
);
await check("a reader's rights", async () => {
  const reader = open({ connectionParams: { headers: { Authorization: `Bearer ${place.reader}` } } });
  has(
    await reader
      .iterate({ query: "mutation { delete_films_by_pk(id: 1) { id } }" })
      .next()
      .catch((errors) => errors),
    [{ message: /mutation/ }],
  );
  await reader.dispose();
});
await check("parameters by a function", async () => {
  const socket = open({ connectionParams: async () => ({ headers }) });
  has(await firstResult({ query: "{ films_by_pk(id: 3) { title } }" }, socket), {
    data: { films_by_pk: { title: "Rashomon" } },
  });
  await socket.dispose();
});
await check("pings of the client are answered", async () => {
  let pongs = 0;
  const socket = open({ lazy: false, keepAlive: 50, on: { pong: (received) => (pongs += received ? 1 : 0) } });
  await eventually(() => equals(pongs > 1, true));
  await socket.dispose();
});
await check("a lost connection is opened again, and the live query goes on", async () => {
  let current;
  const socket = open({
    retryAttempts: 3,
    retryWait: async () => undefined,
    shouldRetry: () => true,
    on: { opened: (webSocket) => (current = webSocket) },
  });
  const { results, stop } = follow({ query: YEAR, variables: { id: 5 } }, socket);
  await eventually(() => equals(results.length, 1));
  current.terminate();
  await eventually(() => equals(results.length > 1, true));
  await setYear(5, 1994);
  await eventually(() => equals(results.at(-1).data.films_by_pk.year, 1994));
  stop();
  await socket.dispose();
});
for (const path of ["/v1/graphql/ws", "/v1alpha1/graphql", "/v1/graphql/"])
  await check(`the address ${path}`, async () => {
    const socket = open({ url: place.socketUrl.replace("/v1/graphql", path) });
    has(await firstResult({ query: "{ films_by_pk(id: 3) { title } }" }, socket), {
      data: { films_by_pk: { title: "Rashomon" } },
    });
    await socket.dispose();
  });
await admin.dispose();
report();
