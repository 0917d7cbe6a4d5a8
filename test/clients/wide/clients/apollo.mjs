import { createHash } from "node:crypto";
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { BatchHttpLink } from "@apollo/client/link/batch-http";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { RetryLink } from "@apollo/client/link/retry";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { OperationTypeNode } from "graphql";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { client as createChecks, equals, eventually, has, place, rejects } from "../checks.mjs";

globalThis.WebSocket ??= WebSocket; // Node 20 has no WebSocket, which the client uses to distinguish errors
const { check, report } = createChecks("@apollo/client", import.meta.url);
const headers = { "x-hasura-admin-secret": place.secret };
const uri = place.graphqlUrl;

/** The requests that the client has sent. */
const requests = [];
const recording = async (url, init) => {
  const answer = await fetch(url, init);
  requests.push({ method: init?.method ?? "GET", status: answer.status });
  return answer;
};
const wire = async (run) => {
  requests.length = 0;
  await run();
  return requests.map(({ method }) => method);
};
const make = (link) => new ApolloClient({ link, cache: new InMemoryCache() });
const http = (options = {}) => new HttpLink({ uri, headers, fetch: recording, ...options });
const client = make(http());
const FILM = gql("query Film($id: Int!) { films_by_pk(id: $id) { id title } }");

await check("query with variables", async () =>
  has((await client.query({ query: FILM, variables: { id: 4 } })).data, {
    films_by_pk: { __typename: "films", title: "Seven Samurai" },
  }),
);
await check("filters, order, page and total", async () => {
  const query = gql(
    "query ($where: films_bool_exp) { films(where: $where, order_by: { year: desc }, limit: 2, offset: 1) { id director { name } } films_aggregate(where: $where) { aggregate { count } } }",
  );
  has((await client.query({ query, variables: { where: { rating: { _is_null: false } } } })).data, {
    films: [{ id: 2, director: { name: "Agnès Varda" } }, { id: 1 }],
    films_aggregate: { aggregate: { count: 5 } },
  });
});
await check("fragments", async () => {
  const query = gql(
    "query { films(where: { id: { _eq: 3 } }) { ...Whole } } fragment Whole on films { title tags details parts { actor { name } } }",
  );
  has((await client.query({ query })).data, {
    films: [
      {
        title: "Rashomon",
        tags: ["drama", "crime"],
        details: { minutes: 88 },
        parts: [{ actor: { name: "Toshiro Mifune" } }],
      },
    ],
  });
});
await check("the cache answers the second time", async () =>
  equals(await wire(() => client.query({ query: FILM, variables: { id: 4 } })), []),
);
await check("insert", async () => {
  const mutation = gql(
    "mutation ($film: films_insert_input!) { insert_films_one(object: $film) { id title director { name } } }",
  );
  has(
    (
      await client.mutate({
        mutation,
        variables: { film: { id: 70, title: "L'Atalante", year: 1934, director: { data: { name: "Jean Vigo" } } } },
      })
    ).data,
    { insert_films_one: { id: 70, director: { name: "Jean Vigo" } } },
  );
});
await check("upsert", async () => {
  const mutation = gql(
    'mutation { insert_films_one( object: { id: 70, title: "L\'Atalante", year: 1935 } on_conflict: { constraint: films_pkey, update_columns: [year] } ) { year } }',
  );
  has((await client.mutate({ mutation })).data, { insert_films_one: { year: 1935 } });
});
await check("an update reaches the query that watches", async () => {
  const results = [];
  const watched = client
    .watchQuery({ query: FILM, variables: { id: 2 } })
    .subscribe(({ data }) => results.push(data?.films_by_pk?.title));
  await eventually(() => equals(results.at(-1), "Vagabond"));
  await client.mutate({
    mutation: gql(
      'mutation { update_films_by_pk(pk_columns: { id: 2 }, _set: { title: "Sans toit ni loi" }) { id title } }',
    ),
  });
  await eventually(() => equals(results.at(-1), "Sans toit ni loi"));
  watched.unsubscribe();
});
await check("delete", async () =>
  has(
    (
      await client.mutate({
        mutation: gql("mutation { delete_films(where: { id: { _eq: 70 } }) { affected_rows } }"),
      })
    ).data,
    { delete_films: { affected_rows: 1 } },
  ),
);
await check("a function", async () =>
  has(
    (
      await client.query({
        query: gql('{ search_films(args: { words: "piano" }) { title } }'),
      })
    ).data,
    { search_films: [{ title: "The Piano" }] },
  ),
);
await check("an error of the document", () =>
  rejects(
    client.query({
      query: gql("{ films { titel } }"),
    }),
    { errors: [{ extensions: { code: "validation-failed" } }] },
  ),
);
await check("an error of the database", async () => {
  const error = await client
    .mutate({
      mutation: gql('mutation { insert_directors_one(object: { name: "Jane Campion" }) { id } }'),
    })
    .catch((reason) => reason);
  equals(CombinedGraphQLErrors.is(error), true);
  has(error.errors, [{ message: /Uniqueness violation/, extensions: { code: "constraint-violation" } }]);
});
await check("errorPolicy all", async () => {
  const { data, error } = await client.query({
    query: gql("{ film { id } }"),
    errorPolicy: "all",
  });
  equals([data, CombinedGraphQLErrors.is(error)], [undefined, true]);
});
await check("a batch", async () => {
  const batching = make(new BatchHttpLink({ uri, headers, fetch: recording, batchInterval: 20 }));
  const methods = await wire(async () => {
    const answers = await Promise.all([1, 2, 3].map((id) => batching.query({ query: FILM, variables: { id } })));
    equals(
      answers.map(({ data }) => data.films_by_pk.id),
      [1, 2, 3],
    );
  });
  equals(methods, ["POST"]);
});
await check("queries by GET", async () => {
  const getting = make(http({ useGETForQueries: true }));
  const methods = await wire(async () => {
    has((await getting.query({ query: FILM, variables: { id: 3 } })).data, { films_by_pk: { title: "Rashomon" } });
    await getting.mutate({
      mutation: gql("mutation { update_films_by_pk(pk_columns: { id: 3 }, _set: { year: 1950 }) { id } }"),
    });
  });
  equals(methods, ["GET", "POST"]);
});
await check("an error by GET", () =>
  rejects(
    make(http({ useGETForQueries: true })).query({
      query: gql("{ films { titel } }"),
    }),
    { errors: [{ message: /titel/ }] },
  ),
);
const sha256 = (text) => createHash("sha256").update(text).digest("hex");
for (const [name, useGETForHashedQueries, expected] of [
  ["by GET", true, ["GET", "POST", "GET"]],
  ["by POST", false, ["POST", "POST", "POST"]],
])
  await check(`automatic persisted queries ${name}`, async () => {
    const persisting = make(new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(http()));
    const query = gql(`query Persisted_${name.replace(" ", "_")}($id: Int!) { films_by_pk(id: $id) { title } }`);
    const methods = await wire(async () => {
      for (const id of [4, 5])
        has((await persisting.query({ query, variables: { id } })).data.films_by_pk, {
          title: id === 4 ? "Seven Samurai" : "The Piano",
        });
    });
    equals(methods, expected);
  });
await check("the retry link leaves good answers alone", async () =>
  equals(await wire(() => make(new RetryLink().concat(http())).query({ query: FILM, variables: { id: 1 } })), ["POST"]),
);

const socket = createClient({ url: place.socketUrl, connectionParams: { headers } });
const live = make(
  ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    http(),
  ),
);
await check("a subscription brings changes", async () => {
  const results = [];
  const running = live
    .subscribe({
      query: gql("subscription { directors(where: { id: { _eq: 1 } }) { id born } }"),
    })
    .subscribe(({ data }) => results.push(data.directors[0].born));
  await eventually(() => equals(results, [1928]));
  await live.mutate({
    mutation: gql("mutation { update_directors_by_pk(pk_columns: { id: 1 }, _set: { born: 1929 }) { id born } }"),
  });
  await eventually(() => equals(results, [1928, 1929]));
  running.unsubscribe();
});
await check("an error of a subscription", async () => {
  let error;
  const running = live
    .subscribe({
      query: gql("subscription { film { id } }"),
    })
    .subscribe({ next: (result) => (error = result.error), error: (reason) => (error = reason) });
  await eventually(() => has(error?.errors, [{ message: /film/ }]));
  running.unsubscribe();
});
await check("queries over the socket", async () =>
  has((await make(new GraphQLWsLink(socket)).query({ query: FILM, variables: { id: 5 } })).data, {
    films_by_pk: { title: "The Piano" },
  }),
);
await socket.dispose();
report();
