import { batchRequests, gql, GraphQLClient, rawRequest, request } from "graphql-request";
import { client as createChecks, equals, has, place, rejects } from "../checks.mjs";

const { check, report } = createChecks("graphql-request", import.meta.url);
const headers = { "x-hasura-admin-secret": place.secret };
const FILM = gql`
  query ($id: Int!) {
    films_by_pk(id: $id) {
      id
      title
    }
  }
`;

for (const method of ["POST", "GET"]) {
  const methods = [];
  const client = new GraphQLClient(place.graphqlUrl, {
    headers,
    method,
    fetch: (url, init) => (methods.push(init.method), fetch(url, init)),
  });
  await check(`${method}: a query`, async () => {
    has(await client.request(FILM, { id: 5 }), { films_by_pk: { title: "The Piano" } });
    equals(methods, [method]);
  });
  await check(`${method}: filters, order, page and total`, async () =>
    has(
      await client.request(
        gql`
          query ($where: films_bool_exp, $order: [films_order_by!]) {
            films(where: $where, order_by: $order, limit: 2) {
              id
            }
            films_aggregate(where: $where) {
              aggregate {
                count
              }
            }
          }
        `,
        {
          where: { tags: { _contains: ["drama"] }, title: { _like: "%a%" } },
          order: [{ year: "asc" }],
        },
      ),
      { films: [{ id: 3 }, { id: 4 }], films_aggregate: { aggregate: { count: 4 } } },
    ),
  );
  await check(`${method}: an embed`, async () =>
    has(await client.request("{ directors_by_pk(id: 2) { films(order_by: {id: asc}) { title } } }"), {
      directors_by_pk: { films: [{ title: "Rashomon" }, { title: "Seven Samurai" }] },
    }),
  );
  await check(`${method}: the raw answer`, async () => {
    const answer = await client.rawRequest(FILM, { id: 1 });
    has(
      { status: answer.status, type: answer.headers.get("content-type") },
      { status: 200, type: /^application\/json/ },
    );
  });
  await check(`${method}: an error of the document`, () =>
    rejects(client.request("{ films { titel } }"), {
      response: { status: 200, errors: [{ extensions: { code: "validation-failed" } }] },
    }),
  );
  await check(`${method}: a wrong secret`, () =>
    rejects(client.request(FILM, { id: 1 }, { "x-hasura-admin-secret": "wrong" }), {
      response: { errors: [{ extensions: { code: "access-denied" } }] },
    }),
  );
  await check(`${method}: a list of several operations`, () =>
    rejects(client.request("query A { films { id } } query B { films { id } }"), { message: /operation/ }),
  );
}
const client = new GraphQLClient(place.graphqlUrl, { headers });
await check("insert", async () =>
  has(
    await client.request(
      gql`
        mutation ($o: [directors_insert_input!]!) {
          insert_directors(objects: $o) {
            affected_rows
            returning {
              id
            }
          }
        }
      `,
      {
        o: [
          { id: 60, name: "A" },
          { id: 61, name: "B" },
        ],
      },
    ),
    { insert_directors: { affected_rows: 2, returning: [{ id: 60 }, { id: 61 }] } },
  ),
);
await check("upsert", async () =>
  has(
    await client.request(gql`
      mutation {
        insert_directors_one(
          object: { id: 60, name: "Aa" }
          on_conflict: { constraint: directors_pkey, update_columns: [name] }
        ) {
          name
        }
      }
    `),
    { insert_directors_one: { name: "Aa" } },
  ),
);
await check("update", async () =>
  has(
    await client.request(gql`
      mutation {
        update_directors(where: { id: { _gt: 59 } }, _set: { born: 1 }) {
          affected_rows
        }
      }
    `),
    { update_directors: { affected_rows: 2 } },
  ),
);
await check("delete", async () =>
  has(
    await client.request(gql`
      mutation {
        delete_directors(where: { id: { _gt: 59 } }) {
          affected_rows
        }
      }
    `),
    { delete_directors: { affected_rows: 2 } },
  ),
);
await check("a function", async () =>
  has(await request(place.graphqlUrl, '{ search_films(args: {words: "samurai"}) { id } }', {}, headers), {
    search_films: [{ id: 4 }],
  }),
);
await check("an error of the database", () =>
  rejects(client.request('mutation { insert_directors_one(object: {name: "Jane Campion"}) { id } }'), {
    response: { errors: [{ extensions: { code: "constraint-violation" } }] },
  }),
);
await check("a batch", async () =>
  has(
    await batchRequests({
      url: place.graphqlUrl,
      documents: [1, 2].map((id) => ({ document: FILM, variables: { id } })),
      requestHeaders: headers,
    }),
    [{ data: { films_by_pk: { id: 1 } } }, { data: { films_by_pk: { id: 2 } } }],
  ),
);
await check("errorPolicy all", async () => {
  const answer = await new GraphQLClient(place.graphqlUrl, { headers, errorPolicy: "all" }).rawRequest(
    "{ film { id } }",
  );
  has([answer.data, answer.errors.length], [undefined, 1]);
});
await check("a request that is given up", () =>
  rejects(client.request({ document: FILM, variables: { id: 1 }, signal: AbortSignal.abort() }), { message: /abort/i }),
);
await check("the older address answers errors by status", () =>
  rejects(rawRequest(place.graphqlUrl.replace("/v1/", "/v1alpha1/"), "{ film { id } }", {}, headers), {
    response: { status: 400 },
  }),
);
report();
